"""Setting up a household step by step: the steps, which are done, and the page of each.

The steps are the app's own pages, with `?setup=1`; each saves what was entered, so that people can leave anywhere,
and the progress is read from the books.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hearthpay.languages.catalogue import mark
from hearthpay.web.household.context import HouseholdContext

STEPS: Final = (
    ("household", mark("Household")),
    ("employee", mark("Employee")),
    ("withholding", mark("Pay and taxes")),
    ("invitation", mark("Invitation")),
    ("method", mark("How to pay")),
    ("payroll", mark("First payroll")),
)
"""The steps' titles by name."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A page's place in the steps; `under_way` only if it was opened as one of them."""

    under_way: bool
    step: str = ""

    @classmethod
    def of(cls, at: HouseholdContext, step: str = "") -> Setup:
        """Return whether this request is a setup step."""
        return cls(at.visitor.request.query_params.get("setup") == "1", step)

    @property
    def number(self) -> int:
        """Which step this is, from 1."""
        return [name for name, _ in STEPS].index(self.step) + 1

    @property
    def last(self) -> int:
        """The number of steps."""
        return len(STEPS)

    @property
    def name(self) -> str:
        """The title of this step."""
        return dict(STEPS)[self.step]

    def link(self, path: str) -> str:
        """Return the address of a page, as a step if this is one."""
        return f"{path}?setup=1" if self.under_way else path
