"""Every mail that the product writes, each with made-up facts: a mail without a row here fails a test."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast, get_args
from uuid import UUID

from hearthpay.alerts.sensitive_actions import SensitiveAct
from hearthpay.alerts.wording import alert_mail
from hearthpay.autopilot.mails import AUTOPILOT_KINDS
from hearthpay.autopilot.mails import mail_of as autopilot_mail
from hearthpay.banking.account_notices import account_changed_mail
from hearthpay.clock import BUSINESS_TIME
from hearthpay.database.sensitive_actions import DELICATE_ACTS
from hearthpay.documents.notices import document_ready_mail
from hearthpay.documents.package_notices import package_ready_mail
from hearthpay.duties.rules import KINDS
from hearthpay.duties.weekly_summary import DueHousehold, weekly_summary_mail
from hearthpay.employees.commands import InvitationType
from hearthpay.employees.invitation_mail import invitation_mail
from hearthpay.mail.mailer import Mail
from hearthpay.payroll.issues.advice import Circumstances, reason_of, what_to_do
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.notice_mail import (
    NoticeFacts,
    ReturnNoticeFacts,
    employee_notice,
    household_notice,
    return_notice_to_employee,
    return_notice_to_household,
)
from hearthpay.payroll.issues.payment_status import PaymentIssue
from hearthpay.payroll.payday.notices import debit_ahead_mail, pay_stub_mail, payday_mail
from hearthpay.people.mails import PersonMailKind, person_mail
from hearthpay.people.recipients import NoticeReader, WeeklyReader
from hearthpay.todos.reminders import duties_due_mail
from hearthpay.todos.to_do import ToDo

NUMBER = UUID("018f0000-0000-7000-8000-000000000001")
SENT = datetime(2026, 11, 24, 20, tzinfo=UTC)
TO = "reader@example.com"
LINK = "https://pay.example.com/x/abc"

Write = Callable[[str, str], Mail]
"""Writes the mail in a language, where everybody has chosen this name."""


def _payroll(name: str, status: str = "scheduled") -> Any:
    return SimpleNamespace(
        id=NUMBER,
        scheduled_send_at=SENT,
        net_pay=123450,
        debited=123450,
        status=status,
        period_start=date(2026, 11, 9),
        period_end=date(2026, 11, 15),
        pay_date=date(2026, 11, 30),
        household_first=name,
        household_last=name,
    )


def _person(kind: PersonMailKind) -> Write:
    asked = {
        "sign_up",
        "account_exists",
        "reset",
        "sign_in_link",
        "new_email",
        "invitation",
        "employee_account",
        "bank_entered",
        "bank_changed",
        "bank_asked",
        "new_sign_in",
        "changed",
        "moved",
        "record_changed",
        "stopped",
        "disputed",
    }

    def write(language: str, name: str) -> Mail:
        facts = dict.fromkeys(("when", "what", "old", "new", "start"), "Nov 24")
        facts |= dict.fromkeys(("inviter", "organization", "household", "employee", "client"), name)
        return person_mail(kind, TO, language, name=name, link=LINK if kind in asked else None, **facts)

    return write


def _portal(kind: InvitationType) -> Write:
    def write(language: str, name: str) -> Mail:
        household = SimpleNamespace(first_name=name, last_name=name, zone=BUSINESS_TIME)
        employee = SimpleNamespace(first_name=name, language=language)
        return invitation_mail(TO, cast(Any, household), cast(Any, employee), kind, LINK, SENT)

    return write


def _trouble(kind: FailureKind) -> PaymentIssue:
    code = {"debit_returned": "R01", "wages_not_covered": "R10", "deposit_returned": "R02"}.get(kind)
    code = code or {"held": "employee_account_not_ready", "not_sent": "authorization_missing"}.get(kind, kind)
    stored = "Run the payroll again with a pay date in the new year, or pay by check."
    trying = SENT if kind in ("debit_returned", "held") else None
    case = Circumstances(
        kind,
        code,
        "failed" if trying is None else "scheduled",
        trying,
        frozenset({"void", "refund"}),
        stored=stored,
    )
    said = f"What happened in English, {kind}."
    return PaymentIssue(kind, code, reason_of(code), said, what_to_do(case), trying, trying, (NUMBER,), case)


def _event_details(name: str) -> NoticeFacts:
    return NoticeFacts((name, name), (name,), date(2026, 11, 30), (name, "Ana Ruiz"))


def _to_household(kind: FailureKind) -> Write:
    return lambda language, name: household_notice(
        NoticeReader(TO, language), _event_details(name), _trouble(kind)
    )


def _to_employee(kind: FailureKind) -> Write:
    return lambda language, name: employee_notice(
        NoticeReader(TO, language), _event_details(name), _trouble(kind), None
    )


def _returned(employee: bool, amount: Decimal | None) -> ReturnNoticeFacts:
    return ReturnNoticeFacts(
        ("A", "B"), ("A", "B") if employee else None, "6789", "Account closed", "R02", amount
    )


def _named(told: ReturnNoticeFacts, name: str) -> ReturnNoticeFacts:
    return ReturnNoticeFacts(
        (name, name), told.employee and (name, name), told.last_four, told.title, told.code, told.amount
    )


def _return(write: Callable[[NoticeReader, ReturnNoticeFacts], Mail], told: ReturnNoticeFacts) -> Write:
    return lambda language, name: write(NoticeReader(TO, language), _named(told, name))


def _autopilot(kind: str) -> Write:
    details = {
        "next_period": {"start": "2027-01-04", "end": "2027-01-10", "pay_date": "2027-01-15"},
        "not_paid": [{"start": "2026-12-28", "end": "2027-01-03"}],
        "failure_count": 3,
        "reasons": ["R01", "not_plus"],
        "period_start": "2026-11-09",
        "period_end": "2026-11-15",
    }

    def write(language: str, name: str) -> Mail:
        people = SimpleNamespace(first_name=name, last_name=name, household_first=name)
        late = kind == "debit_now"
        payroll = _payroll(name, "pending_funding" if late else "scheduled")
        told = "debit_tomorrow" if late else kind
        return autopilot_mail(NoticeReader(TO, language), told, people, payroll, details)

    return write


def _duty(*kinds: str) -> Write:
    today = date(2026, 11, 20)
    to_dos = [
        ToDo(
            employer_id=UUID(int=1),
            kind="pay_taxes" if kind == "payment" else "file_report",
            key=f"US/{kind}/2026-Q3",
            subject_type="calendar_item",
            subject_id=f"US/{kind}/2026-Q3",
            path="/calendar",
            due_on=date(2026, 11, 30),
            amount=12345 if kind == "payment" else None,
            agency="IRS",
            what="File Form 941 for the third quarter",
        )
        for kind in kinds
    ]
    late = [replace(each, due_on=date(2026, 11, 2), overdue=True) for each in to_dos[1:]]
    return lambda language, name: duties_due_mail(NoticeReader(TO, language), name, to_dos, late, today)


def _paper(kind: str) -> Write:
    def write(language: str, name: str) -> Mail:
        paper = SimpleNamespace(
            kind=kind, tax_year=2026, first_name=name, household_first=name, household_last=name
        )
        return document_ready_mail(NoticeReader(TO, language), paper)

    return write


def _alert(action: str) -> Write:
    details = {
        "before": {"email": "x@example.com", "role": "viewer", "pay_rate": 1, "payment_method": "check"},
        "after": {"email": "y@evil.example", "role": "owner"},
        "last_four": "6789",
        "role": "admin",
        "until": SENT.isoformat(),
    }

    def write(language: str, name: str) -> Mail:
        act = SensitiveAct(
            NUMBER,
            SENT,
            NUMBER,
            name,
            NUMBER,
            "user",
            NUMBER,
            action,
            NUMBER,
            details | {"client": name},
            name,
            name,
            NUMBER,
            name,
            name,
        )
        return alert_mail(NoticeReader(TO, language), [act], link=LINK, covered=(NUMBER,), operator=None)

    return write


def _weekly(*, being_checked: int, households: int) -> Write:
    def write(language: str, name: str) -> Mail:
        reader = WeeklyReader("k", NUMBER, name, TO, language, name)
        due = [DueHousehold(name, name, 2, 1, date(2026, 12, 1))] * households
        return weekly_summary_mail(reader, due, date(2026, 11, 30), being_checked=being_checked)

    return write


_ACCOUNT = {"created_at": SENT, "last_four": "6789"}

EVERY_MAIL: dict[str, Write] = {
    **{f"person {kind}": _person(kind) for kind in get_args(PersonMailKind)},
    **{f"portal {kind}": _portal(kind) for kind in get_args(InvitationType)},
    **{f"household {kind}": _to_household(kind) for kind in get_args(FailureKind)},
    **{
        f"employee {kind}": _to_employee(kind)
        for kind in (
            "debit_returned",
            "deposit_returned",
            "deposit_reversed",
            "held",
            "year_passed",
            "not_sent",
        )
    },
    "household's prenote": _return(return_notice_to_household, _returned(False, None)),
    "employee's prenote to household": _return(return_notice_to_household, _returned(True, None)),
    "payout to household": _return(return_notice_to_household, _returned(True, Decimal("12.30"))),
    "employee's prenote": _return(return_notice_to_employee, _returned(True, None)),
    "payout": _return(return_notice_to_employee, _returned(True, Decimal("12.30"))),
    **{f"autopilot {kind}": _autopilot(kind) for kind in AUTOPILOT_KINDS},
    "payday": lambda language, name: payday_mail(NoticeReader(TO, language), _payroll(name), [(name, "")]),
    "debit_ahead": lambda language, name: debit_ahead_mail(
        NoticeReader(TO, language), _payroll(name), [(name, "")]
    ),
    "pay_stub": lambda language, name: pay_stub_mail(NoticeReader(TO, language), _payroll(name), name),
    "account_changed": lambda language, name: account_changed_mail(
        NoticeReader(TO, language), SimpleNamespace(household_first=name, **_ACCOUNT)
    ),
    **{f"alert {action}": _alert(action) for action in DELICATE_ACTS},
    **{f"duty {kind}": _duty(kind) for kind in KINDS},
    "several duties": _duty(*KINDS),
    "package": lambda language, name: package_ready_mail(NoticeReader(TO, language), (name,), 2026, 93),
    "weekly summary": _weekly(being_checked=0, households=1),
    "weekly summary of many": _weekly(being_checked=3, households=21),
    "weekly summary of nothing": _weekly(being_checked=0, households=0),
    "weekly summary too early": _weekly(being_checked=1, households=0),
    "paper w2": _paper("w2"),
    "paper w2c": _paper("w2c"),
}
"""By what they are about."""

WRITERS = (
    person_mail,
    invitation_mail,
    household_notice,
    employee_notice,
    return_notice_to_household,
    return_notice_to_employee,
    autopilot_mail,
    payday_mail,
    debit_ahead_mail,
    pay_stub_mail,
    account_changed_mail,
    duties_due_mail,
    document_ready_mail,
    alert_mail,
    package_ready_mail,
    weekly_summary_mail,
)
"""What writes them; `operator_notice` writes to the operator, in English, as his log is."""
