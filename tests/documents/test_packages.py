"""Packages that are too large to wait for: asked for, made by the worker, kept as drawn, told of, handed over."""

import asyncio
import io
import re
import zipfile
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.documents import routes
from hearthpay.documents.package_builder import LEASE, MOST_ATTEMPTS, MakingReport, make_next
from hearthpay.documents.packages import PACKAGE_AT_ONCE
from hearthpay.mail.notices import NotificationSettings
from hearthpay.security.content_seal import SealedContent, mail_place, open_content
from hearthpay.security.key_ring import KeyRing
from tests.documents.family import ROOM, Family, add_family, patched, tell_numbers
from tests.http.api import ROSA, Account, Caller, data, refusal

PEOPLE, PAYDAYS = 2, 2
MANY_PEOPLE, MANY_PAYDAYS = 8, 5
YEAR = {"tax_year": 2026}
SUBMITTER = {"user_id": "AB12CD34", "phone": "415-555-0134"}


def papers_of(people: int, paydays: int) -> int:
    """W-2s in three copies and stubs; W-3, Schedule H and the cover sheet."""
    return people * (3 + paydays) + 3


PAPERS = papers_of(PEOPLE, PAYDAYS)
MANY_PAPERS = papers_of(MANY_PEOPLE, MANY_PAYDAYS)

assert MANY_PAPERS > PACKAGE_AT_ONCE


async def large(
    caller: Caller,
    owner: Database,
    ring: KeyRing,
    employer_id: str,
    *,
    people: int = PEOPLE,
    paydays: int = PAYDAYS,
) -> Family:
    """A household that paid so many people so often."""
    family = await add_family(caller, employer_id)
    await tell_numbers(owner, ring, family)
    paid = [family.employee_id]
    for number in range(1, people):
        new = ROSA | {"employer_id": employer_id, "last_name": f"Diaz {chr(96 + number)}", "address": ROOM}
        paid.append(data(await caller.post("/employees", new), 201)["id"])
    for payday in range(paydays):
        entries = [{"employee_id": each, "bonus": 1000 + payday, "payment_method": "check"} for each in paid]
        body = {
            "employer_id": employer_id,
            "pay_period_start": "2026-11-09",
            "pay_period_end": "2026-11-15",
            "pay_date": "2026-11-20",
            "pay_frequency": "weekly",
            "off_cycle": True,
            "employees": entries,
        }
        data(await caller.post("/payroll/run", body))
    return family


@pytest.fixture
async def family(
    account: Account,
    household: dict[str, Any],
    owner_database: Database,
    ring: KeyRing,
    monkeypatch: pytest.MonkeyPatch,
) -> Family:
    """A household with more documents than one request draws, where that is fewer than usual."""
    monkeypatch.setattr(routes, "PACKAGE_AT_ONCE", PAPERS // 2)
    return await large(account.live, owner_database, ring, household["id"])


@pytest.fixture
async def large_family(
    account: Account, household: dict[str, Any], owner_database: Database, ring: KeyRing
) -> Family:
    """A household with more documents than one request draws."""
    return await large(
        account.live, owner_database, ring, household["id"], people=MANY_PEOPLE, paydays=MANY_PAYDAYS
    )


Work = Callable[..., Awaitable[MakingReport]]


@pytest.fixture
def work(worker_database: Database, ring: KeyRing, clock: FixedClock) -> Work:
    """The worker takes the package whose turn it is."""

    async def go(*, papers: int | None = None, slice_seconds: float = 60) -> MakingReport:
        asked = iter(range(1 + (papers or 0)))
        return await make_next(
            worker_database,
            ring,
            clock,
            NotificationSettings(sends=True),
            lambda: papers is not None and next(asked, papers) >= papers,
            slice_seconds=slice_seconds,
        )

    return go


def mailed(connection: psycopg.Connection, ring: KeyRing) -> list[dict[str, str]]:
    rows = connection.execute(
        "SELECT id, content, nonce, key_id FROM mail_outbox WHERE kind = 'notice.package_ready' AND content IS NOT NULL"
    ).fetchall()
    return [orjson.loads(open_content(ring, mail_place(i), SealedContent(c, n, k))) for i, c, n, k in rows]


async def test_a_large_package_is_made_by_the_worker(
    large_family: Family, work: Work, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    family = large_family
    asked = await family.ask("year-package", **YEAR)
    told = data(asked, 202)
    assert asked.headers["Location"] == told["path"]
    assert (told["status"], told["papers"], told["drawn"]) == ("waiting", MANY_PAPERS, 0)
    assert (told["document_id"], told["finished_at"], told["failure"]) == (None, None, None)
    assert data(await family.ask("year-package", **YEAR), 202)["id"] == told["id"]
    assert (await work()) == MakingReport(MANY_PAPERS, 0, 0)
    ready = data(await family.caller.get(told["path"].removeprefix("/api/v1")))
    assert (ready["status"], ready["papers"], ready["drawn"]) == ("ready", MANY_PAPERS, MANY_PAPERS)
    file = await family.caller.client.get(ready["document_path"], headers=family.caller.headers())
    assert file.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(file.content)) as packed:
        assert packed.testzip() is None
        names = packed.namelist()
        assert (len(names), len(set(names)), names[0]) == (MANY_PAPERS, MANY_PAPERS, "cover-2026.pdf")
        papers = {each["id"]: each for each in await every_paper(family)}
        stub = next(each for each in papers.values() if each["kind"] == "paystub")
        alone = await family.caller.get(f"/documents/{stub['id']}")
        assert alone.content in {packed.read(name) for name in names}
    again = await family.caller.client.get(ready["document_path"], headers=family.caller.headers())
    assert (again.content, again.headers["ETag"]) == (file.content, file.headers["ETag"])
    (mail,) = mailed(owner_connection, ring)
    assert mail["subject"] == "Your 2026 documents are ready"
    assert f"({MANY_PAPERS} in total)" in mail["text"]
    (address,) = re.findall(r"https?://\S+", mail["text"])
    assert address.endswith(f"/app/{family.employer_id}/taxes/papers"), (
        "a page that asks who reads it, no tax numbers"
    )


async def every_paper(family: Family) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await family.caller.get("/documents", employer_id=family.employer_id, limit=100, **cursor)
        found += data(answer)
        following = answer.json()["meta"]["next_cursor"]
        if following is None:
            return found
        cursor = {"cursor": following}


async def test_what_was_drawn_stays_and_the_next_try_goes_on_from_there(
    family: Family, work: Work, owner_connection: psycopg.Connection
) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    await work(papers=7)
    first = {each["id"] for each in await every_paper(family)}
    assert len(first) == 7
    assert data(await family.caller.get(f"/documents/packages/{told['id']}"))["drawn"] == 7
    while data(await family.caller.get(f"/documents/packages/{told['id']}"))["status"] != "ready":
        await work()
    papers = await every_paper(family)
    assert first < {each["id"] for each in papers}
    assert {each["version"] for each in papers} == {1}, "nothing was drawn twice"
    issued = owner_connection.execute("SELECT FROM audit_log WHERE action = 'document.issue'").rowcount
    assert issued == PAPERS + 1


async def test_a_worker_that_died_is_followed_once_its_lease_is_over(
    family: Family, work: Work, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    await family.ask("year-package", **YEAR)
    owner_connection.execute(
        "UPDATE document_packages SET status = 'drawing', held_until = %s", [clock.now() + LEASE]
    )
    assert (await work()) == MakingReport()
    clock.advance(LEASE)
    assert (await work()).papers == PAPERS


async def test_a_package_without_end_is_given_up(
    family: Family, work: Work, owner_connection: psycopg.Connection
) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    owner_connection.execute("UPDATE document_packages SET attempts = %s", [MOST_ATTEMPTS])
    await work()
    found = data(await family.caller.get(f"/documents/packages/{told['id']}"))
    assert (found["status"], found["failure"]) == ("failed", {"reason": "internal_failure"})
    assert data(await family.ask("year-package", **YEAR), 202)["id"] != told["id"]


async def test_what_is_missing_by_then_is_told(family: Family, work: Work) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    await patched(family.caller, f"/employers/{family.employer_id}", address=None)
    assert (await work()).failed == 1
    found = data(await family.caller.get(f"/documents/packages/{told['id']}"))
    assert (found["status"], found["failure"]["reason"]) == ("failed", "details_missing")
    assert [each["field"] for each in found["failure"]["missing"]] == ["household.address"]
    refused = await family.ask("year-package", **YEAR)
    assert refusal(refused, 400, "document_not_available")["details"]["reason"] == "details_missing"


async def test_figures_that_change_meanwhile_are_in_it(family: Family, work: Work) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    await work(papers=PAPERS - 5)
    await family.pay(
        off_cycle=True,
        employees=[{"employee_id": family.employee_id, "bonus": 77, "payment_method": "check"}],
    )
    while data(await family.caller.get(f"/documents/packages/{told['id']}"))["status"] != "ready":
        await work()
    ready = data(await family.caller.get(f"/documents/packages/{told['id']}"))
    assert ready["papers"] == PAPERS + 1
    listed = await family.ask("w3", **YEAR)
    file = await family.caller.client.get(ready["document_path"], headers=family.caller.headers())
    with zipfile.ZipFile(io.BytesIO(file.content)) as packed:
        assert packed.read("w3-2026.pdf") == listed.content


async def test_an_idempotency_key_names_the_package(family: Family, work: Work) -> None:
    async def ask(**changes: Any) -> httpx.Response:
        body = {"employer_id": family.employer_id, **YEAR, **changes}
        return await family.caller.post("/documents/year-package", body, idempotency_key="package-1")

    first = data(await ask(), 202)
    await work()
    again = await ask()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (data(again, 202)["id"], data(again, 202)["status"]) == (first["id"], "ready")
    refusal(await ask(submitter=SUBMITTER), 409, "idempotency_conflict")


async def test_another_submitter_waits_for_the_package_under_way(family: Family) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    refused = refusal(await family.ask("year-package", submitter=SUBMITTER, **YEAR), 409, "invalid_state")
    assert refused["details"] == {"package_id": told["id"]}


async def test_a_package_is_its_households_alone(family: Family, new_account: Any) -> None:
    told = data(await family.ask("year-package", **YEAR), 202)
    stranger = await new_account("Strangers")
    refusal(await stranger.live.get(f"/documents/packages/{told['id']}"), 404, "not_found")
    refusal(await family.caller.get(f"/documents/packages/{UUID(int=7)}"), 404, "not_found")


async def test_two_organizations_take_turns(
    family: Family,
    new_account: Any,
    owner_database: Database,
    ring: KeyRing,
    work: Work,
    owner_connection: psycopg.Connection,
) -> None:
    """Of one organization two packages wait, of the other one: slice by slice, the other has every second turn."""
    from tests.http.api import MARIA

    caller = family.caller
    second = data(await caller.post("/employers", MARIA | {"first_name": "Second"}), 201)["id"]
    theirs = await large(caller, owner_database, ring, second)
    other = (await new_account("Others")).live
    third = data(await other.post("/employers", MARIA | {"first_name": "Third"}), 201)["id"]
    bystander = await large(other, owner_database, ring, third)
    for each in (family, theirs, bystander):
        data(await each.ask("year-package", **YEAR), 202)
    order = []
    for _ in range(4):
        before = dict(owner_connection.execute("SELECT employer_id, turn FROM document_packages").fetchall())
        await work(slice_seconds=0)
        after = dict(owner_connection.execute("SELECT employer_id, turn FROM document_packages").fetchall())
        order += [str(each) for each in after if after[each] != before[each]]
    assert order == [family.employer_id, bystander.employer_id, theirs.employer_id, bystander.employer_id]


async def test_a_package_that_ends_gives_its_organization_no_second_turn(
    family: Family,
    new_account: Any,
    owner_database: Database,
    ring: KeyRing,
    work: Work,
    owner_connection: psycopg.Connection,
) -> None:
    """One that asks for package after package, each done within its turn, leaves every second turn to another."""
    from tests.http.api import MARIA

    caller, other = family.caller, (await new_account("Others")).live
    second = data(await caller.post("/employers", MARIA | {"first_name": "Second"}), 201)["id"]
    theirs = await large(caller, owner_database, ring, second)
    third = data(await other.post("/employers", MARIA | {"first_name": "Third"}), 201)["id"]
    bystander = await large(other, owner_database, ring, third)
    for each in (family, theirs, bystander):
        data(await each.ask("year-package", **YEAR), 202)
    await work(slice_seconds=0)
    ended = owner_connection.execute(
        "UPDATE document_packages SET status = 'failed', failure = '{}', finished_at = now(), held_until = NULL "
        "WHERE turn > 0 RETURNING employer_id::text"
    ).fetchall()
    assert ended == [(family.employer_id,)]
    await work(slice_seconds=0)
    taken = "SELECT employer_id::text FROM document_packages WHERE turn > 1"
    assert owner_connection.execute(taken).fetchall() == [(bystander.employer_id,)]


async def test_nobody_draws_for_a_client_that_has_gone(family: Family, app: FastAPI) -> None:
    few = await family.pay(off_cycle=True)
    before = len(await every_paper(family))
    left = asyncio.Event()
    sent = orjson.dumps({"payroll_id": few, "employer_id": family.employer_id})
    messages = iter([{"type": "http.request", "body": sent, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    answers: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        answers.append(dict(message))

    headers = [(name.lower().encode(), value.encode()) for name, value in family.caller.headers().items()]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/v1/documents/paystub",
        "raw_path": b"/api/v1/documents/paystub",
        "root_path": "",
        "query_string": b"",
        "headers": [*headers, (b"host", b"pay.example.com"), (b"content-type", b"application/json")],
        "client": ("192.0.2.1", 1),
        "server": ("pay.example.com", 80),
    }
    left.set()
    await app(scope, receive, send)
    assert answers[0]["status"] == 499
    assert len(await every_paper(family)) == before
