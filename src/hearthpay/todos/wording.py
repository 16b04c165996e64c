"""To-dos in words: what to do, and the whole sentence with its amount and date for mails, the API and the terminal."""

import datetime
from collections.abc import Mapping
from typing import Final

from hearthpay.duties.titles import with_period
from hearthpay.languages.catalogue import day_in, day_of_year_in, mark, money_in, say_in
from hearthpay.payroll.issues.open_payment_words import payment_text
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import from_cents
from hearthpay.todos.to_do import ToDo, ToDoKind

_ACTIONS: Final[Mapping[ToDoKind, str]] = {
    "payroll_held": mark("Approve the {day} payroll"),
    "authorize_autopilot": mark("Authorize Autopilot's debits for {name}"),
    "account_failed": mark("Connect a bank account"),
    "account_needs_word": mark("Approve {name}'s new bank account"),
    "account_to_confirm": mark("Confirm that {name} made an account"),
    "new_link_asked": mark("Send {name} a new link"),
    "pay_rate_missing": mark("Enter {name}'s pay rate"),
    "run_payroll": mark("Run payroll"),
    "first_payroll": mark("Run {name}'s first payroll"),
    "check_to_hand_over": mark("Pay {name}"),
    "pay_taxes": mark("Pay {agency}"),
    "file_and_pay": mark("File and pay {agency}"),
    "file_return": mark("File with {agency}"),
    "amend_return": mark("File an amended return with {agency}"),
    "register": mark("Register with {agency}"),
    "enter_number": mark("Enter your number from {agency}"),
    "enter_rate": mark("Enter your {year} unemployment rate for {state}"),
    "tax_info_missing": mark("Ask {name} for a Social Security number"),
    "tax_info_asked": mark("Wait for {name}'s Social Security number"),
    "bank_account_asked": mark("Wait for {name}'s bank account"),
    "ein_missing": mark("Add your EIN"),
    "replace_key": mark("Replace the API key ending in {name}"),
    "renew_agent": mark("Connect {name} again"),
}
"""A verb and its object; those about a payment have its sentence, the other kinds the words of their duty."""

_LABELS: Final[Mapping[ToDoKind, str]] = {
    "debit_returned": mark("Debit returned"),
    "deposit_failed": mark("Deposit failed"),
    "payroll_failed": mark("Payroll failed"),
    "deposit_held": mark("Payment on hold"),
    "authorization_needed": mark("Debit to authorize"),
    "debit_due": mark("Debit due"),
    "payroll_held": mark("Payroll to approve"),
    "authorize_autopilot": mark("Autopilot to authorize"),
    "account_failed": mark("Bank account rejected"),
    "account_needs_word": mark("New bank account"),
    "account_to_confirm": mark("Account to confirm"),
    "new_link_asked": mark("New link requested"),
    "pay_rate_missing": mark("Pay missing"),
    "first_payroll": mark("Never paid"),
    "enter_rate": mark("Unemployment rate missing"),
    "tax_info_missing": mark("SSN missing"),
    "tax_info_asked": mark("SSN requested"),
    "bank_account_asked": mark("Bank account requested"),
    "ein_missing": mark("EIN missing"),
}
"""What a table says of a kind in a few words."""

_ENTER_POLICY: Final = {
    "workers-compensation": mark("Enter your workers' compensation policy"),
    "disability-policy": mark("Enter your disability and paid family leave policy"),
}
"""Once the first day of work is past, all that is known is that no policy is entered."""

_ONE_DAY_LATE: Final = mark("1 day late")
_DAYS_LATE: Final = mark("{days} days late")
_DUE: Final = mark("due {day}")
_EXPIRES: Final = mark("expires {day}")
_EXPIRED: Final = mark("expired {day}")
NO_PAYROLL_SINCE: Final = mark("no payroll since {day}")
_PAYDAY: Final = mark("payday {day}")
_PAYDAY_WAS: Final = mark("payday was {day}")
_OF_PAYDAYS: Final = frozenset({"run_payroll", "check_to_hand_over", "authorize_autopilot"})
_FEMININE: Final = frozenset(
    {"CCA", "DWS", "ISTC", "LWC", "OESC", "OTC", "OTR", "RITA", "TWC", "USTC", "VEC"}
)
"""Abbreviations of commissions, divisions, offices and agencies, which are feminine in Spanish."""
_EXPIRING: Final = frozenset({"replace_key", "renew_agent"})


def agency_text(agency: str, language: str) -> str:
    """Return an agency's name in a sentence: an abbreviation has an article, "the IRS", "el IRS", "la TWC"."""
    if not (agency.isupper() and agency.isalpha()):
        return agency
    if language == "es":
        return f"{'la' if agency in _FEMININE else 'el'} {agency}"
    return f"the {agency}"


def contracted(sentence: str, language: str) -> str:
    """Return the sentence with "al" and "del", where an article follows the Spanish "a" and "de"."""
    return sentence.replace(" a el ", " al ").replace(" de el ", " del ") if language == "es" else sentence


def label_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return a few words for a table, without names: "Payroll failed"; other kinds are said by `action_text`."""
    label = _LABELS.get(to_do.kind)
    return action_text(to_do, language, today) if label is None else say_in(language)(label)


def action_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return what to do in words, and for which period: "Pay the EDD: April–June 2026"."""
    return with_period(_action(to_do, language, today), to_do.covers, language)


def action_with_amount_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return the same with the amount: "Pay the EDD $436.20: April–June 2026"."""
    text = _action(to_do, language, today)
    if to_do.amount is not None and to_do.payment is None:
        text += f" {money_in(language, from_cents(to_do.amount))}"
    return with_period(text, to_do.covers, language)


def _action(to_do: ToDo, language: str, today: datetime.date) -> str:
    if to_do.payment is not None:
        return payment_text(to_do.payment, language)
    say = say_in(language)
    if to_do.kind == "get_policy" and to_do.due_on is not None and to_do.due_on < today:
        return say(_ENTER_POLICY[to_do.key.split("/")[1]])
    sentence = _ACTIONS.get(to_do.kind)
    if sentence is None:
        return say(to_do.what or "")
    text = say(
        sentence,
        name=to_do.name,
        agency=agency_text(say(to_do.agency or ""), language),
        state=STATES.get(to_do.state or "", ""),
        year=to_do.period,
        day="" if to_do.day is None else day_of_year_in(language, to_do.day),
    )
    return contracted(text, language)


def days_late_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return by how many days it is late; empty where it isn't."""
    if not to_do.overdue or to_do.due_on is None:
        return ""
    days = (today - to_do.due_on).days
    return say_in(language)(_ONE_DAY_LATE if days == 1 else _DAYS_LATE, days=days)


def date_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return by when it is to be done, or how late it is; empty for what has no date."""
    if to_do.payment is not None:
        return ""  # its sentence has its days
    say = say_in(language)
    if to_do.kind in _EXPIRING and to_do.due_on is not None:
        return say(_EXPIRED if to_do.due_on < today else _EXPIRES, day=day_in(language, to_do.due_on))
    if to_do.kind in _OF_PAYDAYS and to_do.day is not None:
        return say(_PAYDAY_WAS if to_do.day < today else _PAYDAY, day=day_in(language, to_do.day))
    if to_do.kind == "first_payroll" and to_do.day is not None:
        return say(NO_PAYROLL_SINCE, day=day_in(language, to_do.day))
    late = days_late_text(to_do, language, today)
    if late:
        return late
    if to_do.due_on is None or to_do.due_on < today:
        return ""
    return say(_DUE, day=day_in(language, to_do.due_on))


def title_text(to_do: ToDo, language: str, today: datetime.date) -> str:
    """Return the to-do in one line: "Pay the EDD $436.20: April–June 2026, 20 days late"."""
    text = action_with_amount_text(to_do, language, today)
    whose = to_do.name if to_do.payment is None else None
    if whose is not None and (to_do.kind == "run_payroll" or to_do.kind not in _ACTIONS):
        text += f" ({whose})"
    date = date_text(to_do, language, today)
    return f"{text}, {date}" if date else text
