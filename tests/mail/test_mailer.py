"""Sending mail through real servers: taken, refused, unanswered, encrypted, and badly configured."""

import asyncio
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from hearthpay.mail.mailer import Delivery, Mail, Mailer, MailSettingsError, load_mailer
from tests.conditions import PATIENCE
from tests.mail.certificate import server_context, write_certificate
from tests.mail.servers import Postbox, mail_server, silent_server

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")

SENDER = "Hearthpay <payroll@example.com>"
MAIL = Mail("rosa@example.com", "Grüße", "Hello — as text\n", "<p>Hello — as HTML</p>\n")
NAME = UUID("019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e")
WRITTEN_AT = datetime(2026, 11, 20, 15, tzinfo=UTC)


async def send(mailer: Mailer, mail: Mail = MAIL) -> Delivery:
    return await mailer.send(mail, NAME, WRITTEN_AT)


@pytest.fixture
def postbox() -> Postbox:
    return Postbox()


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate that this machine trusts, for the length of the test."""
    certificate = write_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return certificate


def with_login(url: str, login: str) -> str:
    return url.replace("://", f"://{login}@")


async def test_a_mail_arrives_whole(postbox: Postbox) -> None:
    async with mail_server(postbox) as url:
        assert (await send(Mailer(url, SENDER))).taken
    (mail,) = postbox.mails
    assert (mail["To"], mail["From"], mail["Subject"]) == ("rosa@example.com", SENDER, "Grüße")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == f"<{NAME}@example.com>"
    assert mail["Date"] == "Fri, 20 Nov 2026 15:00:00 +0000"
    parts = {part.get_content_type(): part.get_content() for part in mail.iter_parts()}
    assert parts == {"text/plain": "Hello — as text\r\n", "text/html": "<p>Hello — as HTML</p>\r\n"}
    assert postbox.envelopes[0].mail_from == "payroll@example.com"
    assert postbox.encrypted == [False]


@pytest.mark.parametrize("address", ["rosa@exämple.com", "rosä@example.com"])
async def test_an_address_may_have_any_letters(postbox: Postbox, address: str) -> None:
    async with mail_server(postbox) as url:
        assert (await send(Mailer(url, SENDER), Mail(address, "Pay", "Text", "<p>HTML</p>"))).taken
    assert len(postbox.envelopes) == 1


@pytest.mark.parametrize(("password", "sent"), [("pass:w%40rd", True), ("wrong", False)])
async def test_it_logs_in(postbox: Postbox, password: str, sent: bool) -> None:
    async with mail_server(postbox, login=("hearth", "pass:w@rd")) as url:
        mailer = Mailer(with_login(url, f"hearth:{password}"), SENDER)
        with capture_logs() as logged:
            assert (await send(mailer)).taken is sent
    assert len(postbox.envelopes) == sent
    assert [entry["cause"] for entry in logged] == ([] if sent else ["SMTPAuthenticationError"])
    for secret in ("w@rd", "wrong", "rosa@example.com"):
        assert secret not in repr(logged) + repr(mailer)


async def test_a_refusal_is_reported_without_the_address(postbox: Postbox) -> None:
    postbox.refusal = "550 no such mailbox: rosa@example.com"
    async with mail_server(postbox) as url:
        with capture_logs() as logged:
            assert not (await send(Mailer(url, SENDER))).taken
    assert [entry["event"] for entry in logged] == ["email not sent"]
    assert "rosa@example.com" not in repr(logged)


async def test_a_silent_server_gets_as_long_as_we_are_patient() -> None:
    async with silent_server() as url:
        began = time.monotonic()
        delivery = await send(Mailer(url, SENDER, patience=0.3))  # the server would never answer
    assert delivery.problem == "mail_server_too_slow"
    assert time.monotonic() - began > 0.25


async def test_a_server_that_falls_silent_halfway_is_not_waited_for() -> None:
    class Sleepy(Postbox):
        async def handle_DATA(self, *_: object) -> str:
            await asyncio.Event().wait()
            return "250 OK"

    async with mail_server(Sleepy()) as url:
        began = time.monotonic()
        assert not (await send(Mailer(url, SENDER, patience=0.3))).taken
        assert time.monotonic() - began > 0.25


async def test_a_server_that_hangs_binds_five_mails_at_most() -> None:
    async with silent_server() as url:
        mailer = Mailer(url, SENDER, patience=10 * PATIENCE)
        sending = 0

        async def try_to_send() -> None:
            nonlocal sending
            async with mailer.turn(within=True) as mine:
                if mine:
                    sending += 1
                    await send(mailer)

        tries = [asyncio.create_task(try_to_send()) for _ in range(8)]
        done, bound = await asyncio.wait(tries, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        while len(done) < 3:
            more, bound = await asyncio.wait(bound, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            assert more, "nobody else gave up waiting for a turn"
            done |= more
        assert (len(done), len(bound), sending) == (3, 5, 5)  # three gave up while five were still bound
        for each in bound:
            each.cancel()
        await asyncio.gather(*bound, return_exceptions=True)


async def test_many_mails_at_once_all_arrive(postbox: Postbox) -> None:
    async with mail_server(postbox) as url:
        mailer = Mailer(url, SENDER)
        deliveries = await asyncio.gather(*(send(mailer) for _ in range(20)))
        assert all(delivery.taken for delivery in deliveries)
    assert len(postbox.envelopes) == 20


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert not (await send(Mailer(f"smtp://127.0.0.1:{port}", SENDER))).taken


async def test_starttls_is_taken_where_it_is_offered(postbox: Postbox, trusted: Path) -> None:
    async with mail_server(postbox, starttls=server_context(trusted)) as url:
        assert (await send(Mailer(url, SENDER))).taken
    assert postbox.encrypted == [True]


async def test_smtps_is_encrypted_from_the_first_byte(postbox: Postbox, trusted: Path) -> None:
    async with mail_server(postbox, tls=server_context(trusted)) as url:
        assert url.startswith("smtps://")
        assert (await send(Mailer(url, SENDER))).taken
    assert postbox.encrypted == [True]


async def test_a_server_nobody_vouches_for_gets_no_mail(postbox: Postbox, tmp_path: Path) -> None:
    context = server_context(write_certificate(tmp_path))
    for offered in ({"starttls": context}, {"tls": context}):
        async with mail_server(postbox, **offered) as url:
            assert not (await send(Mailer(url, SENDER))).taken
    assert postbox.envelopes == []


async def test_a_password_crosses_no_network_in_the_clear(postbox: Postbox) -> None:
    async with mail_server(postbox, login=("hearth", "secret")) as url:
        # This address leads here as well, but it is not one that cannot leave the machine.
        elsewhere = with_login(url.replace("127.0.0.1", "0.0.0.0"), "hearth:secret")
        assert not (await send(Mailer(elsewhere, SENDER))).taken
        assert postbox.logins == []
        assert (await send(Mailer(with_login(url, "hearth:secret"), SENDER))).taken
        assert postbox.logins == ["hearth"]


def test_without_a_server_there_is_no_mailer() -> None:
    assert load_mailer({}) is None
    assert load_mailer({"SMTP_URL": " ", "MAIL_FROM": SENDER}) is None


@pytest.mark.parametrize(
    ("settings", "variable"),
    [
        ({"SMTP_URL": "smtp://mail.example.com"}, "MAIL_FROM"),
        ({"SMTP_URL": "smtp://mail.example.com", "MAIL_FROM": "payroll"}, "MAIL_FROM"),
        (
            {"SMTP_URL": "smtp://mail.example.com", "MAIL_FROM": "a@example.com\r\nBcc: b@example.com"},
            "MAIL_FROM",
        ),
        ({"SMTP_URL": "mail.example.com", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "http://hearth:secret@mail.example.com", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://hearth:secret@", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://hearth:secret@mail.example.com:0", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://hearth:secret@mail.example.com:99999", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://hearth:secret@mail.example.com/?x=1", "MAIL_FROM": SENDER}, "SMTP_URL"),
        ({"SMTP_URL": "smtp://hearth:secret@[::1", "MAIL_FROM": SENDER}, "SMTP_URL"),
    ],
)
def test_bad_settings_are_refused_by_name(settings: dict[str, str], variable: str) -> None:
    with pytest.raises(MailSettingsError, match=variable) as refused:
        load_mailer(settings)
    assert str(refused.value).startswith(variable)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("command", "refusal", "problem", "for_good"),
    [
        ("RCPT", "550 no such mailbox", "recipient_refused", True),
        ("RCPT", "450 come again later", "mail_server_busy", False),
        ("DATA", "554 looks like junk", "message_refused", True),
        ("DATA", "451 no room just now", "mail_server_busy", False),
        ("MAIL", "550 you may not send as this", "mail_server_refuses_us", False),
    ],
)
async def test_a_refusal_says_whether_to_try_again(
    postbox: Postbox, command: str, refusal: str, problem: str, for_good: bool
) -> None:
    async def refuse(*_: object) -> str:
        return refusal

    setattr(postbox, f"handle_{command}", refuse)
    async with mail_server(postbox) as url:
        assert await send(Mailer(url, SENDER)) == Delivery(problem, for_good)
    assert postbox.envelopes == []


async def test_nobody_there_and_a_wrong_password_are_tried_again(postbox: Postbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    nobody = await send(Mailer(f"smtp://127.0.0.1:{port}", SENDER))
    assert nobody == Delivery("mail_server_unreachable")
    async with mail_server(postbox, login=("hearth", "secret")) as url:
        refused = await send(Mailer(with_login(url, "hearth:wrong"), SENDER))
    assert refused == Delivery("mail_server_refuses_us")
