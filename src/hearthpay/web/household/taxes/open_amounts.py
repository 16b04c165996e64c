"""What is owed, paid and open by agency, as the page of taxes tells it: rows to pay, rows to settle, and the sums."""

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID, uuid5

from hearthpay.filing.balances import AgencyBalance, PeriodBalance
from hearthpay.languages.catalogue import Say
from hearthpay.taxes.agencies import Agency
from hearthpay.web.household.taxes.ledger_words import account_text, days_late, period_of, period_text

Settling = Literal["marked", "refund", "ahead", "amend", "file"]
"""Why a period needs a look: ``marked`` as done without an amount, a ``refund`` of what was paid too much, paid
``ahead`` for a running period, a return to ``amend``, or to ``file`` as it is paid already."""


@dataclass(frozen=True, slots=True)
class OpenRow:
    """One account's period: its balance, its words, the links, and how late it is."""

    balance: PeriodBalance
    account: str
    period: str
    item_id: UUID | None
    """The page of the calendar's item; None where nothing is owed."""

    record_query: str
    """The query of the form that records a payment of it."""

    days_late: int
    is_running: bool
    """Whether the period isn't over, so that more may be owed."""

    @property
    def agency(self) -> Agency:
        """Which agency is paid."""
        return self.balance.agency

    @property
    def settling(self) -> Settling | None:
        """What is left to settle besides paying."""
        balance = self.balance
        if balance.settled_by_mark and balance.open > 0:
            return "marked"
        if balance.next_step == "amend":
            return "amend"
        if balance.open < 0:
            return "refund" if balance.next_step == "claim_refund" else "ahead"
        if balance.next_step == "file" and balance.paid and not balance.open and not self.is_running:
            return "file"
        return None


@dataclass(frozen=True, slots=True)
class OpenAmounts:
    """What a household owes its agencies, in cents, and the rows behind it."""

    agencies: tuple[AgencyBalance, ...]
    to_pay: tuple[OpenRow, ...]
    """By due date, so those that are late come first."""

    to_settle: tuple[OpenRow, ...]

    @property
    def owed(self) -> int:
        """The taxes of the payrolls."""
        return sum(each.owed for each in self.agencies)

    @property
    def paid(self) -> int:
        """What was recorded as paid."""
        return sum(each.paid for each in self.agencies)

    @property
    def open(self) -> int:
        """What is left, less what was paid too much."""
        return self.owed - self.paid

    @property
    def late(self) -> int:
        """What is open after its due date."""
        return sum(each.late for each in self.agencies)

    @property
    def keep_aside(self) -> int:
        """What is held, or owed by the household itself, and not yet paid."""
        return sum(each.keep_aside for each in self.agencies)


def open_amounts(
    balances: Sequence[AgencyBalance], household_id: UUID, today: datetime.date, say: Say, language: str
) -> OpenAmounts:
    """Return a household's balances as a page shows them."""
    rows = [open_row(period, household_id, today, say, language) for period in _periods(balances)]
    return OpenAmounts(
        tuple(balances),
        tuple(sorted((row for row in rows if row.balance.keep_aside), key=_by_due)),
        tuple(sorted((row for row in rows if row.settling is not None), key=_by_due)),
    )


def open_row(
    balance: PeriodBalance, household_id: UUID, today: datetime.date, say: Say, language: str
) -> OpenRow:
    """Return the balance of a period as a page shows it."""
    agency = balance.agency
    period = period_of(agency, balance.account, balance.period)
    return OpenRow(
        balance=balance,
        account=account_text(agency.state, balance.account, say),
        period=balance.period if period is None else period_text(period, say, language),
        item_id=None if balance.key is None else uuid5(household_id, balance.key),
        record_query=record_query(agency.id, balance.account, balance.period),
        days_late=days_late(balance.due, today) if balance.keep_aside else 0,
        is_running=period is not None and period.end >= today,
    )


def record_query(agency: str, account: str, period: str) -> str:
    """Return the query by which the form that records a payment knows what it is for."""
    return urlencode({"agency": agency, "account": account, "period": period})


def _periods(balances: Iterable[AgencyBalance]) -> Iterable[PeriodBalance]:
    for agency in balances:
        yield from agency.periods


def _by_due(row: OpenRow) -> tuple[datetime.date, str, str]:
    return row.balance.due or datetime.date.max, row.agency.name, row.balance.account
