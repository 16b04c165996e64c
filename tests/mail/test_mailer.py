"""Sending mail through real servers: taken, refused, unanswered, encrypted, and badly configured."""

import asyncio
import socket
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from hearthpay.clock import FixedClock
from hearthpay.mail.mailer import Mail, Mailer, MailSettingsError, load_mailer
from tests.mail.certificate import server_context, write_certificate
from tests.mail.servers import Postbox, mail_server, silent_server

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning")

SENDER = "Hearthpay <payroll@example.com>"
MAIL = Mail("rosa@example.com", "Grüße", "Hello — as text\n", "<p>Hello — as HTML</p>\n")


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


async def test_a_mail_arrives_whole(postbox: Postbox, clock: FixedClock) -> None:
    async with mail_server(postbox) as url:
        assert await Mailer(url, SENDER, clock).send(MAIL)
    (mail,) = postbox.mails
    assert (mail["To"], mail["From"], mail["Subject"]) == ("rosa@example.com", SENDER, "Grüße")
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"].endswith("@example.com>")
    parts = {part.get_content_type(): part.get_content() for part in mail.iter_parts()}
    assert parts == {"text/plain": "Hello — as text\r\n", "text/html": "<p>Hello — as HTML</p>\r\n"}
    assert postbox.envelopes[0].mail_from == "payroll@example.com"
    assert postbox.encrypted == [False]


@pytest.mark.parametrize("address", ["rosa@exämple.com", "rosä@example.com"])
async def test_an_address_may_have_any_letters(postbox: Postbox, clock: FixedClock, address: str) -> None:
    async with mail_server(postbox) as url:
        assert await Mailer(url, SENDER, clock).send(Mail(address, "Pay", "Text", "<p>HTML</p>"))
    assert len(postbox.envelopes) == 1


@pytest.mark.parametrize(("password", "sent"), [("pass:w%40rd", True), ("wrong", False)])
async def test_it_logs_in(postbox: Postbox, clock: FixedClock, password: str, sent: bool) -> None:
    async with mail_server(postbox, login=("hearth", "pass:w@rd")) as url:
        mailer = Mailer(with_login(url, f"hearth:{password}"), SENDER, clock)
        with capture_logs() as logged:
            assert await mailer.send(MAIL) is sent
    assert len(postbox.envelopes) == sent
    assert [entry["cause"] for entry in logged] == ([] if sent else ["SMTPAuthenticationError"])
    for secret in ("w@rd", "wrong", "rosa@example.com"):
        assert secret not in repr(logged) + repr(mailer)


async def test_a_refusal_is_reported_without_the_address(postbox: Postbox, clock: FixedClock) -> None:
    postbox.refusal = "550 no such mailbox: rosa@example.com"
    async with mail_server(postbox) as url:
        with capture_logs() as logged:
            assert not await Mailer(url, SENDER, clock).send(MAIL)
    assert [entry["event"] for entry in logged] == ["email not sent"]
    assert "rosa@example.com" not in repr(logged)


async def test_a_silent_server_gets_as_long_as_we_are_patient(clock: FixedClock) -> None:
    async with silent_server() as url:
        began = time.monotonic()
        assert not await Mailer(url, SENDER, clock, patience=0.3).send(MAIL)
    assert 0.25 < time.monotonic() - began < 2


async def test_a_server_that_falls_silent_halfway_is_not_waited_for(clock: FixedClock) -> None:
    class Sleepy(Postbox):
        async def handle_DATA(self, *_: object) -> str:
            await asyncio.sleep(30)
            return "250 OK"

    async with mail_server(Sleepy()) as url:
        began = time.monotonic()
        assert not await Mailer(url, SENDER, clock, patience=0.3).send(MAIL)
        assert 0.25 < time.monotonic() - began < 2


async def test_a_server_that_hangs_binds_five_mails_at_most(postbox: Postbox, clock: FixedClock) -> None:
    async with silent_server() as url:
        mailer = Mailer(url, SENDER, clock, patience=3)
        began = time.monotonic()

        async def send() -> float:
            assert not await mailer.send(MAIL)
            return time.monotonic() - began

        waited = sorted(await asyncio.gather(*(send() for _ in range(8))))
    assert all(0.9 < seconds < 2 for seconds in waited[:3])
    assert all(2.9 < seconds < 5 for seconds in waited[3:])


async def test_many_mails_at_once_all_arrive(postbox: Postbox, clock: FixedClock) -> None:
    async with mail_server(postbox) as url:
        mailer = Mailer(url, SENDER, clock)
        assert all(await asyncio.gather(*(mailer.send(MAIL) for _ in range(20))))
    assert len(postbox.envelopes) == 20


async def test_nobody_listens(clock: FixedClock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert not await Mailer(f"smtp://127.0.0.1:{port}", SENDER, clock).send(MAIL)


async def test_starttls_is_taken_where_it_is_offered(
    postbox: Postbox, clock: FixedClock, trusted: Path
) -> None:
    async with mail_server(postbox, starttls=server_context(trusted)) as url:
        assert await Mailer(url, SENDER, clock).send(MAIL)
    assert postbox.encrypted == [True]


async def test_smtps_is_encrypted_from_the_first_byte(
    postbox: Postbox, clock: FixedClock, trusted: Path
) -> None:
    async with mail_server(postbox, tls=server_context(trusted)) as url:
        assert url.startswith("smtps://")
        assert await Mailer(url, SENDER, clock).send(MAIL)
    assert postbox.encrypted == [True]


async def test_a_server_nobody_vouches_for_gets_no_mail(
    postbox: Postbox, clock: FixedClock, tmp_path: Path
) -> None:
    context = server_context(write_certificate(tmp_path))
    for offered in ({"starttls": context}, {"tls": context}):
        async with mail_server(postbox, **offered) as url:
            assert not await Mailer(url, SENDER, clock).send(MAIL)
    assert postbox.envelopes == []


async def test_a_password_crosses_no_network_in_the_clear(postbox: Postbox, clock: FixedClock) -> None:
    async with mail_server(postbox, login=("hearth", "secret")) as url:
        # This address leads here as well, but it is not one that cannot leave the machine.
        elsewhere = with_login(url.replace("127.0.0.1", "0.0.0.0"), "hearth:secret")
        assert not await Mailer(elsewhere, SENDER, clock).send(MAIL)
        assert postbox.logins == []
        assert await Mailer(with_login(url, "hearth:secret"), SENDER, clock).send(MAIL)
        assert postbox.logins == ["hearth"]


def test_without_a_server_there_is_no_mailer(clock: FixedClock) -> None:
    assert load_mailer({}, clock) is None
    assert load_mailer({"SMTP_URL": " ", "MAIL_FROM": SENDER}, clock) is None


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
def test_bad_settings_are_refused_by_name(clock: FixedClock, settings: dict[str, str], variable: str) -> None:
    with pytest.raises(MailSettingsError, match=variable) as refused:
        load_mailer(settings, clock)
    assert str(refused.value).startswith(variable)
    assert "secret" not in str(refused.value)
