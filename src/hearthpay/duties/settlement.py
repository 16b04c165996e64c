"""What is open of a household's calendar: what it owes, less what it recorded as paid, and what it recorded as filed.

A payment counts for the item of its account and period. Where there is none by that name, as after a change of how
often the household files, it counts for the items of the account whose days it is for. What is more than an item owes
counts for the other items that are settled by the same return: all payments of estimated tax count for the year of
Schedule H, all deposits for the quarter's return. Each cent of a payment counts once, so over all items and payments
without an item, ``owed - paid = open``.

An item is done by the ledger once it is filed, if it is to be filed, and paid in full, if its period has ended. A mark
(the household's word that it did something) has no amount. It counts as filed, and as paid as long as no payment is
recorded for the item; with the first payment, the amounts decide. A payroll that is run late or voided changes what is
owed, and so opens a period that was paid.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hearthpay.duties.calendar import CalendarItem, NextStep, TaxPaymentStatus, calendar_of_duties
from hearthpay.duties.household import Household, RecordedFiling, RecordedPayment
from hearthpay.duties.payment_accounts import account_names
from hearthpay.duties.rules import duties_of

FILED: Final = frozenset({"return", "report"})
"""Kinds of items that are filed with an agency."""

YEARS_LATER: Final = 2
"""What is paid for a year is due at most so many years later."""


@dataclass(frozen=True, slots=True)
class SettledCalendar:
    """The items of a calendar with what was paid of them, and the payments for which there is no item."""

    items: tuple[CalendarItem, ...]
    unplaced: tuple[RecordedPayment, ...] = ()


@dataclass(slots=True)
class _Account:
    """What is owed for an item and what was paid."""

    item: CalendarItem
    owed: int
    paid: int = 0
    last: datetime.date | None = None
    recorded: bool = False
    """Whether a payment is recorded for this item or for days of its period."""

    marked: bool = False
    settles: list["_Account"] = field(default_factory=list)
    """Of a return: the items that are paid for the same period."""

    @property
    def open(self) -> int:
        return self.owed - self.paid

    @property
    def takes_more(self) -> bool:
        return self.open > 0 and not (self.marked and not self.recorded)

    def add(self, cents: int, paid_on: datetime.date) -> None:
        self.paid += cents
        self.last = paid_on if self.last is None else max(self.last, paid_on)


def settled_calendar(
    household: Household,
    first: datetime.date,
    last: datetime.date,
    further: Iterable[CalendarItem] = (),
) -> SettledCalendar:
    """Return the calendar of duties from ``first`` to ``last``, and ``further`` items, with what was paid and filed.

    Raises what `calendar_of_duties` raises.
    """
    reach = range(first.year - YEARS_LATER, last.year + 1)
    payments = [each for each in household.payments if each.first.year in reach]
    accounts: Mapping[str, _Account] = {}
    unplaced: tuple[RecordedPayment, ...] = ()
    if payments:
        years = [each.first.year for each in payments]
        around = calendar_of_duties(
            household,
            min(first, datetime.date(min(years), 1, 1)),
            max(last, datetime.date(max(years) + YEARS_LATER, 12, 31)),
        )
        accounts, unplaced = _placed(household, around, payments)
        items = tuple(item for item in around if first <= item.due <= last)
    else:
        items = calendar_of_duties(household, first, last)
    return SettledCalendar(
        tuple(_settled(household, item, accounts.get(item.key)) for item in (*items, *further)), unplaced
    )


# Which item a payment counts for


def _placed(
    household: Household, items: Sequence[CalendarItem], payments: Sequence[RecordedPayment]
) -> tuple[Mapping[str, _Account], tuple[RecordedPayment, ...]]:
    accounts = {
        item.key: _Account(item, item.amount, marked=item.key in household.done)
        for item in items
        if item.amount is not None
    }
    of_account: dict[tuple[str, str], list[_Account]] = {}
    for each in accounts.values():
        of_account.setdefault(_account(each.item), []).append(each)
    unplaced = []
    loose = []
    for payment in sorted(payments, key=lambda each: (each.paid_on, each.id)):
        own = of_account.get((payment.jurisdiction, payment.account), [])
        exact = next((each for each in own if each.item.period == payment.period), None)
        if exact is None:
            loose.append(payment)
        else:
            exact.recorded = True
            exact.add(payment.cents, payment.paid_on)
    for payment in loose:
        own = of_account.get((payment.jurisdiction, payment.account), [])
        touched = [each for each in own if _touches(payment, each.item)]
        if touched:
            _spread(payment, touched)
        else:
            unplaced.append(payment)
    for each in _returns(accounts):
        _pass_on([*each.settles, each])
    return accounts, tuple(unplaced)


def _account(item: CalendarItem) -> tuple[str, str]:
    return item.jurisdiction, account_names(item.jurisdiction)[_duty(item)]


def _duty(item: CalendarItem) -> str:
    return item.key.split("/")[1]


def _touches(payment: RecordedPayment, item: CalendarItem) -> bool:
    return payment.first <= item.period_end and item.period_start <= payment.last


def _spread(payment: RecordedPayment, accounts: Sequence[_Account]) -> None:
    """Let a payment count for items in the order of their due dates, and the rest of it for the last of them."""
    left = payment.cents
    for each in accounts:
        cents = min(left, each.open) if each.takes_more else 0
        if cents:
            each.recorded = True
            each.add(cents, payment.paid_on)
            left -= cents
    if left:
        accounts[-1].recorded = True
        accounts[-1].add(left, payment.paid_on)


def _returns(accounts: Mapping[str, _Account]) -> Iterator[_Account]:
    """Yield the items whose duty settles others, with those others."""
    by_duty: dict[tuple[str, str], list[_Account]] = {}
    for each in accounts.values():
        by_duty.setdefault((each.item.jurisdiction, _duty(each.item)), []).append(each)
    for jurisdiction in sorted({jurisdiction for jurisdiction, _ in by_duty}):
        for duty in duties_of(jurisdiction).duties:
            own = by_duty.get((jurisdiction, duty.id), []) if duty.less else []
            for other in duty.less:
                for each in by_duty.get((jurisdiction, other), []):
                    settled_by = next((one for one in own if _covers(one.item, each.item)), None)
                    if settled_by is not None:
                        settled_by.settles.append(each)
            yield from (each for each in own if each.settles)


def _covers(item: CalendarItem, other: CalendarItem) -> bool:
    return item.period_start <= other.period_end <= item.period_end


def _pass_on(accounts: Sequence[_Account]) -> None:
    """Let what is too much for one item count for others of the same return that are open, the earliest due first."""
    in_order = sorted(accounts, key=lambda each: (each.item.due, each.item.key))
    for giver in in_order:
        for taker in in_order:
            if giver.open < 0 < giver.paid and taker.takes_more and giver.last is not None:
                cents = min(-giver.open, giver.paid, taker.open)
                giver.paid -= cents
                taker.add(cents, giver.last)


# What is to be done about an item


def _settled(household: Household, item: CalendarItem, account: _Account | None) -> CalendarItem:
    filed, marked = household.filed.get(item.key), household.done.get(item.key)
    if item.amount is None:
        to_file = item.kind in FILED and item.done_on is None and filed is None
        if filed is None and marked is None and not to_file:
            return item
        return replace(
            item,
            done_on=filed.filed_on if filed is not None else item.done_on,
            filed_on=None if filed is None else filed.filed_on,
            marked_on=marked,
            next_step="file" if to_file else "none",
        )
    account = account or _Account(item, item.amount)
    is_over = item.period_end < household.as_of
    return replace(
        item,
        done_on=_done_on(item, account, filed, marked, is_over=is_over),
        paid=account.paid,
        open=account.open,
        paid_on=account.last,
        filed_on=None if filed is None else filed.filed_on,
        marked_on=marked,
        payment_status=_status(item, account, household.as_of),
        next_step=_next_step(item, account, filed, marked, is_over=is_over),
    )


def _done_on(
    item: CalendarItem,
    account: _Account,
    filed: RecordedFiling | None,
    marked: datetime.date | None,
    *,
    is_over: bool,
) -> datetime.date | None:
    """Return when the item was done, by the ledger or by the household's word; None where something is left to do."""
    if not account.recorded and filed is None and marked is not None:
        return marked
    days = []
    if item.kind in FILED:
        filed_on = marked if filed is None else filed.filed_on
        if filed_on is None:
            return None
        days.append(filed_on)
    if account.open > 0 and (account.recorded or marked is None):
        return None
    if account.last is None and marked is None and item.kind not in FILED:
        return None
    days += [day for day in (account.last, None if account.recorded else marked) if day is not None]
    return max(days, default=marked) if is_over or marked is not None else None


def _status(item: CalendarItem, account: _Account, today: datetime.date) -> TaxPaymentStatus:
    if account.open > 0:
        if item.due < today:
            return "late"
        return "short" if account.paid else "open"
    if not account.paid:
        return "nothing_owed"
    if account.open < 0:
        return "overpaid"
    return "paid_late" if account.last is not None and account.last > item.due else "paid"


def _next_step(
    item: CalendarItem,
    account: _Account,
    filed: RecordedFiling | None,
    marked: datetime.date | None,
    *,
    is_over: bool,
) -> NextStep:
    to_pay = account.open > 0 and (account.recorded or marked is None)
    if item.kind in FILED and filed is None and marked is None:
        return "file_and_pay" if to_pay else "file"
    if to_pay:
        return "pay"
    if filed is not None and filed.total is not None and filed.total != account.owed + item.earlier:
        return "amend"
    return "claim_refund" if account.open < 0 and account.paid and is_over else "none"
