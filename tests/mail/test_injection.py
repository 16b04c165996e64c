"""No name, subject or address brings a header, a second body or an address of its own into a mail."""

import base64

from hearthpay.clock import FixedClock
from hearthpay.mail.mailer import Mail, Mailer
from tests.mail.servers import Postbox, mail_server

INJECTED = "Smith\r\nBcc: victim@example.net\r\nContent-Type: text/html\r\n\r\n<h1>Pay here</h1>"


def encoded(text: str) -> str:
    return f"=?utf-8?b?{base64.b64encode(text.encode()).decode()}?="


async def test_probe(clock: FixedClock) -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        await Mailer(url, "a@example.com", clock).send(
            Mail("rosa@example.com", f"{encoded(INJECTED)} Smith needs", "text", "<p>html</p>")
        )
    for e in postbox.envelopes:
        print(bytes(e.content).decode())
    assert not postbox.envelopes or b"\r\nBcc:" not in bytes(postbox.envelopes[0].content)
