"""The calendar of duties: what is due in a range of days, from the facts of a household.

A pure function: facts that change and change back give the same items. An item keeps its key and its uid, even if its
date changes.
"""

import datetime
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID, uuid5

from hearthpay.duties.amounts import Amounts, Covered, PaydayPart, is_among
from hearthpay.duties.conditions import Conditions
from hearthpay.duties.frequency import FrequencyReason
from hearthpay.duties.household import FEDERAL, Household, HouseholdEmployee
from hearthpay.duties.office_days import office_day_on_or_after
from hearthpay.duties.periods import YEARS, AfterHire, AfterPayday, CoveredDays, Partition, Paydays, Period
from hearthpay.duties.rules import EMPLOYEE, PAID, Duties, HouseholdDuty, Kind, duties_of
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

_CONFIDENCES: Final = ("low", "medium", "high")

_YEARS_AROUND: Final = 2
"""A duty is due at most this many years from the period it covers."""

_BEYOND: Final = datetime.timedelta(days=31)
"""A duty is due at most this long before its hire, however its date moves."""


TaxPaymentStatus = Literal["nothing_owed", "open", "short", "late", "paid", "paid_late", "overpaid"]
"""Of a payment: ``open`` until it is due, ``short`` where a part was paid, ``late`` where something is open after the
due date, ``paid_late`` where all was paid, the last of it after that date."""

NextStep = Literal["none", "pay", "file", "file_and_pay", "amend", "claim_refund"]
"""``amend``: the payrolls of the period have changed since the return was filed; ``claim_refund``: more was paid than
is owed for a period that has ended."""


class UnknownFilingError(ValueError):
    """A household files under an account, or at a frequency, that the jurisdiction doesn't have."""


@dataclass(frozen=True, slots=True)
class CalendarItem:
    """Something a household must do, may choose, or must hand out, by a certain day."""

    key: str
    """The item's permanent name within the household, used to mark it as done."""

    uid: UUID
    """The item's permanent and globally unique name."""

    kind: Kind
    jurisdiction: str
    what: str
    agency: str
    form: str | None
    employee_id: UUID | None
    employee_name: str | None
    period: str
    """``2026``, ``2026-H1``, ``2026-Q3``, ``2026-M12``, ``2026-I2`` (an installment), or a day: of the hire, or the
    last of the paydays that are paid together."""

    period_start: datetime.date
    period_end: datetime.date
    due: datetime.date
    """The last day on which it is on time, moved as the agency moves it."""

    due_unmoved: datetime.date
    """The day that the law names: the one to aim for if it isn't certain how the agency moves it."""

    amount: int | None
    """For a payment, the ledger's amount for the period so far, less what earlier items pay of it, in cents."""

    earlier: int
    """The amount that earlier items pay for the same period, in cents."""

    reason: FrequencyReason | None
    """Why it is filed at this frequency; None if the agency gives no choice."""

    link: str | None
    done_on: datetime.date | None
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence

    # What the household recorded; `settlement` fills it in.

    paid: int | None = None
    """For a payment, what the household recorded as paid, in cents."""

    open: int | None = None
    """``amount`` less ``paid``; below zero where too much was paid."""

    paid_on: datetime.date | None = None
    """The day of the last payment."""

    filed_on: datetime.date | None = None
    marked_on: datetime.date | None = None
    """When it was done by the household's word alone."""

    payment_status: TaxPaymentStatus | None = None
    next_step: NextStep = "none"

    @property
    def covers(self) -> CoveredDays | None:
        """The days that it is for, which its title names.

        None for what happens on one day, such as a hire, and for an election, whose words say from which year it holds.
        """
        if self.kind == "election":
            return None
        if self.period != self.period_end.isoformat():
            return CoveredDays(self.period_start, self.period_end)
        if self.amount is None:
            return None
        return CoveredDays(self.period_start, self.period_end, of_paydays=True)


def calendar_of_duties(
    household: Household, first: datetime.date, last: datetime.date
) -> tuple[CalendarItem, ...]:
    """Return what is due from ``first`` to ``last``, both included, by due date.

    Raises `UnknownFilingError` for a filing unknown to its jurisdiction, KeyError for a state without duties.
    """
    _check_filings(household)
    conditions = Conditions(household)
    items = [
        item
        for jurisdiction in _jurisdictions(household)
        for item in _items(household, conditions, duties_of(jurisdiction), first, last)
        if first <= item.due <= last
    ]
    return tuple(sorted(items, key=lambda item: (item.due, item.key)))


def payments_covering(
    household: Household, day: datetime.date, first: datetime.date, last: datetime.date
) -> list[CalendarItem]:
    """Return the items with an amount that `calendar_of_duties` has from ``first`` to ``last`` for periods with a day.

    In no order. Raises what `calendar_of_duties` raises.
    """
    _check_filings(household)
    conditions = Conditions(household)
    return [
        item
        for jurisdiction in _jurisdictions(household)
        for item in _payments(household, conditions, duties_of(jurisdiction), day)
        if first <= item.due <= last and item.period_start <= day <= item.period_end
    ]


def _jurisdictions(household: Household) -> list[str]:
    """Return where the household may have duties: federal law, and each state of work, withholding, or amounts owed."""
    states = {employment.state for employee in household.employees for employment in employee.employments}
    states |= {
        withholding.jurisdiction for employee in household.employees for withholding in employee.withholding
    }
    states |= {liability.jurisdiction for liability in household.liabilities}
    states |= {line[:2] for line in household.cents_by_line}
    return [FEDERAL, *sorted(states - {FEDERAL})]


def _check_filings(household: Household) -> None:
    for filing in household.filings:
        try:
            account = duties_of(filing.jurisdiction).account(filing.account)
        except KeyError as error:
            raise UnknownFilingError(
                f"{filing.jurisdiction} has no account {filing.account!r} with a choice"
            ) from error
        if filing.frequency not in account.frequencies:
            raise UnknownFilingError(
                f"{filing.jurisdiction} {filing.account}: {filing.frequency!r} is not one of "
                f"{', '.join(account.frequencies)}"
            )


def _items(
    household: Household, conditions: Conditions, duties: Duties, first: datetime.date, last: datetime.date
) -> Iterator[CalendarItem]:
    amounts = Amounts(household, duties)
    begins = {each: conditions.begins(each) for each in {duty.jurisdiction for duty in duties.duties}}
    years = range(first.year - _YEARS_AROUND, last.year + _YEARS_AROUND + 1)
    due_in = [_periods_due(duties.jurisdiction, year) for year in years]
    for duty in duties.duties:
        if duty.partition is None:
            yield from _at_hires(household, duty, last)
        elif isinstance(duty.partition, Paydays):
            for year in years:
                yield from _at_paydays(household, amounts, duty, year)
        else:
            for of_year in due_in:
                for period, due in of_year[duty.id]:
                    if first <= due <= last:
                        yield from _for_period(
                            household, conditions, amounts, duty, period, begins[duty.jurisdiction]
                        )


def _payments(
    household: Household, conditions: Conditions, duties: Duties, day: datetime.date
) -> Iterator[CalendarItem]:
    """Yield what is paid for the year of a day, but for the periods that end before it.

    A period may cover months before its own, never later ones, nor those of another year.
    """
    amounts = Amounts(household, duties)
    begins = {each: conditions.begins(each) for each in {duty.jurisdiction for duty in duties.duties}}
    for duty in duties.duties:
        if isinstance(duty.partition, Paydays):
            yield from _at_paydays(household, amounts, duty, day.year)
        elif duty.partition is not None and duty.kind in PAID and duty.lines and not duty.each_employee:
            for period in duty.partition.periods(day.year):
                if day.month <= period.last_month:
                    yield from _for_period(
                        household, conditions, amounts, duty, period, begins[duty.jurisdiction], day
                    )


@functools.lru_cache(256)
def _periods_due(jurisdiction: str, year: int) -> Mapping[str, Sequence[tuple[Period, datetime.date]]]:
    """Return the periods of a year, each with its due date, for each duty of a jurisdiction that has any."""
    return {
        duty.id: [(period, _moved(duty, _unmoved(duty, period))) for period in duty.partition.periods(year)]
        for duty in duties_of(jurisdiction).duties
        if isinstance(duty.partition, Partition)
    }


# What is due for a period


def _for_period(
    household: Household,
    conditions: Conditions,
    amounts: Amounts,
    duty: HouseholdDuty,
    period: Period,
    begins: datetime.date,
    day: datetime.date = datetime.date.max,
) -> Iterator[CalendarItem]:
    """Yield the items for a period, unless they are for months that begin after ``day``."""
    if _is_outside(household, duty, period) or _has_too_high_wages(household, duty, period):
        return
    covered = amounts.covered(duty, period)
    if covered is None or covered.period.start > day:
        return
    unmoved = _unmoved(duty, period)
    # An election made ahead for a year concerns a household that is liable in the year in which it chooses.
    asked = covered.period if unmoved >= period.start else next(YEARS.periods(unmoved.year))
    if asked.end < begins:
        return
    days = (covered.period.start, covered.period.end)
    if duty.each_employee:
        for employee in household.employees:
            if conditions.concerns(duty, asked, employee):
                yield _item(household, duty, employee, period.label, days, unmoved)
        return
    concerned = conditions.is_liable(duty, asked, None) or any(
        conditions.concerns(duty, asked, employee) for employee in household.employees
    )
    amount = amounts.amount(duty, covered)
    if _has_nothing_to_say(household, conditions, duty, covered, amount) or not (
        concerned or (begins > datetime.date.min and duty.nil and _is_open(household, duty))
    ):
        return
    yield _item(
        household, duty, None, period.label, days, unmoved, amount, covered, amounts.earlier(duty, covered)
    )


def _has_nothing_to_say(
    household: Household, conditions: Conditions, duty: HouseholdDuty, covered: Covered, amount: int | None
) -> bool:
    """Return whether a past period had no payments and the agency requires no return for it."""
    if covered.period.end >= household.as_of or not duty.lines:
        return False
    if duty.kind == "payment":
        return amount == 0
    return not duty.nil and not any(
        conditions.has_money(duty.lines, covered.period, employee.id) for employee in household.employees
    )


def _is_open(household: Household, duty: HouseholdDuty) -> bool:
    """Return whether the household has a number for an account under which the duty is filed."""
    return duty.kind == "return" and any(is_among(line, duty.lines) for line in household.open_lines)


# What is due after a payday


def _at_paydays(
    household: Household, amounts: Amounts, duty: HouseholdDuty, year: int
) -> Iterator[CalendarItem]:
    if not isinstance(duty.due, AfterPayday):
        raise TypeError(f"{duty.id} is due for a period of months")
    for part in amounts.paydays(duty, year):
        if not _is_outside(household, duty, _month_of(part)):
            unmoved = duty.due.date(part.closes, duty.moving.offices)
            covered = Covered(_month_of(part), amounts.reason_on(duty, part.last))
            yield _item(
                household, duty, None, part.label, (part.first, part.last), unmoved, part.cents, covered
            )


def _month_of(part: PaydayPart) -> Period:
    return Period(part.label, part.last.year, part.last.month, part.last.month)


def _is_outside(household: Household, duty: HouseholdDuty, period: Period) -> bool:
    """Return whether the law begins after the period, or the account was closed before it."""
    if duty.effective_from is not None and period.end < duty.effective_from:
        return True
    return any(
        closed.jurisdiction == duty.jurisdiction
        and closed.account == duty.account
        and closed.on < period.start
        for closed in household.closed
    )


def _has_too_high_wages(household: Household, duty: HouseholdDuty, period: Period) -> bool:
    if duty.wages_at_most is None:
        return False
    wages = sum(
        month.cents
        for month in household.wages
        if month.state == duty.jurisdiction and month.year == period.year
    )
    return wages > duty.wages_at_most


def _unmoved(duty: HouseholdDuty, period: Period) -> datetime.date:
    if isinstance(duty.due, (AfterHire, AfterPayday)):
        raise TypeError(f"{duty.id} is due after a day")
    return duty.due.date(period)


def _moved(duty: HouseholdDuty, unmoved: datetime.date) -> datetime.date:
    return office_day_on_or_after(unmoved, duty.moving.offices) if duty.moving.moves else unmoved


# What is due at a hire


def _at_hires(household: Household, duty: HouseholdDuty, last: datetime.date) -> Iterator[CalendarItem]:
    """Yield what is due for hires up to the day, and a little beyond; a hire far ahead may have no due date."""
    if not isinstance(duty.due, AfterHire):
        raise TypeError(f"{duty.id} is due for a period")
    for employee in household.employees:
        for number, hired_on in enumerate(_hires(employee, duty), 1):
            if hired_on is None or hired_on - last > _BEYOND or not _owes_anything(household, hired_on):
                continue
            unmoved = duty.due.date(hired_on, duty.moving.offices)
            day, label = hired_on.isoformat(), f"hire-{number}"
            yield _item(household, duty, employee, day, (hired_on, hired_on), unmoved, label=label)


def _owes_anything(household: Household, hired_on: datetime.date) -> bool:
    """Return whether the household owes anything at all: below every threshold, a hire brings no duties either.

    Where a state requires premiums from the first dollar, everybody who works there is above the threshold.
    """
    return (
        household.expects_to_owe
        or bool(household.liabilities)
        or any(employee.withholding for employee in household.employees)
        or any(
            EMPLOYEE in duty.when
            and isinstance(duty.partition, Partition)
            and employee.relationship not in duty.exempt_relationships
            and (duty.effective_from is None or duty.effective_from <= hired_on)
            for employee in household.employees
            for state in {employment.state for employment in employee.employments}
            for duty in duties_of(state).duties
        )
    )


def _hires(employee: HouseholdEmployee, duty: HouseholdDuty) -> Iterator[datetime.date | None]:
    """Yield the first day of each employment that is a hire in the duty's jurisdiction, None for those that aren't.

    An employee who moves to another state without a break was hired before.
    """
    left: datetime.date | None = None
    for number, employment in enumerate(employee.employments):
        is_hire = number == 0 or (
            duty.rehired_after is not None
            and left is not None
            and (employment.since - left).days > duty.rehired_after
        )
        there = duty.jurisdiction in (FEDERAL, employment.state)
        yield employment.since if is_hire and there else None
        left = employment.until


# The item


def _item(
    household: Household,
    duty: HouseholdDuty,
    employee: HouseholdEmployee | None,
    period: str,
    days: tuple[datetime.date, datetime.date],
    unmoved: datetime.date,
    amount: int | None = None,
    covered: Covered | None = None,
    earlier: int = 0,
    *,
    label: str | None = None,
) -> CalendarItem:
    """Return the item; ``label`` replaces ``period`` in its key if the period may still change."""
    key = f"{duty.jurisdiction}/{duty.id}/{label or period}"
    if employee is not None:
        key += f"/{employee.id}"
    due = _moved(duty, unmoved)
    sources, confidence = duty.sources, duty.confidence
    if due != unmoved:
        sources = tuple(dict.fromkeys((*sources, *duty.moving.sources)))
        confidence = min(confidence, duty.moving.confidence, key=_CONFIDENCES.index)
    return CalendarItem(
        key=key,
        uid=uuid5(household.id, key),
        kind=duty.kind,
        jurisdiction=duty.jurisdiction,
        what=duty.what,
        agency=duty.agency,
        form=duty.form,
        employee_id=None if employee is None else employee.id,
        employee_name=None if employee is None else employee.name,
        period=period,
        period_start=days[0],
        period_end=days[1],
        due=due,
        due_unmoved=unmoved,
        amount=amount,
        earlier=earlier,
        reason=None if covered is None else covered.reason,
        link=duty.link,
        done_on=household.done.get(key),
        note=duty.note,
        sources=sources,
        confidence=confidence,
    )
