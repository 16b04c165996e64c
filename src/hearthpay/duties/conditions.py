"""Which duties concern a household, by its ledger, its employees and the thresholds that it has crossed.

What the calendar asks of the same lines for each period and employee is looked up once.
"""

import datetime
from collections.abc import Mapping
from uuid import UUID

from hearthpay.duties.amounts import is_among
from hearthpay.duties.household import FEDERAL, Household, HouseholdEmployee, Months
from hearthpay.duties.periods import MONTHS, Period
from hearthpay.duties.rules import ANY_WITHHOLDING, EMPLOYEE, EXEMPTION, LOCAL, WITHHOLDING, HouseholdDuty

_Times = list[tuple[datetime.date, datetime.date | None]]


class Conditions:
    """Answers whether the conditions of duties apply to one household."""

    def __init__(self, household: Household) -> None:
        """Set the household's facts."""
        self._household = household
        self._months: dict[tuple[str, ...], Mapping[UUID, Months]] = {}
        self._liabilities: dict[tuple[str, str, UUID | None], _Times] = {}
        for jurisdiction, name, since, until, employee_id in household.liabilities:
            self._liabilities.setdefault((jurisdiction, name, employee_id), []).append((since, until))

    def begins(self, jurisdiction: str) -> datetime.date:
        """Return the first day on which anybody worked, or was paid, in a state (federal law: anywhere).

        A crossed threshold makes the household liable from the start of the year, but there is nothing to report for
        periods in which nobody worked yet.
        """
        household = self._household
        everywhere = jurisdiction == FEDERAL
        worked = (
            employment.since
            for employee in household.employees
            for employment in employee.employments
            if everywhere or employment.state == jurisdiction
        )
        withheld = (
            withholding.since
            for employee in household.employees
            for withholding in employee.withholding
            if withholding.jurisdiction == jurisdiction
        )
        paid = (
            _first_day(min(months))
            for lines in household.months_of.values()
            for line, months in lines.items()
            if everywhere or line.startswith(f"{jurisdiction}-")
        )
        earned = (
            datetime.date(month.year, month.month, 1)
            for month in household.wages
            if month.cents and (everywhere or month.state == jurisdiction)
        )
        return min((*worked, *withheld, *paid, *earned), default=datetime.date.min)

    def concerns(self, duty: HouseholdDuty, period: Period, employee: HouseholdEmployee) -> bool:
        """Return whether a condition of the duty applies to an employee in the period.

        Money that the ledger has under one of its lines is owed whatever the conditions say.
        """
        if self.has_money(duty.without_lines, period, employee.id):
            return False
        return (
            self.has_money(duty.lines, period, employee.id)
            or self.is_liable(duty, period, employee.id)
            or (ANY_WITHHOLDING in duty.when and _withholds(employee, None, period))
            or (WITHHOLDING in duty.when and _withholds(employee, duty.jurisdiction, period))
            or (
                LOCAL in duty.when
                and any(is_among(line, duty.lines) for line in employee.local_lines)
                and _works(employee, duty.jurisdiction, period)
            )
            or (EXEMPTION in duty.when and employee.claims_exemption and _works(employee, FEDERAL, period))
            or (
                EMPLOYEE in duty.when
                and employee.relationship not in duty.exempt_relationships
                and _works(employee, duty.jurisdiction, period)
            )
        )

    def has_money(self, lines: tuple[str, ...], period: Period, employee_id: UUID) -> bool:
        """Return whether an employee's ledger has an amount under one of the lines in the period."""
        if not lines:
            return False
        months = self._months_with(lines).get(employee_id)
        return months is not None and not months.isdisjoint(period.months)

    def is_liable(self, duty: HouseholdDuty, period: Period, employee_id: UUID | None) -> bool:
        """Return whether a threshold of the duty is crossed in the period: by all wages (None), or by one
        employee's.
        """
        return any(
            period.meets(since, until)
            for name in duty.when
            for since, until in self._liabilities.get((duty.jurisdiction, name, employee_id), ())
        )

    def _months_with(self, lines: tuple[str, ...]) -> Mapping[UUID, Months]:
        """Return the months in which employees have an amount under one of the lines, by employee."""
        if lines not in self._months:
            matching = {line for line in self._household.cents_by_line if is_among(line, lines)}
            found = {
                employee_id: frozenset[int]().union(*(own[line] for line in matching & own.keys()))
                for employee_id, own in self._household.months_of.items()
            }
            self._months[lines] = {employee_id: months for employee_id, months in found.items() if months}
        return self._months[lines]


def _first_day(month: int) -> datetime.date:
    return datetime.date((month - 1) // MONTHS, (month - 1) % MONTHS + 1, 1)


def _works(employee: HouseholdEmployee, state: str, period: Period) -> bool:
    return any(
        state in (FEDERAL, employment.state) and period.meets(employment.since, employment.until)
        for employment in employee.employments
    )


def _withholds(employee: HouseholdEmployee, jurisdiction: str | None, period: Period) -> bool:
    """Return whether tax of the jurisdiction (None: of any) is withheld in the period while the employee works."""
    return any(
        jurisdiction in (None, withholding.jurisdiction)
        and _overlap(
            (period.start, period.end),
            (withholding.since, withholding.until),
            (employment.since, employment.until),
        )
        for withholding in employee.withholding
        for employment in employee.employments
    )


def _overlap(*stretches: tuple[datetime.date, datetime.date | None]) -> bool:
    """Return whether the time spans have a day in common."""
    first = max(since for since, _ in stretches)
    return all(until is None or first <= until for _, until in stretches)
