"""The payrolls in the database: written set-based, however many at once, and read back as they were calculated.

Beside the immutable paychecks and lines stands one row per employee and year with their sums, so that a paycheck
costs the same however long the history is. It changes only here, with the employees locked.
"""

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import TextClause, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.employees.same_person import Record, records_of
from hearthpay.payroll import escrow
from hearthpay.payroll.digests import paycheck_digest
from hearthpay.payroll.earnings import Earnings
from hearthpay.payroll.lifecycle import Status, history_of
from hearthpay.payroll.models import EstimateRow, LineRow, PaycheckRow, Payroll
from hearthpay.payroll.orders import SettledOrder
from hearthpay.payroll.pay_dates import PayDates
from hearthpay.payroll.records import (
    Carried,
    LineRecord,
    PaycheckRecord,
    PayrollRecord,
    SetAside,
    StoredPayroll,
    Totals,
    YearToDate,
)
from hearthpay.payroll.register import NO_HISTORY, History, PriorWages, other_records, seen_by_others
from hearthpay.payroll.set_asides import SetAsideRule
from hearthpay.taxes import YearSoFar
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.prior_wages import counted_year
from hearthpay.taxes.year import PaidWages

#: Arrays come as one text each: the driver would look at every element. Years, prior wages and escrow in one statement:
#: each costs a trip to the database and the proof of the tenant.
_ARRAYS: Final = (
    "array_to_string(codes, ','), array_to_string(subject_wages, ','), array_to_string(taxable_wages, ','), "
    "array_to_string(amounts, ','), gross_pay, net_pay, employee_taxes, employer_taxes"
)
_HISTORIES: Final = text(
    f"SELECT 'year', employee_id, {_ARRAYS}, owed, fica_refunded, NULL::numeric, NULL::bigint FROM year_balances "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year "
    f"UNION ALL SELECT 'prior', employee_id, {_ARRAYS}, NULL, NULL, NULL, NULL FROM prior_wages "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year AND replaced_by IS NULL "
    "UNION ALL SELECT 'escrow', employee_id, NULL, NULL, NULL, NULL, balance, NULL, NULL, NULL, NULL, NULL, rule_rate, "
    "rule_amount FROM escrow_accounts WHERE employee_id = ANY(:employees)"
)
#: Where a year was opened by a version that did not keep them.
_SUBJECT_WAGES: Final = text(
    "SELECT l.code, sum(l.subject_wages) FROM paychecks c JOIN paycheck_lines l ON l.paycheck_id = c.id "
    "WHERE c.employee_id = :employee AND c.tax_year = :tax_year GROUP BY l.code"
)
_STANDING: Final = text(
    "SELECT c.employee_id, c.id, p.pay_date, c.work_state, l.code, l.subject_wages, l.rate FROM paychecks c "
    "JOIN payrolls p ON p.id = c.payroll_id JOIN paycheck_lines l ON l.paycheck_id = c.id "
    "WHERE c.employee_id = ANY(:employees) AND c.tax_year = :tax_year AND c.reverses IS NULL AND c.gross_pay > 0 "
    "AND c.id <> ALL(:without) AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id) "
    "ORDER BY c.employee_id, c.id, l.position"
)
#: What a person's year owes is kept with one of the records that were paid in it.
_OWED: Final = text(
    "UPDATE year_balances SET owed = CASE WHEN employee_id = (SELECT employee_id FROM year_balances "
    "WHERE employee_id = ANY(:records) AND tax_year = :tax_year ORDER BY employee_id DESC LIMIT 1) "
    "THEN CAST(:owed AS jsonb) ELSE '{}' END WHERE employee_id = ANY(:records) AND tax_year = :tax_year"
)
_OWED_NO_MORE: Final = text(
    "UPDATE year_balances SET owed = '{}' WHERE employee_id = ANY(:records) AND tax_year = :tax_year AND owed <> '{}'"
)
_YEARS: Final = text("SELECT DISTINCT tax_year FROM year_balances WHERE employee_id = ANY(:records)")
#: The payroll is looked up only where there is an overlap, which is seldom.
_OVERLAPS: Final = text(
    "SELECT e.employee_id, e.payroll_id, lower(e.period), upper(e.period) - 1, "
    "(SELECT p.pay_date FROM payrolls p WHERE p.id = e.payroll_id), "
    "e.regular_hours + e.overtime_hours, e.bonus, e.other_earnings FROM payroll_entries e "
    "WHERE e.employee_id = ANY(:employees) AND e.live AND e.period && daterange(:start, :end, '[]') "
    "ORDER BY e.employee_id, e.payroll_id"
)

_INSERT_ESTIMATES: Final = text(
    "INSERT INTO payroll_estimates (organization_id, employer_id, sandbox, payroll_id, estimate) "
    "SELECT p.organization_id, p.employer_id, p.sandbox, p.id, e.estimate "
    "FROM unnest(CAST(:ids AS uuid[]), CAST(:estimates AS jsonb[])) AS e(id, estimate) JOIN payrolls p ON p.id = e.id"
)

#: Columns with their array types: many rows go in with one statement.
_TENANT_TYPES: Final = {"organization_id": "uuid", "employer_id": "uuid", "sandbox": "boolean"}
_PAYROLL_TYPES: Final = {
    **_TENANT_TYPES,
    "id": "uuid",
    "status": "text",
    "period_start": "date",
    "period_end": "date",
    "pay_date": "date",
    "pay_date_asked": "date",
    "pay_date_defaulted": "boolean",
    "pay_frequency": "text",
    "notes": "text",
    "rulebook_version": "text",
    "tax_year": "smallint",
    "gross_pay": "bigint",
    "total_deductions": "bigint",
    "net_pay": "bigint",
    "employer_taxes": "bigint",
    "total_cost": "bigint",
    "scheduled_send_at": "timestamptz",
    "direct_deposit": "boolean",
    "created_by_kind": "text",
    "created_by": "uuid",
    "created_at": "timestamptz",
    "approved_at": "timestamptz",
}
_ENTRY_TYPES: Final = {
    **_TENANT_TYPES,
    "payroll_id": "uuid",
    "period": "daterange",
    "position": "smallint",
    "employee_id": "uuid",
    "payment_method": "text",
    "regular_hours": "numeric",
    "regular_pay": "bigint",
    "overtime_hours": "numeric",
    "overtime_pay": "bigint",
    "bonus": "bigint",
    "other_earnings": "bigint",
    "set_aside_skip": "boolean",
    "set_aside_amount": "bigint",
    "supplemental": "boolean",
}
_PAYCHECK_TYPES: Final = {
    **_TENANT_TYPES,
    "id": "uuid",
    "payroll_id": "uuid",
    "employee_id": "uuid",
    "position": "smallint",
    "reverses": "uuid",
    "tax_year": "smallint",
    "period": "daterange",
    "payment_method": "text",
    "regular_hours": "numeric",
    "regular_pay": "bigint",
    "overtime_hours": "numeric",
    "overtime_pay": "bigint",
    "bonus": "bigint",
    "other_earnings": "bigint",
    "gross_pay": "bigint",
    "employee_taxes": "bigint",
    "employer_taxes": "bigint",
    "set_aside": "bigint",
    "set_aside_source": "text",
    "set_aside_balance": "bigint",
    "net_pay": "bigint",
    "total_cost": "bigint",
    "ytd_gross_pay": "bigint",
    "ytd_net_pay": "bigint",
    "ytd_employee_taxes": "bigint",
    "ytd_employer_taxes": "bigint",
    "employee_name": "text",
    "work_state": "text",
    "residence_state": "text",
    "reciprocity_certificate": "text",
    "warnings": "jsonb",
    "carried": "jsonb",
    "digest": "bytea",
}
#: Of a line, what every line of its code has in common travels once; `tax` is its place among those.
_TAX_TYPES: Final = {"code": "text", "name": "text", "payer": "text", "agency": "text", "category": "text"}
_LINE_TYPES: Final = {
    "paycheck": "integer",
    "position": "smallint",
    "tax": "integer",
    "subject_wages": "bigint",
    "taxable_wages": "bigint",
    "rate": "numeric",
    "amount": "bigint",
    "ytd_amount": "bigint",
}
_POSTED_TYPES: Final = {
    "organization_id": "uuid",
    "employer_id": "uuid",
    "sandbox": "boolean",
    "id": "uuid",
    "employee_id": "uuid",
    "tax_year": "smallint",
}
#: The arrays of a balance travel as the text of an array: unnest would take an array of arrays apart.
_BALANCE_TYPES: Final = {
    **_TENANT_TYPES,
    "employee_id": "uuid",
    "tax_year": "smallint",
    "codes": "text",
    "subject_wages": "text",
    "taxable_wages": "text",
    "amounts": "text",
    "owed": "jsonb",
    "fica_refunded": "boolean",
    "gross_pay": "bigint",
    "net_pay": "bigint",
    "employee_taxes": "bigint",
    "employer_taxes": "bigint",
}
_BALANCE_VALUES: Final = (
    "r.organization_id, r.employer_id, r.sandbox, r.employee_id, r.tax_year, CAST(r.codes AS text[]), "
    "CAST(r.subject_wages AS bigint[]), CAST(r.taxable_wages AS bigint[]), CAST(r.amounts AS bigint[]), r.owed, "
    "r.fica_refunded, r.gross_pay, r.net_pay, r.employee_taxes, r.employer_taxes"
)


def _arrays(types: Mapping[str, str]) -> str:
    return ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in types.items())


def _insert_many(table: str, types: Mapping[str, str]) -> TextClause:
    columns = ", ".join(types)
    return text(f"INSERT INTO {table} ({columns}) SELECT r.* FROM unnest({_arrays(types)}) AS r")


_INSERT_PAYROLLS: Final = _insert_many("payrolls", _PAYROLL_TYPES)
_INSERT_ENTRIES: Final = _insert_many("payroll_entries", _ENTRY_TYPES)
_INSERT_PAYCHECKS: Final = _insert_many("paychecks", _PAYCHECK_TYPES)
_INSERT_LINES: Final = text(
    "INSERT INTO paycheck_lines (organization_id, employer_id, sandbox, paycheck_id, employee_id, tax_year, position, "
    "code, name, payer, agency, category, subject_wages, taxable_wages, rate, amount, ytd_amount) "
    "SELECT p.organization_id, p.employer_id, p.sandbox, p.id, p.employee_id, p.tax_year, l.position, t.code, t.name, "
    "t.payer, t.agency, t.category, l.subject_wages, l.taxable_wages, l.rate, l.amount, l.ytd_amount "
    f"FROM unnest({_arrays(_LINE_TYPES)}) AS l({', '.join(_LINE_TYPES)}) "
    f"JOIN unnest({_arrays(_POSTED_TYPES)}) WITH ORDINALITY AS p({', '.join(_POSTED_TYPES)}, number) "
    "ON p.number = l.paycheck "
    f"JOIN unnest({_arrays(_TAX_TYPES)}) WITH ORDINALITY AS t({', '.join(_TAX_TYPES)}, number) ON t.number = l.tax"
)
_SAVE_BALANCES: Final = text(
    f"INSERT INTO year_balances ({', '.join(_BALANCE_TYPES)}) SELECT {_BALANCE_VALUES} "
    f"FROM unnest({_arrays(_BALANCE_TYPES)}) AS r({', '.join(_BALANCE_TYPES)}) "
    "ON CONFLICT (employee_id, tax_year) DO UPDATE SET codes = excluded.codes, "
    "subject_wages = excluded.subject_wages, taxable_wages = excluded.taxable_wages, amounts = excluded.amounts, "
    "owed = excluded.owed, fica_refunded = excluded.fica_refunded, gross_pay = excluded.gross_pay, "
    "net_pay = excluded.net_pay, employee_taxes = excluded.employee_taxes, employer_taxes = excluded.employer_taxes"
)


class Owner(NamedTuple):
    """Whose a row is."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool


class NewPayroll(NamedTuple):
    """A payroll to be written, calculated and in the state it begins in; whoever made it by kind and id.

    ``approved_at`` is when a person approved it, where that was earlier than it is written.
    """

    owner: Owner
    order: SettledOrder
    record: PayrollRecord
    status: Status
    created_by: tuple[str, UUID | None]
    approved_at: datetime.datetime | None = None


class Posting(NamedTuple):
    """A paycheck to be written for good; ``after`` is the employee's year with it."""

    id: UUID
    owner: Owner
    payroll_id: UUID
    position: int
    tax_year: int
    period_start: datetime.date
    period_end: datetime.date
    paycheck: PaycheckRecord
    after: History
    #: The paycheck that this one undoes.
    reverses: UUID | None = None


class Overlap(NamedTuple):
    """A live entry whose period overlaps the one asked for; its bonus and other earnings in cents."""

    employee_id: UUID
    payroll_id: UUID
    start: datetime.date
    end: datetime.date
    pay_date: datetime.date
    hours: Decimal
    bonus: int
    other_earnings: int


async def find_overlaps(session: AsyncSession, employees: Sequence[UUID], dates: PayDates) -> list[Overlap]:
    """Return the live entries of the employees that overlap the pay period, with hours or without."""
    period = {"employees": list(employees), "start": dates.period_start, "end": dates.period_end}
    return [Overlap(*row) for row in await session.execute(_OVERLAPS, period)]


async def read_histories(
    session: AsyncSession, records: Iterable[Record], tax_year: int
) -> dict[UUID, History]:
    """Return what each employee's paychecks of the year add up to, with balance and rule of the set-asides.

    Of a person with several records all are returned, each with the sums of the others: the year is one.
    """
    asked = list(records)
    people = await records_of(session, {each.person_id for each in asked if each.person_id is not None})
    of_person = {record: person for person in people.values() for record in person}
    ids = list(of_person.keys() | {each.id for each in asked}) if people else [each.id for each in asked]
    found: dict[UUID, History] = {}
    told: dict[UUID, PriorWages] = {}
    for row in await session.execute(_HISTORIES, {"employees": ids, "tax_year": tax_year}):
        what, employee = row[:2]
        if what == "year":
            totals, year = YearToDate(*row[6:10]), await _year(session, row, tax_year)
            found[employee] = replace(
                found.get(employee, NO_HISTORY), totals=totals, year=year, fica_refunded=row[11]
            )
        elif what == "prior":
            paid = PriorWages(
                YearToDate(*row[6:10]), YearSoFar(*(_by_code(row[2], each) for each in row[3:6]))
            )
            told[employee] = paid.plus(told[employee]) if employee in told else paid
        else:
            rate, amount = row[12:]
            rule = None if rate is None and amount is None else SetAsideRule(rate, amount)
            found[employee] = replace(
                found.get(employee, NO_HISTORY), set_aside_balance=row[6], set_aside_rule=rule
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
    """Bring together what was found of a person's records, most often one, and what was told of prior wages."""
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
    return {
        record: replace(
            history,
            year=replace(history.year, owed=owed),
            prior=prior,
            others=other_records([each for each in records if each != record], own),
        )
        for record, history in own.items()
    }


async def _year(session: AsyncSession, row: Any, tax_year: int) -> YearSoFar:
    codes, subject, taxable, taxes = row[2:6]
    if subject is None:
        sums = await session.execute(_SUBJECT_WAGES, {"employee": row[1], "tax_year": tax_year})
        found = {line[0]: int(line[1]) for line in sums}
        wages = {code: found.get(code, 0) for code in codes.split(",") if code}
    else:
        wages = _by_code(codes, subject)
    return YearSoFar(wages, _by_code(codes, taxable), _by_code(codes, taxes), row[10])


async def note_owed(
    session: AsyncSession, employee_id: UUID, history: History, tax_year: int, owed: Mapping[str, int]
) -> None:
    """Note what a person's year owes once something other than its paychecks has changed; it must be locked."""
    which = {"records": list(_records(employee_id, history)), "tax_year": tax_year}
    await session.execute(_OWED, which | {"owed": orjson.dumps(dict(owed)).decode()})


async def paid_years(session: AsyncSession, records: Collection[UUID]) -> list[int]:
    """Return the tax years in which any of these records was paid, ascending."""
    return sorted(await session.scalars(_YEARS, {"records": list(records)}))


def _records(employee_id: UUID, history: History) -> tuple[UUID, ...]:
    return (employee_id,) if history.others is None else (employee_id, *history.others.ids)


async def read_standing_wages(
    session: AsyncSession, histories: Mapping[UUID, History], tax_year: int, *, without: Sequence[UUID] = ()
) -> dict[UUID, list[PaidWages]]:
    """Return the wages of a year's paychecks that nothing has undone, by employee, in the order they were run.

    They are the person's, whichever record was paid. Those ``without`` are about to be undone.
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
    """Return the same of people given by their records, under the ids they are given by."""
    paid: dict[UUID, dict[UUID, PaidWages]] = {}
    lines: dict[UUID, dict[str, tuple[int, int | None]]] = {}
    employees = sorted({record for records in people.values() for record in records})
    which = {"employees": employees, "tax_year": tax_year, "without": list(without)}
    for row in await session.execute(_STANDING, which):
        own = lines.setdefault(row.id, {})
        own[row.code] = (row.subject_wages, None if row.rate is None else scaled_rate(row.rate))
        paid.setdefault(row.employee_id, {})[row.id] = PaidWages(row.pay_date, row.work_state, own)
    standing = {}
    for person, records in people.items():
        wages = {each: one for record in records for each, one in paid.get(record, {}).items()}
        standing[person] = [wages[each] for each in sorted(wages)]
    return standing


def _by_code(codes: str, amounts: str) -> dict[str, int]:
    return dict(zip(codes.split(","), map(int, amounts.split(",")), strict=True)) if codes else {}


async def insert_payroll(session: AsyncSession, payroll: NewPayroll, now: datetime.datetime) -> UUID:
    """Write a payroll and what was asked for of it; its id is returned. Paychecks are posted apart."""
    (payroll_id,) = await insert_payrolls(session, [payroll], now)
    return payroll_id


async def insert_payrolls(
    session: AsyncSession, payrolls: Sequence[NewPayroll], now: datetime.datetime
) -> list[UUID]:
    """Write payrolls and what was asked for of each with one statement a table; their ids come in the same order."""
    if not payrolls:
        return []
    ids = [uuid7() for _ in payrolls]
    new = list(zip(ids, payrolls, strict=True))
    rows = [_payroll_values(payroll_id, payroll, now) for payroll_id, payroll in new]
    await session.execute(_INSERT_PAYROLLS, _columns(_PAYROLL_TYPES, rows))
    entries = [entry for payroll_id, payroll in new for entry in _entry_values(payroll_id, payroll)]
    await session.execute(_INSERT_ENTRIES, _columns(_ENTRY_TYPES, entries))
    return ids


def _payroll_values(payroll_id: UUID, payroll: NewPayroll, now: datetime.datetime) -> tuple[object, ...]:
    order, record = payroll.order, payroll.record
    dates = order.dates
    return (
        *payroll.owner,
        payroll_id,
        payroll.status,
        dates.period_start,
        dates.period_end,
        dates.pay_date,
        dates.asked,
        dates.defaulted,
        order.pay_frequency,
        order.notes,
        record.rulebook_version,
        record.tax_year,
        *record.totals,
        dates.send_at,
        order.direct_deposit,
        *payroll.created_by,
        now,
        payroll.approved_at,
    )


def _entry_values(payroll_id: UUID, payroll: NewPayroll) -> list[tuple[object, ...]]:
    order = payroll.order
    return [
        (
            *payroll.owner,
            payroll_id,
            f"[{order.dates.period_start},{order.dates.period_end}]",
            position,
            entry.employee_id,
            entry.payment_method,
            entry.regular_hours,
            _cents(paycheck.earnings.regular_pay),
            entry.overtime_hours,
            _cents(paycheck.earnings.overtime_pay),
            _cents(entry.bonus),
            _cents(entry.other_earnings),
            entry.set_aside_skip,
            entry.set_aside_wish,
            entry.supplemental,
        )
        for position, (entry, paycheck) in enumerate(
            zip(order.entries, payroll.record.paychecks, strict=True)
        )
    ]


async def save_estimate(session: AsyncSession, payroll_id: UUID, estimate: bytes) -> None:
    """Keep what a scheduled payroll is expected to be: the JSON of its answer."""
    await save_estimates(session, {payroll_id: estimate})


async def save_estimates(session: AsyncSession, estimates: Mapping[UUID, bytes]) -> None:
    """Keep what scheduled payrolls are expected to be, each by its id."""
    texts = [estimate.decode() for estimate in estimates.values()]
    await session.execute(_INSERT_ESTIMATES, {"ids": list(estimates), "estimates": _quoted_array(texts)})


def postings_of(
    owner: Owner, payroll_id: UUID, record: PayrollRecord, histories: Mapping[UUID, History]
) -> list[Posting]:
    """Return the paychecks of a calculated payroll, ready to be written."""
    years = histories
    postings = []
    for position, paycheck in enumerate(record.paychecks):
        employee = paycheck.employee_id
        after = years.get(employee, NO_HISTORY).with_paycheck(paycheck)
        if after.others is not None:
            years = {**years, employee: after, **seen_by_others(years, employee, after)}
        postings.append(
            Posting(
                id=uuid7(),
                owner=owner,
                payroll_id=payroll_id,
                position=position,
                tax_year=record.tax_year,
                period_start=record.dates.period_start,
                period_end=record.dates.period_end,
                paycheck=paycheck,
                after=after,
            )
        )
    return postings


async def post_paychecks(session: AsyncSession, postings: Sequence[Posting], now: datetime.datetime) -> None:
    """Write paychecks with their lines, and bring balances and escrow up to date: one statement for each table.

    The employees must be locked, and of several paychecks of one employee the later must come later.
    """
    if not postings:
        return
    await session.execute(
        _INSERT_PAYCHECKS, _columns(_PAYCHECK_TYPES, [_paycheck_values(posting) for posting in postings])
    )
    await _insert_lines(session, postings)
    last = {(posting.paycheck.employee_id, posting.tax_year): posting for posting in postings}
    settled = _settled_elsewhere(postings)
    balances = [_balance_values(posting, key in settled) for key, posting in last.items()]
    await session.execute(_SAVE_BALANCES, _columns(_BALANCE_TYPES, balances))
    if settled:
        years = {year for _, year in settled}
        for year in years:
            records = [record for record, of_year in settled if of_year == year]
            await session.execute(_OWED_NO_MORE, {"records": records, "tax_year": year})
    paid = [
        posting.id for posting in postings if posting.reverses is None and posting.paycheck.set_aside.amount
    ]
    if paid:
        await escrow.deposit(session, now, paid)
    undone = [posting.reverses for posting in postings if posting.reverses is not None]
    if undone:
        await escrow.reverse(session, now, undone)


def _settled_elsewhere(postings: Iterable[Posting]) -> set[tuple[UUID, int]]:
    """Return the records and years that owe nothing any more: it is noted with another record of the same person."""
    settled: set[tuple[UUID, int]] = set()
    for posting in postings:
        if posting.after.others is not None:
            settled |= {(record, posting.tax_year) for record in posting.after.others.ids}
            settled.discard((posting.paycheck.employee_id, posting.tax_year))
    return settled


def _paycheck_values(posting: Posting) -> tuple[object, ...]:
    paycheck = posting.paycheck
    earnings = paycheck.earnings
    return (
        *posting.owner,
        posting.id,
        posting.payroll_id,
        paycheck.employee_id,
        posting.position,
        posting.reverses,
        posting.tax_year,
        f"[{posting.period_start},{posting.period_end}]",
        paycheck.payment_method,
        earnings.regular_hours,
        _cents(earnings.regular_pay),
        earnings.overtime_hours,
        _cents(earnings.overtime_pay),
        _cents(earnings.bonus),
        _cents(earnings.other_earnings),
        paycheck.gross_pay,
        paycheck.employee_taxes,
        paycheck.employer_taxes,
        paycheck.set_aside.amount,
        paycheck.set_aside.source,
        paycheck.set_aside.balance,
        paycheck.net_pay,
        paycheck.total_cost,
        paycheck.ytd.gross_pay,
        paycheck.ytd.net_pay,
        paycheck.ytd.employee_taxes,
        paycheck.ytd.employer_taxes,
        paycheck.employee_name,
        paycheck.work_state,
        paycheck.residence_state,
        paycheck.reciprocity_certificate,
        orjson.dumps(paycheck.warnings).decode(),
        orjson.dumps([list(each) for each in paycheck.carried]).decode() if paycheck.carried else "[]",
        "\\x"
        + paycheck_digest(posting.id, posting.payroll_id, posting.tax_year, paycheck, posting.reverses).hex(),
    )


async def _insert_lines(session: AsyncSession, postings: Sequence[Posting]) -> None:
    taxes: dict[tuple[str, ...], int] = {}
    lines = []
    for number, posting in enumerate(postings, start=1):
        for position, line in enumerate(posting.paycheck.lines):
            tax = taxes.setdefault(line[:5], len(taxes) + 1)
            lines.append(
                (
                    number,
                    position,
                    tax,
                    line.subject_wages,
                    line.taxable_wages,
                    line.rate,
                    line.amount,
                    line.ytd_amount,
                )
            )
    if not lines:
        return
    posted = [
        (*posting.owner, posting.id, posting.paycheck.employee_id, posting.tax_year) for posting in postings
    ]
    await session.execute(
        _INSERT_LINES,
        _columns(_LINE_TYPES, lines) | _columns(_POSTED_TYPES, posted) | _columns(_TAX_TYPES, list(taxes)),
    )


def _balance_values(posting: Posting, settled: bool) -> tuple[object, ...]:
    after = posting.after
    year = after.year
    codes = sorted(year.taxes)
    return (
        *posting.owner,
        posting.paycheck.employee_id,
        posting.tax_year,
        _array(codes),
        _array([year.subject_wages[code] for code in codes]),
        _array([year.taxable_wages[code] for code in codes]),
        _array([year.taxes[code] for code in codes]),
        orjson.dumps(year.owed).decode() if year.owed and not settled else "{}",
        after.fica_refunded,
        *after.totals,
    )


def _cents(dollars: Decimal) -> int:
    return int(dollars.scaleb(2))


def _columns(types: Mapping[str, str], rows: Sequence[tuple[object, ...]]) -> dict[str, str]:
    """Turn rows into one array for each column, as PostgreSQL writes arrays.

    The driver's own way takes several times as long as the rest of a payroll, since it looks at every element.
    """
    return {
        name: _quoted_array(values) if kind in _QUOTED else _array(values)
        for (name, kind), values in zip(types.items(), zip(*rows, strict=True), strict=True)
    }


_QUOTED: Final = frozenset({"text", "jsonb", "daterange", "timestamptz", "bytea"})


def _array(values: Iterable[object]) -> str:
    """Return the text of an array whose elements need no quotes: numbers, ids, truth values, codes of lines."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"


def _quoted_array(values: Iterable[object]) -> str:
    """Return the text of an array of texts."""
    quoted = [
        "NULL" if value is None else '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
        for value in values
    ]
    return "{" + ",".join(quoted) + "}"


async def read_payroll(session: AsyncSession, payroll_id: UUID) -> StoredPayroll | None:
    """Return a payroll of the transaction's tenant with everything in it, or None."""
    payroll = await session.get(Payroll, payroll_id, populate_existing=True)
    if payroll is None:
        return None
    estimate = await session.get(EstimateRow, payroll_id)
    return StoredPayroll(
        id=payroll.id,
        employer_id=payroll.employer_id,
        status=payroll.status,
        dates=PayDates(
            payroll.period_start,
            payroll.period_end,
            payroll.pay_date,
            payroll.pay_date_defaulted,
            payroll.scheduled_send_at,
            payroll.pay_date_asked,
        ),
        pay_frequency=payroll.pay_frequency,
        notes=payroll.notes,
        rulebook_version=payroll.rulebook_version,
        tax_year=payroll.tax_year,
        totals=Totals(
            _cents(payroll.gross_pay),
            _cents(payroll.total_deductions),
            _cents(payroll.net_pay),
            _cents(payroll.employer_taxes),
            _cents(payroll.total_cost),
        ),
        created_at=payroll.created_at,
        paychecks=tuple(record for _, record in await read_paychecks(session, payroll_id)),
        estimate=estimate.estimate if estimate is not None else None,
        history=await history_of(session, payroll_id),
        failure=payroll.failure,
    )


async def read_paychecks(session: AsyncSession, payroll_id: UUID) -> list[tuple[PaycheckRow, PaycheckRecord]]:
    """Return the paychecks of a payroll in their order; those that only undo others are left out."""
    own = select(PaycheckRow).where(PaycheckRow.payroll_id == payroll_id, PaycheckRow.reverses.is_(None))
    paychecks = (await session.scalars(own.order_by(PaycheckRow.position))).all()
    lines: dict[UUID, list[LineRow]] = {paycheck.id: [] for paycheck in paychecks}
    for line in await session.scalars(
        select(LineRow).where(LineRow.paycheck_id.in_(lines)).order_by(LineRow.paycheck_id, LineRow.position)
    ):
        lines[line.paycheck_id].append(line)
    return [(paycheck, _paycheck(paycheck, lines[paycheck.id])) for paycheck in paychecks]


def _paycheck(row: PaycheckRow, lines: Iterable[LineRow]) -> PaycheckRecord:
    return PaycheckRecord(
        employee_id=row.employee_id,
        employee_name=row.employee_name,
        payment_method=row.payment_method,
        earnings=Earnings(
            row.regular_hours,
            row.regular_pay,
            row.overtime_hours,
            row.overtime_pay,
            row.bonus,
            row.other_earnings,
        ),
        gross_pay=_cents(row.gross_pay),
        employee_taxes=_cents(row.employee_taxes),
        employer_taxes=_cents(row.employer_taxes),
        set_aside=SetAside(_cents(row.set_aside), row.set_aside_source, _cents(row.set_aside_balance)),
        lines=tuple(
            LineRecord(
                line.code,
                line.name,
                line.payer,
                line.agency,
                line.category,
                _cents(line.subject_wages),
                _cents(line.taxable_wages),
                line.rate,
                _cents(line.amount),
                _cents(line.ytd_amount),
            )
            for line in lines
        ),
        ytd=YearToDate(
            _cents(row.ytd_gross_pay),
            _cents(row.ytd_net_pay),
            _cents(row.ytd_employee_taxes),
            _cents(row.ytd_employer_taxes),
        ),
        warnings=tuple(row.warnings),
        carried=tuple(Carried(*each) for each in row.carried),
        residence_state=row.residence_state,
        reciprocity_certificate=row.reciprocity_certificate,
        work_state=row.work_state,
    )
