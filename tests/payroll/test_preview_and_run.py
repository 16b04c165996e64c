"""A preview and a run of the same body agree: dates, methods, amounts and refusals."""

import datetime
from typing import Any, Final
from uuid import uuid4

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.http.api import data
from tests.worlds.households import add_employee
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, town

__all__ = ["app", "family", "ring", "town"]

TODAY = datetime.date(2026, 11, 20)
METHODS = ("check", "cash", "direct_deposit")
HOURLY: dict[str, Any] = {}
SALARIED: dict[str, Any] = {
    "pay_rate": None,
    "pay_type": "salary",
    "salary": {"amount": 52_000, "per": "year"},
    "pay_frequency": "weekly",
}

entries = st.fixed_dictionaries(
    {"regular_hours": st.sampled_from([0, 8, 37.25]), "bonus": st.sampled_from([0, 250])},
    optional={"payment_method": st.sampled_from(METHODS)},
)
bodies = st.fixed_dictionaries(
    {
        "starts": st.integers(-40, 25),
        "days": st.sampled_from([1, 7, 7, 7, 9]),
        "entries": st.lists(entries, min_size=1, max_size=2),
        "own": st.lists(st.sampled_from(METHODS), min_size=2, max_size=2),
        "unpaid_days": st.lists(st.sampled_from([None, None, 0, 1.5]), min_size=2, max_size=2),
    },
    optional={
        "pays": st.integers(-45, 40),
        "default_payment_method": st.sampled_from(METHODS),
        "notes": st.sampled_from(["catch-up", "thank you"]),
    },
)


def told(paycheck: dict[str, Any]) -> dict[str, Any]:
    """A paycheck without what a preview alone warns of: the lead time of direct deposit."""
    pairs = [
        (text, code)
        for text, code in zip(paycheck["warnings"], paycheck["warning_codes"], strict=True)
        if code["code"] != "deposit_not_in_time"
    ]
    return paycheck | {
        "warnings": [text for text, _ in pairs],
        "warning_codes": [code for _, code in pairs],
    }


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
_given = given(drawn=bodies)


async def _preview_is_what_the_run_does(drawn: dict[str, Any], family: Family, town: Town, app: FastAPI):
    caller, employees = family.caller, []
    for number, entry in enumerate(drawn["entries"]):
        own, unpaid = drawn["own"][number], drawn["unpaid_days"][number]
        paid_by = HOURLY if unpaid is None else SALARIED
        employee_id = await add_employee(
            caller,
            family.employer_id,
            payment_method=own,
            **paid_by,
            first_name="Eva " + "".join(chr(97 + int(each, 16)) for each in uuid4().hex),
        )
        await town.connect(caller, family.employer_id, employee_id)
        days = {} if unpaid is None else {"unpaid_days": unpaid, "regular_hours": 0}
        employees.append({"employee_id": employee_id, **entry, **days})
    start = TODAY + datetime.timedelta(days=drawn["starts"])
    body = {
        "employer_id": family.employer_id,
        "pay_period_start": start.isoformat(),
        "pay_period_end": (start + datetime.timedelta(days=drawn["days"] - 1)).isoformat(),
        "pay_frequency": "weekly",
        "employees": employees,
        "confirm_ach_debit": True,
        "confirm_large_payroll": True,
    } | {name: drawn[name] for name in ("default_payment_method", "notes") if name in drawn}
    if "pays" in drawn:
        body["pay_date"] = (TODAY + datetime.timedelta(days=drawn["pays"])).isoformat()
    preview = await caller.post("/payroll/preview", body)
    ran = await caller.post("/payroll/run", body)

    unnamed = all("payment_method" not in entry for entry in drawn["entries"])
    assert preview.status_code == ran.status_code, (preview.text, ran.text)
    if not preview.is_success:
        shown, refused = preview.json()["error"], ran.json()["error"]
        for error in (shown, refused):
            error.pop("docs_url", None)
        assert shown == refused
        return
    shown, did = data(preview), data(ran)
    assert [each["payment_method"] for each in shown["employees"]] == [
        each["payment_method"] for each in did["employees"]
    ]
    if unnamed and "pays" not in drawn:  # the one case in which only the dates of direct deposit are shown
        assert shown["totals"] == did["totals"]
        return
    assert shown["pay_period"] == did["pay_period"]
    assert shown["pay_date_defaulted"] == did["pay_date_defaulted"]
    assert [told(each) for each in shown["employees"]] == did["employees"]
    assert shown["totals"] == did["totals"]
    if not unnamed or "scheduled_send_at" in did:
        assert shown.get("scheduled_send_at") == did.get("scheduled_send_at")
    assert ("next_valid_pay_date" in shown) == (
        [told(each) for each in shown["employees"]] != shown["employees"]
    )


test_a_preview_is_what_the_run_does = settings(max_examples=25, **_AT_RANDOM)(
    _given(_preview_is_what_the_run_does)
)
test_a_preview_is_what_the_run_does_for_long = pytest.mark.long(
    settings(max_examples=60, **_AT_RANDOM)(_given(_preview_is_what_the_run_does))
)
