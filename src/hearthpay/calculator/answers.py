"""The calculator's and the threshold check's answers, shared by the API, the command line and the pages."""

import functools
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from hearthpay.taxes import AnnualEstimate, ThresholdCheck
from hearthpay.taxes.messages import Message, message, texts
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.vocabulary import ThresholdStatus
from hearthpay.wire.messages import codes_of

ESTIMATE_NOTE = "An estimate: income tax depends on the employee's own Form W-4 and state certificate."
EXPLANATIONS: Final[Mapping[ThresholdStatus, str]] = {
    "below": (
        "Cash wages of {wages} stay below the {year} threshold of {threshold}: no Social "
        "Security and Medicare, and no Form W-2 unless income tax is withheld."
    ),
    "approaching": "Cash wages of {wages} come near the {year} threshold of {threshold}. Once it is "
    "reached, Social Security and Medicare are due on all cash wages of the year, from the first dollar.",
    "above": "Cash wages of {wages} reach the {year} threshold of {threshold}: Social Security and "
    "Medicare are due on all cash wages of the year, from the first dollar, and a Form W-2 must be given.",
}
"""What wages mean for Social Security and Medicare, by status; the placeholders are amounts and the year."""

FUTA_NOTE: Final = (
    "FUTA is due on each worker's cash wages up to its wage base once all household workers "
    "together are paid {quarterly} or more in any calendar quarter of this year or the one before."
)
ONE_EMPLOYEE: Final = message("one_employee_assumed")
"""The assumption of every threshold check."""


@functools.lru_cache(maxsize=1_024)
def limitations_of(messages: tuple[Message, ...]) -> tuple[list[str], list[dict[str, object]]]:
    """Return messages in English and by code, kept for the next estimate that says the same: not to be changed."""
    return list(texts(messages)), codes_of(messages)


def _unchanged(figure: Decimal) -> object:
    return figure


def estimate_data(
    estimate: AnnualEstimate,
    money: Callable[[int], object] = from_cents,
    figure: Callable[[Decimal], object] = _unchanged,
    limitations: Callable[[tuple[Message, ...]], tuple[object, object]] = limitations_of,
) -> dict[str, Any]:
    """Return the ``data`` of ``POST /calculate``.

    ``money`` formats an amount of cents, by default as a Decimal, and ``figure`` a figure of the law, a rate or a
    threshold; ``limitations`` gives the messages in English and by code.
    """
    check = estimate.threshold
    gross = estimate.gross_per_paycheck_cents
    employer_paycheck = employee_paycheck = 0
    employer_year: dict[str, int] = {}
    employee_year: dict[str, int] = {}
    lines = []
    for code, name, payer, category, annual_cents, per_paycheck, rate, wage_base in estimate.lines:
        if payer == "employer":
            employer_year[category] = employer_year.get(category, 0) + annual_cents
            employer_paycheck += per_paycheck
        else:
            employee_year[category] = employee_year.get(category, 0) + annual_cents
            employee_paycheck += per_paycheck
        lines.append(
            {
                "code": code,
                "name": name,
                "payer": payer,
                "annual_amount": money(annual_cents),
                "per_paycheck_amount": money(per_paycheck),
                "rate": None if rate is None else figure(rate),
                "wage_base": None if wage_base is None else money(wage_base),
            }
        )
    sentences, limitation_codes = limitations(estimate.messages)
    employer, employee = employer_year.get, employee_year.get
    employer_total, employee_total = sum(employer_year.values()), sum(employee_year.values())
    annual = int(estimate.annual_wages.scaleb(2))
    effective = from_cents(half_up(employer_total * 10_000, annual) if annual else 0)
    data: dict[str, Any] = {
        "tax_year": estimate.tax_year,
        "state": estimate.state,
        "state_name": estimate.state_name,
        "annual_wages": estimate.annual_wages,
        "pay_frequency": estimate.pay_frequency,
        "filing_status": estimate.filing_status,
        "employer_taxes": {
            "social_security": money(employer("social_security", 0)),
            "medicare": money(employer("medicare", 0)),
            "futa": money(employer("futa", 0)),
            "state_unemployment": money(employer("state_unemployment", 0)),
            "other": money(employer("other", 0)),
            "total": money(employer_total),
            "effective_rate": effective,
        },
        "employee_taxes_estimate": {
            "federal_income_tax": money(employee("federal_income_tax", 0)),
            "state_income_tax": money(employee("state_income_tax", 0)),
            "social_security": money(employee("social_security", 0)),
            "medicare": money(employee("medicare", 0)),
            "other": money(employee("other", 0) + employee("state_unemployment", 0)),
            "total": money(employee_total),
            "note": ESTIMATE_NOTE,
        },
        "per_paycheck": {
            "gross_pay": money(gross),
            "employer_taxes": money(employer_paycheck),
            "employee_taxes": money(employee_paycheck),
            "net_pay": money(gross - employee_paycheck),
            "total_cost": money(gross + employer_paycheck),
            "periods_per_year": estimate.periods,
        },
        "threshold": {
            "fica_threshold": figure(check.fica_threshold),
            "federal_status": check.federal_status,
            "action_required": check.federal_status == "above" or check.state_status == "above",
            "state_suta_status": check.suta_status,
            "state_suta_threshold": figure(check.suta_threshold_quarterly),
        },
        "lines": lines,
        "limitations": sentences,
        "limitation_codes": limitation_codes,
        "rulebook": {"version": estimate.rulebook_version, "tax_year": estimate.tax_year},
    }
    if estimate.provisional:
        data["provisional"] = list(estimate.provisional)
    if estimate.reciprocity_certificate is not None:
        data["reciprocity"] = {
            "applied": estimate.reciprocity is not None,
            "certificate": estimate.reciprocity_certificate,
            "residence_state": estimate.residence_state,
        }
    return data


def threshold_data(check: ThresholdCheck) -> dict[str, Any]:
    """Return the ``data`` of ``GET /threshold``."""
    explanation = EXPLANATIONS[check.federal_status].format(
        wages=f"{check.annual_wages:,}", year=check.tax_year, threshold=f"{check.fica_threshold:,}"
    )
    return {
        "tax_year": check.tax_year,
        "state": check.state,
        "annual_wages": check.annual_wages,
        "federal": {
            "fica_threshold": check.fica_threshold,
            "approaching_threshold": check.approaching_threshold,
            "status": check.federal_status,
            "action_required": check.federal_status == "above",
            "explanation": explanation,
        },
        "state_threshold": {
            "threshold_quarterly": check.state_threshold_quarterly,
            "status": check.state_status,
            "explanation": check.state_explanation,
        },
        "futa": {
            "quarterly_threshold": check.futa_quarterly_threshold,
            "note": FUTA_NOTE.format(quarterly=f"{check.futa_quarterly_threshold:,}"),
        },
        "limitations": list(texts((ONE_EMPLOYEE, *check.messages))),
        "limitation_codes": codes_of((ONE_EMPLOYEE, *check.messages)),
    }
