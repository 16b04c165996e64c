"""The estimate of a scheduled payroll: what is kept as an answer is read as the amounts that were calculated."""

import datetime
import json
from dataclasses import replace
from decimal import Decimal
from typing import Final
from uuid import UUID

from hearthpay.payroll.answers import estimate_json
from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.ledger.estimates import Estimate, EstimatedLine, EstimatedSalary
from hearthpay.payroll.ledger.rows import LineRow, PaycheckRow, PayrollRecord, SetAside, YearToDate
from hearthpay.payroll.orders import SalaryShare
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.taxes.messages import DollarAmount, message

_DAY: Final = datetime.date(2026, 12, 11)
_BY_HOURS: Final = PaycheckRow(
    employee_id=UUID(int=2),
    employee_name="Rosa Diaz",
    payment_method="direct_deposit",
    earnings=Earnings(Decimal("37.125"), 105_806, Decimal("2.00"), 8_550, 10_050, 0),
    gross_pay=124_406,
    employee_taxes=20_133,
    employer_taxes=7_713,
    set_aside=SetAside(1_001, "recurring", 4_004),
    lines=(
        LineRow(
            "US-SS-EE",
            "Social Security",
            "employee",
            "IRS",
            "social_security",
            124_406,
            124_406,
            Decimal("0.062"),
            7_713,
            15_426,
        ),
        LineRow(
            "US-SS-ER",
            "Social Security",
            "employer",
            "IRS",
            "social_security",
            124_406,
            124_406,
            Decimal("0.062"),
            7_713,
            15_426,
        ),
        LineRow(
            "US-FIT",
            "Federal income tax",
            "employee",
            "IRS",
            "federal_income_tax",
            124_406,
            124_406,
            None,
            12_420,
            0,
        ),
    ),
    ytd=YearToDate(248_812, 206_544, 40_266, 19_034),
    warnings=(
        message("part_bonus", amount=DollarAmount(10_050)),
        message("more_hours_than_period", hours=24),
    ),
    residence_state="CA",
    reciprocity_certificate=None,
    work_state="CA",
    left_out=frozenset({"other_earnings"}),
)
_BY_SALARY: Final = replace(
    _BY_HOURS,
    employee_id=UUID(int=3),
    salary=SalaryShare(
        5_200_000, "year", "weekly", 100_000, 5, Decimal("4.5"), Decimal("0.5"), None, 2_500, 90_000
    ),
    warnings=(),
)
_RECORD: Final = PayrollRecord(
    UUID(int=1),
    PayDates(_DAY, _DAY, _DAY, defaulted=False),
    "weekly",
    (_BY_HOURS, _BY_SALARY),
    "v1",
    2026,
    None,
)


def test_each_amount_is_read_as_it_was_calculated() -> None:
    estimate = Estimate.parse(estimate_json(_RECORD))
    assert estimate.totals == _RECORD.totals
    for kept, row in zip(estimate.paychecks, _RECORD.paychecks, strict=True):
        for name in (
            "employee_id",
            "employee_name",
            "payment_method",
            "earnings",
            "gross_pay",
            "set_aside",
            "net_pay",
            "total_cost",
            "ytd",
            "warnings",
        ):
            assert getattr(kept, name) == getattr(row, name), name
        assert (kept.employee_taxes, kept.employer_taxes) == (row.employee_taxes, row.employer_taxes)
        assert kept.lines == tuple(
            EstimatedLine(
                line.code,
                line.name,
                line.payer,
                line.taxable_wages,
                line.rate,
                line.amount,
                line.ytd_amount,
            )
            for line in row.lines
        )
    by_hours, by_salary = estimate.paychecks
    assert by_hours.salary is None
    assert by_salary.salary == EstimatedSalary(5, Decimal("4.5"))
    assert by_salary.salary.prorated


def test_an_estimate_from_before_warnings_had_codes_keeps_their_sentences() -> None:
    kept = json.loads(estimate_json(_RECORD))
    for each in kept["employees"]:
        del each["messages"], each["warning_codes"]
    (first, second) = Estimate.parse(json.dumps(kept)).paychecks
    assert [(each.code, each.text) for each in first.warnings] == [
        ("recorded", each.text) for each in _BY_HOURS.warnings
    ]
    assert second.warnings == ()
