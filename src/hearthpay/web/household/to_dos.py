"""The to-dos of households on the list of all households: a few words for each that records show."""

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

LABELS: Final[Mapping[WaitingKind, str]] = {
    "money_stuck": mark("Deposit on hold"),
    "payroll_failed": mark("Payroll failed"),
    "payroll_held": mark("Payroll to approve"),
    "account_failed": mark("Bank account rejected"),
    "account_needs_word": mark("New bank account"),
    "account_to_confirm": mark("Account to confirm"),
    "new_link_asked": mark("New link requested"),
    "pay_rate_missing": mark("Pay missing"),
    "tax_info_missing": mark("SSN missing"),
    "tax_info_asked": mark("SSN requested"),
    "bank_account_asked": mark("Bank account requested"),
    "ein_missing": mark("EIN missing"),
}
"""What a row says of each in a few words, most urgent first; the household's own page has the sentence."""

_ORDER: Final = tuple(LABELS)


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
