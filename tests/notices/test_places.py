"""A notice has a button that leads to the very thing it is about, and names the household."""

from functools import partial
from typing import Any, cast, get_args
from uuid import UUID

import pytest

from hearthpay.autopilot.mails import AUTOPILOT_KINDS
from hearthpay.mail.letter import letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.notices import Notice, Recipient
from hearthpay.mail.places import OURS, place_of_household, reached_at
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.people.recipients import NoticeReader, addressed
from tests.notices import every_mail

HERE = UUID("01a20000-0000-7000-8000-000000000001")
PAYROLL = UUID("01a20000-0000-7000-8000-000000000002")
ROOT = f"https://pay.example.com/app/{HERE}"


def _written(kind: str, recipient: str, payroll: UUID | None = None, language: str = "en") -> Mail:
    notice = Notice(
        "k", kind, cast("Recipient", recipient), None, HERE, HERE, False, HERE, payroll_id=payroll
    )

    def write(to: NoticeReader) -> Mail:
        return letter(to.address, to.language, "S", "Maria", ("Something happened.",), place=to.place)

    reader = NoticeReader("a@example.com", language, household=("Maria", "Rivera"))
    [found] = addressed(notice, [reader], write)
    assert found.mail is not None
    return reached_at(found.mail, "https://pay.example.com")


@pytest.mark.parametrize(
    ("kind", "payroll", "path", "label"),
    [
        ("duties_due", None, "/calendar", "Open the calendar"),
        ("payday", PAYROLL, f"/payrolls/{PAYROLL}", "View payroll"),
        ("debit_returned", PAYROLL, f"/payrolls/{PAYROLL}", "View payroll"),
        ("autopilot_paused", None, "/autopilot", "Open Autopilot"),
        ("autopilot_debit_tomorrow", PAYROLL, f"/payrolls/{PAYROLL}", "View payroll"),
        ("account_changed", None, "/bank", "View the bank account"),
        ("package_ready", None, "/taxes/papers", "Open the documents"),
        ("something_new", None, "", "Open the household"),
    ],
)
def test_a_households_notice_leads_to_what_it_is_about(
    kind: str, payroll: UUID | None, path: str, label: str
) -> None:
    mail = _written(kind, "household", payroll)
    for content in (mail.text, mail.html):
        assert ROOT + path in content
        assert "This is about the household Maria Rivera." in content
        assert OURS not in content
    assert f">{label}</a>" in mail.html


def test_an_employees_notice_leads_to_her_own_page_or_nowhere() -> None:
    assert "https://pay.example.com/my" in _written("pay_stub", "employee").text
    for kind in ("deposit_returned", "held"):
        mail = _written(kind, "employee")
        assert "https://" not in mail.text
        assert "household" not in mail.text


def test_the_button_is_in_the_readers_language() -> None:
    mail = _written("duties_due", "household", language="es")
    assert ">Abrir el calendario</a>" in mail.html
    assert "Se trata del hogar Maria Rivera." in mail.text


WITH_PLACE = (
    "payday",
    "debit_ahead",
    "account_changed",
    "package",
    "several duties",
    *(f"household {kind}" for kind in get_args(FailureKind)),
    *(f"autopilot {kind}" for kind in AUTOPILOT_KINDS),
)


@pytest.mark.parametrize("what", WITH_PLACE)
def test_every_writer_to_households_takes_the_place(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of_household("payday", HERE, PAYROLL, ("Maria", "Rivera"))
    reader: Any = partial(NoticeReader, place=place)
    monkeypatch.setattr(every_mail, "NoticeReader", reader)
    mail = every_mail.EVERY_MAIL[what]("en", "Ana")
    assert f"{OURS}/app/{HERE}/payrolls/{PAYROLL}" in mail.text
    assert "This is about the household Maria Rivera." in mail.text
