"""No name, subject or address brings a header, a second body or an address of its own into a mail."""

import base64
import email
import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.mail.mailer import Delivery, Mail, Mailer, MailSettingsError
from hearthpay.mail.wording import LONGEST_NAME, header_problem, holds_address, name_in_mail
from tests.cases import every_case
from tests.mail.servers import Postbox, mail_server

NAME = UUID("019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e")
AT = datetime(2026, 11, 20, 15, tzinfo=UTC)
INJECTED = "Smith\r\nBcc: victim@example.net\r\nContent-Type: text/html\r\n\r\n<h1>Pay here</h1>"


def encoded(text: str, way: str = "b") -> str:
    """The text as an encoded word, which Python's header classes decode before they look for line breaks."""
    content = (
        base64.b64encode(text.encode()).decode()
        if way == "b"
        else "".join(f"={byte:02X}" for byte in text.encode())
    )
    return f"=?utf-8?{way}?{content}?="


@pytest.mark.parametrize(
    "mail",
    [
        Mail("rosa@example.com", f"{encoded(INJECTED)} needs your number", "text", "<p>html</p>"),
        Mail("rosa@example.com", f"{encoded(INJECTED, 'q')} needs your number", "text", "<p>html</p>"),
        Mail("rosa@example.com", f"Ann {encoded(INJECTED)}Smith", "text", "<p>html</p>"),
        Mail("rosa@example.com", INJECTED, "text", "<p>html</p>"),
        Mail("rosa@example.com", "Smith\u2028Bcc: victim@example.net", "text", "<p>html</p>"),
        Mail("rosa@example.com", "Smith\x85Bcc: victim@example.net", "text", "<p>html</p>"),
        Mail("rosa@example.com", "Smith \u202emoc.elpmaxe", "text", "<p>html</p>"),
        Mail(f"{encoded('a@example.net, b')}@example.com", "Pay", "text", "<p>html</p>"),
        Mail("rosa@example.com\r\nBcc: victim@example.net", "Pay", "text", "<p>html</p>"),
    ],
)
async def test_a_header_that_is_not_plain_is_not_sent(mail: Mail) -> None:
    """The first of these left with a Bcc and an HTML body of its own on Python 3.11.7 and 3.12.1."""
    postbox = Postbox()
    async with mail_server(postbox) as url:
        delivery = await Mailer(url, "payroll@example.com").send(mail, NAME, AT)
    assert delivery == Delivery("unsafe_content", for_good=True)
    assert postbox.envelopes == []


def test_a_sender_is_looked_at_as_well() -> None:
    with pytest.raises(MailSettingsError):
        Mailer("smtp://mail.example.com", f"{encoded('Pay')} <a@example.com>")


WRITTEN = [
    ("Ana María", "Ana María"),
    ("O’Brien-Smith", "O’Brien-Smith"),
    ("St. Clair, Jr.", "St. Clair, Jr."),
    ("李 小龍", "李 小龍"),
    ("Ng & Co (home)", "Ng & Co (home)"),
    ("Smith 3rd", "Smith 3rd"),
    ("win at http://evil.example/x?y=1 now", "win at evil. example x y 1 now"),
    ("www.evil.example", "evil. example"),
    ("evil.com", "evil. com"),
    ("evil．com", "evil. com"),
    ("evil。com", "evil com"),
    ("ev\u200bil.c\u200bom", "evil. com"),
    ("192.0.2.7", ""),
    ("1.2.3", "1. 2. 3"),
    ("a@evil.com", "a evil. com"),
    ("mailto:a@evil.com", "a evil. com"),
    ("call 1-800-555-0100 today", "call today"),
    ("call (800) 555.0100", "call ("),
    ("<b>Smith</b>", "b Smith b"),
    (encoded("Smith"), "utf-8 b U21pdGg"),
    ("Smith\r\nBcc: x", "Smith Bcc x"),
    ("Smith\u2028\u202eX", "Smith X"),
    ("💰 you won", "you won"),
    ("x" * 500, "x" * LONGEST_NAME),
    ("\u200b", ""),
]


def test_what_a_mail_makes_of_a_name() -> None:
    with every_case() as case:
        for written, told in WRITTEN:
            with case(written, told):
                assert name_in_mail(written) == told


LINK = re.compile(r"://|www\.|@|\w\.\w|[<>\r\n\x85\u2028\u2029]|=\?", re.IGNORECASE)


@given(
    st.lists(
        st.one_of(st.text(), st.sampled_from(["http://", ".", "com", "@", "=?", "?=", "。"])), max_size=8
    )
)
def test_no_name_whatever_leads_anywhere(parts: list[str]) -> None:
    name = name_in_mail("".join(parts))
    assert LINK.search(name) is None
    assert header_problem(name) is None
    assert len(name) <= LONGEST_NAME


ADDRESSES = [
    "http://evil.example",
    "HTTPS evil",
    "www evil",
    "www.evil",
    "evil.com",
    "pay.evil.example now",
    "evil．com",
    "evil。com",
    "e\u200bvil\u200b.\u200bcom",
    "a@b",
    "//evil",
    "192.0.2.7",
]


def test_an_address_is_seen() -> None:
    with every_case() as case:
        for text in ADDRESSES:
            with case(text):
                assert holds_address(text)


@pytest.mark.parametrize(
    "text", ["J. R. Smith", "J.R.", "St. Clair", "O'Brien", "Smith, Jr.", "Gal·la", "Smith 2nd"]
)
def test_a_name_is_no_address(text: str) -> None:
    assert not holds_address(text)


async def test_the_same_mail_again_is_known_by_its_message_id() -> None:
    postbox = Postbox()
    async with mail_server(postbox) as url:
        for _ in range(2):
            await Mailer(url, "payroll@example.com").send(
                Mail("a@example.com", "Pay", "t", "<p>h</p>"), NAME, AT
            )
    first, second = (email.message_from_bytes(bytes(each.content)) for each in postbox.envelopes)
    assert first["Message-ID"] == second["Message-ID"] == f"<{NAME}@example.com>"
    assert first["Date"] == second["Date"]
