"""What a household owes each tax agency, what it paid, and what is open: ``owed - paid = open``, to the cent.

A pure sum of a settled calendar. What the household marked as done without recording what it paid stays in ``open``,
as the mark has no amount; it is left out of what the household must keep aside.
"""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from hearthpay.duties.calendar import CalendarItem, NextStep, TaxPaymentStatus
from hearthpay.duties.payment_accounts import account_names, agency_of
from hearthpay.duties.settlement import SettledCalendar
from hearthpay.taxes.agencies import Agency, agencies


@dataclass(frozen=True, slots=True)
class PeriodBalance:
    """What is owed, paid and open of one account for one period, in cents."""

    agency: Agency
    account: str
    period: str
    key: str | None
    """The item of the calendar; None where something was paid for which nothing is owed."""

    due: datetime.date | None
    owed: int
    paid: int
    status: TaxPaymentStatus
    next_step: NextStep
    settled_by_mark: bool = False
    """Whether the household marked it as done, and recorded no payment of it."""

    @property
    def open(self) -> int:
        """What is left to pay; below zero where too much was paid."""
        return self.owed - self.paid

    @property
    def keep_aside(self) -> int:
        """What is held, or owed by the household itself, and not yet paid."""
        return 0 if self.settled_by_mark else max(self.open, 0)


@dataclass(frozen=True, slots=True)
class AgencyBalance:
    """What is owed to one agency, with its periods by due date."""

    agency: Agency
    periods: tuple[PeriodBalance, ...]

    @property
    def owed(self) -> int:
        """The total owed for the payrolls."""
        return sum(each.owed for each in self.periods)

    @property
    def paid(self) -> int:
        """What the household recorded as paid."""
        return sum(each.paid for each in self.periods)

    @property
    def open(self) -> int:
        """What is left, less what was paid too much."""
        return self.owed - self.paid

    @property
    def late(self) -> int:
        """What is open after its due date."""
        return sum(each.keep_aside for each in self.periods if each.status == "late")

    @property
    def keep_aside(self) -> int:
        """What is held, or owed by the household itself, and not yet paid."""
        return sum(each.keep_aside for each in self.periods)

    @property
    def next_due(self) -> datetime.date | None:
        """The due date of the first period of which something is to be paid."""
        return min((each.due for each in self.periods if each.keep_aside and each.due), default=None)


def period_balance(item: CalendarItem) -> PeriodBalance | None:
    """Return the balance of an item of a settled calendar; None for an item without an amount."""
    if item.amount is None or item.payment_status is None:
        return None
    return PeriodBalance(
        agency=agency_of(item.jurisdiction, item.agency),
        account=account_names(item.jurisdiction)[item.key.split("/")[1]],
        period=item.period,
        key=item.key,
        due=item.due,
        owed=item.amount,
        paid=item.paid or 0,
        status=item.payment_status,
        next_step=item.next_step,
        settled_by_mark=item.marked_on is not None and item.done_on is not None and not item.paid,
    )


def agency_balances(calendar: SettledCalendar) -> tuple[AgencyBalance, ...]:
    """Return the balances of a settled calendar by agency, the IRS first, the others by name."""
    found: dict[str, list[PeriodBalance]] = {}
    for balance in _balances(calendar):
        if balance.owed or balance.paid:
            found.setdefault(balance.agency.id, []).append(balance)
    balances = [AgencyBalance(own[0].agency, tuple(own)) for own in found.values()]
    return tuple(sorted(balances, key=lambda each: (each.agency.state != "US", each.agency.name)))


def keep_aside(balances: Iterable[AgencyBalance]) -> dict[str, int]:
    """Return what a household holds and has not yet paid, in cents, by the id of the agency that it is for."""
    return {each.agency.id: each.keep_aside for each in balances if each.keep_aside}


def _balances(calendar: SettledCalendar) -> Iterable[PeriodBalance]:
    for item in calendar.items:
        balance = period_balance(item)
        if balance is not None:
            yield balance
    for payment in calendar.unplaced:
        yield PeriodBalance(
            agency=agencies()[payment.agency],
            account=payment.account,
            period=payment.period,
            key=None,
            due=None,
            owed=0,
            paid=payment.cents,
            status="overpaid",
            next_step="claim_refund",
        )
