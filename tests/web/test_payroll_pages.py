"""Running a payroll on the pages: from the form to the pay stub, once however often it is sent, and by nobody else."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from datetime import timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.people.sessions import SignedIn
from tests.web.one_household import maria, world
from tests.web.people_browser import Browser
from tests.web.query_count import counted
from tests.web.rows.payrolls import draft_of
from tests.web.rows.world import World
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "maria", "people", "people_context", "world"]

_WEEK = {"start": "2026-11-16", "end": "2026-11-22", "pay_date": "2026-11-27", "frequency": "weekly"}
_FORM = "/settings/profile"
"""A page with a form: every form of a browser carries the same token."""

SEEN = re.compile(r'name="(preview_token)" value="([^"]*)"')


def _typed(employee_id: UUID, **pay: str) -> dict[str, str]:
    dates = {name: value for name, value in pay.items() if name in _WEEK}
    entries = {"regular": "38", "method": "check"} | {name: pay[name] for name in pay.keys() - _WEEK.keys()}
    return {
        "kind": "hours",
        **_WEEK,
        **dates,
        f"pay_{employee_id}": "on",
        **{f"{name}_{employee_id}": value for name, value in entries.items()},
    }


async def _draft(maria: Browser, at: str, employee_id: UUID, **pay: str) -> str:
    """Fill in the form of a new payroll; return where its amounts are shown."""
    form = await maria.look(f"{at}/new")
    found = re.search(rf'action="({at}/drafts/[0-9a-f-]{{36}})"', form.text)
    assert found is not None, form.text
    sent = await maria.send(found[1], page=_FORM, **_typed(employee_id, **pay))
    assert (sent.status_code, sent.headers.get("location")) == (303, found[1]), sent.text
    return found[1]


async def _preview_digest(maria: Browser, draft: str) -> dict[str, str]:
    return dict(SEEN.findall((await maria.look(draft)).text))


def payroll_of_receipt(location: str) -> str:
    """Return the payroll's own page, after a run that led to its receipt."""
    assert location.endswith("/receipt"), location
    return location.removesuffix("/receipt")


def _payrolls(connection: psycopg.Connection) -> list[tuple[str, int]]:
    return connection.execute("SELECT status, net_pay FROM payrolls ORDER BY id").fetchall()


async def test_from_the_form_to_the_stub_and_back(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, overtime="2", bonus="$1,000.50")
    assert _payrolls(owner_connection) == []
    assert "Continue" in (await maria.look(at)).text
    preview = await maria.look(draft)
    for told in (
        "Write Rosa a check for $",
        "on Fri, Nov\N{NO-BREAK SPACE}27",
        "38 hours",
        "$1,083.00",
        "$1,000.50",
        "Held for taxes",
        "Publication 15-T",
        "You file and pay these taxes.",
        "Record payroll",
    ):
        assert told in preview.text
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    payroll = payroll_of_receipt(ran.headers["location"])
    [(status, net)] = _payrolls(owner_connection)
    assert status == "completed"
    page = await maria.look(payroll)
    assert f"${Decimal(net) / 100:,.2f}" in page.text
    assert "To hand over on Fri, Nov\N{NO-BREAK SPACE}27" in page.text
    assert "Continue" not in (await maria.look(at)).text
    why = await maria.look(f"{payroll}/lines/{world.employee_id}/US-SS-EE")
    assert "6.2%" in why.text
    assert "Social Security is 6.2% of" in why.text
    assert "up to $184,500 a year" in why.text
    assert "The law&#39;s table" in why.text
    for language in ("en", "es"):
        stub = await maria.look(f"{payroll}/stubs/{world.employee_id}?language={language}")
        assert (stub.status_code, stub.content[:5]) == (200, b"%PDF-")
    question = await maria.look(f"{payroll}/void")
    assert "Voiding removes this payroll from the year to date" in question.text
    voided = await maria.send(f"{payroll}/void", page=_FORM, reason="The hours were wrong.")
    assert voided.headers["location"] == payroll
    assert "The hours were wrong." in (await maria.look(payroll)).text
    assert [status for status, _ in _payrolls(owner_connection)] == ["voided"]


async def test_ten_clicks_pay_once(
    app: FastAPI, maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    """At once, once more, from the form that was left open, and by the back button."""
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id)
    seen, token = await _preview_digest(maria, draft), await maria.token(_FORM)
    form = {"form_token": token, **seen}
    headers = {"Sec-Fetch-Site": "same-origin"}
    clicks = [maria.client.post(f"{draft}/run", data=form, headers=headers) for _ in range(10)]
    answers = {answer.headers.get("location") for answer in await asyncio.gather(*clicks)}
    assert len(answers) == 1
    (payroll,) = answers
    assert payroll is not None
    assert payroll.startswith(f"{at}/")
    again = await maria.send(f"{draft}/run", page=_FORM, **seen)
    retyped = await maria.send(draft, page=_FORM, **_typed(world.employee_id, regular="39"))
    assert again.headers["location"] == retyped.headers["location"] == payroll
    assert (await maria.look(draft)).headers["location"] == payroll
    assert len(_payrolls(owner_connection)) == 1


async def test_what_changed_since_it_was_looked_at_is_refused_and_shown(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id)
    seen = await _preview_digest(maria, draft)
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(
            session,
            world.actor,
            world.people_context.clock,
            world.employee_id,
            ChangeEmployee(pay_rate=Decimal("30.00")),
        )
    refused = await maria.send(f"{draft}/run", page=_FORM, **seen)
    assert refused.status_code == 409
    assert "The amounts changed after your review." in refused.text
    assert "Reviewed net pay" in refused.text
    assert _payrolls(owner_connection) == []
    now = dict(SEEN.findall(refused.text))
    assert now["preview_token"] != seen["preview_token"]
    ran = await maria.send(f"{draft}/run", page=_FORM, **now)
    assert ran.status_code == 303
    assert len(_payrolls(owner_connection)) == 1


async def test_a_review_that_has_expired_is_shown_again_and_runs_nothing(
    maria: Browser, world: World, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    draft = await _draft(maria, f"/app/{world.household_id}/payrolls", world.employee_id)
    seen = await _preview_digest(maria, draft)
    clock.advance(timedelta(minutes=31))
    for form in (seen, {}, {"preview_token": "pv1_x"}):
        refused = await maria.send(f"{draft}/run", page=_FORM, **form)
        assert refused.status_code == 409
        assert "The amounts changed after your review." in refused.text
        assert "Reviewed net pay" not in refused.text
    assert _payrolls(owner_connection) == []
    now = dict(SEEN.findall(refused.text))
    assert (await maria.send(f"{draft}/run", page=_FORM, **now)).status_code == 303


async def test_the_review_of_one_draft_approves_no_other(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    """Two drafts of the same bonus: whoever saw one of them has seen one, and pays one."""
    at = f"/app/{world.household_id}/payrolls"
    first, second = [await _draft(maria, at, world.employee_id, regular="", bonus="250") for _ in range(2)]
    seen = await _preview_digest(maria, first)
    assert (await maria.send(f"{first}/run", page=_FORM, **seen)).status_code == 303
    refused = await maria.send(f"{second}/run", page=_FORM, **seen, confirm_beside="on")
    assert refused.status_code == 409
    assert "The amounts changed after your review. Nothing was paid." in refused.text
    assert len(_payrolls(owner_connection)) == 1
    reviewed = dict(SEEN.findall(refused.text))
    ran = await maria.send(f"{second}/run", page=_FORM, **reviewed, confirm_beside="on")
    assert ran.status_code == 303
    assert len(_payrolls(owner_connection)) == 2


async def test_hours_that_are_paid_are_not_paid_twice_and_a_bonus_beside_them_is_confirmed(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    first, second = [await _draft(maria, at, world.employee_id) for _ in range(2)]
    bonus = await _draft(maria, at, world.employee_id, regular="", bonus="250")
    assert (
        await maria.send(f"{first}/run", page=_FORM, **await _preview_digest(maria, first))
    ).status_code == 303
    refused = await maria.send(f"{second}/run", page=_FORM)
    assert refused.status_code == 409
    assert "are already paid" in (await maria.look(second)).text
    seen = await _preview_digest(maria, bonus)
    assert "Pay this in addition" in (await maria.look(bonus)).text
    unconfirmed = await maria.send(f"{bonus}/run", page=_FORM, **seen)
    assert unconfirmed.status_code == 400
    assert len(_payrolls(owner_connection)) == 1
    confirmed = await maria.send(f"{bonus}/run", page=_FORM, confirm_beside="on", **seen)
    assert confirmed.status_code == 303
    assert len(_payrolls(owner_connection)) == 2


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("regular", "forty", "Enter hours as a number"),
        ("regular", "169", "Enter at most"),
        ("regular", "-1", "Enter hours as a number"),
        ("regular", "1e2", "Enter hours as a number"),
        ("bonus", "1,2,3", "Enter an amount"),
        ("bonus", "0.001", "Enter an amount"),
        ("method", "gold", "Choose an option"),
        ("regular", "", "there is nothing to pay"),
    ],
)
async def test_what_is_wrong_is_told_beside_its_field_and_nothing_is_kept(
    field: str, value: str, told: str, maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    at = f"/app/{world.household_id}/payrolls"
    sent = await maria.send(
        f"{at}/drafts/{uuid4()}", page=_FORM, **_typed(world.employee_id, **{field: value})
    )
    assert sent.status_code == 400
    assert told.lower() in sent.text.lower()
    assert 'aria-invalid="true"' in sent.text
    assert owner_connection.execute("SELECT count(*) FROM payroll_drafts").fetchone() == (0,)


async def test_nobody_reaches_another_households_drafts_and_payrolls(
    app: FastAPI, maria: Browser, world: World, people: dict[str, SignedIn], clock: FixedClock
) -> None:
    """Neither through a household of one's own, nor of the same organization."""
    draft_id, payroll_id = await draft_of(world), await world.pay(weeks_ago=3)
    beside = await World.make(world.people_context, world.connection, people["owner"], first_name="Beside")
    foreign = await World.make(world.people_context, world.connection, people["other"])
    other = await _browser(app, "other", clock)
    for browser, household_id in ((maria, beside.household_id), (other, foreign.household_id)):
        at = f"/app/{household_id}/payrolls"
        for path in (
            f"{at}/drafts/{draft_id}",
            f"{at}/drafts/{draft_id}/change",
            f"{at}/drafts/{draft_id}/drop",
            f"{at}/{payroll_id}",
            f"{at}/{payroll_id}/receipt",
            f"{at}/{payroll_id}/void",
            f"{at}/{payroll_id}/correct",
            f"{at}/{payroll_id}/authorize",
            f"{at}/{payroll_id}/deposits/{world.employee_id}",
            f"{at}/{payroll_id}/lines/{world.employee_id}/US-SS-EE",
            f"{at}/{payroll_id}/stubs/{world.employee_id}",
        ):
            assert (await browser.look(path)).status_code == 404, path
        for path, form in (
            (f"{at}/drafts/{draft_id}/run", {}),
            (f"{at}/drafts/{draft_id}/drop", {}),
            (f"{at}/{payroll_id}/void", {}),
            (f"{at}/{payroll_id}/correct", {"form_id": str(uuid4())}),
            (f"{at}/{payroll_id}/deposits/{world.employee_id}", {"action": "refund"}),
            (f"{at}/{payroll_id}/authorize", {"agree": "on"}),
        ):
            assert (await browser.send(path, page=_FORM, **form)).status_code == 404, path
        own = beside.employee_id if browser is maria else foreign.employee_id
        taken = await browser.send(f"{at}/drafts/{draft_id}", page=_FORM, **_typed(own))
        assert taken.status_code == 404
        assert str(world.employee_id) not in (await browser.look(f"{at}/download")).text
        strange = await browser.send(f"{at}/drafts/{uuid4()}", page=_FORM, **_typed(world.employee_id))
        assert strange.status_code == 400


async def test_the_list_is_filtered_added_up_and_downloaded_without_formulas(
    maria: Browser, world: World, clock: FixedClock
) -> None:
    evil = await world.employ("=cmd|' /C calc'!A0", "Diaz")
    for weeks_ago in (3, 2):
        await world.pay(world.employee_id, evil, weeks_ago=weeks_ago)
    newest = await world.pay(evil)
    at = f"/app/{world.household_id}/payrolls"
    every = list(csv.DictReader(io.StringIO((await maria.look(f"{at}/download")).text)))
    assert every[0]["payroll_id"] == str(newest)
    assert len(every) == 3
    assert every[0]["employees"].startswith("'=cmd")
    for query, found in (
        (f"employee={world.employee_id}", 2),
        ("from=2026-11-20", 1),
        ("to=2026-11-10&year=2026", 2),
        ("year=2025", 0),
        ("status=voided", 0),
        ("method=check", 3),
        ("method=cash", 0),
        ("year=020201", 3),  # none of these is a year
        ("year=20261&employee=", 3),
        ("year=1999", 3),
        (f"year={'9' * 5000}", 3),
        ("year=२०२६", 3),
        ("status=nonsense&year=abc&employee=x&from=soon&method=gold", 3),
    ):
        rows = list(csv.DictReader(io.StringIO((await maria.look(f"{at}/download?{query}")).text)))
        assert len(rows) == found, query
        page = (await maria.look(f"{at}?{query}")).text
        assert page.count(f'href="{at}/0') == found, query
    total = sum(Decimal(row["net_pay"]) for row in every)
    assert f"${total:,.2f}" in (await maria.look(at)).text


@pytest.mark.parametrize(
    ("start", "period", "said"),
    [
        ("2026-11-02", "2026-11-09", False),
        ("2027-03-02", "2027-03-01", False),
        ("2030-01-01", "2026-11-09", True),
        ("2130-01-01", "2026-11-09", True),
        ("9999-12-31", "2026-11-09", True),
    ],
)
@pytest.mark.parametrize("kind", ["hours", "bonus", "catch-up", "fica-refund"])
async def test_who_begins_far_ahead_is_not_followed(
    kind: str,
    start: str,
    period: str,
    said: bool,
    maria: Browser,
    world: World,
    owner_connection: psycopg.Connection,
) -> None:
    owner_connection.execute("UPDATE employees SET start_date = %s", (start,))
    at = f"/app/{world.household_id}"
    form = await maria.look(f"{at}/payrolls/new?kind={kind}")
    assert form.status_code == 200
    shown = re.search(r'name="start"[^>]*value="([0-9-]+)"', form.text)
    assert shown is not None
    if kind == "catch-up" and start < "2026-11-20":
        period = start  # the oldest week without a payroll
    assert shown[1] == ("2026-01-01" if kind == "fica-refund" else period)
    assert ("Your first employee starts on" in form.text) is said


@pytest.mark.parametrize("start", ["2026-11-02", "2027-03-02", "2030-01-01", "2130-01-01", "9999-12-31"])
async def test_pages_of_who_begins_far_ahead_are_shown(
    start: str, maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE employees SET start_date = %s", (start,))
    at = f"/app/{world.household_id}"
    for page in ("", "/payrolls", "/employees", f"/employees/{world.employee_id}", "/calendar", "/autopilot"):
        assert (await maria.look(at + page)).status_code == 200, page


async def test_a_draft_of_many_asks_no_more_than_one_of_one(maria: Browser, world: World) -> None:
    no_limit = '{"employees_per_household": null}'
    world.connection.execute("UPDATE organizations SET lifted_limits = %s", (no_limit,))
    few = await draft_of(world)
    others = [await world.employ(f"P{number}", "Diaz") for number in range(29)]
    many = await draft_of(world, world.employee_id, *others)
    asked = []
    await maria.look(f"/app/{world.household_id}/payrolls/drafts/{few}")  # what is asked once is asked
    for draft_id in (few, many):
        with counted(world.people_context.database) as statements:
            page = await maria.look(f"/app/{world.household_id}/payrolls/drafts/{draft_id}")
        assert page.status_code == 200
        asked.append(len(statements))
    assert asked[0] == asked[1] <= 40
    form = await maria.look(f"/app/{world.household_id}/payrolls/drafts/{many}/change")
    typed = dict(re.findall(r'name="(\w+_[0-9a-f-]{36})"[^>]*value="([^"]*)"', form.text))
    assert len(typed) > 150
    kept = await maria.send(
        f"/app/{world.household_id}/payrolls/drafts/{many}",
        page=_FORM,
        **_typed(world.employee_id),
        **{name: value for name, value in typed.items() if str(world.employee_id) not in name},
        **{f"method_{each}": "check" for each in others},
    )
    assert kept.status_code == 303


async def test_it_is_all_said_in_spanish(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    await maria.send("/settings/profile", page=_FORM, name="Maria", language="es")
    at = f"/app/{world.household_id}/payrolls"
    draft = await _draft(maria, at, world.employee_id, regular="60", bonus="100")
    page = (await maria.look(draft)).text
    for told in (
        "Revisar la nómina",
        "Se retienen el Seguro Social",
        "horas extra",
        "Haga un cheque a Rosa por $",
        "Retenido para impuestos",
        "Usted declara y paga estos impuestos.",
    ):
        assert told in page, told
    for left in ("Social Security and Medicare are withheld", "overtime_hours", "Look before"):
        assert left not in page, left
    ran = await maria.send(f"{draft}/run", page=_FORM, **await _preview_digest(maria, draft))
    receipt = (await maria.look(ran.headers["location"])).text
    for told in ("Registrado. Haga un cheque a Rosa por $", "Aparte $", "IRS, a más tardar el"):
        assert told in receipt, told
    payroll = (await maria.look(payroll_of_receipt(ran.headers["location"]))).text
    assert "Usted paga con cheque o en efectivo. Nosotros lo registramos." in payroll
    assert "Recibo de pago en español" in payroll


async def test_a_viewer_looks_and_finds_no_button(app: FastAPI, world: World, clock: FixedClock) -> None:
    viewer = await _browser(app, "viewer", clock)
    draft_id, payroll_id = await draft_of(world), await world.pay(weeks_ago=3)
    at = f"/app/{world.household_id}/payrolls"
    for path in (at, f"{at}/drafts/{draft_id}", f"{at}/{payroll_id}"):
        page = await viewer.look(path)
        assert page.status_code == 200
        for way in ("/new", "/run", "/change", "/drop", "/void", "/correct", "/stubs"):
            assert not re.search(rf'{way}["/?]', page.text), (path, way)


async def test_a_salary_is_paid_without_hours_and_prorated_on_the_pages(maria: Browser, world: World) -> None:
    at = f"/app/{world.household_id}/payrolls"
    world.connection.execute(
        "UPDATE employees SET pay_type = 'salary', pay_rate_cents = NULL, salary_cents = 5200000, salary_per = 'year', "
        "start_date = '2026-01-05' WHERE id = %s",
        (world.employee_id,),
    )
    form = (await maria.look(f"{at}/new")).text
    assert f'name="unpaid_{world.employee_id}"' in form
    draft = await _draft(maria, at, world.employee_id, regular="", unpaid="1")
    page = (await maria.look(draft)).text
    assert "4 of 5 working days" in page
    assert "$800.00" in page
    sent = await maria.send(f"{draft}/run", page=_FORM, **(await _preview_digest(maria, draft)))
    assert sent.status_code == 303, sent.text
    assert "4 of 5 working days" in (await maria.look(payroll_of_receipt(sent.headers["location"]))).text


async def test_pay_below_the_minimum_wage_is_told_before_the_folds(
    maria: Browser, world: World, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE employees SET pay_rate_cents = 200")
    draft = await _draft(maria, f"/app/{world.household_id}/payrolls", world.employee_id)
    page = (await maria.look(draft)).text
    told = re.search(r'<p class="notice wrong">\$2\.00 an hour is below the minimum wage', page)
    assert told is not None
    assert told.start() < page.index('<div class="folds">')
    assert page.count("below the minimum wage") == 1, "it is not repeated among the notes"
