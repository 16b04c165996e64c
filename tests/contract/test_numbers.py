"""The contract, "Envelope, errors, conventions": numbers as clients spell them, and null."""

from decimal import Decimal
from typing import Any

import pytest

from tests.http.api import MARIA, ROSA, Account, data, fields, refusal
from tests.worlds.households import add_employee, payroll_of


@pytest.mark.parametrize(
    ("sent", "taken"), [(19.1 * 45 * 52, 44694.00), (0.1 + 0.2, 0.30), (1e6 / 3 * 3 / 10, 100000)]
)
async def test_the_noise_of_binary_arithmetic_is_rounded(account: Account, sent: float, taken: float) -> None:
    """A number that differs from its field's precision only by binary noise is rounded."""
    told = data(await account.live.post("/calculate", {"state": "CA", "annual_wages": sent}))
    assert told["annual_wages"] == taken
    query = await account.live.get("/threshold", state="CA", annual_wages=repr(sent))
    assert data(query)["annual_wages"] == taken


@pytest.mark.parametrize("sent", [100.005, 100.001, 44694.00001])
async def test_a_real_further_decimal_of_money_is_refused(account: Account, sent: float) -> None:
    """A real further decimal of money is a 400."""
    response = await account.live.post("/calculate", {"state": "CA", "annual_wages": sent})
    assert fields(refusal(response, 400, "validation_error")) == ["annual_wages"]


async def test_noise_above_a_bound_is_within_it(account: Account, household: Any) -> None:
    """The bound is held against the rounded number, of hours and amounts as well."""
    rosa = await add_employee(account.live, household["id"])
    body = payroll_of(household["id"], rosa)
    body["employees"][0] |= {"regular_hours": 40.00000000000001, "bonus": 50.10000000000001}
    earnings = data(await account.live.post("/payroll/preview", body))["employees"][0]["earnings"]
    assert (earnings["regular_hours"], earnings["bonus"]) == (40, 50.1)
    most = {"state": "CA", "annual_wages": 999_999.0000000001}
    assert data(await account.live.post("/calculate", most))["annual_wages"] == 999_999


@pytest.mark.parametrize(
    ("sent", "paid"),
    [(37.333333, 37.333), (1 / 3, 0.333), (37.0005, 37), (37.0015, 37.002), (743.9999, 744), (744.0004, 744)],
)
async def test_more_than_three_decimals_of_hours_are_rounded(
    account: Account, household: Any, sent: float, paid: float
) -> None:
    """Hours take three decimals, more are rounded (half to even) with a warning."""
    rosa = await add_employee(account.live, household["id"], pay_frequency="monthly", start_date="2026-10-01")
    october = {"pay_period_start": "2026-10-01", "pay_period_end": "2026-10-31", "pay_frequency": "monthly"}
    body = payroll_of(household["id"], rosa, **october)
    body["employees"][0]["overtime_hours"] = 0
    body["employees"][0]["regular_hours"] = sent
    previewed = data(await account.live.post("/payroll/preview", body))
    assert (await account.live.post("/payroll/explain", body)).is_success
    ran = data(await account.live.post("/payroll/run", body | {"preview_token": previewed["preview_token"]}))
    stored = data(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    warning = f"regular_hours {Decimal(repr(sent)):f} was rounded to {paid:g}: hours have at most 3 decimals."
    for told in (previewed, ran, stored):
        [entry] = told["employees"]
        assert entry["earnings"]["regular_hours"] == paid
        assert warning in entry["warnings"]


async def test_hours_out_of_bounds_stay_refused_and_exact_ones_are_not_warned_of(
    account: Account, household: Any
) -> None:
    """Hours take three decimals: no warning of what needs no rounding, and no hours below 0 or above the bound."""
    rosa = await add_employee(account.live, household["id"])
    body = payroll_of(household["id"], rosa)
    body["employees"][0]["regular_hours"] = 37.333
    [entry] = data(await account.live.post("/payroll/preview", body))["employees"]
    assert not any("rounded" in each for each in entry["warnings"])
    for sent in (-0.0004, 744.0006, 1e30):
        body["employees"][0]["regular_hours"] = sent
        error = refusal(await account.live.post("/payroll/preview", body), 400, "validation_error")
        assert fields(error) == ["employees[0].regular_hours"]


async def test_null_for_an_optional_field_means_left_out(account: Account, household: Any) -> None:
    """`null` for an optional field means left out, in bodies and in the entries of their lists."""
    nothing = {"pay_frequency": None, "filing_status": None, "residence_state": None}
    plain = {"state": "CA", "annual_wages": 35_000}
    assert data(await account.live.post("/calculate", plain | nothing)) == data(
        await account.live.post("/calculate", plain)
    )
    rosa = data(
        await account.live.post("/employees", ROSA | {"pay_frequency": None, "relationship": None}), 201
    )
    body = payroll_of(household["id"], rosa["id"], notes=None, confirm_ach_debit=None)
    body["employees"][0] |= {"overtime_hours": None, "bonus": None, "voluntary_set_aside": {"skip": None}}
    assert data(await account.live.post("/payroll/preview", body))["totals"]["gross_pay"] == 1140
    required = await account.live.post("/employers", MARIA | {"state": None})
    assert fields(refusal(required, 400, "validation_error")) == ["state"]
    unknown = await account.live.post("/calculate", plain | {"colour": None})
    assert fields(refusal(unknown, 400, "validation_error")) == ["colour"]
