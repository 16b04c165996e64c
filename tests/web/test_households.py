"""The list of an agency's households: searched, sorted, filtered, page by page, and only as much as is in reach."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.duties.dues_records import renew_dues
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.web.household import worklist
from hearthpay.web.household.worklist import Worklist, WorklistQuery, read_worklist
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

FAMILIES = (
    ("Ana", "Ng", "NY"),
    ("Íñigo", "Álvarez", "CA"),
    ("Luz", "De la Cruz", "TX"),
    ("Bo", "Zhou", "CA"),
)


Worlds = dict[str, World]


def _at(people_context: PeopleContext, worlds: Worlds) -> Worlds:
    """The same households, of the application of one test."""
    return {name: replace(world, people_context=people_context) for name, world in worlds.items()}


@pytest.fixture
async def worlds(
    people_context: PeopleContext,
    people: dict[str, SignedIn],
    owner_connection: psycopg.Connection,
    made_once: MadeOnce,
) -> Worlds:
    """Households by last name; the first one listed pays last, two have no payday planned."""
    made = await made_once.get(
        "households to list", lambda: _made_worlds(people_context, people, owner_connection)
    )
    return _at(people_context, made)


async def _made_worlds(
    people_context: PeopleContext, people: dict[str, SignedIn], owner_connection: psycopg.Connection
) -> Worlds:
    found = {}
    for first_name, last_name, state in FAMILIES:
        found[last_name] = await World.make(
            people_context,
            owner_connection,
            people["owner"],
            first_name=first_name,
            last_name=last_name,
            state=state,
        )
    for name, week in (("Ng", -3), ("Ng", -2), ("Zhou", -1)):
        payroll = await found[name].pay(weeks_ago=week)
        owner_connection.execute(
            "UPDATE payrolls SET status = 'scheduled', scheduled_send_at = pay_date WHERE id = %s", (payroll,)
        )
    return found


async def _read(world: World, clock: FixedClock, actor: Actor | None = None, **asked: str) -> Worklist:
    who = actor or world.actor
    async with world.people_context.database.transaction(who.tenant) as session:
        return await read_worklist(session, who, clock, WorklistQuery(**asked))  # type: ignore[arg-type]


def _names(found: Worklist) -> list[str]:
    return [item.line.last_name for item in found.items]


async def test_next_paydays_come_first_and_households_without_one_last(
    worlds: Worlds, clock: FixedClock
) -> None:
    found = await _read(worlds["Ng"], clock)
    assert _names(found) == ["Zhou", "Ng", "Álvarez", "De la Cruz"]
    days = [item.line.next_payday for item in found.items]
    assert [day.isoformat() if day else None for day in days] == ["2026-11-27", "2026-12-04", None, None]
    assert found.next_cursor is None


async def test_names_are_sorted_without_case_and_accents(worlds: Worlds, clock: FixedClock) -> None:
    assert _names(await _read(worlds["Ng"], clock, sort="name")) == ["Álvarez", "De la Cruz", "Ng", "Zhou"]


@pytest.mark.parametrize("sort", ["payday", "name"])
@pytest.mark.parametrize("text", ["", "diaz"])
async def test_pages_hold_every_household_once(
    worlds: Worlds, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, sort: str, text: str
) -> None:
    whole = _names(await _read(worlds["Ng"], clock, sort=sort, text=text))
    monkeypatch.setattr(worklist, "PAGE", 1)
    seen, cursor = [], ""
    while True:
        page = await _read(worlds["Ng"], clock, sort=sort, text=text, cursor=cursor)
        seen += _names(page)
        if page.next_cursor is None:
            break
        assert len(page.items) == 1
        cursor = page.next_cursor
    assert seen == whole
    assert len(whole) == len(FAMILIES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alvarez", ["Álvarez"]),
        ("ÁLV", ["Álvarez"]),
        ("cruz", ["De la Cruz"]),
        ("ca", ["Álvarez", "Zhou"]),  # nobody at the first was ever paid
        ("ny ana", ["Ng"]),
        ("petra", ["De la Cruz"]),
        ("petra luz", ["De la Cruz"]),
        ("petra ana", []),
        ("ohara-nunez", ["De la Cruz"]),
        (".", []),
        ("%", []),
        ("ruz", []),
    ],
)
async def test_a_search_finds_households_and_employees_by_how_their_names_begin(
    worlds: Worlds, clock: FixedClock, text: str, expected: list[str]
) -> None:
    await worlds["De la Cruz"].employ("Petra", "O'Hara-Núñez")
    assert _names(await _read(worlds["Ng"], clock, text=text)) == expected


async def test_a_changed_name_is_found_and_the_old_one_is_not(
    worlds: Worlds, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    owner_connection.execute("UPDATE employers SET last_name = 'Young' WHERE last_name = 'Ng'")
    assert _names(await _read(worlds["Ng"], clock, text="young")) == ["Young"]
    assert _names(await _read(worlds["Ng"], clock, text="ng")) == []


async def test_a_filter_shows_its_households_alone(
    worlds: Worlds, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    assert _names(await _read(worlds["Ng"], clock, show="week")) == []
    clock.advance(timedelta(days=2))  # seven days are today and six more
    for sort in ("payday", "name"):
        assert _names(await _read(worlds["Ng"], clock, show="week", sort=sort)) == ["Zhou"]
    owner_connection.execute(
        "UPDATE employees SET pay_rate_cents = NULL WHERE employer_id = %s", (worlds["Álvarez"].household_id,)
    )
    missing = await _read(worlds["Ng"], clock, show="missing")
    assert {item.line.last_name: item.missing[0].kind for item in missing.items} == {
        "Zhou": "tax_info_missing",
        "Ng": "tax_info_missing",
        "Álvarez": "pay_rate_missing",
        "De la Cruz": "tax_info_missing",
    }


async def test_a_page_that_ends_early_says_so_and_goes_on(
    worlds: Worlds, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.advance(timedelta(days=2))
    monkeypatch.setattr(worklist, "_CHUNK", 1)
    monkeypatch.setattr(worklist, "MOST_LOOKED_AT", 2)
    seen, cursor, stops = [], "", 0
    for _ in range(10):
        page = await _read(worlds["Ng"], clock, show="week", sort="name", cursor=cursor)
        seen += _names(page)
        stops += page.stopped_at is not None
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert page.next_cursor is None
    assert (seen, stops) == (["Zhou"], 2)


async def test_a_list_holds_only_what_the_actor_reaches(worlds: Worlds, clock: FixedClock) -> None:
    reached = frozenset(worlds[name].household_id for name in ("Ng", "Álvarez"))
    actor = replace(worlds["Ng"].actor, households=reached)
    for asked in ({"sort": "payday"}, {"sort": "name"}, {"text": "diaz"}):
        found = await _read(worlds["Ng"], clock, actor, **asked)
        assert {item.line.id for item in found.items} == reached


async def test_another_organization_finds_nothing_of_it(
    worlds: Worlds, clock: FixedClock, people: dict[str, SignedIn]
) -> None:
    other = people["other"].actor("r")
    for asked in ({"sort": "payday"}, {"sort": "name"}, {"text": "ng"}):
        assert _names(await _read(worlds["Ng"], clock, other, **asked)) == []


@pytest.mark.parametrize(
    "cursor", ["x", "p.AAAA", "p.2026-12-01.AAAA", "p.never.AAAAAAAAAAAAAAAAAAAAAA", "z.A"]
)
async def test_an_unknown_cursor_is_not_found(worlds: Worlds, clock: FixedClock, cursor: str) -> None:
    with pytest.raises(Refusal) as refused:
        await _read(worlds["Ng"], clock, cursor=cursor)
    assert refused.value.code == "not_found"


async def test_the_page_keeps_what_was_asked_for(
    app: FastAPI, worlds: Worlds, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worklist, "PAGE", 1)
    browser = await _browser(app, "viewer", clock)
    page = await browser.look("/households?sort=name&q=diaz&show=missing")
    tree = parsed(page)
    [search] = tree.iterfind(".//input[@id='q']")
    assert search.get("value") == "diaz"
    assert [each.text for each in tree.iterfind(".//option[@selected]")][:1] == ["Last name"]
    assert [each.text for each in tree.iterfind(".//ul[@class='chips']//a[@aria-current]")] == [
        "Missing details"
    ]
    [link] = [each for each in tree.iterfind(".//nav//a") if each.text == "Next page"]
    following = await browser.look(link.get("href") or "")
    assert "De la Cruz" in following.text
    assert "Álvarez" not in following.text
    assert (await browser.look("/households?cursor=wrong")).status_code == 404


@pytest.fixture
async def late(
    people_context: PeopleContext,
    worlds: Worlds,
    worker_database: Database,
    clock: FixedClock,
    made_once: MadeOnce,
) -> Worlds:
    """The same households, of which two paid somebody earlier this year and filed nothing; all are calculated."""

    async def pay() -> Worlds:
        for name, week in (("Álvarez", 20), ("De la Cruz", 30)):
            await worlds[name].pay(weeks_ago=week)
        while (await renew_dues(worker_database, clock))[0]:
            pass
        return worlds

    return _at(people_context, await made_once.get("late households to list", pay))


async def test_overdue_households_come_first_by_what_is_overdue_longest(
    late: Worlds, clock: FixedClock
) -> None:
    found = await _read(late["Ng"], clock, sort="overdue")
    since = [item.dues.overdue_since for item in found.items if item.dues and item.dues.overdue_since]
    assert since == sorted(since)
    assert {item.line.last_name for item in found.items if item.dues and item.dues.overdue_cents} == {
        "Álvarez",
        "De la Cruz",
    }
    assert len(found.items) == len(FAMILIES)
    shown = await _read(late["Ng"], clock, show="overdue")
    assert _names(shown) == [
        item.line.last_name for item in found.items if item.dues and item.dues.overdue_count
    ]
    assert found.counts is not None
    assert found.counts.overdue == len(shown.items)
    assert found.counts.being_checked == 0


@pytest.mark.parametrize("asked", [{"sort": "overdue"}, {"show": "overdue"}, {"sort": "payday"}])
async def test_pages_by_what_is_overdue_hold_every_household_once(
    late: Worlds, clock: FixedClock, monkeypatch: pytest.MonkeyPatch, asked: dict[str, str]
) -> None:
    whole = _names(await _read(late["Ng"], clock, **asked))
    monkeypatch.setattr(worklist, "PAGE", 1)
    seen, cursor = [], ""
    while cursor is not None:
        page = await _read(late["Ng"], clock, cursor=cursor, **asked)
        seen += _names(page)
        cursor = page.next_cursor
    assert seen == whole
    assert len(whole) >= 2


async def test_a_changed_household_is_calculated_for_the_page_or_shown_as_being_checked(
    late: Worlds,
    clock: FixedClock,
    owner_connection: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = "SELECT count(*) FROM household_dues WHERE computed_on = %s"
    await late["Álvarez"].pay(weeks_ago=19)
    found = await _read(late["Ng"], clock)
    assert not any(item.being_checked for item in found.items)
    assert found.counts is not None
    assert found.counts.being_checked == 0, "the page knows it by now"
    before = owner_connection.execute(kept, (clock.today(),)).fetchall()
    monkeypatch.setattr(worklist, "MOST_CALCULATED", 0)
    for asked in ({"sort": "payday"}, {"show": "overdue"}, {"show": "run"}, {"text": "alvarez"}):
        found = await _read(late["Ng"], clock, **asked)
        unknown = [item for item in found.items if item.being_checked]
        if asked != {"show": "run"}:
            assert [item.line.last_name for item in unknown] == ["Álvarez"]
        assert all(item.dues is None and item.payday_to_run is None for item in unknown)
        assert found.counts is not None
        assert found.counts.being_checked == 1
    assert owner_connection.execute(kept, (clock.today(),)).fetchall() == before, "a page stores nothing"


async def test_what_a_page_calculates_is_counted_on_it(
    app: FastAPI, late: Worlds, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    counted = (await _read(late["Ng"], clock)).counts
    assert counted is not None
    assert counted.overdue >= 2
    owner_connection.execute("UPDATE household_dues SET computed_on = computed_on - 1")
    for state in ("NV", "CA"):
        owner_connection.execute("UPDATE employers SET state = %s WHERE state <> 'NY'", (state,))
    owner_connection.execute("UPDATE employers SET state = 'TX' WHERE last_name = 'De la Cruz'")
    found = await _read(late["Ng"], clock)
    assert found.counts == counted, "one that is old and has changed is counted once"
    page = await (await _browser(app, "owner", clock)).look("/households")
    assert parsed(page).findtext(".//h1") == f"{counted.overdue} households have something overdue"
    assert "Being checked" not in page.text


async def test_nothing_is_said_to_be_done_while_households_are_being_checked(
    app: FastAPI, late: Worlds, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worklist, "MOST_CALCULATED", 0)
    browser = await _browser(app, "owner", clock)
    page = await browser.look("/households")
    assert page.text.count("Being checked</span>") == 0
    assert len(re.findall(r"\d late since ", page.text)) >= 2, "the oldest item may have no amount"
    clock.advance(timedelta(days=1))
    page = await browser.look("/households")
    assert page.text.count("Being checked</span>") == len(FAMILIES)
    assert "late since" not in page.text
    assert parsed(page).findtext(".//h1") == "Households"


async def test_households_that_pay_by_hand_stand_at_their_next_payday(
    worlds: Worlds, worker_database: Database, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    await worlds["Álvarez"].pay(weeks_ago=0)
    owner_connection.execute(
        "UPDATE employees SET start_date = '2027-01-04' WHERE employer_id = %s",
        (worlds["De la Cruz"].household_id,),
    )
    await renew_dues(worker_database, clock)
    found = await _read(worlds["Ng"], clock)
    assert sorted(_names(found)[:2]) == ["Zhou", "Álvarez"]
    assert _names(found)[2:] == ["Ng", "De la Cruz"]
    assert [str(item.next_payday) for item in found.items[:3]] == ["2026-11-27", "2026-11-27", "2026-12-04"]
    clock.advance(timedelta(days=1))
    while (await renew_dues(worker_database, clock))[0]:
        pass
    assert _names(await _read(worlds["Ng"], clock, show="run")) == ["Álvarez"]
    clock.advance(timedelta(days=9))
    while (await renew_dues(worker_database, clock))[0]:
        pass
    late = await _read(worlds["Ng"], clock)
    assert late.items[0].line.last_name == "Álvarez", "a payday that has passed comes first"


async def test_households_whose_employee_was_never_paid_come_first_and_say_so(
    app: FastAPI,
    worlds: Worlds,
    worker_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    owner_connection.execute(
        "UPDATE employees SET start_date = '2026-12-01' WHERE employer_id <> %s",
        (worlds["Álvarez"].household_id,),
    )
    for language, tag, who, run in (
        ("en", "Never paid", "Rosa Diaz, since Jan 5, 2026", "1 payroll to run this week"),
        ("es", "Sin ningún pago", "Rosa Diaz, desde el 5 ene 2026", "1 nómina por procesar esta semana"),
    ):
        owner_connection.execute("UPDATE people SET language = %s", (language,))
        while (await renew_dues(worker_database, clock))[0]:
            pass
        browser = await _browser(app, "viewer", clock)
        page = await browser.look("/households")
        [first, *others] = parsed(page).iterfind(".//tbody/tr")
        words = " ".join("".join(first.itertext()).split())
        assert "Álvarez" in words
        assert f"{tag} {who}" in words
        assert all(tag not in "".join(each.itertext()) for each in others)
        assert [each.get("class") for cell in first.findall("td")[2:4] for each in cell.iter("span")] == [
            "tag waits",
            "soft",
        ]
        assert parsed(page).findtext(".//h1") == run
    found = await _read(worlds["Ng"], clock)
    assert _names(found) == ["Álvarez", "Zhou", "Ng", "De la Cruz"]
    assert [item.next_payday for item in found.items if item.never_paid] == [None]
    assert found.counts is not None
    assert found.counts.to_run == 1
    assert _names(await _read(worlds["Ng"], clock, show="run")) == ["Álvarez"]
    owner = await _browser(app, "owner", clock)
    assert 'name="household_' not in (await owner.look("/households")).text, (
        "nothing can be run from the list"
    )
    home = await owner.look(f"/app/{worlds['Álvarez'].household_id}")
    assert "Procesar la primera nómina de Rosa Diaz" in home.text
    assert "Sin nómina desde el 5 ene 2026" in home.text
    await worlds["Álvarez"].pay(weeks_ago=1)
    assert all(not item.never_paid for item in (await _read(worlds["Ng"], clock)).items)
