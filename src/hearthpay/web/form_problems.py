"""What is wrong with a form: the problems by field, and the labels of the fields that the page shows.

The macros of fields note their label here while the page is rendered. The frame then puts one summary above the page,
whose links lead to the fields.
"""

from collections.abc import Sequence
from typing import NamedTuple


class SummaryLine(NamedTuple):
    """One line of the summary: the field's id and label, both empty if the page has no such field, and the problem."""

    target: str
    label: str
    text: str


class FormProblems(dict[str, str]):
    """Problems by the names of fields; `""` is about the form as a whole."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(problems)
        self._labels: dict[str, tuple[str, str]] = {}

    def note(self, name: str, label: str, target: str) -> None:
        """Record a field that the page shows: its label, and the id of the control that a link leads to."""
        self._labels.setdefault(name, (target, label))

    @property
    def summary(self) -> Sequence[SummaryLine]:
        """The problems in the order of the page's fields, then those without a field."""
        shown = [SummaryLine(*self._labels[name], self[name]) for name in self._labels if name in self]
        return [*shown, *(SummaryLine("", "", self[name]) for name in self if name not in self._labels)]


def note_field(problems: object, name: str, label: str, target: str = "") -> str:
    """Record a field for the summary, from a template; a form outside the frame has none."""
    if isinstance(problems, FormProblems):
        problems.note(name, label, target or name)
    return ""
