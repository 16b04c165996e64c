"""The contract, "POST /calculate" and "GET /threshold": each test's first line is a sentence of it."""

from typing import Any

import pytest

from tests.http.api import Account, NewKey, data, fields, refusal

YEAR = {"state": "CA", "annual_wages": 35000}


async def test_the_free_plan_calculates_and_no_more(new_key: NewKey) -> None:
    """Free, scope `calculator`."""
    caller = await new_key("Family", plan="free")
    data(await caller.post("/calculate", YEAR))
    data(await caller.get("/threshold", state="CA", annual_wages=2900))
    error = refusal(await caller.get("/payrolls"), 403, "subscription_required")
    assert error["details"].keys() >= {"plan", "required_plan"}
    narrow = await new_key("Other", scopes=("payroll",))
    refusal(await narrow.post("/calculate", YEAR), 403, "scope_required")


async def test_what_calculate_takes(account: Account) -> None:
    """`state` in any case, wages of 0 to 999,999; biweekly and single where nothing is said."""
    plain = data(await account.live.post("/calculate", YEAR))
    told = {**YEAR, "state": "ca", "pay_frequency": "biweekly", "filing_status": "single"}
    assert data(await account.live.post("/calculate", told)) == plain
    for wages in (0, 999_999):
        data(await account.live.post("/calculate", YEAR | {"annual_wages": wages}))
    for change, field in (
        ({"annual_wages": 1_000_000}, "annual_wages"),
        ({"annual_wages": -1}, "annual_wages"),
        ({"pay_frequency": "daily"}, "pay_frequency"),
        ({"filing_status": "widowed"}, "filing_status"),
    ):
        assert fields(
            refusal(await account.live.post("/calculate", YEAR | change), 400, "validation_error")
        ) == [field]


async def test_what_calculate_answers(account: Account) -> None:
    """The fields of `data`; `effective_rate` in percent; `other` is every further employer line, itemised in `lines`."""
    answer = data(await account.live.post("/calculate", {"state": "DC", "annual_wages": 45000}))
    assert answer.keys() == {
        *(
            "tax_year",
            "state",
            "state_name",
            "annual_wages",
            "pay_frequency",
            "filing_status",
            "employer_taxes",
        ),
        *(
            "employee_taxes_estimate",
            "per_paycheck",
            "threshold",
            "lines",
            "limitations",
            "limitation_codes",
            "rulebook",
        ),
    }
    employer, employee = answer["employer_taxes"], answer["employee_taxes_estimate"]
    sums = ("social_security", "medicare", "futa", "state_unemployment", "other")
    assert employer.keys() == {*sums, "total", "effective_rate"}
    assert employer["effective_rate"] == round(employer["total"] / 450, 2)
    assert employee.keys() == {
        *("federal_income_tax", "state_income_tax", "social_security", "medicare", "other", "total", "note")
    }
    assert answer["per_paycheck"].keys() == {
        *("gross_pay", "employer_taxes", "employee_taxes", "net_pay", "total_cost", "periods_per_year")
    }
    assert answer["threshold"].keys() == {
        *("fica_threshold", "federal_status", "action_required", "state_suta_status", "state_suta_threshold")
    }
    for line in answer["lines"]:
        assert line.keys() == {
            *("code", "name", "payer", "annual_amount", "per_paycheck_amount", "rate", "wage_base")
        }
    amounts = {line["code"]: line["annual_amount"] for line in answer["lines"] if line["payer"] == "employer"}
    assert (
        employer["total"] == round(sum(amounts.values()), 2) == round(sum(employer[each] for each in sums), 2)
    )
    assert employer["other"] == amounts["DC-PFL-ER"] + amounts["DC-ADMIN-ER"] > 0
    assert answer["rulebook"].keys() == {"version", "tax_year"}


async def test_what_calculate_assumes_it_says(account: Account) -> None:
    """Assumes zero wages so far this year and the new-employer unemployment rate; says so in `limitations`."""
    told = " ".join(data(await account.live.post("/calculate", YEAR))["limitations"])
    assert "no wages earlier in the year" in told
    assert "new-employer unemployment rate" in told


async def test_limitations_have_codes_in_the_same_order(account: Account) -> None:
    """`limitation_codes` beside `limitations`: `{code, params}`; a sentence of a state's rules has an `id`."""
    answers = [
        data(await account.live.post("/calculate", {"state": "KY", "annual_wages": 35000})),
        data(await account.live.get("/threshold", state="KY", annual_wages=35000)),
        data(await account.live.get("/jurisdictions/KY")),
    ]
    for answer in answers:
        for text, code in zip(answer["limitations"], answer["limitation_codes"], strict=True):
            assert code.keys() == {"code", "params"}
            assert code["params"].get("text", text) == text
    assert [each["code"] for each in answers[0]["limitation_codes"]] == [
        *("same_pay_assumed", "new_employer_rate_assumed", "withholding_assumed"),
        *("city_not_chosen", "state_limitation"),
    ]
    assert [each["code"] for each in answers[1]["limitation_codes"]] == ["one_employee_assumed"]
    (law,) = answers[2]["limitation_codes"]
    assert (law["code"], law["params"]["id"]) == ("state_limitation", "kentucky_occupational_taxes")


@pytest.mark.parametrize(
    ("wages", "fica", "sui"), [(2999, False, False), (3000, True, False), (4000, True, True)]
)
async def test_below_the_thresholds_nothing_is_owed(
    account: Account, wages: int, fica: bool, sui: bool
) -> None:
    """Wages below the 3,000 threshold owe no FICA; below the unemployment threshold no FUTA and no SUI."""
    taxes = data(await account.live.post("/calculate", {"state": "TX", "annual_wages": wages}))[
        "employer_taxes"
    ]
    assert bool(taxes["social_security"]) is bool(taxes["medicare"]) is fica
    assert bool(taxes["state_unemployment"]) is bool(taxes["futa"]) is sui


async def test_reciprocity_is_told_for_reciprocal_pairs_only(account: Account) -> None:
    """`reciprocity`: only where the two states have an agreement; `certificate` names the form also while it is missing."""

    async def asked(work: str, home: str, **certificate: bool) -> Any:
        body = {"state": work, "annual_wages": 40000, "residence_state": home}
        return await account.live.post("/calculate", body | certificate)

    assert data(await asked("NJ", "PA"))["reciprocity"] == {
        "applied": False,
        "certificate": "NJ-165",
        "residence_state": "PA",
    }
    applied = data(await asked("NJ", "PA", reciprocity_certificate_on_file=True))
    assert applied["reciprocity"]["applied"] is True
    assert applied["reciprocity"]["certificate"] == "NJ-165"
    for work, home in (("CA", "NV"), ("NV", "CA"), ("CA", "CA")):
        assert "reciprocity" not in data(await asked(work, home))
    for work, home in (("CA", "NV"), ("NV", "CA"), ("NY", "NJ")):
        response = await asked(work, home, reciprocity_certificate_on_file=True)
        assert fields(refusal(response, 400, "validation_error")) == ["reciprocity_certificate_on_file"]


async def test_threshold_answers_for_three_years(account: Account) -> None:
    """Query `state`, `annual_wages`, `tax_year` of 2024 to 2026; the fields of `data`; `approaching` at 80 %."""
    for year, threshold in ((2024, 2700), (2025, 2800), (2026, 3000)):
        query = {"state": "ca", "annual_wages": threshold * 0.8, "tax_year": year}
        answer = data(await account.live.get("/threshold", **query))
        assert answer.keys() == {
            *(
                "tax_year",
                "state",
                "annual_wages",
                "federal",
                "state_threshold",
                "futa",
                "limitations",
                "limitation_codes",
            )
        }
        assert answer["federal"].keys() == {
            *("fica_threshold", "approaching_threshold", "status", "action_required", "explanation")
        }
        assert answer["federal"]["fica_threshold"] == threshold
        assert answer["federal"]["status"] == "approaching"
        assert answer["state_threshold"].keys() == {"threshold_quarterly", "status", "explanation"}
        assert answer["futa"].keys() == {"quarterly_threshold", "note"}
    unknown = await account.live.get("/threshold", state="CA", annual_wages=1, tax_year=2023)
    refusal(unknown, 400, "unsupported_tax_year")


@pytest.mark.parametrize(
    ("state", "quarterly", "words"),
    [("CA", 750, "1,000"), ("NY", 500, "500"), ("DC", 500, "500"), ("TX", 1000, "1,000")],
)
async def test_the_states_threshold_is_the_lowest_at_which_it_asks_for_anything(
    account: Account, state: str, quarterly: int, words: str
) -> None:
    """CA 750 for SDI while its unemployment insurance starts at 1,000, NY 500, DC 500, else mostly 1,000; and says why."""
    answer = data(await account.live.get("/threshold", state=state, annual_wages=2000))["state_threshold"]
    assert answer["threshold_quarterly"] == quarterly
    assert words in answer["explanation"]
    assert "SDI" in answer["explanation"] or state != "CA"
