"""Paychecks written permanently: with their lines, and the balances and escrow that follow them; however many at
once.

A year's totals change only here and with what it owes (`histories`), a month's only here, with the employees locked.
"""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

import orjson
from sqlalchemy import CursorResult, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.statements import Fragment, column_list, statement
from hearthpay.payroll.ledger.columns import array_text, arrays, columns_of
from hearthpay.payroll.ledger.digests import paycheck_digest
from hearthpay.payroll.ledger.earnings import EARNINGS_TYPES
from hearthpay.payroll.ledger.lines import (
    ALL_SETS_STORED,
    FIGURE_TYPES,
    FIGURE_VALUES,
    INSERT_SETS,
    figures_of,
    line_set_id,
    names_of,
    set_values,
    stored_sets,
)
from hearthpay.payroll.ledger.month_balances import ADD_TO_MONTHS, MonthPaycheck, month_parameters
from hearthpay.payroll.ledger.rows import TENANT_TYPES, Owner, PaycheckRow, PayrollRecord
from hearthpay.payroll.ledger.years import NO_HISTORY, History, seen_by_others
from hearthpay.payroll.set_asides import escrow
from hearthpay.taxes.messages import to_json
from hearthpay.taxes.rulebook import rulebook_of

_OWED_NO_MORE: Final = text(
    "UPDATE year_balances SET owed = '{}', owed_wages = '{}' "
    "WHERE employee_id = ANY(:records) AND tax_year = :tax_year AND owed <> '{}'"
)

_PAYCHECK_TYPES: Final = {
    **TENANT_TYPES,
    "id": "uuid",
    "payroll_id": "uuid",
    "employee_id": "uuid",
    "position": "smallint",
    "reverses": "uuid",
    "tax_year": "smallint",
    "period": "daterange",
    "payment_method": "text",
    **EARNINGS_TYPES,
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
    "messages": "jsonb",
    "carried": "jsonb",
    "provisional": "jsonb",
    "salary": "jsonb",
    "digest": "bytea",
    "in_month": "boolean",
    "line_set_id": "bigint",
    **FIGURE_TYPES,
}
"""The columns with their array types: many rows are inserted with one statement."""

_BALANCE_TYPES: Final = {
    **TENANT_TYPES,
    "employee_id": "uuid",
    "tax_year": "smallint",
    "codes": "text",
    "subject_wages": "text",
    "taxable_wages": "text",
    "amounts": "text",
    "owed": "jsonb",
    "owed_wages": "jsonb",
    "fica_refunded": "boolean",
    "provisional": "text",
    "rulebook_version": "text",
    "gross_pay": "bigint",
    "net_pay": "bigint",
    "employee_taxes": "bigint",
    "employer_taxes": "bigint",
}
"""The arrays of a balance are sent as text, since unnest would flatten an array of arrays."""

_BALANCE_VALUES: Final = Fragment(
    "r.organization_id, r.employer_id, r.sandbox, r.employee_id, r.tax_year, CAST(r.codes AS text[]), "
    "CAST(r.subject_wages AS bigint[]), CAST(r.taxable_wages AS bigint[]), CAST(r.amounts AS bigint[]), r.owed, "
    "r.owed_wages, r.fica_refunded, CAST(r.provisional AS text[]), r.rulebook_version, "
    "r.gross_pay, r.net_pay, r.employee_taxes, r.employer_taxes"
)
_INSERT_PAYCHECKS: Final = statement(
    "INSERT INTO paychecks ({columns}) SELECT {values}, {figure_values} FROM unnest({arrays}) AS r({columns}) "
    "WHERE {all_sets_stored}",
    columns=column_list(_PAYCHECK_TYPES),
    values=column_list([name for name in _PAYCHECK_TYPES if name not in FIGURE_TYPES], "r"),
    figure_values=FIGURE_VALUES,
    arrays=arrays(_PAYCHECK_TYPES),
    all_sets_stored=ALL_SETS_STORED,
)
_SAVE_BALANCES: Final = statement(
    "WITH months AS ({add_to_months}) INSERT INTO year_balances ({columns}) SELECT {balance_values} "
    "FROM unnest({arrays}) AS r({columns}) "
    "ON CONFLICT (employee_id, tax_year) DO UPDATE SET codes = excluded.codes, "
    "subject_wages = excluded.subject_wages, taxable_wages = excluded.taxable_wages, amounts = excluded.amounts, "
    "owed = excluded.owed, owed_wages = excluded.owed_wages, fica_refunded = excluded.fica_refunded, "
    "provisional = excluded.provisional, "
    "rulebook_version = excluded.rulebook_version, gross_pay = excluded.gross_pay, "
    "net_pay = excluded.net_pay, employee_taxes = excluded.employee_taxes, employer_taxes = excluded.employer_taxes",
    add_to_months=ADD_TO_MONTHS,
    columns=column_list(_BALANCE_TYPES),
    balance_values=_BALANCE_VALUES,
    arrays=arrays(_BALANCE_TYPES),
)
"""The sums of the years and of the months, in one round trip."""


class Posting(NamedTuple):
    """A paycheck to be written permanently; ``after`` is the employee's year including it."""

    id: UUID
    owner: Owner
    payroll_id: UUID
    position: int
    tax_year: int
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    paycheck: PaycheckRow
    after: History
    reverses: UUID | None = None
    """The paycheck that this one reverses."""


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
                pay_date=record.dates.pay_date,
                paycheck=paycheck,
                after=after,
            )
        )
    return postings


async def post_paychecks(session: AsyncSession, postings: Sequence[Posting], now: datetime.datetime) -> None:
    """Write paychecks with their lines, and update balances and escrow: one statement for each table.

    The employees must be locked, and of several paychecks of one employee the later must come later.
    """
    if not postings:
        return
    await _insert_paychecks(session, postings)
    last = {(posting.paycheck.employee_id, posting.tax_year): posting for posting in postings}
    settled = _settled_elsewhere(postings)
    balances = [_balance_values(posting, key in settled) for key, posting in last.items()]
    months = month_parameters(
        MonthPaycheck(posting.owner, posting.tax_year, posting.pay_date, posting.paycheck)
        for posting in postings
    )
    await session.execute(_SAVE_BALANCES, columns_of(_BALANCE_TYPES, balances) | months)
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


async def _insert_paychecks(session: AsyncSession, postings: Sequence[Posting]) -> None:
    sets = {}
    rows = []
    for posting in postings:
        lines = posting.paycheck.lines
        names = names_of(lines)
        set_id = line_set_id(names)
        sets[set_id] = names
        rows.append((*_paycheck_values(posting), set_id, *figures_of(lines)))
    values = columns_of(_PAYCHECK_TYPES, rows) | stored_sets(sets)
    if await _inserted(session, values):
        return
    await session.execute(INSERT_SETS, set_values(sets))
    if not await _inserted(session, values):
        raise RuntimeError("the sets of lines of these paychecks are not in the database")


async def _inserted(session: AsyncSession, values: Mapping[str, object]) -> bool:
    """Insert the paychecks if every set of lines is there; return whether it is."""
    result = cast("CursorResult[Any]", await session.execute(_INSERT_PAYCHECKS, values))
    return result.rowcount > 0


def _settled_elsewhere(postings: Iterable[Posting]) -> set[tuple[UUID, int]]:
    """Return the records and years that owe nothing any more: it is stored with another of the person's records."""
    settled: set[tuple[UUID, int]] = set()
    for posting in postings:
        if posting.after.others is not None:
            settled |= {(record, posting.tax_year) for record in posting.after.others.ids}
            settled.discard((posting.paycheck.employee_id, posting.tax_year))
    return settled


def _paycheck_values(posting: Posting) -> tuple[object, ...]:
    paycheck = posting.paycheck
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
        *paycheck.earnings,
        paycheck.gross_pay,
        paycheck.employee_taxes,
        paycheck.employer_taxes,
        *paycheck.set_aside,
        paycheck.net_pay,
        paycheck.total_cost,
        *paycheck.ytd,
        paycheck.employee_name,
        paycheck.work_state,
        paycheck.residence_state,
        paycheck.reciprocity_certificate,
        orjson.dumps([to_json(each) for each in paycheck.warnings]).decode() if paycheck.warnings else "[]",
        orjson.dumps([list(each) for each in paycheck.carried]).decode() if paycheck.carried else "[]",
        orjson.dumps(paycheck.provisional).decode(),
        None if paycheck.salary is None else orjson.dumps(paycheck.salary.to_json()).decode(),
        "\\x"
        + paycheck_digest(posting.id, posting.payroll_id, posting.tax_year, paycheck, posting.reverses).hex(),
        True,
    )


def _balance_values(posting: Posting, settled: bool) -> tuple[object, ...]:
    after = posting.after
    year = after.year
    codes = sorted(year.taxes)
    return (
        *posting.owner,
        posting.paycheck.employee_id,
        posting.tax_year,
        array_text(codes),
        array_text([year.subject_wages[code] for code in codes]),
        array_text([year.taxable_wages[code] for code in codes]),
        array_text([year.taxes[code] for code in codes]),
        orjson.dumps(year.owed).decode() if year.owed and not settled else "{}",
        orjson.dumps(year.owed_wages).decode() if year.owed_wages and not settled else "{}",
        after.fica_refunded,
        array_text(sorted(after.provisional)),
        after.rulebook_version or rulebook_of(posting.tax_year).version,
        *after.totals,
    )
