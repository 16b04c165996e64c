"""Every mail as a mail program reads it: text and HTML that say the same, in both languages, with nobody's tricks."""

import ast
import email
import email.policy
import re
import unicodedata
from datetime import UTC, datetime
from email.headerregistry import HeaderRegistry
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from uuid import uuid4

import pytest

import hearthpay
from hearthpay.mail.mailer import Mail, written_message
from tests.cases import every_case
from tests.notices.every_mail import EVERY_MAIL, WRITERS

_HOSTILE = (
    "Ana\r\nBcc: everyone@evil.example",
    "=?utf-8?q?Ana=0D=0ABcc:_x@evil.example?=",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\u202eana {0} {name} %s",
    'Ana" style="background:url(https://evil.example/x)',
    "Ana https://evil.example/login now",
)
_LOADS = re.compile(
    r"""\b(src|srcset|background|poster)\s*=|url\(|@import|<(link|script|img|iframe|object|form)\b"""
)

_TAG = re.compile("<[^>]*>")

_READ = email.policy.default.clone(header_factory=cache(HeaderRegistry()))
"""As mail programs read it. A header that was read is kept: the library reads the same one again for each question."""


class _Shown(HTMLParser):
    """What a reader sees, paragraph by paragraph, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.paragraphs: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self._in_link = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "p":
            self.paragraphs.append("")
        elif tag == "a":
            self.links.append(dict(attrs)["href"] or "")
            self._in_link = True

    def handle_endtag(self, tag: str) -> None:
        self._in_link = self._in_link and tag != "a"

    def handle_data(self, data: str) -> None:
        if self._in_link:
            self.names.append(data)
        elif self.paragraphs:
            self.paragraphs[-1] += data


def received(mail: Mail) -> email.message.EmailMessage:
    """The mail as it arrives."""
    written = written_message(
        mail,
        sender="Hearthpay <payroll@example.com>",
        domain="example.com",
        name=uuid4(),
        written_at=datetime(2026, 11, 24, tzinfo=UTC),
    )
    return email.message_from_bytes(written.as_bytes(), policy=_READ)


def parts(mail: Mail) -> tuple[email.message.EmailMessage, str, str]:
    message = received(mail)
    assert message.get_content_type() == "multipart/alternative"
    plain, rich = message.iter_parts()
    assert (plain.get_content_type(), rich.get_content_type()) == ("text/plain", "text/html")
    return message, plain.get_content(), rich.get_content()


@pytest.mark.completeness
def test_every_writer_of_mail_is_in_the_table() -> None:
    source = Path(hearthpay.__file__).parent
    found = {
        node.name
        for path in source.rglob("*.py")
        if "-> Mail:" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        and not node.name.startswith("_")
        and isinstance(node.returns, ast.Name)
        and node.returns.id == "Mail"
    }
    written = {writer.__name__ for writer in WRITERS}
    assert (
        found - {"letter", "operator_notice", "open_mail", "provisional_rules_mail", "reached_at"} == written
    )


def test_text_and_html_say_the_same_in_both_languages() -> None:
    with every_case() as case:
        for what in EVERY_MAIL:
            with case(what):
                _check_text_and_html(what)


def _check_text_and_html(what: str) -> None:
    said = {}
    for language in ("en", "es"):
        mail = EVERY_MAIL[what](language, "Ana María O'Neill")
        message, text, page = parts(mail)
        shown = _Shown()
        shown.feed(page)
        assert [each.strip() for each in shown.paragraphs if each.strip()] == [
            each.strip() for each in text.split("\n\n") if each.strip()
        ]
        assert all(link in text for link in shown.links)
        assert message["Subject"].strip() == mail.subject
        assert "Ana María O'Neill" in text
        assert f'<html lang="{language}">' in page
        assert not [tag for tag in _TAG.findall(page) if _LOADS.search(tag)]
        assert "{" not in text + mail.subject
        said[language] = [mail.subject, *text.split("\n\n")[1:-1]]
    english, spanish = said["en"], said["es"]
    links = {line for line in english if line.startswith("https://")}
    assert not (set(english) & set(spanish)) - links, "is not said in Spanish"


@cache
def _usual_headers(what: str) -> list[str]:
    return parts(EVERY_MAIL[what]("en", "Ana"))[0].keys()


def _hold_name_is_a_name(what: str, name: str, language: str) -> None:
    message, text, page = parts(EVERY_MAIL[what](language, name))
    assert message.keys() == _usual_headers(what)
    assert "evil.example" not in page + text + str(message["Subject"])
    assert not [tag for tag in _TAG.findall(page) if _LOADS.search(tag)]
    assert not any(unicodedata.category(each) == "Cf" for each in text)


@pytest.mark.parametrize("what", EVERY_MAIL)
def test_nobody_s_name_makes_headers_markup_or_links(what: str) -> None:
    """In the suite each name in one language: half of them in English, of the next mail those in Spanish."""
    turn = list(EVERY_MAIL).index(what) % 2
    for number, name in enumerate(_HOSTILE, start=turn):
        _hold_name_is_a_name(what, name, ("en", "es")[number % 2])


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", "es"])
def test_nobody_s_name_makes_headers_markup_or_links_in_either_language(language: str) -> None:
    for what in EVERY_MAIL:
        for name in _HOSTILE:
            _hold_name_is_a_name(what, name, language)


@pytest.mark.parametrize(
    ("what", "there"),
    [
        ("payday", ("$1,234.50", "30 de noviembre de 2026")),
        ("debit_ahead", ("martes, 24 de noviembre, a las 3:00", "hora del Este")),
        ("household debit_returned", ("fondos insuficientes", "el martes, 24 de noviembre")),
    ],
)
def test_amounts_and_days_are_in_the_reader_s_form(what: str, there: tuple[str, ...]) -> None:
    text = EVERY_MAIL[what]("es", "Ana").text
    for each in there:
        assert each in text, text


_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_OF_A_PAYROLL = (
    "payday",
    "debit_ahead",
    "autopilot debit_tomorrow",
    "autopilot held",
    "autopilot paid",
    *(each for each in EVERY_MAIL if each.startswith("household ")),
)


def test_no_mail_shows_an_id() -> None:
    with every_case() as case:
        for what in EVERY_MAIL:
            for language in ["en", "es"]:
                with case(what, language):
                    mail = EVERY_MAIL[what](language, "Ana")
                    assert _UUID.search(re.sub(r"https?://\S+", "", mail.text)) is None
                    assert _UUID.search(_TAG.sub("", mail.html)) is None


def test_mail_about_a_payroll_names_its_payday_and_employee() -> None:
    with every_case() as case:
        for what in _OF_A_PAYROLL:
            for language, day in [("en", "November 30, 2026"), ("es", "30 de noviembre de 2026")]:
                with case(what, language):
                    mail = EVERY_MAIL[what](language, "Ana")
                    _, *paragraphs = mail.text.split("\n\n")
                    content = " ".join(" ".join(paragraphs).split())
                    assert day in content
                    assert "Ana" in content


def test_mail_about_an_expired_debit_gives_its_reason_once_in_spanish() -> None:
    text = EVERY_MAIL["household debit_expired"]("es", "Ana").text
    body = " ".join(text.split("\n\n", 1)[1].split()).lower()
    assert "no se pudo enviar el débito" in body
    assert "el débito no se envió a tiempo" not in body
