"""Setting up a household step by step: which steps there are, which are done, and where each is done.

The steps are the dashboard's own pages, asked for with `?setup=1`; what was entered is saved with each, so that the
way can be left anywhere, and how far it has come is read from the books.
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
"""By name, what each is called."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where a page stands in the steps; `under_way` only where it was asked for as one of them."""

    under_way: bool
    step: str = ""

    @classmethod
    def of(cls, at: HouseholdContext, step: str = "") -> Setup:
        """Return whether this request is a step of setting up."""
        return cls(at.visitor.request.query_params.get("setup") == "1", step)

    @property
    def number(self) -> int:
        """Which step this is, from 1."""
        return [name for name, _ in STEPS].index(self.step) + 1

    @property
    def last(self) -> int:
        """How many steps there are."""
        return len(STEPS)

    @property
    def name(self) -> str:
        """What this step is called."""
        return dict(STEPS)[self.step]

    def link(self, path: str) -> str:
        """Return the address of a page as a step, where this is one."""
        return f"{path}?setup=1" if self.under_way else path
