"""Signing the work agreement: the household on its pages, the employee on hers, both under one version as issued."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database, Tenant
from hearthpay.doctor.document_checks import papers_signed
from hearthpay.documents.employment import prepare_employment_paper
from hearthpay.documents.issuing import issue
from hearthpay.documents.service import Prepared
from hearthpay.documents.signatures import papers_to_sign, sign_paper
from hearthpay.security.key_ring import KeyRing
from tests.http.api import Account
from tests.web.test_my_pages import (
    Employed,
    account,
    employ,
    household,
    made_in_turn,
    people_context,
    rosa,
    rosas,
)
from tests.worlds.households import add_employee

__all__ = ["account", "employ", "household", "made_in_turn", "people_context", "rosa", "rosas"]


class House:
    """The household of an employee, acted for by its operator."""

    def __init__(
        self, database: Database, ring: KeyRing, clock: FixedClock, household: dict[str, Any]
    ) -> None:
        self.database, self.ring, self.clock = database, ring, clock
        self.employer_id = UUID(household["id"])
        self.organization_id: UUID | None = None

    async def issue(self, employee_id: str) -> UUID:
        """Issue the work agreement in English; return the version's id."""
        actor, tenant = await self.actor()

        async def prepare(session: Any) -> Prepared:
            return await prepare_employment_paper(
                session, actor, self.clock, UUID(employee_id), "agreement", "en"
            )

        kept = await issue(partial(self.database.transaction, tenant), self.ring, self.clock, actor, prepare)
        return kept.document.id

    async def actor(self) -> tuple[Actor, Tenant]:
        assert self.organization_id is not None
        actor = Actor.operator(self.organization_id, sandbox=False, request_id="req_paper")
        return actor, actor.tenant

    async def sign(self, employee_id: str, document_id: UUID, name: str = "Maria Lopez") -> None:
        actor, tenant = await self.actor()
        async with self.database.transaction(tenant) as session:
            await sign_paper(
                session,
                actor,
                self.clock,
                self.employer_id,
                UUID(employee_id),
                document_id,
                name,
                self.person,
            )

    person: UUID


@pytest.fixture
def house(
    database: Database,
    ring: KeyRing,
    clock: FixedClock,
    household: dict[str, Any],
    account: Account,
    rosas: Employed,
    owner_connection: psycopg.Connection,
) -> House:
    house = House(database, ring, clock, household)
    house.organization_id = account.organization_id
    house.person = owner_connection.execute("SELECT id FROM people ORDER BY id LIMIT 1").fetchall()[0][0]
    return house


def _wrong(owner_connection: psycopg.Connection) -> list[Any]:
    return owner_connection.execute(papers_signed()).fetchall()  # type: ignore[arg-type]


async def test_both_sign_the_version_that_was_issued(
    house: House, rosas: Employed, owner_connection: psycopg.Connection
) -> None:
    empty = await rosas.browser.look(f"{rosas.here}/agreements")
    assert "None yet" in empty.text
    document = await house.issue(rosas.employee["id"])
    page = await rosas.browser.look(f"{rosas.here}/agreements")
    assert "Household: not signed yet." in page.text
    paper = await rosas.browser.look(f"{rosas.here}/agreements/{document}")
    assert paper.headers["content-type"] == "application/pdf"
    assert paper.content.startswith(b"%PDF")
    sign = f"{rosas.here}/agreements/{document}/sign"
    here = f"{rosas.here}/agreements"
    for name in ("", "   ", "x" * 101, "Ro\x00sa"):
        refused = await rosas.browser.send(sign, page=here, signed_name=name)
        assert refused.status_code == 400, name
    signed = await rosas.browser.send(sign, page=here, signed_name="  Rosa   Diaz ")
    assert signed.status_code == 303, signed.text
    await rosas.browser.send(sign, page=here, signed_name="Somebody Else")
    await house.sign(rosas.employee["id"], document)
    page = await rosas.browser.look(here)
    assert "You signed it as Rosa Diaz" in page.text
    assert "Household: signed by Maria Lopez" in page.text
    rows = owner_connection.execute(
        "SELECT party, signed_name FROM paper_signatures ORDER BY signed_at, id"
    ).fetchall()
    assert rows == [("employee", "Rosa Diaz"), ("household", "Maria Lopez")]
    assert _wrong(owner_connection) == []
    acts = owner_connection.execute(
        "SELECT details ->> 'party' FROM audit_log WHERE action = 'document.sign'"
    ).fetchall()
    assert sorted(acts) == [("employee",), ("household",)]


async def test_signing_twice_at_once_is_one_signature_of_each_party(
    house: House, rosas: Employed, owner_connection: psycopg.Connection
) -> None:
    document = await house.issue(rosas.employee["id"])
    here = f"{rosas.here}/agreements"
    await rosas.browser.look(here)
    sign = f"{here}/{document}/sign"
    signed = await asyncio.gather(
        *(rosas.browser.send(sign, page=here, signed_name="Rosa Diaz") for _ in range(10)),
        *(house.sign(rosas.employee["id"], document) for _ in range(5)),
    )
    assert {each.status_code for each in signed if each is not None} == {303}
    rows = owner_connection.execute("SELECT party FROM paper_signatures ORDER BY party").fetchall()
    assert rows == [("employee",), ("household",)]
    acts = owner_connection.execute(
        "SELECT count(*) FROM audit_log WHERE action = 'document.sign'"
    ).fetchone()
    assert acts == (2,)


async def test_a_newer_version_is_signed_anew(
    house: House, rosas: Employed, account: Account, owner_connection: psycopg.Connection
) -> None:
    first = await house.issue(rosas.employee["id"])
    here = f"{rosas.here}/agreements"
    await rosas.browser.send(f"{here}/{first}/sign", page=here, signed_name="Rosa Diaz")
    owner_connection.execute("UPDATE employees SET usual_weekly_hours = 30")
    second = await house.issue(rosas.employee["id"])
    assert second != first
    page = await rosas.browser.look(here)
    assert "version 2" in page.text
    assert "You signed it as" not in page.text
    # The household opened its page before: the version that it would sign is no longer the one in force.
    with pytest.raises(Refusal) as refused:
        await house.sign(rosas.employee["id"], first)
    assert refused.value.code == "invalid_state"
    assert _wrong(owner_connection) == []


async def test_nobody_else_reads_or_signs_it(
    house: House, rosas: Employed, account: Account, household: dict[str, Any], employ: Any
) -> None:
    document = await house.issue(rosas.employee["id"])
    colleague = await add_employee(account.live, household["id"], first_name="Cleo", last_name="Colleague")
    cleo = await employ(account, {"id": colleague}, "cleo@example.com", "Cleo")
    here = f"{cleo.here}/agreements"
    assert "None yet" in (await cleo.browser.look(here)).text
    assert (await cleo.browser.look(f"{here}/{document}")).status_code == 404
    assert (
        await cleo.browser.send(f"{here}/{document}/sign", page=here, signed_name="Cleo")
    ).status_code == 404
    assert (await rosas.browser.look(f"{rosas.here}/agreements/{uuid4()}")).status_code == 404
    actor, tenant = await house.actor()
    async with house.database.transaction(tenant) as session:
        (paper,) = await papers_to_sign(session, actor, house.employer_id, UUID(rosas.employee["id"]))
    assert paper.signatures == ()
