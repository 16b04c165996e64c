"""The table of delicate acts: no act of the audit log is without a row, or a reason why nobody is told."""

import ast
import re
from collections.abc import Iterator
from typing import Final

import pytest

from hearthpay.alerts.reversal import LEFT_TO_OWNERS, REVERSIBLE
from hearthpay.alerts.wording import SENTENCES
from hearthpay.database.sensitive_actions import DELICATE_ACTS, is_delicate
from hearthpay.web.settings.audit_entries import SERVICE_CALLS
from tests.source_trees import modules_with

_SUBJECTS: Final = (
    "account_change|ach|agent|alert|autopilot|bank_account|bank_entry|calendar_link|certificate|document|duty|employee|"
    "employer|escrow|household_clock|insurance|invitation|key|mail|member|organization|payroll|registration|set_aside_request|vault"
)
_ACTION: Final = re.compile(rf"({_SUBJECTS})\.[a-z_]+")

NOT_ACTIONS: Final = frozenset(
    {
        "document.new_hire_report",
        "document.paystub",
        "document.schedule_h",
        "document.year",
        "agent.html",
        "bank_account.html",
        "payroll.html",
        "vault.keys",
        "employee.address",
        "employee.name",
        "employee.ssn",
        "employer.sui_rate",
    }
)
"""Names of files and fields that look like actions."""

BY_PARTS: Final = {
    "autopilot": ("authorize", "disable", "enroll", "pause", "resume", "skip", "generate", "fire", "fail"),
    "set_aside_request": ("approved", "declined", "withdraw"),
    "rights": ("as_of_upgrade",),
    "household": ("freeze", "unfreeze"),
}
"""Actions whose names are put together where they are recorded."""

TOLD_OTHERWISE: Final = {
    "account_change.agree": "an owner decided it, with a fresh proof; the employee was told what waits",
    "account_change.withdraw": "the pay goes where it went before; the employee is told in the transaction",
    "ach.authorize": "each debit is told the day before it leaves",
    "agent.call": "a program's use of what it was let in for stands in its trail",
    "agent.disconnect": "it ends something",
    "agent.end": "it ends something; of a theft its person is told in the transaction",
    "agent.read": "a program's use of what it was let in for stands in its trail",
    "alert.stop": "organization.freeze, of the same moment, is told",
    "autopilot.authorize": "each debit is told the day before it leaves",
    "autopilot.change": "its debits are told the day before they leave",
    "autopilot.confirm": "the debit is told the day before it leaves",
    "autopilot.disable": "Autopilot tells by mails of its own",
    "autopilot.enroll": "its debits are told the day before they leave",
    "autopilot.fail": "Autopilot tells by mails of its own",
    "autopilot.fire": "Autopilot tells by mails of its own",
    "autopilot.generate": "the debit is told the day before it leaves",
    "autopilot.pause": "Autopilot tells by mails of its own",
    "autopilot.resume": "its debits are told the day before they leave",
    "autopilot.skip": "nobody is paid less than he worked: the payroll is run by hand",
    "bank_account.activate": "the account was told when it was connected",
    "bank_account.correct": "the bank's own correction, told as a return is",
    "bank_account.fail": "trouble with money is told by the notices of payroll",
    "bank_entry.cancel": "trouble with money is told by the notices of payroll",
    "bank_entry.held": "trouble with money is told by the notices of payroll",
    "bank_entry.release": "the operator has asked the bank about its file; nothing moves",
    "bank_entry.return": "trouble with money is told by the notices of payroll",
    "bank_entry.reverse": "trouble with money is told by the notices of payroll",
    "payroll.settle": "the operator notes that a household has paid; nothing moves",
    "calendar_link.revoke": "it ends something",
    "certificate.sign": "told in the transaction, where the employee signed",
    "document.issue": "papers are told when they are ready",
    "document.sign": "both parties see it on their pages; it changes nothing else",
    "document.package": "who asks is a member, or has a key that was told",
    "document.read": "who reads is a member, or has a key that was told",
    "insurance.policy": "a record of the household's own",
    "duty.account": "reminders go on by the calendar",
    "duty.filing": "reminders go on by the calendar",
    "duty.mark": "reminders go on by the calendar",
    "employee.create": "nobody is paid by it",
    "employee.confirm_account": "the household's answer to a to-do",
    "employee.link": "told in the transaction",
    "employee.prior_wages": "figures, which pay stubs show",
    "employee.same_person": "the worker's finding",
    "employee.year_settled": "the worker's doing, told in the household's year",
    "employer.assign_sui_rate": "a rate, which payrolls show",
    "employer.create": "nobody is concerned yet",
    "employer.delete": "of the sandbox alone",
    "employer.ein_status": "no number is shown by it",
    "employer.reset": "of the sandbox alone",
    "employer.waived_lines": "figures, which the household's year shows",
    "escrow.payout": "told as a payment is",
    "household_clock.advance": "of the sandbox alone",
    "invitation.complete": "told in the transaction",
    "invitation.request": "the household is told, in its to-dos and by mail",
    "invitation.withdraw": "it ends something",
    "key.revoke": "it ends something",
    "mail.failed": "the operator sees it",
    "mail.kept": "the operator sees it",
    "mail.sent": "nothing happened by it",
    "member.return": "organization.freeze, of the same moment, is told",
    "member.settle_address": "both addresses are told in the transaction",
    "member.stay": "nothing changed by it",
    "member.uninvite": "it ends something",
    "organization.create": "nobody is concerned yet",
    "organization.lift": "the operator's, who sets what is paid for",
    "organization.set_plan": "the operator's, who sets what is paid for",
    "payroll.draft": "nobody is paid by it",
    "payroll.draft_drop": "it ends something",
    "payroll.move_pay_date": "the debit is told the day before it leaves",
    "payroll.remedy": "told as the trouble is that it remedies",
    "payroll.run": "the debit is told the day before it leaves, the payday on its day",
    "payroll.schedule": "the debit is told the day before it leaves, the payday on its day",
    "payroll.hand_over": "nobody is paid by it",
    "payroll.void": "it ends something",
    "payroll.year_passed": "told in the year's notices",
    "registration.apply": "no number is shown by it",
    "registration.reveal": "who reads is an owner or admin",
    "rights.as_of_upgrade": "the upgrade's, which changes nothing",
    "set_aside_request.approved": "told in the transaction",
    "set_aside_request.ask": "told in the transaction",
    "set_aside_request.declined": "told in the transaction",
    "set_aside_request.withdraw": "told in the transaction",
    "vault.display": "the worker stores the digits that are shown again; nobody reads the number",
    "vault.read": "the operator's, or for a paper that is asked for",
    "vault.rotate": "no number is shown by it",
    "vault.store": "told as what was entered: the account, the number",
}
"""Every other action, and why no alert tells of it."""


def _written() -> Iterator[str]:
    for path, tree in modules_with(rf"[\"']{_ACTION.pattern}"):
        if path.name in ("delicate_acts.py", "deeds.py", "wording.py"):
            continue
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and _ACTION.fullmatch(node.value)
            ):
                yield node.value
    for subject, verbs in BY_PARTS.items():
        yield from (f"{subject}.{verb}" for verb in verbs)


@pytest.mark.completeness
def test_every_act_is_told_or_has_a_reason() -> None:
    written = set(_written()) - NOT_ACTIONS
    assert written - DELICATE_ACTS.keys() - TOLD_OTHERWISE.keys() == set()
    assert (DELICATE_ACTS.keys() | TOLD_OTHERWISE.keys()) - written == set()
    assert not DELICATE_ACTS.keys() & TOLD_OTHERWISE.keys()


def test_the_history_has_words_for_every_act() -> None:
    assert (DELICATE_ACTS.keys() | TOLD_OTHERWISE.keys()) - SERVICE_CALLS.keys() == set()
    assert SERVICE_CALLS.keys() - (DELICATE_ACTS.keys() | TOLD_OTHERWISE.keys()) == set()


@pytest.mark.completeness
def test_every_delicate_act_has_a_sentence_and_is_taken_back_or_left_to_the_owners() -> None:
    assert SENTENCES.keys() == DELICATE_ACTS.keys()
    assert DELICATE_ACTS.keys() == REVERSIBLE | LEFT_TO_OWNERS
    assert not REVERSIBLE & LEFT_TO_OWNERS


def test_what_makes_an_act_delicate() -> None:
    assert is_delicate("employer.update", {"before": {"email": None}})
    assert not is_delicate("employer.update", {"before": {"last_name": "Lopez"}})
    assert is_delicate("employee.update", {"before": {"pay_rate": "20"}})
    assert is_delicate("employee.update", {"before": {"payment_method": "check"}})
    assert not is_delicate("employee.update", {"before": {"city": "Oakland"}})
    assert is_delicate("employee.update", {"before": {"federal_withholding": {}}})
    assert not is_delicate("escrow.set_rule", {"before": {"rate": 5}, "after": None, "request_id": "r"})
    assert not is_delicate("escrow.set_rule", {"before": None, "after": None})
    assert is_delicate("escrow.set_rule", {"before": {"rate": 5}, "after": None})
    assert is_delicate("invitation.create", {"type": "bank_account"})
    assert not is_delicate("invitation.create", {"type": "tax_info"})
    assert is_delicate("key.create", {"scopes": ["calculator", "payroll"]})
    assert not is_delicate("key.create", {"scopes": ["calculator"]})
    assert not is_delicate("mail.sent", {})
