"""The digest of a paycheck: SHA-256 over its contents, by which `doctor` detects a line that was changed later."""

import hashlib
import json
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow

DIGEST_IN_SQL: Final = """
    sha256(convert_to(
        concat_ws('|', c.id, c.payroll_id, c.employee_id, coalesce(c.reverses::text, ''), c.tax_year,
                  c.payment_method, c.gross_pay, c.employee_taxes, c.employer_taxes, c.set_aside, c.set_aside_source,
                  c.set_aside_balance, c.net_pay, c.ytd_gross_pay, c.ytd_net_pay, c.ytd_employee_taxes,
                  c.ytd_employer_taxes, c.employee_name, c.work_state, c.residence_state,
                  coalesce(c.reciprocity_certificate, ''))
        || CASE WHEN c.provisional = '[]' THEN '' ELSE E'\\n' || c.provisional::text END
        || coalesce(string_agg(E'\\n' || concat_ws('|', l.code, l.name, l.payer, l.agency, l.category,
               l.subject_wages, l.taxable_wages, coalesce(l.rate::text, ''), l.amount, l.ytd_amount), ''
               ORDER BY l.position), ''), 'UTF8'))
"""
"""The SQL expression for the text of a paycheck `c` and its lines `l`, grouped by the paycheck; as `paycheck_digest`
builds it."""


def paycheck_digest(
    paycheck_id: UUID, payroll_id: UUID, tax_year: int, paycheck: PaycheckRow, reverses: UUID | None
) -> bytes:
    """Return the 32-byte digest of the paycheck and its lines in their order."""
    year = paycheck.ytd
    head: tuple[object, ...] = (
        paycheck_id,
        payroll_id,
        paycheck.employee_id,
        reverses or "",
        tax_year,
        paycheck.payment_method,
        paycheck.gross_pay,
        paycheck.employee_taxes,
        paycheck.employer_taxes,
        paycheck.set_aside.amount,
        paycheck.set_aside.source,
        paycheck.set_aside.balance,
        paycheck.net_pay,
        year.gross_pay,
        year.net_pay,
        year.employee_taxes,
        year.employer_taxes,
        paycheck.employee_name,
        paycheck.work_state,
        paycheck.residence_state,
        paycheck.reciprocity_certificate or "",
    )
    provisional = f"\n{json.dumps(paycheck.provisional)}" if paycheck.provisional else ""
    text = "|".join(map(str, head)) + provisional + _lines(paycheck.lines)
    return hashlib.sha256(text.encode()).digest()


def _lines(lines: Sequence[LineRow]) -> str:
    return "".join(
        f"\n{line.code}|{line.name}|{line.payer}|{line.agency}|{line.category}|{line.subject_wages}|"
        f"{line.taxable_wages}|{'' if line.rate is None else format(line.rate, 'f')}|{line.amount}|{line.ytd_amount}"
        for line in lines
    )
