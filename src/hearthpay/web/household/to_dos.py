"""The to-dos of households on the list of all households: a sentence and a page for each that records show."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.languages.catalogue import mark
from hearthpay.todos.records import find_recorded_to_dos

WaitingKind = Literal[
    "money_stuck",
    "payroll_failed",
    "payroll_held",
    "account_failed",
    "account_needs_word",
    "account_to_confirm",
    "new_link_asked",
    "pay_rate_missing",
    "tax_info_missing",
    "tax_info_asked",
    "bank_account_asked",
    "ein_missing",
]

SENTENCES: Final[Mapping[WaitingKind, str]] = {
    "money_stuck": mark("A deposit for {day} is on hold. Choose what to do."),
    "payroll_failed": mark("The {day} payroll failed. Choose what to do next."),
    "payroll_held": mark("Approve the {day} payroll"),
    "account_failed": mark("Your bank rejected the account. Connect another one."),
    "account_needs_word": mark("{name} entered a new bank account. An owner has to agree to it."),
    "account_to_confirm": mark("{name} made an account. Confirm that it was {name}."),
    "new_link_asked": mark("{name} asks for a new link"),
    "pay_rate_missing": mark("{name} has no pay rate or salary yet."),
    "tax_info_missing": mark("Ask {name} for a Social Security number"),
    "tax_info_asked": mark("Waiting for {name}'s Social Security number, requested {day}"),
    "bank_account_asked": mark("Waiting for {name}'s bank account, requested {day}"),
    "ein_missing": mark("Add your EIN"),
}
"""The sentence for each, most urgent first."""

_ORDER: Final = tuple(SENTENCES)


@dataclass(frozen=True, slots=True)
class ListedToDo:
    """One to-do; `name` and `day` are set if its kind has them."""

    employer_id: UUID
    kind: WaitingKind
    name: str | None
    day: datetime.date | None

    @property
    def tone(self) -> str:
        """Its appearance: `bad` if something went wrong, otherwise `waits`."""
        return "bad" if self.kind in ("money_stuck", "payroll_failed", "account_failed") else "waits"


async def find_to_dos(
    session: AsyncSession, households: Sequence[UUID], now: datetime.datetime, today: datetime.date
) -> list[ListedToDo]:
    """Return the to-dos of these households, most urgent first."""
    found = [
        ListedToDo(each.employer_id, kind, each.name, each.day)
        for each in await find_recorded_to_dos(session, households, now, today)
        for kind in _ORDER
        if kind == each.kind
    ]
    return sorted(
        found, key=lambda each: (_ORDER.index(each.kind), each.day or datetime.date.min, each.name or "")
    )
