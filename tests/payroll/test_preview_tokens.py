"""A run that sends back the token of a preview does what that showed, or nothing."""

import asyncio
import base64
from datetime import timedelta
from typing import Any

import pytest

from hearthpay.clock import FixedClock
from tests.http.api import Account, NewAccount
from tests.worlds.households import add_employee, add_household, payroll_of


async def _token(account: Account, body: dict[str, Any]) -> str:
    response = await account.live.post("/payroll/preview", body)
    assert response.status_code == 200, response.text
    return response.json()["data"]["preview_token"]


async def test_what_was_seen_is_run_once_the_token_comes_back(
    account: Account, employer_id: str, employee_id: str
) -> None:
    body = payroll_of(employer_id, employee_id)
    preview = (await account.live.post("/payroll/preview", body)).json()["data"]
    ran = await account.live.post("/payroll/run", body | {"preview_token": preview["preview_token"]})
    assert ran.status_code == 200, ran.text
    assert ran.json()["data"]["totals"] == preview["totals"]


async def test_amounts_that_changed_are_refused_with_both(
    account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body)
    raised = await account.live.client.patch(
        f"/api/v1/employees/{employee_id}", json={"pay_rate": 30}, headers=account.live.headers()
    )
    assert raised.status_code == 200, raised.text
    before = counts()
    refused = await account.live.post("/payroll/run", body | {"preview_token": token})
    assert refused.status_code == 409, refused.text
    error = refused.json()["error"]
    assert error["code"] == "amounts_changed"
    assert error["details"]["request_changed"] is False
    (then,), (now,) = error["details"]["previewed"], error["details"]["now"]
    assert (then["gross_pay"], now["gross_pay"]) == (1140, 1200)
    assert then["employee_id"] == now["employee_id"] == employee_id
    assert then["net_pay"] < now["net_pay"]
    assert counts() == before


@pytest.mark.parametrize(
    "change", [{"regular_hours": 41}, {"bonus": 0.01}, {"voluntary_set_aside": {"amount": 1}}]
)
async def test_another_request_is_not_what_was_seen(
    account: Account, employer_id: str, employee_id: str, change: dict[str, Any]
) -> None:
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body)
    other = body | {"employees": [body["employees"][0] | change], "preview_token": token}
    refused = await account.live.post("/payroll/run", other)
    assert refused.status_code == 409, refused.text
    assert refused.json()["error"]["details"]["request_changed"] is True


@pytest.mark.parametrize(
    ("previewed", "run"), [(None, "catch-up"), ("catch-up", None), ("Thanks!", " Catch-Up ")]
)
async def test_what_moves_money_and_what_only_records_it_are_two_requests(
    account: Account, employer_id: str, employee_id: str, counts: Any, previewed: str | None, run: str | None
) -> None:
    """Their lines are the same, cent by cent."""
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body | {"notes": previewed})
    before = counts()
    refused = await account.live.post("/payroll/run", body | {"notes": run, "preview_token": token})
    assert refused.status_code == 409, refused.text
    error = refused.json()["error"]
    assert (error["code"], error["details"]["request_changed"]) == ("amounts_changed", True)
    assert error["details"]["previewed"] == error["details"]["now"]
    assert counts() == before


async def test_other_notes_are_no_other_request(account: Account, employer_id: str, employee_id: str) -> None:
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body | {"notes": "Thanks!"})
    ran = await account.live.post("/payroll/run", body | {"notes": "Thank you", "preview_token": token})
    assert ran.status_code == 200, ran.text


async def test_the_same_sum_by_other_lines_is_not_what_was_seen(
    account: Account, employer_id: str, employee_id: str
) -> None:
    """Two of a household may swap hours without changing any total of the payroll."""
    second = await add_employee(account.live, employer_id, first_name="Ana")
    body = payroll_of(employer_id, employee_id)
    first, other = body["employees"][0], body["employees"][0] | {"employee_id": second, "regular_hours": 20}
    token = await _token(account, body | {"employees": [first, other]})
    swapped = [first | {"regular_hours": 20}, other | {"regular_hours": 40}]
    refused = await account.live.post("/payroll/run", body | {"employees": swapped, "preview_token": token})
    assert refused.status_code == 409, refused.text
    in_another_order = body | {"employees": [other, first], "preview_token": token}
    assert (await account.live.post("/payroll/run", in_another_order)).status_code == 200


async def test_a_token_ends(account: Account, employer_id: str, employee_id: str, clock: FixedClock) -> None:
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body)
    clock.advance(timedelta(minutes=30))
    refused = await account.live.post("/payroll/run", body | {"preview_token": token})
    assert refused.status_code == 400, refused.text
    assert refused.json()["error"]["details"] == [
        {"field": "preview_token", "message": "has expired: preview again, and ask again"}
    ]


async def test_a_retry_after_the_token_has_ended_gets_the_first_answer(
    account: Account, employer_id: str, employee_id: str, clock: FixedClock
) -> None:
    body = payroll_of(employer_id, employee_id)
    body |= {"preview_token": await _token(account, body)}
    first = await account.live.post("/payroll/run", body, idempotency_key="once")
    clock.advance(timedelta(hours=2))
    again = await account.live.post("/payroll/run", body, idempotency_key="once")
    assert again.status_code == first.status_code == 200, again.text
    assert again.json()["data"]["payroll_id"] == first.json()["data"]["payroll_id"]


async def test_a_token_is_good_for_its_own_household_account_and_mode_alone(
    account: Account, employer_id: str, employee_id: str, new_account: NewAccount
) -> None:
    token = await _token(account, payroll_of(employer_id, employee_id))
    other = await new_account("Other family")
    for caller in (account.live, account.test, other.live):
        household = await add_household(caller)
        body = payroll_of(household, await add_employee(caller, household))
        refused = await caller.post("/payroll/run", body | {"preview_token": token})
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"]["details"][0]["field"] == "preview_token"


async def test_a_token_that_was_written_by_somebody_else_is_refused(
    account: Account, employer_id: str, employee_id: str
) -> None:
    body = payroll_of(employer_id, employee_id)
    token = await _token(account, body)
    raw = bytearray(base64.urlsafe_b64decode(token[4:] + "=" * (-len(token[4:]) % 4)))
    raw[0] ^= 1  # a later end
    forged = "pv1_" + base64.urlsafe_b64encode(raw).decode().rstrip("=")
    for wrong in (forged, token[:-2], token[4:], "pv1_", "x", "pv1_é", token + "AAAA"):
        refused = await account.live.post("/payroll/run", body | {"preview_token": wrong})
        assert refused.status_code == 400, (wrong, refused.text)
        assert refused.json()["error"]["details"][0]["field"] == "preview_token"
    assert (await account.live.post("/payroll/run", body | {"preview_token": token})).status_code == 200


def _encoded_otherwise(token: str) -> str:
    """The same bytes: what the last letter has beyond them is set."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert len(token[4:]) % 4, "then no letter has bits to spare"
    return token[:-1] + letters[letters.index(token[-1]) | 1]


async def test_a_preview_is_run_once_whatever_the_idempotency_key(
    account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    """A bonus: without hours no period stands in the way of paying it again."""
    body = payroll_of(employer_id, employee_id)
    body["employees"][0] |= {"regular_hours": 0, "bonus": 100}
    body["preview_token"] = token = await _token(account, body)
    first = await account.live.post("/payroll/run", body, idempotency_key="first")
    assert first.status_code == 200, first.text
    payroll_id = first.json()["data"]["payroll_id"]
    before = counts()
    larger = body | {"employees": [body["employees"][0] | {"bonus": 200}]}
    for key, again in (
        ("second", body),
        (None, body),
        ("third", larger),
        ("fourth", body | {"preview_token": _encoded_otherwise(token)}),
    ):
        refused = await account.live.post("/payroll/run", again, idempotency_key=key)
        assert refused.status_code == 409, refused.text
        error = refused.json()["error"]
        assert (error["code"], error["details"]["payroll_id"]) == ("amounts_changed", payroll_id)
        assert payroll_id in error["message"]
        assert [each["gross_pay"] for each in error["details"]["previewed"]] == [100]
        assert error["details"]["now"] == error["details"]["previewed"]
    assert counts() == before
    replayed = await account.live.post("/payroll/run", body, idempotency_key="first")
    assert replayed.json()["data"] == first.json()["data"]
    assert replayed.headers["idempotent-replayed"] == "true"
    # Who asks again may pay again.
    body["preview_token"] = await _token(account, body)
    assert (await account.live.post("/payroll/run", body, idempotency_key="fifth")).status_code == 200


async def test_a_preview_of_hours_that_was_run_is_not_told_of_as_overlapping(
    account: Account, employer_id: str, employee_id: str
) -> None:
    body = payroll_of(employer_id, employee_id)
    body["preview_token"] = await _token(account, body)
    ran = await account.live.post("/payroll/run", body)
    assert ran.status_code == 200, ran.text
    again = await account.live.post("/payroll/run", body)
    assert again.json()["error"]["code"] == "amounts_changed"


async def test_the_token_of_a_voided_payroll_stays_used(
    account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    body = payroll_of(employer_id, employee_id)
    body["preview_token"] = await _token(account, body)
    ran = (await account.live.post("/payroll/run", body, idempotency_key="once")).json()["data"]
    voided = await account.live.post(f"/payroll/{ran['payroll_id']}/void", {})
    assert voided.status_code == 200, voided.text
    before = counts()
    again = await account.live.post("/payroll/run", body, idempotency_key="again")
    assert again.status_code == 409, again.text
    assert again.json()["error"]["details"]["payroll_id"] == ran["payroll_id"]
    assert counts() == before


async def test_of_two_runs_of_one_preview_at_once_one_is_a_payroll(
    account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    for earnings in ({"regular_hours": 0, "bonus": 100}, {"regular_hours": 40}):
        body = payroll_of(employer_id, employee_id)
        body["employees"][0] |= earnings
        body["preview_token"] = await _token(account, body)
        before = counts()["payrolls"]
        answers = await asyncio.gather(
            *(account.live.post("/payroll/run", body, idempotency_key=f"{earnings} {n}") for n in range(4))
        )
        assert sorted(each.status_code for each in answers) == [200, 409, 409, 409]
        refused = {each.json()["error"]["code"] for each in answers if each.status_code == 409}
        assert refused == {"amounts_changed"}
        assert counts()["payrolls"] == before + 1


async def test_two_previews_of_the_same_at_the_same_time_are_two(
    account: Account, employer_id: str, employee_id: str
) -> None:
    body = payroll_of(employer_id, employee_id)
    assert await _token(account, body) != await _token(account, body)
