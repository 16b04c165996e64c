"""What a household keeps aside of one payroll: each tax line by the item of the calendar that it is paid with.

A line belongs to the item whose duty pays it and whose days include the payday. Where several do, as estimated tax and
the year's return, it is the one that the others count as paid before them. So over all payrolls, what is kept aside
for an item is the item's amount. What no item pays, as a premium of a private insurer, has no due date here.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from hearthpay.duties.amounts import is_among
from hearthpay.duties.calendar import CalendarItem, payments_covering
from hearthpay.duties.household import FEDERAL, Household, LedgerAmount, PaydayAmount
from hearthpay.duties.payment_accounts import account_names, agency_of
from hearthpay.duties.rules import HouseholdDuty, duties_of

_LATEST: Final = 1
"""What is charged in a year is due by the end of the next."""


class PayrollLine(NamedTuple):
    """A tax line of one paycheck, in cents; withheld or the household's own."""

    employee_id: UUID
    line: str
    cents: int
    agency: str = ""
    """The agency's name on the paycheck, for a line that no item pays."""


@dataclass(frozen=True, slots=True)
class TaxDeposit:
    """What one payroll adds to a payment of taxes, in cents."""

    agency: str
    """The short name: IRS, EDD."""

    due: datetime.date | None
    """None for what no item of the calendar pays."""

    cents: int
    key: str | None = None
    """The item of the calendar."""

    account: str | None = None
    lines: Mapping[str, int] | None = None


def calendar_years(pay_date: datetime.date) -> tuple[datetime.date, datetime.date]:
    """Return the days between which the taxes of a payroll are due."""
    return datetime.date(pay_date.year, 1, 1), datetime.date(pay_date.year + _LATEST, 12, 31)


def with_payroll(
    household: Household, lines: Iterable[PayrollLine], pay_date: datetime.date, by_payday: frozenset[str]
) -> Household:
    """Return the household as if a payroll were in its ledger; ``by_payday``: the lines that need their paydays."""
    charged = [each for each in lines if each.cents]
    return replace(
        household,
        amounts=household.amounts
        + tuple(
            LedgerAmount(each.employee_id, each.line, pay_date.year, pay_date.month, each.cents)
            for each in charged
        ),
        paydays=household.paydays
        + tuple(PaydayAmount(each.line, pay_date, each.cents) for each in charged if each.line in by_payday),
    )


def tax_deposits(
    household: Household, lines: Sequence[PayrollLine], pay_date: datetime.date
) -> tuple[TaxDeposit, ...]:
    """Return the payments that the lines of a payroll are part of, by due date; they add up to the lines' cents.

    The payroll is in the household's ledger. Raises what `payments_covering` raises.
    """
    items = [
        (item, _duty(item)) for item in payments_covering(household, pay_date, *calendar_years(pay_date))
    ]
    found: dict[tuple[str, str], tuple[CalendarItem | None, dict[str, int]]] = {}
    for each in lines:
        if not each.cents:
            continue
        item = _item(items, each.line)
        key = ("", each.agency) if item is None else (item.key, "")
        cents = found.setdefault(key, (item, {}))[1]
        cents[each.line] = cents.get(each.line, 0) + each.cents
    deposits = [
        _deposit(item, agency, cents) for (_, agency), (item, cents) in found.items() if sum(cents.values())
    ]
    return tuple(sorted(deposits, key=_by_due))


def _by_due(deposit: TaxDeposit) -> tuple[datetime.date, bool, str, str]:
    key = deposit.key or ""
    return deposit.due or datetime.date.max, not key.startswith(FEDERAL), deposit.agency, key


def _duty(item: CalendarItem) -> HouseholdDuty:
    duty_id = item.key.split("/")[1]
    return next(each for each in duties_of(item.jurisdiction).duties if each.id == duty_id)


def _item(items: Sequence[tuple[CalendarItem, HouseholdDuty]], line: str) -> CalendarItem | None:
    """Return the item with which a line is paid: none that another counts as paid before it, the earliest due."""
    paying = [
        (item, duty) for item, duty in items if line[:2] == item.jurisdiction and is_among(line, duty.lines)
    ]
    ids = {duty.id for _, duty in paying}
    first = [item for item, duty in paying if not ids & set(duty.less)]
    return min(first, key=lambda item: (item.due, item.key), default=None)


def _deposit(item: CalendarItem | None, agency: str, lines: Mapping[str, int]) -> TaxDeposit:
    cents = sum(lines.values())
    if item is None:
        return TaxDeposit(agency, None, cents, lines=lines)
    return TaxDeposit(
        agency=agency_of(item.jurisdiction, item.agency).name,
        due=item.due,
        cents=cents,
        key=item.key,
        account=account_names(item.jurisdiction)[item.key.split("/")[1]],
        lines=lines,
    )
