"""A to-do of operators is told as what happened, to whom, and since when; never by a code or a table's name."""

from __future__ import annotations

import datetime
from typing import Literal, get_args
from uuid import UUID, uuid4

import pytest

from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.people.health import Vital
from hearthpay.people.mails import PersonMailKind
from hearthpay.people.operators import UnsentMail
from hearthpay.people.uncollected_wages import UncollectedWages
from hearthpay.web.settings.mail_words import SUBJECTS, unsent_heading, unsent_lines
from hearthpay.web.settings.operator_matters import Matter, heading_of, matters_of

NOW = datetime.datetime(2026, 12, 7, 15, tzinfo=datetime.UTC)
HOUR_AGO = NOW - datetime.timedelta(hours=1)
WELL = {
    "workers": Vital(1, NOW),
    "doctor_differing": Vital(0, HOUR_AGO),
    "doctor_exposed": Vital(0, HOUR_AGO),
    "mail_waiting": Vital(3, HOUR_AGO),
    "files_delivered": Vital(8, HOUR_AGO),
}
CASE = UncollectedWages(
    UUID(int=7),
    uuid4(),
    "Rivera family",
    "Maria Rivera",
    datetime.date(2026, 11, 27),
    datetime.date(2026, 12, 4),
    43620,
    0,
    43620,
    "R01",
)


def _matters(
    language: str = "en", *cases: UncollectedWages, rules: str = "", **vitals: Vital
) -> list[Matter]:
    return [*matters_of(say_in(language), language, WELL | vitals, cases, rules, NOW)]


def test_a_well_installation_needs_nobody() -> None:
    assert _matters() == []
    assert heading_of(say_in("en"), []) == "Nothing needs your attention"


def test_a_returned_debit_names_the_household_the_reason_and_the_day() -> None:
    [matter] = _matters("en", CASE)
    assert matter.words == (
        "Maria Rivera's household: debit of $436.20 was returned, R01 insufficient funds, on Fri, Dec\xa04"
    )
    assert matter.details == "$436.20 is owed · Rivera family · Payday Fri, Nov\xa027"
    assert matter.path == f"/operator/wages#wages-{CASE.payroll_id}"
    assert heading_of(say_in("en"), [matter]) == "A returned debit needs you"
    assert heading_of(say_in("en"), [matter] * 2) == "2 returned debits need you"
    [spanish] = _matters("es", CASE)
    assert spanish.words.startswith("Hogar de Maria Rivera: el débito de $436.20 fue devuelto, R01 ")


@pytest.mark.parametrize(
    ("name", "vital", "words"),
    [
        ("workers", Vital(0, HOUR_AGO), "No worker is running"),
        ("problems", Vital(1, HOUR_AGO), "Workers report a problem"),
        ("problems", Vital(2, HOUR_AGO), "Workers report 2 problems"),
        ("payrolls_due", Vital(3, HOUR_AGO), "3 payrolls should have been sent"),
        ("files_waiting", Vital(1, HOUR_AGO), "A bank file waits to be sent"),
        ("money_held", Vital(120_000, HOUR_AGO), "Payments are on hold"),
        ("mail_failed", Vital(2, HOUR_AGO), "2 emails couldn't be sent"),
        ("doctor_differing", Vital(3, HOUR_AGO), "3 figures in the books differ"),
        (
            "doctor_differing",
            Vital(0, NOW - datetime.timedelta(days=8)),
            "The books were last checked on Nov 29, 2026",
        ),
        ("doctor_exposed", Vital(500, HOUR_AGO), "Money was paid out that is not collected"),
    ],
)
def test_each_number_that_is_wrong_is_one_row(name: str, vital: Vital, words: str) -> None:
    [matter] = _matters(**{name: vital})
    assert matter.words == words
    assert matter.amount == (vital.figure if name in ("money_held", "doctor_exposed") else None)
    assert heading_of(say_in("en"), [matter]) == "One thing needs you"


def test_rules_that_hold_payrolls_lead_to_their_list() -> None:
    [matter] = _matters(rules="2 enrollments and 0 payrolls wait.")
    assert (matter.words, matter.path) == ("2 enrollments and 0 payrolls wait.", "#awaited-rules")


def test_exposed_money_is_not_told_twice() -> None:
    assert [each.kind for each in _matters("en", CASE, doctor_exposed=Vital(43620, HOUR_AGO))] == ["wages"]


@pytest.mark.completeness
@pytest.mark.parametrize("kinds", [PersonMailKind, FailureKind], ids=["people", "payrolls"])
def test_each_kind_of_email_has_words(kinds: object) -> None:
    assert set(get_args(kinds)) - SUBJECTS.keys() == set()


def _mail(kind: str, reason: str, recipient: Literal["household", "person"] = "household") -> UnsentMail:
    return UnsentMail(uuid4(), "Rivera family", kind, recipient, "failed", reason, NOW)


def test_unsent_email_is_told_in_words() -> None:
    say = say_in("en")
    mails = [
        _mail("notice.debit_returned", "recipient_refused"),
        _mail("person.reset", "kept_in_folder", "person"),
        _mail("invitation.bank_account", "daily_limit_of_household"),
        _mail("notice.unheard_of", "mail_server_busy"),
    ]
    lines = unsent_lines(say, mails)
    assert [(each.words, each.reader, each.reason) for each in lines] == [
        ("A debit was returned", "To a household", "The address was refused"),
        ("A link for a new password", "To somebody who signs in", "In the folder: there is no mail server"),
        ("A link to enter a bank account", "To a household", "daily limit of household"),
        ("An email", "To a household", "The mail server was busy"),
    ]
    assert unsent_heading(say, mails) == "3 emails weren't sent"
    assert unsent_heading(say, mails[:1]) == "One email wasn't sent"
    assert unsent_heading(say, mails[1:2]) == "Email is saved in the folder"
    assert unsent_heading(say, []) == "All email was sent"
