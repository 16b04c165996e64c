"""Numbers typed into the portal, and the links to it, turn up nowhere: not in answers, logs, audit rows or tables."""

import logging
from typing import Any

import httpx
import psycopg
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from hearthpay.security.key_ring import KeyRing
from tests.http.api import Account, data
from tests.mail.servers import Postbox
from tests.worlds.inviting import invite

SSN = "536-22-8145"
ITIN = "912-73-4486"
ROUTING = "322271627"
ACCOUNT = "90817263544536271"
OTHERS = (
    "httpx",
    "mail.log",
)  # the caller and the mail server, who know the link, run in this process as well
PLANTED = (SSN, SSN.replace("-", ""), ITIN, ITIN.replace("-", ""), ROUTING, ACCOUNT)


@pytest.mark.parametrize("keys", ["good", "none"])
async def test_planted_numbers_turn_up_nowhere(
    app: FastAPI,
    account: Account,
    rosa: dict[str, Any],
    banked: dict[str, Any],
    client: httpx.AsyncClient,
    owner_connection: psycopg.Connection,
    postbox: Postbox,
    ring: KeyRing,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    keys: str,
) -> None:
    answers: list[httpx.Response] = []
    tokens: list[str] = []
    bank = {
        "routing_number": ROUTING,
        "account_number": ACCOUNT,
        "account_number_again": ACCOUNT,
        "account_type": "checking",
    }
    whole = ring._keys
    with caplog.at_level(logging.DEBUG), capture_logs() as logged:
        for kind, forms in (
            (
                "bank_account",
                (
                    bank | {"account_number_again": SSN},
                    bank | {"account_type": ACCOUNT},
                    bank | {ACCOUNT: ROUTING},
                    bank,
                ),
            ),
            ("tax_info", ({"tax_number": f"{SSN}{SSN}"}, {"tax_number": SSN, SSN: SSN}, {"tax_number": SSN})),
            ("tax_info", ({"tax_number": ITIN}, {"tax_number": ITIN})),
        ):
            url = data(await invite(account.live, rosa, type=kind))["portal_url"]
            tokens.append(url.rsplit("/", 1)[1])
            if keys == "none":  # every attempt to encrypt fails in the middle of the request
                monkeypatch.setattr(ring, "_keys", ())
            for form in forms:
                answers.append(await client.post(url, data=form))
                answers.append(await client.post(url, params=form, data=form))
                answers.append(await client.get(f"{url}/done", params=form))
            if kind == "tax_info":
                home = {
                    "address_line1": SSN,
                    "address_city": ITIN,
                    "address_state": SSN,
                    "address_zip": ACCOUNT,
                }
                signed = {
                    "us_signed_name": SSN,
                    "us_signed_on": SSN,
                    "us_filing_status": ITIN,
                    "ca_filing_status": SSN,
                }
                for part, typed in (("address", home), ("certificates", signed), ("new-link", home)):
                    answers.append(await client.post(f"{url}/{part}", params=typed, data=typed))
            answers += [await client.get(url), await client.post(url, json=forms[-1])]
            monkeypatch.setattr(ring, "_keys", whole)
    statuses = {answer.status_code for answer in answers}
    assert statuses == ({200, 303, 400, 404, 410} if keys == "good" else {200, 400, 404, 500})

    tables = [
        name
        for (name,) in owner_connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
    ]
    rows = [
        line
        for table in tables
        for (line,) in owner_connection.execute(f"SELECT t::text FROM {table} t").fetchall()
    ]
    stored = owner_connection.execute("SELECT count(*) FROM vault WHERE owner_kind = 'employee'").fetchone()
    assert stored == ((4,) if keys == "good" else (0,))
    await app.state.people_context.postman.settle()
    shown = capfd.readouterr()
    mails = [bytes(envelope.content).decode() for envelope in postbox.envelopes]
    invited = [mail for mail in mails if "/portal/" in mail]
    # She and the household are told of each entry, the household of each request for a new link.
    assert (len(invited), len(mails)) == (3, 11 if keys == "good" else 3)
    records = [record for record in caplog.records if record.name not in OTHERS]
    logs = "\n".join(
        [
            repr(logged),
            *(record.getMessage() for record in records),
            *map(repr, records),
            shown.out,
            shown.err,
        ]
    )
    assert "/portal/{token}" in logs
    everything = "\n".join([*rows, *mails, logs, *(answer.text + str(answer.headers) for answer in answers)])
    for secret in PLANTED:
        assert secret not in everything
    for token in tokens:
        assert token not in logs
        assert all(token not in row for row in rows)
