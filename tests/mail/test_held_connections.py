"""The watch over connections sees what it is there for; it is on in every test of the suite."""

import asyncio

import pytest

from hearthpay.database.session import Database
from hearthpay.mail.mailer import Mail, Mailer
from tests.held_connections import ConnectionHeldError
from tests.mail.servers import Postbox, mail_server
from tests.mail.test_injection import AT, NAME

MAIL = Mail("rosa@example.com", "Pay", "text", "<p>html</p>")


async def test_a_mail_within_a_transaction_is_seen(database: Database) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        mailer = Mailer(url, "payroll@example.com")
        async with database.transaction(None):
            with pytest.raises(ConnectionHeldError):
                await mailer.send(MAIL, NAME, AT)
        assert (await mailer.send(MAIL, NAME, AT)).taken
    assert len(postbox.envelopes) == 1


async def test_so_is_any_connection_even_of_a_task_begun_there(database: Database) -> None:
    async with mail_server(Postbox()) as url:
        port = int(url.rpartition(":")[2])
        async with database.transaction(None):
            begun = asyncio.create_task(asyncio.open_connection("127.0.0.1", port))
            with pytest.raises(ConnectionHeldError):
                await begun
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        await writer.wait_closed()
