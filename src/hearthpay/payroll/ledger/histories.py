"""The years of employees in the database: the totals of their paychecks, and what each year still owes.

Besides the immutable paychecks and lines there is one row per employee and year with their sums, so that a paycheck
costs the same however long the history is. `posting` writes what a paycheck changes in it.
"""

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import ASSIGNED_RATES
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.same_person import Record, records_of
from hearthpay.payroll.ledger.lines import LINES
from hearthpay.payroll.ledger.rows import YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, PriorWages, other_records
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.taxes import YearSoFar
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.prior_wages import counted_year
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.year import PaidWages

_ARRAYS: Final = Fragment(
    "array_to_string(codes, ',') AS codes, array_to_string(subject_wages, ',') AS subject_wages, "
    "array_to_string(taxable_wages, ',') AS taxable_wages, array_to_string(amounts, ',') AS amounts, "
    "gross_pay, net_pay, employee_taxes, employer_taxes"
)
"""Each array comes as one text, since the driver would check every element. Years, prior wages and escrow are in one
statement, since each costs a round trip to the database and a check of the tenant."""


class _HistoryRow(NamedTuple):
    """A year with its paychecks, wages of earlier payrolls, or an account of set-asides, whose balance is `gross_pay`.

    What the others do not have is None: only a year may lack `subject_wages`, which earlier versions did not keep.
    """

    kind: Literal["year", "prior", "escrow"]
    employee_id: UUID
    codes: str
    subject_wages: str | None
    taxable_wages: str
    amounts: str
    gross_pay: int
    net_pay: int
    employee_taxes: int
    employer_taxes: int
    owed: dict[str, int]
    fica_refunded: bool
    rule_rate: Decimal | None
    rule_amount: int | None
    provisional: str | None
    rulebook_version: str | None
    owed_wages: dict[str, int]


_HISTORIES: Final = query(
    _HistoryRow,
    "SELECT 'year' AS kind, employee_id, {arrays}, owed, fica_refunded, NULL::numeric AS rule_rate, "
    "NULL::bigint AS rule_amount, array_to_string(provisional, ',') AS provisional, rulebook_version, owed_wages "
    "FROM year_balances WHERE employee_id = ANY(:employees) AND tax_year = :tax_year "
    "UNION ALL SELECT 'prior', employee_id, {arrays}, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM prior_wages "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year AND replaced_by IS NULL "
    "UNION ALL SELECT 'escrow', employee_id, NULL, NULL, NULL, NULL, balance, NULL, NULL, NULL, NULL, NULL, rule_rate, "
    "rule_amount, NULL, NULL, NULL FROM escrow_accounts WHERE employee_id = ANY(:employees)",
    arrays=_ARRAYS,
)


class _SubjectWagesRow(NamedTuple):
    code: str
    subject_wages: Decimal


_SUBJECT_WAGES: Final = query(
    _SubjectWagesRow,
    "SELECT l.code, sum(l.subject_wages) AS subject_wages FROM paychecks c "
    "{lines} "
    "WHERE c.employee_id = :employee AND c.tax_year = :tax_year GROUP BY l.code",
    lines=LINES,
)
"""For a year that was opened by a version that didn't store them."""


class _StandingRow(NamedTuple):
    employee_id: UUID
    id: UUID
    pay_date: datetime.date
    work_state: str
    code: str
    subject_wages: int
    rate: Decimal | None
    provisional: bool | None
    assigned: bool


_STANDING: Final = query(
    _StandingRow,
    "SELECT c.employee_id, c.id, p.pay_date, c.work_state, l.code, l.subject_wages, l.rate, "
    "jsonb_exists(c.provisional, l.code) AS provisional, EXISTS ("
    "SELECT FROM {assigned_rates} r WHERE r.employer_id = c.employer_id AND r.tax_year = c.tax_year "
    "AND r.state = left(l.code, 2)) AS assigned FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id {lines} "
    "WHERE c.employee_id = ANY(:employees) AND c.tax_year = :tax_year AND c.reverses IS NULL AND c.gross_pay > 0 "
    "AND c.id <> ALL(:without) AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) "
    "ORDER BY c.employee_id, c.id, l.position",
    assigned_rates=ASSIGNED_RATES,
    lines=LINES,
)
_OWED: Final = text(
    "UPDATE year_balances y SET owed = CASE WHEN k.keeps THEN CAST(:owed AS jsonb) ELSE '{}' END, "
    "owed_wages = CASE WHEN k.keeps THEN CAST(:owed_wages AS jsonb) ELSE '{}' END "
    "FROM (SELECT employee_id, employee_id = max(employee_id::text) OVER ()::uuid AS keeps FROM year_balances "
    "WHERE employee_id = ANY(:records) AND tax_year = :tax_year) k "
    "WHERE y.employee_id = k.employee_id AND y.tax_year = :tax_year"
)
"""What a person's year owes is stored with one of the records that were paid in it."""

NOTHING_PROVISIONAL: Final[frozenset[str]] = frozenset()

_YEARS: Final = text("SELECT DISTINCT tax_year FROM year_balances WHERE employee_id = ANY(:records)")


async def read_histories(
    session: AsyncSession, records: Iterable[Record], tax_year: int
) -> dict[UUID, History]:
    """Return the totals of each employee's paychecks of the year, with the balance and rule of the set-asides.

    For a person with several records all are returned, each with the sums of the others: the year is one.
    """
    asked = list(records)
    people = await records_of(session, {each.person_id for each in asked if each.person_id is not None})
    of_person = {record: person for person in people.values() for record in person}
    ids = list(of_person.keys() | {each.id for each in asked}) if people else [each.id for each in asked]
    found: dict[UUID, History] = {}
    told: dict[UUID, PriorWages] = {}
    for row in await fetch_all(session, _HISTORIES, {"employees": ids, "tax_year": tax_year}):
        employee = row.employee_id
        if row.kind == "year":
            totals, year = YearToDate._make(row[6:10]), await _year(session, row, tax_year)
            found[employee] = replace(
                found.get(employee, NO_HISTORY),
                totals=totals,
                year=year,
                fica_refunded=row.fica_refunded,
                provisional=frozenset(row.provisional.split(",")) if row.provisional else NOTHING_PROVISIONAL,
                rulebook_version=row.rulebook_version,
            )
        elif row.kind == "prior":
            wages = _by_code(row.codes, row.subject_wages or "")
            year = YearSoFar(wages, _by_code(row.codes, row.taxable_wages), _by_code(row.codes, row.amounts))
            paid = PriorWages(YearToDate._make(row[6:10]), year)
            told[employee] = paid.plus(told[employee]) if employee in told else paid
        else:
            unruled = row.rule_rate is None and row.rule_amount is None
            rule = None if unruled else SetAsideRule(row.rule_rate, row.rule_amount)
            found[employee] = replace(
                found.get(employee, NO_HISTORY), set_aside_balance=row.gross_pay, set_aside_rule=rule
            )
    if told or people:
        for person in set(of_person.values()) | {(each,) for each in told if each not in of_person}:
            found |= _of_person(person, found, told, tax_year)
    return found


def _of_person(
    records: Sequence[UUID],
    histories: Mapping[UUID, History],
    told: Mapping[UUID, PriorWages],
    tax_year: int,
) -> dict[UUID, History]:
    """Combine what was found for a person's records, usually one, with the prior wages entered."""
    own = {record: histories.get(record, NO_HISTORY) for record in records}
    prior: PriorWages | None = None
    for record in records:
        if record in told:
            prior = told[record] if prior is None else prior.plus(told[record])
    if prior is not None:
        prior = PriorWages(prior.totals, counted_year(prior.year, tax_year))
    if len(own) == 1:
        return {record: replace(history, prior=prior) for record, history in own.items()}
    owed = {code: cents for history in own.values() for code, cents in history.year.owed.items()}
    wages = {code: cents for history in own.values() for code, cents in history.year.owed_wages.items()}
    return {
        record: replace(
            history,
            year=replace(history.year, owed=owed, owed_wages=wages),
            prior=prior,
            others=other_records([each for each in records if each != record], own),
        )
        for record, history in own.items()
    }


async def _year(session: AsyncSession, row: _HistoryRow, tax_year: int) -> YearSoFar:
    codes = row.codes
    if row.subject_wages is None:
        sums = await fetch_all(session, _SUBJECT_WAGES, {"employee": row.employee_id, "tax_year": tax_year})
        found = {line.code: int(line.subject_wages) for line in sums}
        wages = {code: found.get(code, 0) for code in codes.split(",") if code}
    else:
        wages = _by_code(codes, row.subject_wages)
    return YearSoFar(
        wages, _by_code(codes, row.taxable_wages), _by_code(codes, row.amounts), row.owed, row.owed_wages
    )


async def note_owed(
    session: AsyncSession, employee_id: UUID, history: History, tax_year: int, after: YearSoFar
) -> None:
    """Record what a person's year owes after something other than its paychecks has changed; it must be locked."""
    which = {"records": list(_records(employee_id, history)), "tax_year": tax_year}
    owed = {"owed": _json(after.owed), "owed_wages": _json(after.owed_wages)}
    await session.execute(_OWED, which | owed)


def _json(cents: Mapping[str, int]) -> str:
    return orjson.dumps(dict(cents)).decode()


async def paid_years(session: AsyncSession, records: Collection[UUID]) -> list[int]:
    """Return the tax years in which any of these records was paid, ascending."""
    return sorted(await session.scalars(_YEARS, {"records": list(records)}))


def _records(employee_id: UUID, history: History) -> tuple[UUID, ...]:
    return (employee_id,) if history.others is None else (employee_id, *history.others.ids)


async def read_standing_wages(
    session: AsyncSession, histories: Mapping[UUID, History], tax_year: int, *, without: Sequence[UUID] = ()
) -> dict[UUID, list[PaidWages]]:
    """Return the wages of a year's paychecks that aren't reversed, by employee, in the order they were run.

    They are the person's, whichever record was paid. Those ``without`` are about to be reversed.
    """
    people = {employee: _records(employee, history) for employee, history in histories.items()}
    return await read_wages_of(session, people, tax_year, without=without)


async def read_wages_of(
    session: AsyncSession,
    people: Mapping[UUID, Sequence[UUID]],
    tax_year: int,
    *,
    without: Sequence[UUID] = (),
) -> dict[UUID, list[PaidWages]]:
    """Return the same wages for people given by their records, under the given ids."""
    paid: dict[UUID, dict[UUID, PaidWages]] = {}
    lines: dict[UUID, dict[str, tuple[int, int | None]]] = {}
    employees = sorted({record for records in people.values() for record in records})
    which = {"employees": employees, "tax_year": tax_year, "without": list(without)}
    for row in await fetch_all(session, _STANDING, which):
        own = lines.setdefault(row.id, {})
        own[row.code] = (row.subject_wages, _rate_charged(row))
        paid.setdefault(row.employee_id, {})[row.id] = PaidWages(row.pay_date, row.work_state, own)
    standing = {}
    for person, records in people.items():
        wages = {each: one for record in records for each, one in paid.get(record, {}).items()}
        standing[person] = [wages[each] for each in sorted(wages)]
    return standing


def _rate_charged(row: _StandingRow) -> int | None:
    """Return the rate of a paycheck's line in billionths; None if the figure in force is to replace it.

    A rate that was assigned to the household is kept.
    """
    if row.rate is None:
        return None
    if row.provisional:
        rules = rulebook_of(row.pay_date.year).state(row.work_state)
        line = rules.contributions_by_code(row.pay_date).get(row.code)
        if line is not None and not (line.assigned_rate and row.assigned):
            return None
    return scaled_rate(row.rate)


def _by_code(codes: str, amounts: str) -> dict[str, int]:
    return dict(zip(codes.split(","), map(int, amounts.split(",")), strict=True)) if codes else {}
