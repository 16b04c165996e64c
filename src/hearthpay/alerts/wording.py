"""The text of a security alert: what was done, by whom and when, and the link that stops it."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from hearthpay.alerts.sensitive_actions import SensitiveAct
from hearthpay.database.sensitive_actions import PAY
from hearthpay.languages.catalogue import Say, mark, moment_in
from hearthpay.mail.letter import Link, letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail
from hearthpay.people.identity import masked
from hearthpay.people.recipients import NoticeReader
from hearthpay.time_zones import shown_in

MOST_LISTED: Final = 20
"""Actions that one mail lists; for more it states how many."""

_SUBJECT: Final = mark("A sensitive setting was changed at {organization}")
_INTRODUCTION: Final = mark("This was done at {organization}:")
_ITEM: Final = mark("{when}, {who}: {what}")
_MORE: Final = mark("And {count} more in the history.")
_STOP: Final = mark("This was not right")
_WHAT_TO_DO: Final = mark(
    "If someone did this who shouldn't have, open the link above. You don't need to sign in. "
    "We undo what can be undone. For a day, no one new gets access and no bank account or "
    "address changes."
)
_CONTINUES: Final = mark("Payroll continues.")
_ACCOUNT_ENDS: Final = mark(
    "Payroll continues, but nothing is paid to or from a bank account that was reported."
)
"""Said instead where an account ends by the link."""

_NOT_ALL: Final = mark("The link doesn't stop all of this. An owner can stop the rest.")
_WITHOUT_LINK: Final = mark(
    "If somebody did this who should not have, sign in and look at the history at once."
)
_END_EARLY: Final = mark("An owner can end this earlier under Settings, Members.")
_TELL: Final = mark("If this isn't right, tell the household at once.")
_OPERATOR: Final = mark("Contact your administrator at {operator}.")
_NOBODY: Final = mark("none")

_WHO: Final = {
    "user": mark("a member"),
    "key": mark("an API key"),
    "mcp": mark("an app"),
    "employee": mark("the employee"),
    "system": mark("Hearthpay"),
    "operator": mark("your administrator"),
}
SENTENCES: Final = {
    "employer.update": mark(
        "the email address of the {household} household was changed from {old} to {new}."
    ),
    "employer.restore_address": mark(
        "the email address of the {household} household was restored, from {old} to {new}. Someone had reported the "
        "change as wrong."
    ),
    "employee.update": mark("this was changed for {employee}: {settings}."),
    "employee.restore_address": mark(
        "the email address of {employee} was restored, from {old} to {new}. Someone had reported the change as wrong."
    ),
    "employee.terminate": mark("the job of {employee} with the {household} household was ended."),
    "employee.reinstate": mark("{employee} was rehired by the {household} household."),
    "escrow.set_rule": mark("what is set aside from the pay of {employee} was changed."),
    "employee.unlink": mark("the account of {employee} was disconnected from the record."),
    "invitation.create": mark("a link was opened by which {employee} can enter a bank account."),
    "account_change.ask": mark("{employee} asked to be paid to a bank account ending in {digits}."),
    "bank_account.connect": mark("a bank account ending in {digits} was connected for {whose}."),
    "bank_account.disconnect": mark("the bank account of {whose} was disconnected."),
    "key.create": mark("an API key ending in {digits} was made."),
    "agent.connect": mark("the app {client} was connected."),
    "member.invite": mark("somebody was invited as {role}."),
    "member.join": mark("{member} joined as {role}."),
    "member.change_role": mark("{member} became {role}."),
    "member.ask_to_leave": mark(
        "somebody asked to remove or demote {member}, an owner. That takes effect after a day at the earliest."
    ),
    "member.remove": mark("{member} was removed."),
    "member.leave": mark("{member} left."),
    "member.change_role_by_operator": mark("{member} became {role}."),
    "member.remove_by_operator": mark("{member} was removed."),
    "calendar_link.create": mark("an address of the {household} household's calendar was made."),
    "organization.freeze": mark(
        "someone reported this as wrong. Until {until}, no one new gets access and no bank account or address changes."
    ),
    "organization.unfreeze": mark("the day without new access and changes of addresses was ended early."),
    "household.freeze": mark(
        "someone reported this as wrong. Until {until}, no one new gets access to the {household} household, and no "
        "bank account or address changes there."
    ),
    "household.unfreeze": mark(
        "the day without new access and changes of addresses was ended early for the {household} household."
    ),
}
"""The sentence for each sensitive action, by its name in the audit log."""

_SETTINGS: Final = {
    "email": mark("the email address, from {old} to {new}"),
    "payment_method": mark("the payment method"),
    "federal_withholding": mark("Form W-4"),
    "state_withholding": mark("the state's withholding certificate"),
}
_PAY: Final = mark("the pay")
_ROLES: Final = {"viewer": mark("viewer"), "admin": mark("admin"), "owner": mark("owner")}


def alert_mail(
    to: NoticeReader,
    acts: Sequence[SensitiveAct],
    *,
    link: str | None,
    covered: Collection[UUID],
    operator: str | None,
) -> Mail:
    """Return the mail that reports these actions of one organization to this reader; `link` stops the ones with the
    `covered` ids.
    """
    say = to.say
    organization = name_in_mail(acts[0].organization)
    items = tuple(_item(to, act) for act in acts[:MOST_LISTED])
    more = len(acts) - len(items)
    return letter(
        to.address,
        to.language,
        say(_SUBJECT, organization=organization),
        "",
        (
            say(_INTRODUCTION, organization=organization),
            *items,
            *((say(_MORE, count=more),) if more else ()),
        ),
        link=None if link is None else Link(link, say(_STOP)),
        closing=(
            *((say(_END_EARLY),) if any(act.action.endswith(".freeze") for act in acts) else ()),
            *_what_to_do(to, [act for act in acts if act.id in covered], len(acts), linked=link is not None),
            *(() if operator is None else (say(_OPERATOR, operator=operator),)),
        ),
    )


def _what_to_do(
    to: NoticeReader, covered: Sequence[SensitiveAct], number: int, *, linked: bool
) -> tuple[str, ...]:
    if not linked:
        return (to.say(_TELL if to.person_id is None else _WITHOUT_LINK),)
    pays = to.say(payroll_after(covered))
    rest = (to.say(_NOT_ALL),) if len(covered) < number else ()
    return (f"{to.say(_WHAT_TO_DO)} {pays}", *rest)


def payroll_after(stopped: Collection[SensitiveAct]) -> str:
    """Return what becomes of payroll once these actions are stopped: an account that ends is paid nothing."""
    ends = any(act.action == "bank_account.connect" for act in stopped)
    return _ACCOUNT_ENDS if ends else _CONTINUES


def _item(to: NoticeReader, act: SensitiveAct) -> str:
    with shown_in(act.zone):
        return to.say(
            _ITEM,
            when=moment_in(to.language, act.at),
            who=_who(to.say, act),
            what=what_was_done(to.say, to.language, act),
        )


def what_was_done(say: Say, language: str, act: SensitiveAct) -> str:
    """Return the action as a sentence in the reader's language; names in it are safe to repeat in a mail."""
    details = act.details
    before, after = details.get("before") or {}, details.get("after") or {}
    employee = name_in_mail(act.employee or "")
    household = name_in_mail(act.household or "")
    role = details.get("role") or after.get("role")
    gaps: dict[str, Any] = {
        "household": household,
        "employee": employee,
        "member": name_in_mail(act.member or ""),
        "whose": employee if act.employee_id is not None else household,
        "digits": details.get("last_four", ""),
        "client": name_in_mail(str(details.get("client", ""))),
        "role": say(_ROLES[role]) if role in _ROLES else "",
        "old": _address(say, before.get("email")),
        "new": _address(say, after.get("email")),
        "settings": ", ".join(_settings(say, before, after)),
        "until": _moment(language, details.get("until")),
    }
    return say(SENTENCES[act.action], **gaps)


def _who(say: Say, act: SensitiveAct) -> str:
    return name_in_mail(act.actor_name) if act.actor_name else say(_WHO[act.actor_kind])


def _settings(say: Say, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    found = [
        say(sentence, old=_address(say, before.get("email")), new=_address(say, after.get("email")))
        for name, sentence in _SETTINGS.items()
        if name in before
    ]
    return found + ([say(_PAY)] if before.keys() & PAY else [])


def _address(say: Say, address: str | None) -> str:
    """Return an address in a form that its reader recognizes and no mail program turns into a link."""
    return say(_NOBODY) if not address else name_in_mail(masked(address).replace("@", " at "))


def _moment(language: str, moment: str | None) -> str:
    return "" if moment is None else moment_in(language, datetime.datetime.fromisoformat(moment))
