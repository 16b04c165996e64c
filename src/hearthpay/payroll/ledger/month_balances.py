"""What paychecks add to the sums of their months: by employee, tax year, month of the pay date and work state.

Saved in the statement that saves the year's sums (`posting`). A paycheck that reverses another has negative amounts,
so it reduces the month of the other's pay date. Paychecks without gross pay, which repay FICA, are kept apart from the
others.
"""

import datetime
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from hearthpay.database.statements import column_list, compose
from hearthpay.payroll.ledger.columns import array_text, arrays, columns_of
from hearthpay.payroll.ledger.rows import Owner, PaycheckRow

MONTH_TYPES: Final = {
    "month_organization_id": "uuid",
    "month_employer_id": "uuid",
    "month_sandbox": "boolean",
    "month_employee_id": "uuid",
    "month_tax_year": "smallint",
    "month": "date",
    "month_work_state": "text",
    "month_refund": "boolean",
    "month_codes": "text",
    "month_subject_wages": "text",
    "month_taxable_wages": "text",
    "month_amounts": "text",
    "month_gross_pay": "bigint",
}
"""The parameters with their types; an array is sent as text, since unnest would flatten an array of arrays."""

ADD_TO_MONTHS: Final = compose(
    "INSERT INTO month_balances AS m (organization_id, employer_id, sandbox, employee_id, tax_year, month, work_state, "
    "refund, codes, subject_wages, taxable_wages, amounts, gross_pay) SELECT a.month_organization_id, "
    "a.month_employer_id, a.month_sandbox, a.month_employee_id, a.month_tax_year, a.month, a.month_work_state, "
    "a.month_refund, CAST(a.month_codes AS text[]), CAST(a.month_subject_wages AS bigint[]), "
    "CAST(a.month_taxable_wages AS bigint[]), CAST(a.month_amounts AS bigint[]), a.month_gross_pay "
    "FROM unnest({arrays}) AS a({columns}) "
    "ON CONFLICT (employer_id, tax_year, employee_id, month, work_state, refund) DO UPDATE SET "
    "gross_pay = m.gross_pay + excluded.gross_pay, (codes, subject_wages, taxable_wages, amounts) = ("
    "SELECT m.codes, ARRAY(SELECT unnest(m.subject_wages) + unnest(excluded.subject_wages)), "
    "ARRAY(SELECT unnest(m.taxable_wages) + unnest(excluded.taxable_wages)), "
    "ARRAY(SELECT unnest(m.amounts) + unnest(excluded.amounts)) WHERE m.codes = excluded.codes "
    'UNION ALL SELECT array_agg(s.code ORDER BY s.code COLLATE "C"), '
    'array_agg(s.subject_wages ORDER BY s.code COLLATE "C"), array_agg(s.taxable_wages ORDER BY s.code COLLATE "C"), '
    'array_agg(s.amount ORDER BY s.code COLLATE "C") FROM ('
    "SELECT u.code, CAST(sum(u.subject_wages) AS bigint) AS subject_wages, "
    "CAST(sum(u.taxable_wages) AS bigint) AS taxable_wages, CAST(sum(u.amount) AS bigint) AS amount "
    "FROM unnest(m.codes || excluded.codes, m.subject_wages || excluded.subject_wages, "
    "m.taxable_wages || excluded.taxable_wages, m.amounts || excluded.amounts) "
    "AS u(code, subject_wages, taxable_wages, amount) WHERE m.codes <> excluded.codes GROUP BY u.code) AS s "
    "HAVING m.codes <> excluded.codes)",
    arrays=arrays(MONTH_TYPES),
    columns=column_list(MONTH_TYPES),
)
"""Mostly a month's paychecks have the same lines, whose cents are then added place by place."""


class MonthPaycheck(NamedTuple):
    """A paycheck, and what determines its month."""

    owner: Owner
    tax_year: int
    pay_date: datetime.date
    paycheck: PaycheckRow


class _Month(NamedTuple):
    owner: Owner
    employee_id: UUID
    tax_year: int
    month: datetime.date
    work_state: str
    refund: bool


def month_parameters(paychecks: Iterable[MonthPaycheck]) -> dict[str, str]:
    """Return the parameters of `ADD_TO_MONTHS` for these paychecks, at least one."""
    months: dict[_Month, list[PaycheckRow]] = {}
    for owner, tax_year, pay_date, paycheck in paychecks:
        month = _Month(
            owner,
            paycheck.employee_id,
            tax_year,
            pay_date.replace(day=1),
            paycheck.work_state,
            paycheck.is_refund,
        )
        months.setdefault(month, []).append(paycheck)
    return columns_of(MONTH_TYPES, [_values(month, added) for month, added in months.items()])


def _values(month: _Month, paychecks: Sequence[PaycheckRow]) -> tuple[object, ...]:
    cents: dict[str, tuple[int, int, int]] = {}
    for paycheck in paychecks:
        for line in paycheck.lines:
            subject, taxable, amount = cents.get(line.code, (0, 0, 0))
            cents[line.code] = (
                subject + line.subject_wages,
                taxable + line.taxable_wages,
                amount + line.amount,
            )
    codes = sorted(cents)
    columns = zip(*(cents[code] for code in codes), strict=True) if codes else ((), (), ())
    return (
        *month.owner,
        *month[1:],
        array_text(codes),
        *(array_text(column) for column in columns),
        sum(paycheck.gross_pay for paycheck in paychecks),
    )
