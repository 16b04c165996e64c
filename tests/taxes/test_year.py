"""The year told to the engine by its subject wages: what is missing is charged, what was too much is given back."""

import datetime
from decimal import Decimal
from typing import Any

import pytest

from hearthpay.taxes import FederalCertificate, Paycheck, PaycheckInput, TaxInputError, calculate_paycheck
from hearthpay.taxes.interchange import read_paycheck_input, write_paycheck

D = Decimal


def texan(wages: int = 1000, **entries: Any) -> Paycheck:
    request = {
        "pay_date": datetime.date(2026, 10, 2),
        "pay_frequency": "weekly",
        "regular_wages": D(wages),
        "work_state": "TX",
        "federal": FederalCertificate(elected=False),
    }
    return calculate_paycheck(PaycheckInput(**request | entries))


def line(paycheck: Paycheck, code: str) -> tuple[Decimal, Decimal, Decimal]:
    [found] = [each for each in paycheck.lines if each.code == code]
    return found.subject_wages, found.taxable_wages, found.amount


def test_missing_wages_are_taxed_and_the_maximum_is_met():
    paycheck = texan(
        ytd={"US-FUTA": D(100)}, ytd_tax={"US-FUTA": D("0.60")}, ytd_subject={"US-FUTA": D(8000)}
    )
    assert line(paycheck, "US-FUTA") == (D(1000), D(6900), D("41.40"))
    [correction] = paycheck.corrections
    assert (correction.code, correction.amount, correction.carried) == ("US-FUTA", D("41.40"), 0)


def test_without_subject_wages_nothing_is_missing():
    paycheck = texan(ytd={"US-FUTA": D(100)})
    assert line(paycheck, "US-FUTA") == (D(1000), D(1000), D("6.00"))
    assert paycheck.corrections == ()


def test_too_much_comes_back_at_the_rate_it_was_charged():
    paycheck = texan(
        0, ytd={"US-FUTA": D(7000)}, ytd_tax={"US-FUTA": D("42.00")}, ytd_subject={"US-FUTA": D(500)}
    )
    assert line(paycheck, "US-FUTA") == (0, D(-6500), D("-39.00"))


def test_the_employees_share_takes_net_pay_and_no_more():
    told = {"US-SS-EE": D(50_000)}
    paycheck = texan(ytd={"US-SS-EE": D(0)}, ytd_tax={"US-SS-EE": D(0)}, ytd_subject=told)
    assert paycheck.net_pay == 0
    assert line(paycheck, "US-SS-EE") == (D(1000), D("15895.16"), D("985.50"))
    [correction] = paycheck.corrections
    assert (correction.amount, correction.carried) == (D("923.50"), D("2176.50"))


def test_an_exempt_employee_still_settles_what_was_subject_before():
    told = {"US-FUTA": D(7000)}
    paycheck = texan(
        relationship="spouse", ytd={"US-FUTA": D(0)}, ytd_tax={"US-FUTA": D(0)}, ytd_subject=told
    )
    assert line(paycheck, "US-FUTA") == (0, D(7000), D("42.00"))


def test_the_additional_medicare_tax_is_measured_on_medicare_wages():
    told = {"US-MED-EE": D(300_000)}
    paycheck = texan(
        ytd={"US-MED-EE": D(300_000), "US-ADDMED-EE": D(100_000)},
        ytd_tax={"US-ADDMED-EE": D(900)},
        ytd_subject=told,
    )
    assert line(paycheck, "US-ADDMED-EE") == (D(1000), D(1000), D("9.00"))


def test_the_command_line_takes_them_and_tells_corrections():
    given = {
        "pay_date": "2026-10-02", "pay_frequency": "weekly", "regular_wages": D(100), "work_state": "TX",
        "ytd": {"US-FUTA": D(-50), "TX-SUI-ER": D(0)}, "ytd_subject": {"US-FUTA": D(8000)},
    }  # fmt: skip
    written = write_paycheck(calculate_paycheck(read_paycheck_input(given)))
    assert written["corrections"] == [{"code": "US-FUTA", "amount": D("42.30"), "carried": D(0)}]


@pytest.mark.parametrize(
    ("field", "entries"),
    [
        ("ytd_subject.US-FUTA", {"ytd_subject": {"US-FUTA": D(-1)}}),
        ("ytd_subject.US-FUTAH", {"ytd_subject": {"US-FUTAH": D(1)}}),
        ("ytd.US-FUTA", {"ytd": {"US-FUTA": D(-1)}}),
        ("ytd.US-FUTA", {"ytd": {"US-FUTA": D("-0.001")}, "ytd_subject": {"US-FUTA": D(1)}}),
    ],
)
def test_what_cannot_be_is_refused(field, entries):
    with pytest.raises(TaxInputError) as refusal:
        texan(**entries)
    assert refusal.value.field == field
