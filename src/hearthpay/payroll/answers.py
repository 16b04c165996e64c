"""Payrolls as the wire contract spells them; amounts as Decimals."""

from decimal import Decimal
from typing import Any

from hearthpay.payroll.models import Payroll
from hearthpay.payroll.records import PaycheckRecord, PayrollRecord, StoredPayroll
from hearthpay.taxes.money import from_cents

_EMPLOYEE_TOTALS = ("federal_income_tax", "social_security", "medicare", "state_income_tax")
_EMPLOYER_TOTALS = ("social_security", "medicare", "futa", "state_unemployment")


def preview_data(record: PayrollRecord) -> dict[str, Any]:
    """Return the ``data`` of a preview."""
    return {
        "preview": True,
        "next_step": "Nothing was created. To run this payroll, send the same body to POST /api/v1/payroll/run.",
        **_payroll(record),
        **({"is_estimated": True, "projected": list(record.projected)} if record.projected else {}),
    }


def run_data(payroll: StoredPayroll) -> dict[str, Any]:
    """Return the ``data`` of a run."""
    return {"payroll_id": payroll.id, "status": payroll.status, **_payroll(payroll.record)}


def detail_data(payroll: StoredPayroll) -> dict[str, Any]:
    """Return the ``data`` of one payroll: as run returned it, with its history."""
    return {
        **run_data(payroll),
        "employer_id": payroll.record.employer_id,
        "notes": payroll.record.notes,
        "status_history": [{"status": payroll.status, "at": payroll.created_at}],
        "documents": [],
        "created_at": payroll.created_at,
    }


def summary_data(payroll: Payroll, employee_count: int) -> dict[str, Any]:
    """Return a payroll as a list shows one."""
    return {
        "payroll_id": payroll.id,
        "employer_id": payroll.employer_id,
        "status": payroll.status,
        "pay_period": {
            "start": payroll.period_start,
            "end": payroll.period_end,
            "pay_date": payroll.pay_date,
            "frequency": payroll.pay_frequency,
        },
        "totals": {
            "gross_pay": payroll.gross_pay,
            "total_deductions": payroll.total_deductions,
            "total_net_pay": payroll.net_pay,
            "total_employer_taxes": payroll.employer_taxes,
            "total_cost": payroll.total_cost,
        },
        "employee_count": employee_count,
        "created_at": payroll.created_at,
    }


def _payroll(record: PayrollRecord) -> dict[str, Any]:
    return {
        "pay_date_defaulted": record.dates.defaulted,
        "pay_period": {
            "start": record.dates.period_start,
            "end": record.dates.period_end,
            "pay_date": record.dates.pay_date,
            "frequency": record.pay_frequency,
        },
        "employees": [_paycheck(paycheck) for paycheck in record.paychecks],
        "totals": {
            "gross_pay": from_cents(record.gross_pay),
            "total_deductions": from_cents(record.total_deductions),
            "total_net_pay": from_cents(record.net_pay),
            "total_employer_taxes": from_cents(record.employer_taxes),
            "total_cost": from_cents(record.total_cost),
        },
        "rulebook": {"version": record.rulebook_version, "tax_year": record.tax_year},
    }


def _paycheck(paycheck: PaycheckRecord) -> dict[str, Any]:
    earnings = paycheck.earnings
    data: dict[str, Any] = {
        "employee_id": paycheck.employee_id,
        "name": paycheck.employee_name,
        "payment_method": paycheck.payment_method,
        "earnings": {
            "regular_hours": earnings.regular_hours,
            "regular_pay": earnings.regular_pay,
            "overtime_hours": earnings.overtime_hours,
            "overtime_pay": earnings.overtime_pay,
            "bonus": earnings.bonus,
            "other_earnings": earnings.other_earnings,
        },
        "gross_pay": from_cents(paycheck.gross_pay),
        "employee_taxes": _taxes(paycheck, "employee", _EMPLOYEE_TOTALS),
        "employer_taxes": _taxes(paycheck, "employer", _EMPLOYER_TOTALS),
        "lines": [
            {
                "code": line.code,
                "name": line.name,
                "payer": line.payer,
                "taxable_wages": from_cents(line.taxable_wages),
                "rate": line.rate,
                "amount": from_cents(line.amount),
                "ytd_amount": from_cents(line.ytd_amount),
            }
            for line in paycheck.lines
        ],
        "voluntary_set_aside": {
            "amount": from_cents(paycheck.set_aside.amount),
            "source": paycheck.set_aside.source,
            "balance": from_cents(paycheck.set_aside.balance),
        },
        "net_pay": from_cents(paycheck.net_pay),
        "total_cost": from_cents(paycheck.total_cost),
        "ytd": {name: from_cents(amount) for name, amount in paycheck.ytd._asdict().items()},
        "warnings": list(paycheck.warnings),
    }
    if paycheck.residence_state != paycheck.work_state:
        data["reciprocity"] = {
            "applied": paycheck.reciprocity_certificate is not None,
            "certificate": paycheck.reciprocity_certificate,
            "residence_state": paycheck.residence_state,
        }
    return data


def _taxes(paycheck: PaycheckRecord, payer: str, totals: tuple[str, ...]) -> dict[str, Decimal]:
    """Return a payer's lines summed by category; what has no total of its own is ``other``."""
    sums = dict.fromkeys((*totals, "other", "total"), 0)
    for line in paycheck.lines:
        if line.payer == payer:
            sums[line.category if line.category in totals else "other"] += line.amount
            sums["total"] += line.amount
    return {name: from_cents(amount) for name, amount in sums.items()}
