"""What ends a grant besides a person's button stands on record, and of a theft its person is told."""

from dataclasses import replace
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.people import members, sign_up
from hearthpay.people.context import PeopleContext
from hearthpay.people.sessions import SignedIn
from hearthpay.people.sign_up import NewPerson
from hearthpay.security.key_ring import KeyRing
from tests.oauth.dance import Dance
from tests.people.visitors import MARIA, PASSWORD, VISIT, mails
from tests.web.people_browser import Browser

ANA = "ana@example.com"
_SUBJECTS = {
    "en": "We disconnected an app from your account",
    "es": "Desconectamos una aplicación de su cuenta",
}


def ends(connection: psycopg.Connection) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT a.actor_kind, a.actor_id = g.id, a.employer_id = g.employer_id, a.sandbox = g.sandbox, "
        "a.details->>'reason', g.ended_because FROM audit_log a JOIN agent_grants g ON g.id = a.subject_id "
        "WHERE a.action = 'agent.end' ORDER BY a.id"
    ).fetchall()


def warnings(connection: psycopg.Connection, ring: KeyRing) -> list[dict[str, str]]:
    return [each for each in mails(connection, ring) if each["subject"] in _SUBJECTS.values()]


async def test_what_a_program_gives_back_is_on_record_once(
    dance: Dance, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    tokens = await dance.tokens()
    for token in (tokens["refresh_token"], tokens["access_token"], "hprt_unknown"):
        told = {"client_id": dance.client_id, "token": token}
        assert (await dance.program.post("/oauth/revoke", data=told)).status_code == 200
    assert ends(owner_connection) == [("mcp", True, True, True, "revoked", "revoked")]
    assert warnings(owner_connection, ring) == []
    assert "A program&#39;s access ended" in (await dance.browser.look("/settings/audit")).text


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("kind", ["code", "refresh"])
async def test_of_a_theft_the_person_is_told_once(
    dance: Dance, kind: str, language: str, owner_connection: psycopg.Connection, ring: KeyRing
) -> None:
    owner_connection.execute("UPDATE people SET language = %s", (language,))
    code = await dance.code()
    tokens = (await dance.exchange(code)).json()
    if kind == "refresh":
        await dance.refresh(tokens["refresh_token"])
    for _ in range(2):
        again = await dance.exchange(code) if kind == "code" else await dance.refresh(tokens["refresh_token"])
        assert again.json()["error"] == "invalid_grant"
    assert ends(owner_connection) == [("mcp", True, True, True, f"{kind}_reused", f"{kind}_reused")]
    [mail] = warnings(owner_connection, ring)
    assert mail["to"] == MARIA
    assert (
        mail["subject"]
        == {
            "en": "We disconnected an app from your account",
            "es": "Desconectamos una aplicación de su cuenta",
        }[language]
    )
    assert "Helper" in mail["text"]
    assert "<b>9" not in mail["html"], "a program chooses its own name"


async def test_it_ends_also_where_nobody_can_be_written_to(
    app: FastAPI, dance: Dance, owner_connection: psycopg.Connection
) -> None:
    app.state.people_context = replace(app.state.people_context, ring=None)
    code = await dance.code()
    tokens = (await dance.exchange(code)).json()
    assert (await dance.exchange(code)).status_code == 400
    assert (await dance.call(tokens["access_token"])).status_code == 401
    assert len(ends(owner_connection)) == 1


@pytest.mark.parametrize("way", ["removed", "leaves", "unnoticed"])
async def test_who_goes_takes_along_what_he_gave_and_brings_none_of_it_back(
    app: FastAPI,
    dance: Dance,
    people_context: PeopleContext,
    maria: SignedIn,
    owner_connection: psycopg.Connection,
    way: str,
) -> None:
    async def invited() -> str:
        actor = maria.actor("r", of_both_modes=True)
        async with people_context.database.transaction(actor.tenant) as session:
            return (
                await members.invite_member(session, actor, people_context.clock, ANA, "admin")
            ).token.text

    await sign_up.join_as_new_person(people_context, await invited(), NewPerson("Ana", PASSWORD, "en"), VISIT)
    anas = Browser.of(app, "Ana")
    await anas.sign_in(ANA, PASSWORD)
    marias = await dance.tokens()
    dance.browser, hers = anas, dance.browser
    tokens = [
        await dance.tokens(household=each)
        for each in (f"live:{dance.household_id}", f"test:{dance.sandbox_id}")
    ]
    if way == "leaves":
        gone = (await anas.send("/settings/members/leave", page="/settings/members/leave")).status_code
    elif way == "removed":
        [(membership,)] = owner_connection.execute(
            "SELECT m.id FROM memberships m JOIN people p ON p.id = m.person_id WHERE p.email = %s", (ANA,)
        ).fetchall()
        path = f"/settings/members/{membership}/remove"
        gone = (await hers.send(path, page=path)).status_code
    else:  # by a process of the version before, or while she was letting the program in
        owner_connection.execute(
            "UPDATE memberships SET ended_at = now() WHERE person_id = (SELECT id FROM people WHERE email = %s)",
            (ANA,),
        )
        gone = 303
    assert gone == 303
    ended = [("user", False, True, True, "left", "left")] * 2
    assert ends(owner_connection) == ([] if way == "unnoticed" else ended)
    back = await anas.send(f"/join/{await invited()}", page="/settings/profile")
    assert back.status_code == 303, back.text
    assert ends(owner_connection) == ended
    assert (await anas.look("/settings/agents")).status_code == 200
    for each in tokens:
        assert (await dance.call(each["access_token"])).status_code == 401
        assert (await dance.refresh(each["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await dance.call(marias["access_token"])).status_code == 200, "another's stays"
    assert "is no longer in the organization" in (await hers.look("/settings/agents")).text
