"""What employees were paid around a pay period, as income tax on a bonus, or on pay beside one, counts it.

A period's pay bears one tax however many payrolls pay it, and in whatever order. So each paycheck is taxed together
with the others of its period, less what these bore. A bonus in a period without regular pay is added to that of the
last one.
"""

import datetime
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.paychecks import PostedInYear
from hearthpay.payroll.ledger.rows import PaycheckRow, PayrollRecord
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import SettledOrder
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.paycheck.request import OtherPay

_INCOME_TAXES: Final = ("federal_income_tax", "state_income_tax")
_FEDERAL: Final = "US-"
_FLAT: Final = "US-FIT-SUP"
"""The line of supplemental wages that bear the federal flat rate."""

_REGULAR: Final = Fragment(
    "(e.regular_hours > 0 OR e.overtime_hours > 0 OR e.salary IS NOT NULL OR e.other_earnings > 0)"
)
_ENTRY: Final = Fragment("e.payroll_id, e.employee_id, e.period")
_PAID: Final = Fragment(
    "JOIN paychecks c ON c.payroll_id = e.payroll_id AND c.employee_id = e.employee_id AND c.reverses IS NULL "
    "AND c.gross_pay > 0"
)


class _BesideRow(NamedTuple):
    employee_id: UUID


_BESIDE: Final = query(
    _BesideRow,
    "SELECT DISTINCT w.employee_id FROM unnest(CAST(:employees AS uuid[]), CAST(:firsts AS date[]), "
    "CAST(:lasts AS date[])) AS w(employee_id, first, last) JOIN payroll_entries e ON e.employee_id = w.employee_id "
    "AND e.live AND upper(e.period) > w.first AND lower(e.period) <= w.last {paid}",
    paid=_PAID,
)


class _PaidWorkRow(NamedTuple):
    employee_id: UUID
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    pay_frequency: str
    regular_hours: bool
    regular_wages: int
    supplemental_wages: int
    codes: list[str] | None
    line_amounts: list[int] | None


_AROUND: Final = query(
    _PaidWorkRow,
    "SELECT w.employee_id, lower(e.period) AS period_start, upper(e.period) - 1 AS period_end, p.pay_date, "
    "p.pay_frequency, (c.regular_hours > 0 OR c.overtime_hours > 0 OR c.salary IS NOT NULL) AS regular_hours, "
    "c.regular_pay + c.overtime_pay + c.other_earnings AS regular_wages, c.bonus AS supplemental_wages, s.codes, "
    "c.line_amounts FROM (SELECT v.employee_id, min(v.first) AS first, max(v.last) AS last "
    "FROM unnest(CAST(:employees AS uuid[]), CAST(:firsts AS date[]), CAST(:lasts AS date[])) "
    "AS v(employee_id, first, last) GROUP BY v.employee_id) AS w CROSS JOIN LATERAL ("
    "SELECT {entry} FROM payroll_entries e WHERE e.employee_id = w.employee_id AND e.live "
    "AND upper(e.period) > w.first - CAST(:around AS integer) AND lower(e.period) <= w.last + CAST(:around AS integer) "
    "UNION (SELECT {entry} FROM payroll_entries e {paid} WHERE e.employee_id = w.employee_id AND e.live "
    "AND upper(e.period) <= w.first AND {regular} ORDER BY upper(e.period) DESC, e.payroll_id LIMIT 1)) AS e "
    "JOIN payrolls p ON p.id = e.payroll_id {paid} LEFT JOIN line_sets s ON s.id = c.line_set_id ORDER BY c.id",
    entry=_ENTRY,
    regular=_REGULAR,
    paid=_PAID,
)
_AROUND_DAYS: Final = 35
"""A period that overlaps one which overlaps the requested one begins and ends within so many days of it."""


class _WithheldRow(NamedTuple):
    employee_id: UUID
    code: str
    since: datetime.date


_WITHHELD: Final = query(
    _WithheldRow,
    "SELECT e.employee_id, n.code, min(upper(e.period) - 1) AS since FROM payroll_entries e "
    "JOIN payrolls p ON p.id = e.payroll_id AND p.pay_date BETWEEN :first AND :last {paid} "
    "JOIN line_sets s ON s.id = c.line_set_id "
    "CROSS JOIN LATERAL unnest(s.codes, s.categories, c.line_amounts) AS n(code, category, amount) "
    "WHERE e.employee_id = ANY(:employees) AND e.live AND {regular} "
    "AND n.category = ANY(:categories) AND n.amount > 0 "
    "AND NOT EXISTS (SELECT FROM payroll_entries b JOIN paychecks d ON d.payroll_id = b.payroll_id "
    "AND d.employee_id = b.employee_id AND d.reverses IS NULL JOIN line_sets t ON t.id = d.line_set_id "
    "WHERE b.employee_id = e.employee_id AND b.live AND b.bonus > 0 AND b.period && e.period "
    "AND (n.category <> 'federal_income_tax' OR :flat <> ALL(t.codes))) GROUP BY e.employee_id, n.code "
    "UNION ALL SELECT w.employee_id, n.code, make_date(w.tax_year, 1, 1) FROM prior_wages w "
    "CROSS JOIN LATERAL unnest(w.codes, w.amounts) AS n(code, amount) WHERE w.employee_id = ANY(:employees) "
    "AND w.tax_year BETWEEN CAST(:first_year AS integer) AND CAST(:last_year AS integer) AND w.replaced_by IS NULL "
    "AND n.amount > 0",
    paid=_PAID,
    regular=_REGULAR,
)
"""Income taxes withheld from regular wages, with the last day of the earliest period. Periods whose regular wages may
have been taxed together with a bonus tell nothing: the tax may be the bonus's. A state's tax doesn't say how it was."""


class PaidWork(NamedTuple):
    """A standing paycheck: what it paid for which days, in cents, and its taxes by line code."""

    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    pay_frequency: str
    pays_the_period: bool
    regular: int
    supplemental: int
    taxes: Mapping[str, int]
    withheld: frozenset[str]
    """The income taxes that it withheld, unless they are known otherwise."""

    def overlaps(self, start: datetime.date, end: datetime.date) -> bool:
        """Return whether it pays for one of these days."""
        return self.start <= end and start <= self.end


@dataclass(frozen=True, slots=True)
class EarlierPay:
    """What was paid to people, by each of their records, and since when income taxes are withheld from regular pay.

    Only those are in it for whom it matters: who are paid a bonus, or were paid for some of the days already.
    """

    persons: Mapping[UUID, Sequence[UUID]] = field(default_factory=dict)
    periods: Mapping[UUID, tuple[PaidWork, ...]] = field(default_factory=dict)
    withheld_since: Mapping[UUID, Mapping[str, datetime.date]] = field(default_factory=dict)

    def with_payroll(self, order: SettledOrder, record: PayrollRecord) -> "EarlierPay":
        """Return it after one more payroll."""
        after = self
        for paycheck in record.paychecks:
            after = after.with_paycheck(order, paycheck)
        return after

    def with_paycheck(self, order: SettledOrder, paycheck: PaycheckRow) -> "EarlierPay":
        """Return it after one more paycheck, for all records of the person."""
        employee = paycheck.employee_id
        records = self.persons.get(employee)
        if records is None or not paycheck.gross_pay:
            return self
        dates = order.dates
        paid = _paid(dates.period_start, dates.period_end, dates.pay_date, order.pay_frequency, paycheck)
        after = (*self.periods.get(employee, ()), paid)
        return replace(self, periods={**self.periods, **dict.fromkeys(records, after)})

    def counted_with(
        self, employee_id: UUID, order: SettledOrder, *, regular: bool, pays_the_period: bool
    ) -> OtherPay | None:
        """Return the pay with which income tax counts a paycheck: of the same year, since no other is corrected."""
        dates = order.dates
        paid = [
            each for each in self.periods.get(employee_id, ()) if each.pay_date.year == dates.pay_date.year
        ]
        current = self._current(employee_id, order, pays_the_period=pays_the_period)
        if pays_the_period:
            paying = [each for each in paid if each.pays_the_period]
            same = [
                each
                for each in paid
                if not each.pays_the_period
                and each.overlaps(dates.period_start, dates.period_end)
                and not any(other.overlaps(each.start, each.end) for other in paying)
            ]
        else:
            same = [
                each
                for each in paid
                if each is current
                or (
                    not each.pays_the_period
                    and (
                        each.overlaps(dates.period_start, dates.period_end)
                        or (current is not None and each.overlaps(current.start, current.end))
                    )
                )
            ]
        last: PaidWork | None = None
        if not regular and not any(each.regular for each in same):
            before = [each for each in paid if each.regular and each.end < dates.period_start]
            last = max(before, key=lambda each: (each.end, each.regular), default=None)
        if not same and last is None:
            return None
        taxes: Counter[str] = Counter()
        for each in same:
            taxes.update(each.taxes)
        of_regular = last or next((each for each in same if each.regular), None)
        return OtherPay(
            regular_wages=from_cents(sum(each.regular for each in same)),
            supplemental_wages=from_cents(sum(each.supplemental for each in same)),
            taxes={code: from_cents(cents) for code, cents in taxes.items()},
            last_regular_wages=from_cents(0 if last is None else last.regular),
            pay_frequency=(current or of_regular or same[0]).pay_frequency,
        )

    def withheld_before(
        self, employee_id: UUID, order: SettledOrder, *, pays_the_period: bool
    ) -> frozenset[str]:
        """Return the income taxes that were withheld from regular wages of earlier periods, this year or last."""
        current = self._current(employee_id, order, pays_the_period=pays_the_period)
        start = order.dates.period_start if current is None else current.start
        since = _since(self.withheld_since.get(employee_id, {}), self.periods.get(employee_id, ()))
        return frozenset(code for code, end in since.items() if end < start)

    def _current(self, employee_id: UUID, order: SettledOrder, *, pays_the_period: bool) -> PaidWork | None:
        """Return the paycheck that pays for the period in which one without hours falls: the last of several."""
        if pays_the_period:
            return None
        dates = order.dates
        paying = [
            each
            for each in self.periods.get(employee_id, ())
            if each.pays_the_period
            and each.pay_date.year == dates.pay_date.year
            and each.overlaps(dates.period_start, dates.period_end)
        ]
        return max(paying, key=lambda each: each.end, default=None)


NO_EARLIER_PAY: Final = EarlierPay()


async def read_earlier_pay(
    session: AsyncSession, orders: Sequence[SettledOrder], histories: Mapping[UUID, History]
) -> EarlierPay:
    """Return what the employees of these payrolls were paid around their periods, of those for whom it matters.

    ``histories`` tell which records are one person's.
    """
    asked: dict[UUID, list[SettledOrder]] = {}
    for order in orders:
        if order.fica_refund:
            continue
        for entry in order.entries:
            asked.setdefault(entry.employee_id, []).append(order)
    bonuses = {
        entry.employee_id
        for order in orders
        if not order.fica_refund
        for entry in order.entries
        if entry.bonus
    }
    persons = {employee: records_of_person(employee, histories.get(employee)) for employee in asked}
    which = _which({employee: asked[employee] for employee in asked if employee not in bonuses}, persons)
    beside = (
        {row.employee_id for row in await fetch_all(session, _BESIDE, which)} if which["employees"] else set()
    )
    matter = {
        employee: asked[employee]
        for employee, records in persons.items()
        if employee in bonuses or len(asked[employee]) > 1 or beside.intersection(records)
    }
    if not matter:
        return NO_EARLIER_PAY
    found: dict[UUID, list[PaidWork]] = {}
    around = _which(matter, persons) | {"around": _AROUND_DAYS}
    for row in await fetch_all(session, _AROUND, around):
        taxes = dict(zip(row.codes or (), row.line_amounts or (), strict=True))
        found.setdefault(row.employee_id, []).append(PaidWork(*row[1:8], taxes, frozenset()))
    years = [order.dates.pay_date.year for orders_of in matter.values() for order in orders_of]
    records_of_them = {record for each in matter for record in persons[each]}
    since = await read_withheld(session, records_of_them, min(years) - 1, max(years))
    return _by_person({employee: persons[employee] for employee in matter}, found, since)


async def read_withheld(
    session: AsyncSession,
    employees: Iterable[UUID],
    first_year: int,
    last_year: int,
    *,
    paid_until: datetime.date = datetime.date.max,
) -> dict[UUID, dict[str, datetime.date]]:
    """Return which income taxes were withheld from regular wages paid in these years, and since which period's end.

    Our own paychecks count if they were ``paid_until`` a day, those of another payroll in any case.
    """
    since: dict[UUID, dict[str, datetime.date]] = {}
    asked = {
        "employees": list(employees),
        "first": datetime.date(first_year, 1, 1),
        "last": min(paid_until, datetime.date(last_year, 12, 31)),
        "flat": _FLAT,
        "first_year": first_year,
        "last_year": last_year,
        "categories": list(_INCOME_TAXES),
    }
    for row in await fetch_all(session, _WITHHELD, asked):
        codes = since.setdefault(row.employee_id, {})
        codes[row.code] = min(row.since, codes.get(row.code, row.since))
    return since


def earlier_pay_of(
    posted: Sequence[PostedInYear],
    persons: Mapping[UUID, Sequence[UUID]],
    withheld_before: Mapping[UUID, Mapping[str, datetime.date]],
) -> EarlierPay:
    """Return the same from the paychecks of a household's year so far, for people given by their records.

    ``withheld_before`` is what was withheld otherwise, by `read_withheld`.
    """
    reversed_ones = {each.reverses for each in posted}
    found: dict[UUID, list[PaidWork]] = {}
    for each in posted:
        if each.reverses is None and each.id not in reversed_ones and each.paycheck.gross_pay > 0:
            paid = _paid(each.period_start, each.period_end, each.pay_date, each.pay_frequency, each.paycheck)
            found.setdefault(each.paycheck.employee_id, []).append(paid)
    return _by_person(persons, found, withheld_before)


def records_of_person(employee_id: UUID, history: History | None) -> tuple[UUID, ...]:
    """Return the ids of all records of the person whom a record is for."""
    return (employee_id,) if history is None or history.others is None else (employee_id, *history.others.ids)


def _since(known: Mapping[str, datetime.date], paid: Sequence[PaidWork]) -> dict[str, datetime.date]:
    """Return since when income taxes are withheld from regular wages: as known, and by what was paid."""
    since = dict(known)
    bonuses = [each for each in paid if each.supplemental]
    for each in paid:
        beside = [other for other in bonuses if other.overlaps(each.start, each.end)]
        apart = all(_FLAT in other.taxes for other in beside)
        for code in each.withheld if each.regular else ():
            if not beside or (apart and code.startswith(_FEDERAL)):
                since[code] = min(each.end, since.get(code, each.end))
    return since


def _by_person(
    persons: Mapping[UUID, Sequence[UUID]],
    found: Mapping[UUID, Sequence[PaidWork]],
    since: Mapping[UUID, Mapping[str, datetime.date]],
) -> EarlierPay:
    by_record: dict[UUID, Sequence[UUID]] = {}
    periods: dict[UUID, tuple[PaidWork, ...]] = {}
    withheld: dict[UUID, dict[str, datetime.date]] = {}
    for records in persons.values():
        if records[0] in by_record:
            continue
        together = tuple(paid for record in records for paid in found.get(record, ()))
        earliest: dict[str, datetime.date] = {}
        for record in records:
            for code, end in since.get(record, {}).items():
                earliest[code] = min(end, earliest.get(code, end))
        by_record |= dict.fromkeys(records, records)
        periods |= dict.fromkeys(records, together)
        withheld |= dict.fromkeys(records, earliest)
    return EarlierPay(by_record, periods, withheld)


def _paid(
    start: datetime.date,
    end: datetime.date,
    pay_date: datetime.date,
    pay_frequency: str,
    paycheck: PaycheckRow,
) -> PaidWork:
    earnings = paycheck.earnings
    return PaidWork(
        start,
        end,
        pay_date,
        pay_frequency,
        bool(earnings.regular_hours or earnings.overtime_hours or paycheck.salary is not None),
        earnings.regular_wages,
        earnings.bonus,
        {line.code: line.amount for line in paycheck.lines},
        frozenset(line.code for line in paycheck.lines if line.category in _INCOME_TAXES and line.amount > 0),
    )


def _which(
    asked: Mapping[UUID, Sequence[SettledOrder]], persons: Mapping[UUID, Sequence[UUID]]
) -> dict[str, object]:
    rows = [
        (record, order.dates.period_start, order.dates.period_end)
        for employee, orders in asked.items()
        for order in orders
        for record in persons[employee]
    ]
    return {
        "employees": [row[0] for row in rows],
        "firsts": [row[1] for row in rows],
        "lasts": [row[2] for row in rows],
    }
