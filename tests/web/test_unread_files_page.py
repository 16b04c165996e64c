"""The operator sees which files of the bank aren't read and sets them aside; nobody else sees the page or does it."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.people.operators import make_operator
from tests.people.visitors import at_the_command_line
from tests.web.test_pages_by_role import _browser, people, people_context
from tests.web.test_payroll_money import app, town
from tests.web.test_payroll_pages import maria, world

__all__ = ["app", "maria", "people", "people_context", "town", "world"]

PAGE = "/operator/files"
UNREAD = (
    '[{"kind": "damaged", "line": 4, "detail": "line 4: has 93 characters instead of 94"}, '
    '{"kind": "amount_differs", "code": "R01", "trace": "121042880000001", "stated": 100, "sent": 90610}]'
)


@pytest.mark.usefixtures("world", "maria")
async def test_a_file_that_is_not_read_is_listed_until_it_is_set_aside(
    app: FastAPI, owner_database: Database, owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    file_id = uuid4()
    owner_connection.execute(
        "INSERT INTO bank_intake (id, name, sha256, size, status, returns, changes, problem, unread, received_at) "
        "VALUES (%s, '<b>RETURNS.ACH', sha256('x'), 1, 'refused', 0, 0, 'line 4', %s, %s)",
        (file_id, UNREAD, clock.now()),
    )
    async with owner_database.transaction(None) as session:
        await make_operator(session, at_the_command_line(owner_database, clock), "viewer@example.com")
    operator = await _browser(app, "viewer", clock)
    owner = await _browser(app, "owner", clock)
    home = (await operator.look("/operator")).text
    assert "The bank&#39;s file &lt;b&gt;RETURNS.ACH isn&#39;t read" in home
    assert f'href="{PAGE}#file-{file_id}"' in home
    page = (await operator.look(PAGE)).text
    assert "The file is damaged or is no return file." in page
    assert "Return R01 of payment 121042880000001 says $1.00; we sent $906.10." in page
    assert "It holds no payment now." in page
    assert (await owner.look(PAGE)).status_code == 404
    there = f"{PAGE}/{file_id}"
    assert (await owner.send(there, page="/settings/profile", reason="mine")).status_code == 404
    for reason in ("", "  ", "x" * 201):
        answer = await operator.send(there, page=PAGE, reason=reason)
        assert answer.status_code == 400
        assert "Enter what the bank says of the file" in answer.text
    assert (await operator.send(f"{PAGE}/{uuid4()}", page=PAGE, reason="It is none.")).status_code == 400
    assert "RETURNS.ACH" in (await operator.look(PAGE)).text
    assert (await operator.send(there, page=PAGE, reason="It is the bank's holiday list.")).status_code == 303
    assert "Every file of the bank is read" in (await operator.look(PAGE)).text
    [ended] = owner_connection.execute(
        "SELECT end_code, end_reason, ended_at, ended_by IS NOT NULL FROM bank_intake"
    ).fetchall()
    assert ended == ("set_aside", "It is the bank's holiday list.", clock.now(), True)
    assert (await operator.send(there, page=PAGE, reason="again")).status_code == 400


def test_every_reason_has_words_in_both_languages() -> None:
    from typing import get_args

    from hearthpay.banking.unread_files import Unread, UnreadCode, UnreadFile, describe
    from hearthpay.languages.catalogue import say_in
    from hearthpay.web.settings.unread_files_page import reasons_of
    from tests.web.test_operator_matters import NOW

    kinds = get_args(UnreadCode)
    unread = tuple(Unread(kind, 4, "R69", "121042880000001", 1, 2, "why") for kind in kinds)
    file = UnreadFile(uuid4(), "a.ach", NOW, None, unread, True, 1, 1, 1)
    english, spanish = (reasons_of(say_in(each), file) for each in ("en", "es"))
    assert len({*english, *spanish}) == 2 * len(kinds)
    assert all(describe(each) for each in unread)
    assert not any("{" in each for each in (*english, *spanish))
