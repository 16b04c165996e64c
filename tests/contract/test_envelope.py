"""The contract, "Envelope, errors, conventions": each test's first line is a sentence of it."""

import asyncio
import re
from typing import Any

import pytest

from hearthpay.http.idempotency import LONGEST_KEY
from hearthpay.http.statuses import STATUS
from tests.http.api import MARIA, ROSA, Account, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of

CODES = {
    "validation_error": 400,
    "invalid_state": 400,
    "unsupported_tax_year": 400,
    "tax_year_not_final": 400,
    "pay_date_past_deadline": 400,
    "confirmation_required": 400,
    "duplicate_employee": 400,
    "too_many_employees": 400,
    "employee_not_in_household": 400,
    "employee_not_started": 400,
    "employee_incomplete": 400,
    "unsupported_jurisdiction": 400,
    "plan_limit_reached": 403,
    "authentication_required": 401,
    "subscription_required": 403,
    "scope_required": 403,
    "household_forbidden": 403,
    "key_mode_mismatch": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "payroll_overlap": 409,
    "idempotency_conflict": 409,
    "gone": 410,
    "invitation_too_soon": 412,
    "direct_deposit_unavailable": 412,
    "document_not_available": 400,
    "rate_limited": 429,
    "internal_error": 500,
    "service_unavailable": 503,
}


async def test_success_has_success_data_and_meta_and_lists_a_cursor(account: Account) -> None:
    """A success is `success`, `data`, `meta.requestId`; lists add `next_cursor`, null at the end; the header repeats it."""
    one = await account.live.post("/employers", MARIA)
    assert one.json().keys() == {"success", "data", "meta"}
    assert one.json()["meta"] == {"requestId": one.headers["X-Request-Id"]}
    await account.live.post("/employers", MARIA)
    first = (await account.live.get("/employers", limit=1)).json()
    assert isinstance(first["meta"]["next_cursor"], str)
    last = (await account.live.get("/employers", limit=1, cursor=first["meta"]["next_cursor"])).json()
    assert last["meta"]["next_cursor"] is None


async def test_an_error_has_code_message_and_what_else_helps(account: Account) -> None:
    """An error is `success` false, `error` with code and message, and `meta.requestId`."""
    response = await account.live.post("/calculate", {})
    body = response.json()
    assert body.keys() == {"success", "error", "meta"}
    assert body["success"] is False
    assert body["error"].keys() == {"code", "message", "details", "example", "docs_url"}
    assert body["meta"] == {"requestId": response.headers["X-Request-Id"]}


async def test_every_400_carries_a_correct_request_and_a_link(account: Account, household: Any) -> None:
    """Every 400 carries `example`, a correct request body for that endpoint, and `docs_url`."""
    for path in ("/calculate", "/employers", "/employees"):
        error = refusal(await account.live.post(path, {"nonsense": 1}), 400, "validation_error")
        example = error["example"] | ({"employer_id": household["id"]} if path == "/employees" else {})
        assert (await account.live.post(path, example)).is_success
        assert re.fullmatch(r"http://pay\.example\.com/docs#\w+", error["docs_url"])


async def test_details_of_a_validation_error_are_fields_and_messages(
    account: Account, household: Any
) -> None:
    """`details` of a validation error is a list of field and message; other codes use an object."""
    error = refusal(await account.live.post("/calculate", {"state": "XX"}), 400, "validation_error")
    assert [set(entry) for entry in error["details"]] == [{"field", "message"}] * 2
    assert sorted(fields(error)) == ["annual_wages", "state"]
    await account.live.post("/employees", ROSA)
    twice = refusal(await account.live.post("/employees", ROSA), 400, "duplicate_employee")
    assert twice["details"].keys() == {"employee_id"}


async def test_numbers_dates_and_times_on_the_wire(account: Account, household: Any) -> None:
    """Money is a number of two decimals at most, a date YYYY-MM-DD, a timestamp ISO 8601 in UTC with Z."""
    created = await account.live.post("/employees", ROSA)
    assert '"pay_rate":28.50' in created.text
    assert data(created, 201)["start_date"] == "2026-01-05"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", data(created, 201)["created_at"])
    finer = await account.live.post("/calculate", {"state": "CA", "annual_wages": 35000.001})
    assert fields(refusal(finer, 400, "validation_error")) == ["annual_wages"]


async def test_unknown_fields_are_refused_but_the_retired_one(account: Account) -> None:
    """Unknown body fields are a 400, except the retired `off_cycle`, which is accepted and ignored."""
    employer_id = await add_household(account.live)
    employee_id = await add_employee(account.live, employer_id)
    body = payroll_of(employer_id, employee_id)
    plain, retired = [
        data(await account.live.post("/payroll/preview", body | more)) for more in ({}, {"off_cycle": True})
    ]
    assert plain.pop("preview_token") != retired.pop("preview_token"), "each preview has its own"
    assert retired == plain
    unknown = await account.live.post("/payroll/preview", body | {"of_cycle": True})
    assert fields(refusal(unknown, 400, "validation_error")) == ["of_cycle"]


def test_every_code_has_its_status() -> None:
    """The table of codes; those of features still to come are not in it."""
    assert {code: STATUS[code] for code in CODES} == CODES
    assert STATUS.keys() - CODES.keys() == {
        "amounts_changed",
        "autopilot_enroll_in_app",
        "autopilot_run_scheduled",
        "clock_advancing",
        "period_ahead_of_anchor",
    }


async def test_what_belongs_to_others_is_not_found_where_its_id_is_in_the_path(
    account: Account, household: Any, new_account: Any
) -> None:
    """`not_found` 404, also for what belongs to others, or to the other mode, where an id is in the path."""
    employee_id = await add_employee(account.live, household["id"])
    run = data(await account.live.post("/payroll/run", payroll_of(household["id"], employee_id)))
    other = await new_account("Other family")
    for caller in (account.test, other.live):
        for method, path in (
            ("GET", f"/employers/{household['id']}"),
            ("PATCH", f"/employers/{household['id']}"),
            ("GET", f"/employers/{household['id']}/dd-status"),
            ("GET", f"/employees/{employee_id}"),
            ("PATCH", f"/employees/{employee_id}"),
            ("POST", f"/employees/{employee_id}/terminate"),
            ("GET", f"/payroll/{run['payroll_id']}"),
            ("POST", f"/payroll/{run['payroll_id']}/void"),
        ):
            response = await caller.client.request(
                method, f"/api/v1{path}", json={}, headers=caller.headers()
            )
            if caller is account.test and path.endswith("/dd-status"):
                refusal(response, 403, "key_mode_mismatch")
            else:
                refusal(response, 404, "not_found")


async def test_a_payroll_longer_than_the_plan_and_a_person_beyond_it(new_key: Any) -> None:
    """`too_many_employees` 400 for a list longer than the plan allows, `plan_limit_reached` 403 for adding one."""
    caller = await new_key("Agency", plan="professional")
    employer_id = await add_household(caller)
    people = [await add_employee(caller, employer_id, first_name=name) for name in ("A", "B", "C", "D", "E")]
    one_more = await caller.post("/employees", ROSA | {"employer_id": employer_id})
    refusal(one_more, 403, "plan_limit_reached")
    body = payroll_of(employer_id, people[0])
    body["employees"] = [{"employee_id": each, "regular_hours": 1} for each in [*people, people[0]]]
    refusal(await caller.post("/payroll/run", body), 400, "too_many_employees")


async def test_the_message_of_a_mode_mismatch_names_the_kind_of_key(account: Account, household: Any) -> None:
    """`key_mode_mismatch` 403: the message names the kind of key that is needed."""
    response = await account.test.post("/employees", ROSA | {"employer_id": household["id"]})
    assert "hp_live_" in refusal(response, 403, "key_mode_mismatch")["message"]


@pytest.mark.parametrize("length", [0, LONGEST_KEY + 1])
async def test_an_idempotency_key_has_1_to_255_characters(account: Account, length: int) -> None:
    """The header `Idempotency-Key` has 1 to 255 characters."""
    response = await account.live.post("/employers", MARIA, idempotency_key="k" * length)
    assert fields(refusal(response, 400, "validation_error")) == ["Idempotency-Key"]
    assert LONGEST_KEY == 255


async def test_the_same_key_and_body_replays_the_answer(account: Account, household: Any) -> None:
    """On every POST the same key and body replays the stored answer, also while the first still runs; another body is 409."""
    employee_id = await add_employee(account.live, household["id"])
    line = {"code": "US-SS-EE", "subject_wages": 100, "taxable_wages": 100, "amount": 6.2}
    prior = {"tax_year": 2026, "source": "Old", "as_of": "2026-06-30", "gross_pay": 100, "lines": [line]}
    payroll = payroll_of(household["id"], employee_id)
    posts: dict[str, dict[str, Any]] = {
        "/calculate": {"state": "CA", "annual_wages": 35000},
        "/payroll/preview": payroll,
        "/payroll/run": payroll,
        "/employers": MARIA,
        "/employees": ROSA | {"first_name": "Ana", "employer_id": household["id"]},
        f"/employees/{employee_id}/invite": {"type": "tax_info"},
        f"/employees/{employee_id}/prior-wages": prior,
        f"/employees/{employee_id}/terminate": {"end_date": "2026-11-20"},
        f"/employees/{employee_id}/reinstate": {},
    }
    for path, body in posts.items():
        answers = await asyncio.gather(
            *(account.live.post(path, body, idempotency_key=path) for _ in range(3))
        )
        assert {answer.is_success for answer in answers} == {True}, answers[0].text
        assert len({answer.text for answer in answers}) == 1
        replayed = [answer.headers.get("Idempotent-Replayed") for answer in answers]
        assert sorted(map(str, replayed)) == ["None", "true", "true"]
    conflict = await account.live.post("/employers", MARIA | {"state": "NY"}, idempotency_key="/employers")
    refusal(conflict, 409, "idempotency_conflict")


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"employees": []}, "employees", "must have at least 1 entry"),
        ({"employees": "all"}, "employees", "must be a list"),
        ({"employees": [1]}, "employees[0]", "must be a JSON object"),
        (
            {"pay_frequency": "daily"},
            "pay_frequency",
            "must be weekly, biweekly, semimonthly or monthly",
        ),
        ({"pay_period_end": None}, "pay_period_end", "must be a date written YYYY-MM-DD"),
        ({"notes": 1}, "notes", "must be a text"),
        ({"confirm_ach_debit": "yes"}, "confirm_ach_debit", "must be true or false"),
        ({"surprise": 1}, "surprise", "is not a field of this request"),
    ],
)
async def test_errors_are_in_plain_words(
    account: Account, household: Any, change: dict[str, Any], field: str, message: str
) -> None:
    """What is wrong is said in words of the house, not of a library."""
    body = payroll_of(household["id"], "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11") | change
    error = refusal(await account.live.post("/payroll/run", body), 400, "validation_error")
    assert error["details"] == [{"field": field, "message": message}]


async def test_nothing_is_said_twice(account: Account, household: Any) -> None:
    """A refusal of direct deposit tells once what to do instead."""
    employee_id = await add_employee(account.live, household["id"])
    body = payroll_of(household["id"], employee_id)
    del body["pay_date"]
    body["employees"][0]["payment_method"] = "direct_deposit"
    error = refusal(await account.live.post("/payroll/run", body), 412, "direct_deposit_unavailable")
    sentences = re.split(r"(?<=[.:]) ", error["message"])
    assert len(sentences) == len(set(sentences))
    birth = await account.live.post("/employees", ROSA | {"birth_year": "1990"})
    assert refusal(birth, 400, "validation_error")["details"][0]["message"] == "Enter a whole number."
    limit = await account.live.get("/payrolls", limit=101)
    assert refusal(limit, 400, "validation_error")["details"][0]["message"] == "must be at most 100"
