"""Papers asked for over HTTP: issued once, kept, listed, replaced, refused."""

import asyncio
import functools
import hashlib
import io
import zipfile
from dataclasses import replace
from typing import Any

import httpx
import psycopg
import pytest
from pypdf import PdfReader
from sqlalchemy import select
from sqlalchemy.orm import undefer

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import rotate
from hearthpay.documents.archive import open_document
from hearthpay.documents.models import IssuedDocument
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from tests.documents.family import HOME, ROOM, Family, add_family, advance_to, patched, tell_numbers
from tests.http.api import ROSA, Account, NewKey, data, fields, refusal

SUBMITTER = {"user_id": "AB12CD34", "phone": "415-555-0134"}


@pytest.fixture
async def family(
    account: Account, household: dict[str, Any], owner_database: Database, ring: KeyRing
) -> Family:
    made = await add_family(account.live, household["id"])
    await tell_numbers(owner_database, ring, made)
    return made


def paper_of(answer: httpx.Response) -> bytes:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/pdf"
    return answer.content


def text_of(answer: httpx.Response) -> str:
    return _text(paper_of(answer))


@functools.cache
def _text(paper: bytes) -> str:
    """Read once: to take the text out of a paper costs more than to draw it."""
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(paper)).pages)


async def test_a_pay_stub_is_issued_once_and_comes_again_byte_for_byte(
    family: Family, clock: FixedClock, owner_connection: psycopg.Connection
) -> None:
    payroll = await family.pay()
    first = await family.ask("paystub", payroll_id=payroll)
    assert "1,140.00" in text_of(first)
    assert "123-45-6789" not in text_of(first)
    assert first.headers["Content-Disposition"] == (
        'attachment; filename="pay-stub-2026-11-20-rosa-diaz.pdf"'
    )
    advance_to(clock, 2026, 11, 24)
    again = await family.ask("paystub", payroll_id=payroll, employee_id=family.employee_id)
    assert (again.content, again.headers["ETag"]) == (first.content, first.headers["ETag"])
    (kept,) = await family.papers()
    assert (kept["kind"], kept["version"], kept["status"]) == ("paystub", 1, "in_force")
    assert kept["payroll_id"] == payroll
    at = await family.caller.get(kept["path"].removeprefix("/api/v1"))
    assert at.content == first.content
    known = await family.caller.client.get(
        kept["path"], headers=family.caller.headers() | {"If-None-Match": at.headers["ETag"]}
    )
    assert (known.status_code, known.content) == (304, b"")
    sealed = owner_connection.execute("SELECT sealed_content, content_hash FROM documents").fetchone()
    assert sealed is not None
    assert b"%PDF" not in sealed[0]
    assert sealed[1] != hashlib.sha256(first.content).digest(), "an unsalted hash gives the numbers away"


async def test_identical_packages_at_once_are_one_package(family: Family) -> None:
    """Whoever asks beside others gets what they draw: nobody has changed the books."""
    await family.pay()
    answers = await asyncio.gather(*(family.ask("year-package", tax_year=2026) for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}, [answer.content[:200] for answer in answers]
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    papers = await family.papers()
    assert {each["version"] for each in papers} == {1}


async def test_a_stub_that_was_issued_says_when_it_was_voided(family: Family) -> None:
    payroll = await family.pay()
    first = await family.ask("paystub", payroll_id=payroll)
    data(await family.caller.post(f"/payroll/{payroll}/void", {"reason": "a slip"}))
    second = await family.ask("paystub", payroll_id=payroll)
    assert second.content != first.content
    assert "VOID" in text_of(second).upper()
    newer, older = await family.papers()
    assert (newer["version"], newer["status"]) == (2, "in_force")
    assert (older["version"], older["status"], older["superseded_by"]) == (1, "superseded", newer["id"])
    at = await family.caller.get(f"/documents/{older['id']}")
    assert at.content == first.content


async def test_a_stub_stays_as_it_is_when_somebody_moves(family: Family) -> None:
    payroll = await family.pay()
    first = await family.ask("paystub", payroll_id=payroll)
    await patched(family.caller, f"/employees/{family.employee_id}", address=HOME)
    assert (await family.ask("paystub", payroll_id=payroll)).content == first.content
    await patched(family.caller, f"/employees/{family.employee_id}", address=None)
    assert (await family.ask("paystub", payroll_id=payroll)).content != first.content


async def test_languages_and_copies_are_papers_of_their_own(family: Family) -> None:
    payroll = await family.pay()
    for wish in ({}, {"language": "es"}, {"copy": "household"}, {"note": "Thank you"}):
        text_of(await family.ask("paystub", payroll_id=payroll, **wish))
    assert sorted((each["variant"], each["version"]) for each in await family.papers()) == [
        ("employee-en", 1),
        ("employee-en", 2),
        ("employee-es", 1),
        ("household-en", 1),
    ]


async def test_a_stub_is_in_the_employees_language_where_none_is_asked_for(family: Family) -> None:
    payroll = await family.pay()
    told = await patched(family.caller, f"/employees/{family.employee_id}", language="es")
    assert told["language"] == "es"
    assert "Pay stub" not in text_of(await family.ask("paystub", payroll_id=payroll))
    for wish in ({"language": "en"}, {"copy": "household"}):
        assert "Pay stub" in text_of(await family.ask("paystub", payroll_id=payroll, **wish))
    refused = await family.caller.client.patch(
        f"/api/v1/employees/{family.employee_id}", json={"language": "fr"}, headers=family.caller.headers()
    )
    assert fields(refusal(refused, 400, "validation_error")) == ["language"]


async def test_an_idempotency_key_names_the_version_that_it_got(family: Family) -> None:
    payroll = await family.pay()
    body = {"employer_id": family.employer_id, "payroll_id": payroll}
    first = await family.caller.post("/documents/paystub", body, idempotency_key="stub")
    data(await family.caller.post(f"/payroll/{payroll}/void", {}))
    again = await family.caller.post("/documents/paystub", body, idempotency_key="stub")
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    other = await family.caller.post("/documents/paystub", body | {"language": "es"}, idempotency_key="stub")
    refusal(other, 409, "idempotency_conflict")


async def test_the_papers_of_a_year(family: Family, clock: FixedClock) -> None:
    for day in (6, 13, 20):
        await family.pay(
            pay_period_start=f"2026-11-{day - 5:02}",
            pay_period_end=f"2026-11-{day - 1:02}",
            pay_date=f"2026-11-{day:02}",
        )
    advance_to(clock, 2027, 1, 15)
    year = {"tax_year": 2026}
    mine = text_of(await family.ask("w2", employee_id=family.employee_id, **year))
    assert "3420.00" in mine
    assert "123-45-6789" not in mine
    ours = text_of(await family.ask("w2", employee_id=family.employee_id, copy="household", **year))
    assert "123-45-6789" in ours
    assert "12-3456789" in ours
    paper_of(await family.ask("w2", employee_id=family.employee_id, copy="state", **year))
    assert "3420.00" in text_of(await family.ask("w3", **year))
    assert "3,420.00" in text_of(await family.ask("schedule-h", **year))
    file = await family.ask("efw2", submitter=SUBMITTER, **year)
    assert (file.status_code, file.headers["Content-Type"]) == (200, "text/plain"), file.text
    assert {len(line) for line in file.content.split(b"\r\n") if line} == {512}
    package = await family.ask("year-package", submitter=SUBMITTER, **year)
    assert package.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(package.content)) as packed:
        names = packed.namelist()
        assert names[0] == "cover-2026.pdf"
        assert {"w2-2026-rosa-diaz.pdf", "w3-2026.pdf", "schedule-h-2026.pdf", "efw2-2026.txt"} <= set(names)
        assert sum(name.startswith("pay-stub-") for name in names) == 3
    again = await family.ask("year-package", submitter=SUBMITTER, **year)
    assert again.content == package.content


async def test_an_itin_is_no_social_security_number_and_stops_nobody(
    account: Account, household: dict[str, Any], owner_database: Database, ring: KeyRing, clock: FixedClock
) -> None:
    family = await add_family(account.live, household["id"])
    await tell_numbers(owner_database, ring, family, ssn="912-70-1234", kind="itin")
    await family.pay()
    eva = ROSA | {
        "employer_id": family.employer_id,
        "first_name": "Eva",
        "last_name": "Luna",
        "address": ROOM,
    }
    other = replace(family, employee_id=data(await account.live.post("/employees", eva), 201)["id"])
    await tell_numbers(owner_database, ring, other)
    await other.pay()
    advance_to(clock, 2027, 1, 15)
    year = {"tax_year": 2026}
    for copy in ("employee", "household"):
        paper = text_of(await family.ask("w2", employee_id=family.employee_id, copy=copy, **year))
        assert "Applied For" in paper, copy
        assert "70-1234" not in paper, copy
        assert ("An ITIN is none" in " ".join(paper.split())) == (copy == "household"), copy
    file = await family.ask("efw2", submitter=SUBMITTER, **year)
    assert file.status_code == 200, file.text
    forms = [line for line in file.content.split(b"\r\n") if line.startswith(b"RW")]
    assert sorted(line[2:11] for line in forms) == [b"000000000", b"123456789"]
    package = await family.ask("year-package", submitter=SUBMITTER, **year)
    with zipfile.ZipFile(io.BytesIO(package.content)) as packed:
        assert "efw2-2026.txt" in packed.namelist()
        assert "Rosa Diaz: No Social Security number" in " ".join(
            _text(packed.read("cover-2026.pdf")).split()
        )
    submitter = SUBMITTER | {"phone": "415-555-0134", "email": f"{'a' * 40}@example.com"}
    refused = refusal(await family.ask("efw2", submitter=submitter, **year), 400, "document_not_available")[
        "details"
    ]["missing"]
    assert [each["field"] for each in refused] == ["submitter.email"]
    assert f"/app/{family.employer_id}/taxes/papers/wage-file" in refused[0]["how"]


async def test_a_form_that_changes_after_its_year_is_corrected(family: Family, clock: FixedClock) -> None:
    await family.pay()
    extra = {"employee_id": family.employee_id, "bonus": 100, "payment_method": "check"}
    other = await family.pay(employees=[extra])
    year = {"tax_year": 2026}
    early = await family.ask("w2", employee_id=family.employee_id, copy="household", **year)
    assert "not over" in text_of(early)
    await family.ask("w2", employee_id=family.employee_id, **year)
    await family.pay(pay_period_start="2026-11-16", pay_period_end="2026-11-20", pay_date="2026-11-27")
    advance_to(clock, 2027, 2, 1)
    await family.ask("w2", employee_id=family.employee_id, **year)
    await family.ask("w3", **year)
    assert "w2c" not in {each["kind"] for each in await family.papers()}
    data(await family.caller.post(f"/payroll/{other}/void", {}))
    assert "2280.00" in text_of(await family.ask("w2", employee_id=family.employee_id, **year))
    await family.ask("w3", **year)
    found = {each["kind"]: each for each in await family.papers()}
    for kind in ("w2c", "w3c"):
        told = text_of(await family.caller.get(f"/documents/{found[kind]['id']}"))
        assert "2380.00" in told
        assert "2280.00" in told


async def test_what_is_missing_is_named_with_how_to_supply_it(
    account: Account, household: dict[str, Any], owner_database: Database, ring: KeyRing
) -> None:
    family = await add_family(account.live, household["id"], addresses=False)
    nobody = refusal(await family.ask("w3", tax_year=2026), 400, "document_not_available")
    assert nobody["details"]["reason"] == "no_wages"
    payroll = await family.pay()
    paper_of(await family.ask("paystub", payroll_id=payroll))
    asked = {"employee_id": family.employee_id, "tax_year": 2026}
    error = refusal(await family.ask("w2", **asked), 400, "document_not_available")
    missing = {each["field"]: each["how"] for each in error["details"]["missing"]}
    assert missing.keys() == {"household.address", "household.ein", "employee.address"}
    assert family.employee_id in missing["employee.address"]
    refusal(await family.ask("schedule-h", tax_year=2026), 400, "document_not_available")
    await patched(account.live, f"/employers/{family.employer_id}", address=HOME)
    await patched(account.live, f"/employees/{family.employee_id}", address=ROOM)
    await tell_numbers(owner_database, ring, family, ssn=None)
    assert "Applied For" in text_of(await family.ask("w2", **asked))
    found = (await account.live.get(f"/employers/{family.employer_id}")).json()["data"]
    assert found["ein_status"] == "approved"


async def test_what_is_not_there_is_refused(
    family: Family, account: Account, new_account: Any, new_key: NewKey
) -> None:
    payroll = await family.pay()
    scheduled = refusal(await family.ask("w2", employee_id=payroll, tax_year=2026), 404, "not_found")
    assert scheduled["message"] == "We couldn't find that employee."
    for paper in ("w3", "schedule-h", "year-package"):
        error = refusal(await family.ask(paper, tax_year=2027), 400, "document_not_available")
        assert error["details"]["reason"] == "future_year"
        error = refusal(await family.ask(paper, tax_year=2019), 400, "document_not_available")
        assert error["details"]["reason"] == "form_not_published"
    refusal(await family.ask("paystub", payroll_id=family.employee_id), 404, "not_found")
    stranger = (await new_account("Jones family")).live
    body = {"employer_id": family.employer_id, "payroll_id": payroll}
    refusal(await stranger.post("/documents/paystub", body), 403, "household_forbidden")
    await family.ask("paystub", payroll_id=payroll)
    (kept,) = await family.papers()
    refusal(await stranger.get(f"/documents/{kept['id']}"), 404, "not_found")
    weak = await new_key("Lopez family", scopes=("payroll",))
    refusal(await weak.post("/documents/paystub", body), 403, "scope_required")
    free = await new_key("Free family", plan="free")
    refusal(await free.get("/documents"), 403, "subscription_required")
    submitter = {"user_id": "AB1", "phone": "12"}
    wrong = refusal(await family.ask("efw2", tax_year=2026, submitter=submitter), 400, "validation_error")
    assert fields(wrong) == ["submitter.user_id", "submitter.phone"]


async def test_a_payroll_names_its_papers(family: Family) -> None:
    payroll = await family.pay()
    (link,) = data(await family.caller.get(f"/payroll/{payroll}"))["documents"]
    assert (link["kind"], link["method"], link["path"]) == ("paystub", "POST", "/api/v1/documents/paystub")
    paper_of(await family.caller.post(link["path"].removeprefix("/api/v1"), link["body"]))


async def test_papers_of_the_sandbox_are_marked_and_go_with_it(
    account: Account, owner_connection: psycopg.Connection
) -> None:
    maria = {"first_name": "Maria", "last_name": "Lopez", "state": "CA"}
    employer_id = data(await account.test.post("/employers", maria), 201)["id"]
    family = await add_family(account.test, employer_id)
    payroll = await family.pay()
    stub = await family.ask("paystub", payroll_id=payroll)
    assert "TEST" in text_of(stub)
    assert "test-pay-stub" in stub.headers["Content-Disposition"]
    client, headers = account.test.client, account.test.headers()
    await client.delete(f"/api/v1/employers/{employer_id}", params={"reset": "true"}, headers=headers)
    assert owner_connection.execute("SELECT FROM documents").rowcount == 0


async def test_what_to_pay_in_each_quarter(family: Family, clock: FixedClock) -> None:
    await family.pay()
    told = data(await family.caller.get("/reports/estimated-tax", employer_id=family.employer_id, year=2026))
    periods = [(each["period_start"], each["due_date"]) for each in told["instalments"]]
    assert periods == [
        ("2026-01-01", "2026-04-15"),
        ("2026-04-01", "2026-06-15"),
        ("2026-06-01", "2026-09-15"),
        ("2026-09-01", "2027-01-15"),
    ]
    # 1,140.00 a week at 15.3 % and 0.6 % FUTA, and what Publication 15-T withholds; five Fridays are left.
    lines = data(await family.caller.get("/payrolls"))
    assert len(lines) == 1
    payroll = data(await family.caller.get(f"/payroll/{lines[0]['payroll_id']}"))
    federal = sum(
        line["amount"] for line in payroll["employees"][0]["lines"] if line["code"].startswith("US-")
    )
    assert told["from_ledger"] == pytest.approx(federal)
    assert told["expected"] == pytest.approx(5 * federal)
    assert told["total"] == pytest.approx(6 * federal)
    last = told["instalments"][-1]
    assert (last["from_ledger"], last["expected"]) == (told["from_ledger"], told["expected"])
    assert told["extra_withholding"]["weekly"] == pytest.approx(6 * federal / 5, abs=0.011)
    refusal(
        await family.caller.get("/reports/estimated-tax", employer_id=family.employer_id, year=2025),
        400,
        "document_not_available",
    )


async def test_a_state_without_rules_for_a_year_does_not_keep_the_estimate_of_others_from_being_told(
    account: Account,
) -> None:
    home = {"first_name": "Ana", "last_name": "Lopez", "state": "IL", "email": "ana@example.com"}
    employer = data(await account.live.post("/employers", home | {"threshold_basis": "as_paid"}), 201)
    family = await add_family(account.live, employer["id"], addresses=False)
    started = {"start_date": "2025-01-06"}
    await patched(account.live, f"/employees/{family.employee_id}", work_state="IL", **started)
    await family.pay(
        pay_period_start="2025-11-03",
        pay_period_end="2025-11-09",
        pay_date="2025-11-14",
        notes="catch-up",
    )
    # Maryland has no rules for 2025.
    other = ROSA | {"employer_id": employer["id"], "first_name": "Eva", "work_state": "MD"}
    data(await account.live.post("/employees", other | started), 201)
    told = data(await account.live.get("/reports/estimated-tax", employer_id=employer["id"], year=2025))
    assert (told["from_ledger"], told["expected"]) == (told["total"], 0)
    assert told["total"] > 0


async def test_of_two_requests_at_once_one_issues(family: Family) -> None:
    payroll = await family.pay()
    answers = await asyncio.gather(*(family.ask("paystub", payroll_id=payroll) for _ in range(4)))
    assert len({answer.content for answer in answers}) == 1
    assert [each["version"] for each in await family.papers()] == [1]


async def test_a_rotation_seals_papers_anew(family: Family, owner_database: Database, ring: KeyRing) -> None:
    stub = await family.ask("paystub", payroll_id=await family.pay())
    newest = EncryptionKey.generate()
    rotated = KeyRing((newest, *(ring.find(key_id) for key_id in ring.ids)))
    result = await rotate(lambda: owner_database.transaction(None), rotated, lambda done, total: None)
    assert (result.unreadable, result.remaining) == ((), {})
    async with owner_database.transaction(None) as session:
        statement = select(IssuedDocument).options(undefer(IssuedDocument.sealed_content))
        document = (await session.scalars(statement)).one()
        assert document.key_id == newest.id
        assert open_document(rotated, document).content == stub.content


async def test_each_number_that_is_shown_was_read_for_it(
    family: Family, owner_connection: psycopg.Connection
) -> None:
    """Each number that a form shows was read out of the vault under its purpose; a stub reads none."""
    payroll = await family.pay()
    await family.ask("paystub", payroll_id=payroll)
    read = (
        "SELECT details->>'purpose', details->>'kind' FROM audit_log WHERE action = 'vault.read' ORDER BY id"
    )
    assert owner_connection.execute(read).fetchall() == []
    await family.ask("w2", employee_id=family.employee_id, tax_year=2026)
    assert set(owner_connection.execute(read).fetchall()) == {("document.w2", "ein"), ("document.w2", "ssn")}
    issued = owner_connection.execute("SELECT FROM audit_log WHERE action = 'document.issue'").rowcount
    assert issued == 2
