"""Payrolls in the format of the API: cents become dollars here, at the edge."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any
from uuid import UUID

from hearthpay.payroll.issues.payment_status import Outcome, PayrollPaymentStatus
from hearthpay.payroll.ledger.estimates import MESSAGES
from hearthpay.payroll.ledger.payrolls import totals_of
from hearthpay.payroll.ledger.rows import (
    PaycheckRow,
    PayrollRecord,
    PayrollTotals,
    Preview,
    StoredPayroll,
    provisional_lines,
)
from hearthpay.payroll.lifecycle import HAS_PAY_STUBS
from hearthpay.payroll.models import Payroll
from hearthpay.payroll.orders import SalaryShare
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.taxes.messages import coded, texts, to_json
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.reciprocity import reciprocity_certificate
from hearthpay.wire.answer import render
from hearthpay.wire.metadata import item_of
from hearthpay.wire.money import shortest

_HUNDREDTH = Decimal("0.01")
_HOURS = ("regular_hours", "overtime_hours")
_BARE_ZERO = Decimal(0)
_EMPLOYEE_TOTALS = ("federal_income_tax", "social_security", "medicare", "state_income_tax")
_NEXT_STEP = "Nothing was created. To run this payroll, send the same body to POST /api/v1/payroll/run"
_NEXT_STEP_UNNAMED = (
    "Nothing was created. No entry names a payment_method. A run by check or cash completes at once, on the pay date "
    "shown; a run by direct deposit needs five business days and is scheduled where there are more. To run this "
    "payroll, send the body with a payment_method in each entry to POST /api/v1/payroll/run"
)
_NEXT_STEP_UNDATED = (
    "Nothing was created. No entry names a payment_method, so the dates shown are those of direct deposit. A run by "
    "check or cash completes at once, on the pay_date you name (left out: today, or the end of the period if that is "
    "later). To run this payroll, send the body with a payment_method in each entry to POST /api/v1/payroll/run"
)
_EMPLOYER_TOTALS = ("social_security", "medicare", "futa", "state_unemployment")


def preview_data(preview: Preview) -> dict[str, Any]:
    """Return the ``data`` of a preview."""
    record = preview.record
    flags = preview.confirmations
    next_step = _NEXT_STEP
    if preview.dated_ahead:
        next_step = _NEXT_STEP_UNDATED
    elif preview.by_deposit is not None:
        next_step = _NEXT_STEP_UNNAMED
    with_flags = f" together with {' and '.join(f'{flag}: true' for flag in flags)}" if flags else ""
    data: dict[str, Any] = {
        "preview": True,
        "employer_id": record.employer_id,
        "next_step": f"{next_step}{with_flags}.",
        **_dates(record.dates, record.pay_frequency),
        **_amounts(record),
        "metadata": item_of(preview.metadata),
    }
    if preview.token is not None:
        data["preview_token"] = preview.token
    if flags:
        data["confirmations_required"] = list(flags)
    if preview.by_deposit is not None and preview.by_deposit.next_valid_pay_date is not None:
        data["next_valid_pay_date"] = preview.by_deposit.next_valid_pay_date
    if preview.send_at is not None:
        data["scheduled_send_at"] = preview.send_at
        data["is_estimated"] = True
    return data


def estimate_json(record: PayrollRecord) -> bytes:
    """Return the expected result of a scheduled payroll as JSON for storage: the response, and its messages."""
    amounts = _amounts(record)
    amounts["employees"] = [
        {**answered, MESSAGES: [to_json(each) for each in paycheck.warnings]}
        for answered, paycheck in zip(amounts["employees"], record.paychecks, strict=True)
    ]
    return render(amounts)


def run_data(payroll: StoredPayroll) -> dict[str, Any]:
    """Return the ``data`` of a run."""
    data: dict[str, Any] = {
        "payroll_id": payroll.id,
        "id": payroll.id,
        "employer_id": payroll.employer_id,
        "status": payroll.status,
        **_dates(payroll.dates, payroll.pay_frequency),
        "metadata": item_of(payroll.metadata),
    }
    if payroll.expected is None:
        data |= {
            "employees": [_paycheck(paycheck, payroll.tax_year) for paycheck in payroll.paychecks],
            "totals": _totals(payroll.totals),
            "rulebook": {"version": payroll.rulebook_version, "tax_year": payroll.tax_year},
            **_provisional(payroll.paychecks),
        }
    else:
        data |= _as_expected(payroll.expected.answer)
        data["employees"] = [
            {"warning_codes": [], **{name: part for name, part in each.items() if name != MESSAGES}}
            for each in data["employees"]
        ]
    if payroll.status == "scheduled":
        data |= {"scheduled_send_at": payroll.dates.send_at, "is_estimated": True}
    return data


def detail_data(payroll: StoredPayroll, payment_status: PayrollPaymentStatus) -> dict[str, Any]:
    """Return the ``data`` of one payroll: as run returned it, with its history and its current status."""
    ran = run_data(payroll)
    data = {
        **ran,
        "employees": [_with_payment(each, payroll.status, payment_status) for each in ran["employees"]],
        "notes": payroll.notes,
        "status_history": [
            {"status": step.status, "at": step.at, "actor": step.actor, "reason": step.reason}
            for step in payroll.history
        ],
        "documents": _documents(payroll),
        "actions": list(payroll.available_actions.actions),
        "created_at": payroll.created_at,
    }
    for employee in data["employees"]:
        # In an estimate the ids are text, and a payroll that isn't sent yet has no waiting deposit.
        deposit = payroll.available_actions.deposits.get(employee["employee_id"])
        if deposit is not None and deposit.remedies:
            employee["remedies"] = list(deposit.remedies)
        if deposit is not None and deposit.decided is not None:
            employee["remedy"] = asdict(deposit.decided)
    if payroll.paychecks and payroll.estimate is not None:
        data["estimated_totals"] = _as_expected(payroll.estimate.answer["totals"])
    if payment_status.issue is not None:
        data["failure"] = payment_status.issue.as_json()
    return data


def _documents(payroll: StoredPayroll) -> list[dict[str, Any]]:
    """Return how to request the pay stubs of a paid payroll."""
    if payroll.status not in HAS_PAY_STUBS:
        return []
    return [
        {
            "kind": "paystub",
            "employee_id": paycheck.employee_id,
            "method": "POST",
            "path": "/api/v1/documents/paystub",
            "body": {"payroll_id": payroll.id, "employee_id": paycheck.employee_id},
        }
        for paycheck in payroll.paychecks
    ]


def _with_payment(
    paycheck: dict[str, Any], status: str, payment_status: PayrollPaymentStatus
) -> dict[str, Any]:
    """Add what has become of the paycheck's money."""
    found = payment_status.of_paycheck(UUID(str(paycheck["employee_id"])), status)
    return {**paycheck, "status": found.status, "outcome": _outcome(found.outcome)}


def _outcome(outcome: Outcome | None) -> dict[str, Any] | None:
    if outcome is None:
        return None
    refund = outcome.refund
    refunded = None
    if refund is not None:
        refunded = {"amount": from_cents(refund.amount), "status": refund.status, "code": refund.code}
    return {"code": outcome.code, "reason": outcome.reason, "refund": refunded}


def summary_data(payroll: Payroll, employee_count: int) -> dict[str, Any]:
    """Return a payroll in the format of a list."""
    return {
        "payroll_id": payroll.id,
        "id": payroll.id,
        "employer_id": payroll.employer_id,
        "status": payroll.status,
        "pay_period": {
            "start": payroll.period_start,
            "end": payroll.period_end,
            "pay_date": payroll.pay_date,
            "frequency": payroll.pay_frequency,
        },
        "totals": _totals(totals_of(payroll)),
        "employee_count": employee_count,
        "metadata": item_of(payroll.metadata_),
        "created_at": payroll.created_at,
    }


def _dates(dates: PayDates, pay_frequency: str) -> dict[str, Any]:
    return {
        "pay_date_defaulted": dates.defaulted,
        "pay_period": {
            "start": dates.period_start,
            "end": dates.period_end,
            "pay_date": dates.pay_date,
            "frequency": pay_frequency,
        },
    }


def _amounts(record: PayrollRecord) -> dict[str, Any]:
    return {
        "employees": [_paycheck(paycheck, record.tax_year) for paycheck in record.paychecks],
        "totals": _totals(record.totals),
        "rulebook": {"version": record.rulebook_version, "tax_year": record.tax_year},
        **_provisional(record.paychecks),
    }


def _provisional(paychecks: Iterable[PaycheckRow]) -> dict[str, list[str]]:
    """Return the lines with unpublished figures, if there are any."""
    lines = provisional_lines(paychecks)
    return {"provisional": list(lines)} if lines else {}


def _as_expected(estimate: Any) -> Any:
    """Return a part of the expected result with its numbers as estimates have always spelled them: 912.5, not
    912.50.
    """
    if isinstance(estimate, Decimal):
        return shortest(estimate)
    if isinstance(estimate, Mapping):
        return {name: _as_expected(part) for name, part in estimate.items()}
    return [_as_expected(part) for part in estimate] if isinstance(estimate, list) else estimate


def _totals(totals: PayrollTotals) -> dict[str, Decimal]:
    return {
        "gross_pay": from_cents(totals.gross_pay),
        "total_deductions": from_cents(totals.total_deductions),
        "total_net_pay": from_cents(totals.net_pay),
        "total_employer_taxes": from_cents(totals.employer_taxes),
        "total_cost": from_cents(totals.total_cost),
    }


def _paycheck(paycheck: PaycheckRow, tax_year: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "employee_id": paycheck.employee_id,
        "name": paycheck.employee_name,
        "payment_method": paycheck.payment_method,
        "earnings": _earnings(paycheck),
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
        "warnings": list(texts(paycheck.warnings)),
        "warning_codes": list(map(coded, paycheck.warnings)),
    }
    if paycheck.carried:
        data["carried"] = [
            {"code": each.code, "name": each.name, "amount": from_cents(each.amount)}
            for each in paycheck.carried
        ]
    certificate = paycheck.reciprocity_certificate or reciprocity_certificate(
        paycheck.work_state, paycheck.residence_state, tax_year
    )
    if certificate is not None:
        data["reciprocity"] = {
            "applied": paycheck.reciprocity_certificate is not None,
            "certificate": certificate,
            "residence_state": paycheck.residence_state,
        }
    return data


def _earnings(paycheck: PaycheckRow) -> dict[str, Any]:
    """Return the parts of gross pay; what the order omitted is a bare 0."""
    parts: dict[str, Any] = paycheck.earnings._asdict()
    for name, part in parts.items():
        parts[name] = _hours(part) if name in _HOURS else from_cents(part)
    for name in paycheck.left_out:
        parts[name] = _BARE_ZERO
    if paycheck.salary is not None:
        parts["salary"] = _salary(paycheck.salary)
    return parts


def _salary(salary: SalaryShare) -> dict[str, Any]:
    return {
        "amount": from_cents(salary.amount),
        "per": salary.per,
        "full_period_pay": from_cents(salary.full_period),
        "pay": from_cents(salary.pay),
        "prorated": salary.prorated,
        "working_days": salary.working_days,
        "paid_days": salary.paid_days,
        "unpaid_days": salary.unpaid_days,
        "regular_rate": from_cents(salary.regular_rate),
    }


def _hours(hours: Decimal) -> Decimal:
    """Return hours with two decimals, with a third only if it isn't zero."""
    hundredths = hours.quantize(_HUNDREDTH)
    return hundredths if hundredths == hours else hours


def _taxes(paycheck: PaycheckRow, payer: str, totals: tuple[str, ...]) -> dict[str, Decimal]:
    """Return a payer's lines summed by category; those without their own total are ``other``."""
    sums = dict.fromkeys((*totals, "other", "total"), 0)
    for line in paycheck.lines:
        if line.payer == payer:
            sums[line.category if line.category in totals else "other"] += line.amount
            sums["total"] += line.amount
    return {name: from_cents(amount) for name, amount in sums.items()}
