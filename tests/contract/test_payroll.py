"""The contract, "POST /payroll/preview, POST /payroll/run": each test's first line is a sentence of it.

It is Friday, 20 November 2026, 10:00 in New York: the earliest direct deposit arrives on Monday the 30th.
"""

from itertools import pairwise
from typing import Any

import pytest

from hearthpay.payroll.lifecycle import TRANSITIONS
from tests.http.api import Account, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import Family, Town

EARLIEST = "2026-11-30"
BOTH = pytest.mark.parametrize("path", ["/payroll/preview", "/payroll/run"])


def unnamed(employer_id: str, employee_id: str, **changes: Any) -> dict[str, Any]:
    """A payroll that names neither a pay date nor a payment method."""
    body = payroll_of(employer_id, employee_id) | changes
    body["employees"] = [{"employee_id": employee_id, "regular_hours": 40}]
    return {name: value for name, value in body.items() if name != "pay_date" or "pay_date" in changes}


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any]) -> str:
    return await add_employee(account.live, household["id"])


async def test_payroll_is_for_starter_and_larger(new_key: NewKey) -> None:
    """Starter and larger, scope `payroll`."""
    refusal(await (await new_key("A", plan="free")).post("/payroll/run", {}), 403, "subscription_required")
    refusal(await (await new_key("B", scopes=("employees",))).post("/payroll/run", {}), 403, "scope_required")
    refusal(await (await new_key("C", plan="starter")).post("/payroll/run", {}), 400, "validation_error")


async def test_what_a_payroll_takes(account: Account, household: Any, rosa: str, counts: Any) -> None:
    """The body of preview and run; a preview validates the same and creates nothing."""
    entry = {
        "employee_id": rosa,
        "regular_hours": 40,
        "overtime_hours": 2,
        "bonus": 50,
        "other_earnings": 10.5,
        "payment_method": "cash",
        "voluntary_set_aside": {"skip": False, "amount": 9_999},
    }
    body = payroll_of(household["id"], rosa, employees=[entry], notes="a note", off_cycle=False)
    body |= {"confirm_large_payroll": True, "confirm_ach_debit": True}
    before = counts()
    preview = data(await account.live.post("/payroll/preview", body))
    for change, field in (
        ({"employees": [entry | {"voluntary_set_aside": {"amount": 10_000}}]}, "voluntary_set_aside.amount"),
        ({"employees": [entry | {"payment_method": "bitcoin"}]}, "payment_method"),
    ):
        for path in ("/payroll/preview", "/payroll/run"):
            response = await account.live.post(path, body | change)
            assert fields(refusal(response, 400, "validation_error")) == [f"employees[0].{field}"]
    assert counts() == before
    ran = data(await account.live.post("/payroll/run", body))
    assert ran["employees"] == preview["employees"]
    assert ran["totals"] == preview["totals"]


async def test_what_a_payroll_answers(account: Account, household: Any, rosa: str) -> None:
    """The fields of `data`, of each employee and of the totals."""
    body = payroll_of(household["id"], rosa)
    preview = data(await account.live.post("/payroll/preview", body))
    ran = data(await account.live.post("/payroll/run", body))
    common = {
        "employer_id",
        "pay_date_defaulted",
        "pay_period",
        "employees",
        "totals",
        "rulebook",
        "metadata",
    }
    assert preview.keys() == common | {"preview", "next_step", "preview_token"}
    assert ran.keys() == common | {"payroll_id", "id", "status"}
    assert preview["preview"] is True
    assert ran["pay_period"].keys() == {"start", "end", "pay_date", "frequency"}
    assert ran["totals"].keys() == {
        *("gross_pay", "total_deductions", "total_net_pay", "total_employer_taxes", "total_cost")
    }
    (paycheck,) = ran["employees"]
    assert paycheck.keys() == {
        *(
            "employee_id",
            "name",
            "payment_method",
            "earnings",
            "gross_pay",
            "employee_taxes",
            "employer_taxes",
        ),
        *("lines", "voluntary_set_aside", "net_pay", "total_cost", "ytd", "warnings", "warning_codes"),
    }
    assert paycheck["earnings"].keys() == {
        *("regular_hours", "regular_pay", "overtime_hours", "overtime_pay", "bonus", "other_earnings")
    }
    assert paycheck["employee_taxes"].keys() == {
        *("federal_income_tax", "social_security", "medicare", "state_income_tax", "other", "total")
    }
    assert paycheck["employer_taxes"].keys() == {
        *("social_security", "medicare", "futa", "state_unemployment", "other", "total")
    }
    assert paycheck["lines"][0].keys() == {
        *("code", "name", "payer", "taxable_wages", "rate", "amount", "ytd_amount")
    }
    assert paycheck["voluntary_set_aside"].keys() == {"amount", "source", "balance"}
    assert paycheck["ytd"].keys() == {"gross_pay", "net_pay", "employee_taxes", "employer_taxes"}
    assert ran["rulebook"]["version"].startswith("2026")


@pytest.mark.parametrize(("hours", "pay"), [(7.333, 208.99), (0.001, 0.03), (40, 1140), (7.25, 206.63)])
async def test_hours_have_three_decimals(
    account: Account, household: Any, rosa: str, hours: float, pay: float
) -> None:
    """Hours have up to three decimals: 7.333. More of them are rounded, and a warning says so."""
    body = payroll_of(household["id"], rosa)
    body["employees"][0]["regular_hours"] = hours
    ran = data(await account.live.post("/payroll/run", body))
    read = data(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    for answer in (ran, read):
        earnings = answer["employees"][0]["earnings"]
        assert (earnings["regular_hours"], earnings["regular_pay"]) == (hours, pay)
    body |= {"pay_period_start": "2026-11-02", "pay_period_end": "2026-11-08"}
    body["employees"][0]["regular_hours"] = 7.3333
    previewed = data(await account.live.post("/payroll/preview", body))["employees"][0]
    assert previewed["earnings"]["regular_hours"] == 7.333
    assert any("7.333" in each for each in previewed["warnings"])


async def test_the_method_left_out_in_a_run_is_the_employees_own(account: Account, household: Any) -> None:
    """`payment_method` left out in a run: the employee's own setting, which is check unless it was changed."""
    ana = await add_employee(account.live, household["id"], first_name="Ana", payment_method="cash")
    eva = await add_employee(account.live, household["id"], first_name="Eva")
    body = unnamed(household["id"], ana)
    body["employees"].append({"employee_id": eva, "regular_hours": 1})
    ran = data(await account.live.post("/payroll/run", body))
    assert [each["payment_method"] for each in ran["employees"]] == ["cash", "check"]
    assert (ran["status"], ran["pay_period"]["pay_date"]) == ("completed", "2026-11-20")
    dora = await add_employee(
        account.live, household["id"], first_name="Dora", payment_method="direct_deposit"
    )
    response = await account.live.post("/payroll/run", unnamed(household["id"], dora))
    refusal(response, 412, "direct_deposit_unavailable")


@BOTH
async def test_hours_need_a_pay_rate(account: Account, household: Any, path: str) -> None:
    """A payroll with hours answers `employee_incomplete` (details `missing`) until the pay rate is set."""
    new = {"first_name": "Rosa", "last_name": "Diaz", "start_date": "2026-01-05"}
    rosa = data(await account.live.post("/employees", new), 201)
    assert rosa["incomplete"] == ["pay_rate"]
    body = payroll_of(household["id"], rosa["id"])
    error = refusal(await account.live.post(path, body), 400, "employee_incomplete")
    assert error["details"]["missing"] == ["pay_rate"]
    bonus = body | {"employees": [{"employee_id": rosa["id"], "bonus": 100, "payment_method": "check"}]}
    assert data(await account.live.post("/payroll/preview", bonus))["totals"]["gross_pay"] == 100


async def test_the_earliest_direct_deposit(family: Family, town: Town) -> None:
    """Earliest = 5 business days after the submission day; after the cut-off, 15:00 Eastern, the next business day is it."""
    assert (
        data(await family.caller.post("/payroll/preview", family.order()))["pay_period"]["pay_date"]
        == EARLIEST
    )
    town.go_to("2026-11-20", 15)
    after = data(await family.caller.post("/payroll/preview", family.order()))
    assert after["pay_period"]["pay_date"] == "2026-12-01"
    assert after["pay_date_defaulted"] is True


async def test_by_check_and_cash_it_is_today_or_the_period_end(
    account: Account, household: Any, rosa: str
) -> None:
    """Left out, check and cash are paid today, or at the period end if that is later; they never schedule."""
    for start, end, paid in (
        ("2026-11-09", "2026-11-15", "2026-11-20"),
        ("2026-11-16", "2026-11-22", "2026-11-22"),
    ):
        body = payroll_of(household["id"], rosa, pay_period_start=start, pay_period_end=end)
        del body["pay_date"]
        ran = data(await account.live.post("/payroll/run", body))
        assert (ran["pay_period"]["pay_date"], ran["pay_date_defaulted"]) == (paid, True)
        assert ran["status"] == "completed"


@BOTH
async def test_too_early_is_refused_with_the_callers_own_request_corrected(
    account: Account, household: Any, rosa: str, path: str
) -> None:
    """Direct deposit earlier than it is 400 `pay_date_past_deadline`; the message says "past the submission deadline"."""
    body = unnamed(household["id"], rosa, pay_date="2026-11-25", notes="our week 46")
    body["employees"][0]["payment_method"] = "direct_deposit"
    error = refusal(await account.live.post(path, body), 400, "pay_date_past_deadline")
    assert "past the submission deadline" in error["message"]
    assert error["details"] == {"pay_date": "2026-11-25", "next_valid_pay_date": EARLIEST}
    assert error["example"] == body | {"pay_date": EARLIEST}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (
            {"pay_period_start": "2026-11-15", "pay_period_end": "2026-11-09"},
            {"pay_period_start": "2026-11-09", "pay_period_end": "2026-11-15"},
        ),
        ({"pay_date": "2026-11-01"}, {"pay_date": "2026-11-20"}),
        ({"pay_period_end": "2028-11-15"}, {"pay_period_end": "2026-11-15"}),
        ({"pay_period_end": "2026-12-20"}, {"pay_period_end": "2026-11-15", "pay_date": "2026-11-20"}),
        ({"notes": "catch-up", "pay_date": "2026-11-25"}, {"pay_date": "2026-11-15"}),
    ],
)
async def test_every_refusal_of_dates_shows_dates_that_would_do(
    account: Account, household: Any, rosa: str, wrong: dict[str, str], right: dict[str, str]
) -> None:
    """Every 400 carries a correct request: of dates that cannot be, the caller's own with dates that can."""
    body = payroll_of(household["id"], rosa) | wrong
    error = refusal(await account.live.post("/payroll/run", body), 400, "validation_error")
    assert error["example"] == body | right
    data(await account.live.post("/payroll/run", error["example"]))


async def test_a_preview_without_a_method_and_date_is_dated_as_direct_deposit(
    account: Account, household: Any, rosa: str
) -> None:
    """A preview that names neither method nor pay date: the earliest ACH date; `next_step` says what a run does."""
    preview = data(await account.live.post("/payroll/preview", unnamed(household["id"], rosa)))
    assert (preview["pay_period"]["pay_date"], preview["pay_date_defaulted"]) == (EARLIEST, True)
    assert preview.keys().isdisjoint({"is_estimated", "scheduled_send_at", "next_valid_pay_date"})
    assert "completes at once" in preview["next_step"]
    assert preview["employees"][0]["payment_method"] == "check"


async def test_a_preview_of_a_period_to_come_needs_no_date_either(
    account: Account, household: Any, rosa: str
) -> None:
    """Where no direct deposit date fits the period, the date is that of a run by check: nothing is refused."""
    week = {"pay_period_start": "2026-12-14", "pay_period_end": "2026-12-20"}
    body = unnamed(household["id"], rosa, **week)
    preview = data(await account.live.post("/payroll/preview", body))
    ran = data(await account.live.post("/payroll/run", body))
    assert preview["pay_period"] == ran["pay_period"]
    assert ran["pay_period"]["pay_date"] == "2026-12-20"


async def test_a_given_pay_date_is_never_refused_for_a_lead_time_that_the_run_does_not_need(
    account: Account, household: Any, rosa: str
) -> None:
    """A pay date that a run by check would take is a warning with `next_valid_pay_date`, also in the past and on a Saturday."""
    caller = account.live
    for pay_date in ("2026-11-09", "2026-11-20", "2026-11-24", "2026-11-28"):
        body = unnamed(household["id"], rosa, pay_date=pay_date)
        preview = data(await caller.post("/payroll/preview", body))
        assert preview["pay_period"]["pay_date"] == pay_date
        assert preview["next_valid_pay_date"] == EARLIEST
        told = [each for each in preview["employees"][0]["warnings"] if EARLIEST in each]
        assert len(told) == 1
        assert preview.keys().isdisjoint({"is_estimated", "scheduled_send_at"})
        ran = data(await caller.post("/payroll/run", body))
        assert ran["pay_period"] == preview["pay_period"]
        assert ran["totals"] == preview["totals"]
        assert data(await caller.post(f"/payroll/{ran['payroll_id']}/void", {}))["status"] == "voided"
    named = payroll_of(household["id"], rosa, pay_date="2026-11-24")
    preview = data(await caller.post("/payroll/preview", named))
    assert "next_valid_pay_date" not in preview
    assert not any(EARLIEST in each for each in preview["employees"][0]["warnings"])


async def test_a_far_pay_date_without_a_method_is_an_estimate(
    account: Account, household: Any, rosa: str
) -> None:
    """`is_estimated: true` when the date is so far out that a direct deposit run would schedule."""
    far = unnamed(household["id"], rosa, pay_date="2026-12-18")
    preview = data(await account.live.post("/payroll/preview", far))
    assert preview["is_estimated"] is True
    assert preview["scheduled_send_at"] == "2026-12-11T20:00:00Z"
    assert "next_valid_pay_date" not in preview
    ran = data(await account.live.post("/payroll/run", far))
    assert (ran["status"], ran["pay_period"]) == ("completed", preview["pay_period"])


async def test_the_lead_time_holds_where_the_run_needs_it(family: Family) -> None:
    """By the employee's own direct deposit, preview and run refuse the same date with the same words."""
    patched = await family.caller.client.patch(
        f"/api/v1/employees/{family.employee_id}",
        json={"payment_method": "direct_deposit"},
        headers=family.caller.headers(),
    )
    assert patched.is_success, patched.text
    body = unnamed(family.employer_id, family.employee_id, pay_date="2026-11-25")
    shown, refused = [
        refusal(await family.caller.post(path, body), 400, "pay_date_past_deadline")
        for path in ("/payroll/preview", "/payroll/run")
    ]
    for told in (shown, refused):
        told.pop("docs_url")
    assert shown == refused
    assert shown["details"]["next_valid_pay_date"] == EARLIEST
    by_check = body | {"default_payment_method": "check"}
    preview = data(await family.caller.post("/payroll/preview", by_check))
    assert preview["next_valid_pay_date"] == EARLIEST
    assert data(await family.caller.post("/payroll/run", by_check))["status"] == "completed"


async def test_a_closed_day_moves_to_the_banking_day_before(family: Family) -> None:
    """A pay date on which banks are closed moves to the banking day before, echoed, with a warning."""
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-05")))
    assert ran["pay_period"]["pay_date"] == "2026-12-04"
    assert any("2026-12-05" in warning for warning in ran["employees"][0]["warnings"])
    read = data(await family.caller.get(f"/payroll/{ran['payroll_id']}"))
    assert read["pay_period"] == ran["pay_period"]


async def test_exactly_it_runs_now_and_later_is_scheduled(family: Family) -> None:
    """Exactly the earliest date runs now; later is `scheduled`, sent at 15:00 Eastern 5 business days before it."""
    now = data(await family.caller.post("/payroll/run", family.order(EARLIEST)))
    assert now["status"] == "pending_funding"
    assert now.keys().isdisjoint({"scheduled_send_at", "is_estimated"})
    week = {"pay_period_start": "2026-11-23", "pay_period_end": "2026-11-29"}
    later = data(await family.caller.post("/payroll/run", family.order("2026-12-04", **week)))
    assert (later["status"], later["is_estimated"]) == ("scheduled", True)
    assert later["scheduled_send_at"] == "2026-11-27T20:00:00Z"
    voided = data(await family.caller.post(f"/payroll/{later['payroll_id']}/void", {}))
    assert voided["status"] == "voided"


async def test_the_gates(family: Family) -> None:
    """`confirm_large_payroll` above 5,000 in all or 3,000 for one, `confirm_ach_debit` the first time; by check neither."""
    entry = {"employee_id": family.employee_id, "bonus": 6000, "payment_method": "direct_deposit"}
    order = family.order(employees=[entry], confirm_ach_debit=False)
    error = refusal(await family.caller.post("/payroll/run", order), 400, "confirmation_required")
    assert error["details"]["required"] == ["confirm_large_payroll", "confirm_ach_debit"]
    assert error["example"] == order | {"confirm_large_payroll": True, "confirm_ach_debit": True}
    check = order | {"employees": [entry | {"payment_method": "check"}]}
    assert data(await family.caller.post("/payroll/run", check))["status"] == "completed"


async def test_a_catch_up_completes_at_once_and_moves_no_money(family: Family, owner_connection: Any) -> None:
    """`notes` of `catch-up`: completes at once, never moves money."""
    ran = data(
        await family.caller.post("/payroll/run", family.order("2026-11-19", notes="catch-up")),
    )
    assert ran["status"] == "completed"
    moved = owner_connection.execute("SELECT count(*) FROM bank_entries WHERE kind <> 'prenote'").fetchone()
    assert moved == (0,)


def test_the_lifecycle() -> None:
    """The states and which may follow which."""
    for path in (
        ("draft", "processing"),
        ("draft", "pending_funding"),
        ("draft", "scheduled"),
        ("draft", "completed"),
        ("scheduled", "firing", "pending_funding", "processing", "completed"),
        ("scheduled", "voided"),
        ("completed", "voided"),
        ("pending_funding", "failed"),
        ("processing", "failed"),
    ):
        for step in pairwise(path):
            assert step in TRANSITIONS


async def test_payrolls_are_read_listed_and_voided(account: Account, household: Any, rosa: str) -> None:
    """`GET /payroll/{id}` as run returned it, with history and documents; `GET /payrolls` newest first; void of a check."""
    caller = account.live
    ran = data(await caller.post("/payroll/run", payroll_of(household["id"], rosa)))
    read = data(await caller.get(f"/payroll/{ran['payroll_id']}"))
    told = [each | {"status": "paid", "outcome": None} for each in ran["employees"]]
    assert {name: read[name] for name in ran} == ran | {"employees": told}
    assert [step["status"] for step in read["status_history"]] == ["completed"]
    assert [(each["kind"], each["method"], each["path"]) for each in read["documents"]] == [
        ("paystub", "POST", "/api/v1/documents/paystub")
    ]
    week = {"pay_period_start": "2026-11-16", "pay_period_end": "2026-11-22"}
    second = data(await caller.post("/payroll/run", payroll_of(household["id"], rosa, **week)))
    query = {"employer_id": household["id"], "employee_id": rosa, "status": "completed", "limit": 100}
    listed = await caller.get("/payrolls", **query, **{"from": "2026-11-20", "to": "2026-11-20"})
    assert [each["payroll_id"] for each in data(listed)] == [second["payroll_id"], ran["payroll_id"]]
    page = (await caller.get("/payrolls", limit=1)).json()
    rest = data(await caller.get("/payrolls", limit=1, cursor=page["meta"]["next_cursor"]))
    assert [each["payroll_id"] for each in rest] == [ran["payroll_id"]]
    for limit in (0, 101):
        assert fields(refusal(await caller.get("/payrolls", limit=limit), 400, "validation_error")) == [
            "limit"
        ]
    assert data(await caller.post(f"/payroll/{ran['payroll_id']}/void", {}))["status"] == "voided"


async def test_reciprocity_of_a_paycheck(account: Account) -> None:
    """`reciprocity?` of an employee: for reciprocal pairs only, naming the certificate to collect while it is missing."""
    employer_id = await add_household(account.live, state="NJ")
    home = await add_employee(account.live, employer_id)
    penn = await add_employee(account.live, employer_id, first_name="Ana", residence_state="PA")
    york = await add_employee(account.live, employer_id, first_name="Eva", residence_state="NY")

    async def told(employee_id: str) -> Any:
        preview = data(await account.live.post("/payroll/preview", payroll_of(employer_id, employee_id)))
        return preview["employees"][0].get("reciprocity")

    assert await told(home) is None
    assert await told(york) is None
    assert await told(penn) == {"applied": False, "certificate": "NJ-165", "residence_state": "PA"}
    certificate = {"state_withholding": {"reciprocity_certificate_on_file": True}}
    for employee_id, status in ((penn, 200), (york, 400)):
        response = await account.live.client.patch(
            f"/api/v1/employees/{employee_id}", json=certificate, headers=account.live.headers()
        )
        assert response.status_code == status
    named = fields(response.json()["error"])
    assert named == ["state_withholding.reciprocity_certificate_on_file"]
    assert await told(penn) == {"applied": True, "certificate": "NJ-165", "residence_state": "PA"}
    ran = data(await account.live.post("/payroll/run", payroll_of(employer_id, penn)))
    read = data(await account.live.get(f"/payroll/{ran['payroll_id']}"))
    assert read["employees"][0]["reciprocity"]["applied"] is True
