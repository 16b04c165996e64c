"""The sentences that pages and mails say to people, found in their sources."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, nodes

import hearthpay
from hearthpay.banking.return_codes import return_codes
from hearthpay.calculator.answers import ESTIMATE_NOTE, EXPLANATIONS, FUTA_NOTE
from hearthpay.duties.employment_rules import employment_rules
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.rules import duties_of
from hearthpay.reports.state_wages import BELOW_ZERO, PRIOR_LEFT_OUT
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.message_texts import ENGLISH
from hearthpay.taxes.rule_sentences import rule_sentences
from hearthpay.taxes.thresholds import liability_thresholds
from hearthpay.web.message_text import ON_PAGES
from tests.languages.rule_texts import PROPER_NAMES, texts_of_rule_files
from tests.source_trees import modules_with

_SOURCE = Path(hearthpay.__file__).parent
_TEMPLATES = "web/templates"


def in_templates() -> set[str]:
    """What the templates say by `_(…)`; each names its sentence as it is."""
    found: set[str] = set()
    for path in sorted((_SOURCE / _TEMPLATES).rglob("*.html")):
        tree = Environment(autoescape=True).parse(path.read_text("utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_" and call.args:
                found |= {each.value for each in _constants(call.args[0])}
    return found


def _constants(node: Any) -> Iterator[nodes.Const]:
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node


def in_modules() -> set[str]:
    """What modules mark to be said later, by `mark(…)`."""
    return {text for _, text in _calls("mark", 0)}


def of_banks() -> set[str]:
    """What households are told of payments that came back: why, and what to do."""
    codes = return_codes()
    reasons = (*codes.reasons.values(), codes.other)
    said = {reason.title for reason in reasons}
    for reason in reasons:
        for words in (reason.debit, reason.credit):
            said |= {text for text in (words.action, words.again) if text}
    return said


def of_estimates() -> set[str]:
    """What estimates and threshold checks say of themselves, whatever the state."""
    return {ESTIMATE_NOTE, *EXPLANATIONS.values(), FUTA_NOTE}


def of_duties() -> set[str]:
    """What households have to do by when, and at a hire."""
    hire = employment_rules()
    said = {duty.what for each in (FEDERAL, *STATES) for duty in duties_of(each).duties}
    return said | {hire.w4.what, *(duty.what for duty in hire.at_hire)}


def of_rules() -> set[str]:
    """What rule files say to people, and what thresholds are called."""
    names = {each.name for state in STATES for each in liability_thresholds(state, 2026)}
    remarks = {PRIOR_LEFT_OUT, BELOW_ZERO}
    return {*rule_sentences().values(), *names, *remarks, *(texts_of_rule_files() - PROPER_NAMES)}


def of_messages() -> set[str]:
    """What calculations say, where a page says it in the words of the API."""
    return of_rules() | {
        words
        for code, words in ENGLISH.items()
        if code not in (*ON_PAGES, "hours_rounded")
        and re.sub(r"\{[^}]*\}", "", words).strip(" :$") not in ("", ".")
    }


_PORTAL = (
    "web/my",
    "employees/links",
    "employees/own_account",
    "employees/signing",
    "banking/account_changes",
    "payroll/set_asides/requests",
)


def of_refusals() -> set[str]:
    """What services of people refuse with, as a page or beside a field; a sentence with a number in it, in full."""
    modules = (
        "people/",
        "accounts/own_keys",
        "web/signin",
        "web/settings",
        "web/household",
        "web/portal",
        "web/visitor",
        "web/forms",
        *_PORTAL,
    )
    refused = {text for module, text in _calls("Refusal", 1) if module.startswith(modules)}
    return refused | {text for module, text in _calls("invalid", 1) if module.startswith(modules)}


def actions_of_accounts() -> set[str]:
    """What an account's own history can hold."""
    return {text for module, text in _calls("note_event", 3) if module.startswith("people/")}


_GIVEN_SENTENCES = ("Refusal", "StoredFailure", "invalid", "mark", "note_event")


@cache
def _all_calls() -> tuple[tuple[str, ast.Call], ...]:
    """Every call of a plain name that sentences are given to, with its module; the modules are parsed once."""
    return tuple(
        (path.relative_to(_SOURCE).as_posix(), node)
        for path, tree in modules_with(rf"\b({'|'.join(_GIVEN_SENTENCES)})\(")
        if path.relative_to(_SOURCE).parts[0] != "taxes"  # the engine says nothing to people
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _GIVEN_SENTENCES
    )


def _calls(name: str, place: int) -> Iterator[tuple[str, str]]:
    assert name in _GIVEN_SENTENCES
    for module, node in _all_calls():
        if isinstance(node.func, ast.Name) and node.func.id == name and len(node.args) > place:
            for each in _texts(node.args[place]):
                yield module, each


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
