"""After a payroll is recorded: what to write, what to keep aside, and its correction in one act."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.web.household.payrolls.check_words import check_words
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.web.test_payroll_pages import (
    _FORM,
    _draft,
    _preview_digest,
    _typed,
    maria,
    payroll_of_receipt,
    world,
)

__all__ = ["app", "maria", "people", "people_context", "world"]

_MONEY = re.compile(r"\$([\d,]+)\.(\d\d)")


@pytest.mark.parametrize(
    ("cents", "words"),
    [
        (96_944, "Nine hundred sixty-nine and 44/100"),
        (0, "Zero and 00/100"),
        (1_900, "Nineteen and 00/100"),
        (2_005, "Twenty and 05/100"),
        (10_000, "One hundred and 00/100"),
        (123_456_789, "One million two hundred thirty-four thousand five hundred sixty-seven and 89/100"),
        (1_700_000_000, "Seventeen million and 00/100"),
    ],
)
def test_a_check_spells_its_amount(cents: int, words: str) -> None:
    assert check_words(cents) == words


@pytest.mark.parametrize("cents", [-1, 100_000_000_000])
def test_no_check_is_spelled_for_an_impossible_amount(cents: int) -> None:
    with pytest.raises(ValueError, match="no check"):
        check_words(cents)


async def _paid(maria: Browser, world: World, **pay: str) -> str:
    draft = await _draft(maria, f"/app/{world.household_id}/payrolls", world.employee_id, **pay)
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    assert ran.status_code == 303, ran.text
    return payroll_of_receipt(ran.headers["location"])


def _cents(text: str) -> int:
    found = _MONEY.search(text)
    assert found is not None, text
    return int(found[1].replace(",", "")) * 100 + int(found[2])


def _pots(page: str) -> list[int]:
    block = re.search(r'<dl class="pots">(.*?)</dl>', page, re.DOTALL)
    assert block is not None
    return [_cents(each) for each in re.findall(r"<dd>([^<]*)</dd>", block[1])]


def _kept_aside(page: str) -> tuple[int, list[int]]:
    block = re.search(r'aria-labelledby="keep-aside">(.*?)</section>', page, re.DOTALL)
    assert block is not None
    sums = re.search(r'<dl class="facts sums">(.*?)</dl>', block[1], re.DOTALL)
    assert sums is not None
    return _cents(block[1]), [_cents(each) for each in re.findall(r"<dd>([^<]*)</dd>", sums[1])]


async def test_review_receipt_and_payroll_show_the_same_pots_and_what_to_keep_aside(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id)
    review = (await maria.look(draft)).text
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    receipt = (await maria.look(ran.headers["location"])).text
    page = (await maria.look(payroll_of_receipt(ran.headers["location"]))).text
    row = owner_connection.execute(
        "SELECT net_pay, employee_taxes, employer_taxes, total_cost FROM paychecks"
    ).fetchone()
    assert row is not None
    net, held, own, cost = row
    assert _pots(review) == _pots(page) == [net, held, own, cost]
    total, shares = _kept_aside(receipt)
    assert total == held + own == sum(shares)
    assert _kept_aside(page) == (total, shares)
    for told in (f"Recorded. Write Rosa a check for ${net // 100:,}.{net % 100:02d}.", check_words(net)):
        assert told in receipt
    assert f"Keep aside ${total // 100:,}.{total % 100:02d}: " in review
    assert "leaves your account" not in review + receipt + page
    assert "Next payday" in receipt
    assert "Fri, Dec\N{NO-BREAK SPACE}4" in receipt


async def test_what_an_employee_sets_aside_is_hers(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    payroll = await _paid(maria, world, aside="50")
    row = owner_connection.execute("SELECT net_pay, set_aside, total_cost FROM paychecks").fetchone()
    assert row is not None
    net, set_aside, cost = row
    assert set_aside == 5000
    page = (await maria.look(payroll)).text
    to_rosa, held, own, total = _pots(page)
    assert (to_rosa, total) == (net + set_aside, cost)
    assert to_rosa + held + own == total
    assert "$50.00 of it set aside for Rosa" in page
    home = (await maria.look(f"/app/{world.household_id}")).text
    amounts = [
        _cents(each) for each in re.findall(r'<td role="cell" class="[b-f] amount"[^>]*>([^<]*)</td>', home)
    ]
    assert [to_rosa, held, own, total] in [amounts[at : at + 4] for at in range(len(amounts))]


async def test_a_receipt_leads_to_the_payroll_once_it_is_void(maria: Browser, world: World) -> None:
    payroll = await _paid(maria, world)
    assert (await maria.look(f"{payroll}/receipt")).status_code == 200
    await maria.send(f"{payroll}/void", page=_FORM)
    assert (await maria.look(f"{payroll}/receipt")).headers["location"] == payroll
    page = (await maria.look(payroll)).text
    assert "This payroll is void." in page
    assert "keep-aside" not in page
    assert "Something wrong?" not in page


async def test_correcting_voids_and_fills_in_a_new_payroll_once(
    app: FastAPI, maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    payroll = await _paid(maria, world, overtime="2", bonus="100", aside="0")
    question = (await maria.look(f"{payroll}/correct")).text
    form_id = re.search(r'name="form_id" value="([^"]+)"', question)
    assert form_id is not None
    form = {"form_id": form_id[1], "reason": "37 hours.", "form_token": await maria.token(_FORM)}
    headers = {"Sec-Fetch-Site": "same-origin"}
    clicks = [maria.client.post(f"{payroll}/correct", data=form, headers=headers) for _ in range(4)]
    places = {answer.headers.get("location") for answer in await asyncio.gather(*clicks)}
    assert len(places) == 1
    (change,) = places
    assert change is not None
    filled = (await maria.look(change)).text
    for name, value in (
        ("start", "2026-11-16"),
        ("end", "2026-11-22"),
        ("pay_date", "2026-11-27"),
        (f"regular_{world.employee_id}", "38"),
        (f"overtime_{world.employee_id}", "2"),
        (f"bonus_{world.employee_id}", "100.00"),
        (f"aside_{world.employee_id}", "0"),
    ):
        shown = re.search(rf'name="{name}"[^>]*value="([^"]*)"', filled)
        assert shown is not None, name
        assert shown[1] == value, name
    assert owner_connection.execute("SELECT status, count(*) FROM payrolls GROUP BY 1").fetchall() == [
        ("voided", 1)
    ]
    assert "37 hours." in (await maria.look(payroll)).text
    audited = owner_connection.execute(
        "SELECT action FROM audit_log WHERE action IN ('payroll.void', 'payroll.draft') ORDER BY id DESC LIMIT 2"
    ).fetchall()
    assert audited == [("payroll.draft",), ("payroll.void",)]
    draft = change.removesuffix("/change")
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    assert ran.status_code == 303
    standing = owner_connection.execute("SELECT count(*) FROM payrolls WHERE status = 'completed'").fetchone()
    assert standing == (1,)
    late = await maria.send(f"{payroll}/correct", page=_FORM, form_id=str(uuid4()))
    assert late.status_code == 400
    assert "the payroll has moved on" in late.text


async def test_a_form_without_its_id_corrects_nothing(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    payroll = await _paid(maria, world)
    assert (await maria.send(f"{payroll}/correct", page=_FORM)).status_code == 400
    assert (
        await maria.send(f"{payroll}/correct", page=_FORM, form_id=str(uuid4()), reason="x" * 201)
    ).status_code == 400
    assert owner_connection.execute("SELECT status FROM payrolls").fetchall() == [("completed",)]


async def test_an_old_payroll_is_voided_but_not_corrected_in_one_act(
    app: FastAPI, maria: Browser, world: World, clock: FixedClock
) -> None:
    payroll = await _paid(maria, world)
    assert "Correct this payroll" in (await maria.look(payroll)).text
    clock.advance(timedelta(days=40))
    later = await _browser(app, "owner", clock)
    page = (await later.look(payroll)).text
    assert "Correct this payroll" not in page
    assert "Void payroll" in page
    assert (await later.send(f"{payroll}/correct", page=_FORM, form_id=str(uuid4()))).status_code == 400


async def test_two_employees_get_two_checks(maria: Browser, world: World) -> None:
    second = await world.employ("Ana", "Vega")
    at = f"/app/{world.household_id}/payrolls"
    both = {**_typed(world.employee_id, regular="40"), **_typed(second, regular="20")}
    form = await maria.look(f"{at}/new")
    found = re.search(rf'action="({at}/drafts/[0-9a-f-]{{36}})"', form.text)
    assert found is not None
    await maria.send(found[1], page=_FORM, **both)
    review = (await maria.look(found[1])).text
    assert "Write 2 checks on Fri, Nov\N{NO-BREAK SPACE}27: $" in review
    assert "a check for" not in review
    ran = await maria.send(f"{found[1]}/run", page=_FORM, **await _preview_digest(maria, found[1]))
    assert "Recorded. Write 2 checks: $" in (await maria.look(ran.headers["location"])).text
