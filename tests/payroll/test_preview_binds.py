"""What a preview's token binds: every field of a settled order is bound, or is excused with a reason."""

import datetime
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pytest

from hearthpay.payroll.ledger.preview_tokens import bound_of
from hearthpay.payroll.orders import PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from tests.http.api import Account
from tests.worlds.households import payroll_of

DAY: Final = datetime.date(2026, 11, 20)
ENTRY: Final = PayrollEntry(UUID(int=2), "check", Decimal(40), Decimal(0), Decimal(0), Decimal(0))
ORDER: Final = SettledOrder(UUID(int=1), PayDates(DAY, DAY, DAY, defaulted=False), "weekly", None, (ENTRY,))

ORDER_FIELDS: Final[dict[str, object]] = {
    "employer_id": "the token's MAC is over it",
    "dates": "its own table",
    "pay_frequency": ("biweekly",),
    "notes": "they move no money: what they make the payroll is its kind, and that is bound",
    "entries": "its own table",
    "kind": ("catch_up", "fica_refund"),
    "metadata": "the client's own notes: no amount hangs on them",
}
DATE_FIELDS: Final[dict[str, object]] = {
    "period_start": (DAY - datetime.timedelta(days=1),),
    "period_end": (DAY + datetime.timedelta(days=1),),
    "pay_date": (DAY + datetime.timedelta(days=1),),
    "defaulted": "only tells where the pay date came from, and that is bound",
    "send_at": "follows from the pay date and the way of payment, and both are bound",
    "days": "only tells what to warn of, and the pay date is bound",
    "asked": "only tells where the pay date came from, and that is bound",
}
ENTRY_FIELDS: Final[dict[str, object]] = {
    "employee_id": (UUID(int=3),),
    "payment_method": ("cash", "direct_deposit"),
    "regular_hours": (Decimal(41),),
    "overtime_hours": (Decimal(1),),
    "bonus": (Decimal("0.01"),),
    "other_earnings": (Decimal("0.01"),),
    "set_aside_skip": (True,),
    "set_aside_wish": (1, 0),
    "regular_pay": "hours times the rate, which the amounts and lines of the paychecks bind",
    "overtime_pay": "hours times the rate, which the amounts and lines of the paychecks bind",
    "unpaid_days": (Decimal(1),),
    "pay_salary": (False,),
    "salary": "that there is one is bound, and its amount by the amounts of the paychecks",
}


def _cases() -> list[Any]:
    tables = (
        ("order", ORDER_FIELDS, lambda name, value: ORDER._replace(**{name: value})),
        (
            "dates",
            DATE_FIELDS,
            lambda name, value: ORDER._replace(dates=replace(ORDER.dates, **{name: value})),
        ),
        (
            "entry",
            ENTRY_FIELDS,
            lambda name, value: ORDER._replace(entries=(ENTRY._replace(**{name: value}),)),
        ),
    )
    return [
        pytest.param(changed(name, value), id=f"{of} {name} {value}")
        for of, table, changed in tables
        for name, values in table.items()
        if isinstance(values, tuple)
        for value in values
    ]


def test_every_field_is_bound_or_excused() -> None:
    assert set(ORDER_FIELDS) == set(SettledOrder._fields)
    assert set(DATE_FIELDS) == {field.name for field in fields(PayDates)}
    assert set(ENTRY_FIELDS) == set(PayrollEntry._fields)


@pytest.mark.parametrize("changed", _cases())
def test_what_is_bound_makes_another_request(changed: SettledOrder) -> None:
    assert bound_of(changed, []) != bound_of(ORDER, [])


def test_the_accounts_are_bound() -> None:
    assert bound_of(ORDER, [UUID(int=4)]) != bound_of(ORDER, [UUID(int=5)]) != bound_of(ORDER, [])


@pytest.mark.parametrize("change", [{"pay_date": "2026-11-23"}, {"payment_method": "cash"}])
async def test_another_day_or_way_is_refused(
    account: Account, employer_id: str, employee_id: str, counts: Any, change: dict[str, Any]
) -> None:
    body = payroll_of(employer_id, employee_id)
    shown = (await account.live.post("/payroll/preview", body)).json()["data"]["preview_token"]
    other = body | {name: value for name, value in change.items() if name in body}
    if "payment_method" in change:
        other["employees"] = [body["employees"][0] | change]
    before = counts()
    refused = await account.live.post("/payroll/run", other | {"preview_token": shown})
    assert refused.status_code == 409, refused.text
    error = refused.json()["error"]
    assert (error["code"], error["details"]["request_changed"]) == ("amounts_changed", True)
    assert counts() == before


async def test_a_preview_without_a_way_is_run_only_by_the_one_it_was_dated_for(
    account: Account, employer_id: str, employee_id: str, counts: Any
) -> None:
    body = payroll_of(employer_id, employee_id)
    del body["pay_date"], body["employees"][0]["payment_method"]
    preview = (await account.live.post("/payroll/preview", body)).json()["data"]
    day = preview["pay_period"]["pay_date"]
    before = counts()
    for change in ({}, {"pay_date": day}):
        run = body | change | {"preview_token": preview["preview_token"]}
        refused = await account.live.post("/payroll/run", run)
        assert refused.status_code == 409, refused.text
        assert refused.json()["error"]["details"]["request_changed"] is True
    assert counts() == before
