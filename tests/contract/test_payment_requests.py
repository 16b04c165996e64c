"""The contract: a calendar item carries `payment_request`, the body for `POST /tax-payments`, where money is due."""

import datetime
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import Household, RecordedPayment
from hearthpay.duties.payment_requests import payment_request_of
from hearthpay.duties.settlement import settled_calendar
from hearthpay.filing.schemas import NewTaxPayment
from hearthpay.filing.service import identify_payment
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.wire.answer import render
from tests.cases import every_case
from tests.duties.years import year_of
from tests.http.api import Account, Caller, data
from tests.worlds.households import add_employee, add_household, payroll_of

DUE = {"from": "2026-01-01", "to": "2027-12-31"}
FEBRUARY = datetime.date(2027, 2, 1)
SPAN = (datetime.date(2026, 1, 1), datetime.date(2027, 12, 31))


def _recorded(household: Household, body: dict[str, Any], today: datetime.date) -> RecordedPayment:
    """What the service makes of a request that it accepts."""
    command = NewTaxPayment.model_validate(body).to_command()
    agency, account, period = identify_payment(command, today)
    return RecordedPayment(
        uuid4(),
        account.jurisdiction,
        account.name,
        period.label,
        period.start,
        period.end,
        command.amount,
        command.paid_on,
        agency.id,
    )


def _requests(household: Household, items: Iterable[CalendarItem]) -> dict[str, dict[str, Any]]:
    found = {item.key: payment_request_of(item, household.id, FEBRUARY) for item in items}
    return {key: json.loads(render(each)) for key, each in found.items() if each is not None}


def test_each_request_of_a_year_in_each_state_is_understood_and_closes_its_item() -> None:
    with every_case() as case:
        for state in STATES:
            with case(state):
                household = year_of(state, "nanny")
                before = settled_calendar(household, *SPAN)
                sent = _requests(household, before.items)
                due = {item.key for item in before.items if item.open}
                assert sent.keys() == due
                assert any(key.startswith("US/") for key in sent)
                payments = tuple(_recorded(household, body, FEBRUARY) for body in sent.values())
                after = settled_calendar(replace(household, payments=payments), *SPAN)
                assert not after.unplaced
                assert {item.key: item.open for item in after.items if item.open} == {}
                assert {item.payment_status for item in after.items if item.key in sent} <= {
                    "paid",
                    "paid_late",
                }
                assert _requests(household, after.items) == {}


async def _pay_everything(caller: Caller, state: str) -> None:
    """Send each request of a household's calendar as it is, and look at the calendar again."""
    employer_id = await add_household(caller, state=state)
    rosa = await add_employee(
        caller, employer_id, work_state=state, federal_withholding={"elected": True}, pay_rate=40
    )
    data(await caller.post("/payroll/run", payroll_of(employer_id, rosa)))
    mine = {"employer_id": employer_id, **DUE}
    before = data(await caller.get("/tax-calendar", **mine))["items"]
    asked = {item["key"]: item for item in before if item["payment_request"] is not None}
    assert asked
    for item in before:
        request = item["payment_request"]
        assert (request is not None) == bool(item["open"]), item["key"]
        assert (item["account_type"] is None) == (item["amount"] is None)
        if request is not None:
            for name in ("account_type", "period", "agency"):
                assert request[name] == item[name]
            assert request["amount"] == item["open"]
            assert data(await caller.post("/tax-payments", request), 201)["balance"]["open"] == 0
    after = {item["key"]: item for item in data(await caller.get("/tax-calendar", **mine))["items"]}
    for now in (after[key] for key in asked):
        assert (now["open"], now["payment_status"], now["payment_request"]) == (0, "paid", None)
        assert now["done"] or now["kind"] != "payment" or now["period_end"] >= "2026-11-20"
    assert [item for item in after.values() if item["payment_request"] is not None] == []


@pytest.mark.parametrize("state", ["CA", "NY", "PA"])
async def test_each_request_is_accepted_as_it_is_and_closes_its_item(account: Account, state: str) -> None:
    await _pay_everything(account.live, state)


@pytest.mark.long
async def test_each_request_of_each_state_is_accepted(account: Account) -> None:
    for state in STATES:
        await _pay_everything(account.live, state)


async def test_nothing_is_asked_where_nothing_is_owed(account: Account, household: Any) -> None:
    items = data(await account.live.get("/tax-calendar", employer_id=household["id"], **DUE))["items"]
    assert {item["payment_request"] for item in items} <= {None}
