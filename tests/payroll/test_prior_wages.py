"""Wages of another provider earlier in the year: they count in caps and to date, and are never altered."""

from datetime import date
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from hearthpay.taxes.messages import texts
from hearthpay.taxes.prior_wages import PriorLine, review_prior_wages
from tests.http.api import Account, data, refusal
from tests.payroll.test_run import exact
from tests.payroll.test_years import Texan, of_year, texan

__all__ = ["texan"]
D = Decimal


def line(code: str, subject: float, taxable: float, amount: float) -> dict[str, Any]:
    return {"code": code, "subject_wages": subject, "taxable_wages": taxable, "amount": amount}


def prior(**changes: Any) -> dict[str, Any]:
    return {
        "tax_year": 2026,
        "source": "Former payroll",
        "as_of": "2026-06-30",
        "gross_pay": 8000,
        "lines": [
            line("US-SS-EE", 8000, 8000, 496),
            line("US-SS-ER", 8000, 8000, 496),
            line("US-MED-EE", 8000, 8000, 116),
            line("US-MED-ER", 8000, 8000, 116),
            line("US-FUTA", 8000, 7000, 42),
            line("TX-SUI-ER", 8000, 8000, 216),
        ],
    } | changes


async def enter(texan: Texan, **changes: Any) -> dict[str, Any]:
    response = await texan.account.live.post(f"/employees/{texan.employee_id}/prior-wages", prior(**changes))
    assert response.status_code == 201, response.text
    return exact(response)


async def assert_sound(owner_database: Database, clock: FixedClock) -> None:
    async with owner_database.transaction(None) as session:
        results = await examine(session, clock.now(), lambda *_: None)
    assert [(each.name, each.differences) for each in results if each.found] == []


async def test_they_count_in_caps_and_in_the_year_to_date(
    texan: Texan, owner_database: Database, clock: FixedClock
):
    entered = await enter(texan)
    assert entered["warnings"] == []
    assert (entered["employee_taxes"], entered["employer_taxes"]) == (D("612"), D("870"))
    assert entered["net_pay"] == D("7388")
    after = await texan.run("2000")
    assert of_year(after) == {
        "US-FIT": 0, "US-SS-EE": D("620"), "US-MED-EE": D("145"), "US-SS-ER": D("620"), "US-MED-ER": D("145"),
        "US-FUTA": D("42"), "TX-SUI-ER": D("243"),
    }  # fmt: skip
    assert after["employees"][0]["ytd"]["gross_pay"] == 10_000
    assert after["employees"][0]["ytd"]["employee_taxes"] == D("765")
    await assert_sound(owner_database, clock)


async def test_entered_late_or_anew_they_correct_the_next_paycheck(
    texan: Texan, owner_database: Database, clock: FixedClock
):
    first = await texan.run("9000")
    assert of_year(first)["US-FUTA"] == D("42")
    await enter(texan)
    await assert_sound(owner_database, clock)
    after = await texan.run("100")
    assert of_year(after)["US-FUTA"] == D("42")  # 42 of the other payroll, and ours given back
    assert of_year(after)["TX-SUI-ER"] == D("243")
    await assert_sound(owner_database, clock)
    await enter(texan, gross_pay=3000, lines=[line("US-FUTA", 3000, 3000, 18)])
    after = await texan.run("100")
    assert of_year(after)["US-FUTA"] == D("42")
    assert of_year(after)["TX-SUI-ER"] == D("243")
    await texan.void(first)
    after = await texan.run("100")
    assert of_year(after)["US-FUTA"] == D("19.80")  # 3,000 and three times 100
    await assert_sound(owner_database, clock)


async def test_each_source_stands_once_and_two_sources_share_a_cap(
    texan: Texan, owner_connection: psycopg.Connection, owner_database: Database, clock: FixedClock
):
    first = await enter(texan)
    again = await enter(texan, as_of="2026-07-31")
    other = await enter(texan, source="Yet another")
    listed = data(await texan.account.live.get(f"/employees/{texan.employee_id}/prior-wages"))
    assert [each["id"] for each in listed] == [again["id"], other["id"]]
    after = await texan.run("100")
    [futa] = [each for each in after["employees"][0]["lines"] if each["code"] == "US-FUTA"]
    assert (futa["amount"], futa["ytd_amount"]) == (
        0,
        D("84"),
    )  # what others charged twice is theirs to refund
    rows = owner_connection.execute(
        "SELECT details->>'prior_wages', details->>'replaces' FROM audit_log "
        "WHERE action = 'employee.prior_wages' ORDER BY id"
    ).fetchall()
    assert rows == [(first["id"], None), (again["id"], first["id"]), (other["id"], None)]
    await assert_sound(owner_database, clock)


async def test_what_differs_from_the_law_is_told_and_left(texan: Texan):
    entered = await enter(
        texan,
        gross_pay=250_000,
        employee_taxes=1,
        lines=[
            line("US-SS-EE", 250_000, 250_000, 15_500),
            line("US-MED-EE", 250_000, 250_000, 3_000),
            line("US-FUTA", 8_000, 6_000, 36),
        ],
    )
    told = " ".join(entered["warnings"])
    for expected in (
        "US-SS-EE: taxable wages are 250,000.00; by the year's base of 184,500.00 they should be 184,500.00.",
        "US-MED-EE: 3,000.00 was charged; 1.45 % of the taxable wages is 3,625.00.",
        "US-ADDMED-EE is not entered, but wages of 50,000.00 bear it.",
        "US-FUTA: taxable wages are 6,000.00",
        "US-SS: only one of the two shares is entered.",
        "employee_taxes: 1.00 is not the sum of the lines, 18,500.00.",
    ):
        assert expected in told
    codes = [each["code"] for each in entered["warning_codes"]]
    assert len(codes) == len(entered["warnings"])
    assert codes[0] == "prior_wages_not_by_base"
    assert entered["warning_codes"][0]["params"]["due"] == D("184500")
    [kept] = exact(await texan.account.live.get(f"/employees/{texan.employee_id}/prior-wages"))
    assert kept == entered
    after = await texan.run("1000")
    own = {each["code"]: each["amount"] for each in after["employees"][0]["lines"]}
    assert own["US-SS-EE"] == 0
    assert own["US-ADDMED-EE"] == D("9.00")
    assert own["US-FUTA"] == 0


def test_a_line_of_a_state_other_than_the_work_state_is_reviewed_by_that_states_law():
    """Whoever worked elsewhere earlier in the year has lines of that state, and they count as any other's."""
    lines = [
        PriorLine("TX-SUI-ER", 1_000_00, 1_000_00, 27_00),
        PriorLine("CA-SDI-EE", 1_000_00, 1_000_00, 20_00),
        PriorLine("CA-ETT-ER", 8_000_00, 8_000_00, 8_00),
    ]
    review = review_prior_wages(lines, 9_000_00, date(2026, 6, 30), "TX")
    assert texts(review.differences) == (
        "CA-SDI-EE: 20.00 was charged; 1.3 % of the taxable wages is 13.00.",
        "CA-ETT-ER: taxable wages are 8,000.00; by the year's base of 7,000.00 they should be 7,000.00.",
    )
    assert (review.employee_taxes, review.employer_taxes) == (20_00, 35_00)


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("as_of", {"as_of": "2025-12-31"}),
        ("as_of", {"as_of": "2026-11-21"}),
        ("lines", {"lines": []}),
        ("lines[0].code", {"lines": [line("US-SIS-EE", 1, 1, 1)]}),
        ("lines[1].code", {"lines": [line("US-FUTA", 1, 1, 1), line("US-FUTA", 1, 1, 1)]}),
        ("lines[0].amount", {"lines": [line("US-FUTA", 1, 1, -1)]}),
        ("source", {"source": ""}),
        ("gross_pay", {"gross_pay": "many"}),
    ],
)
async def test_what_cannot_be_is_refused(texan: Texan, counts, field: str, changes: dict[str, Any]):
    before = counts()
    response = await texan.account.live.post(f"/employees/{texan.employee_id}/prior-wages", prior(**changes))
    error = refusal(response, 400, "validation_error")
    assert error["details"][0]["field"] == field
    assert counts() == before


async def test_they_may_be_as_of_today(texan: Texan):
    assert (await enter(texan, as_of="2026-11-20"))["as_of"] == "2026-11-20"


async def test_an_unknown_employee_has_none(account: Account):
    nobody = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
    refusal(await account.live.post(f"/employees/{nobody}/prior-wages", prior()), 404, "not_found")
    refusal(await account.live.get(f"/employees/{nobody}/prior-wages"), 404, "not_found")
