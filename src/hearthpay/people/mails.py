"""What people are written: links that prove an address, and news of their account. In their language, text and HTML."""

from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.languages.catalogue import mark, say_in
from hearthpay.mail.letter import Link, letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail

PersonMailKind = Literal[
    "sign_up",
    "account_exists",
    "reset",
    "new_email",
    "invitation",
    "new_sign_in",
    "changed",
    "moved",
    "employee_account",
    "record_changed",
    "record_entered",
    "bank_changed",
    "bank_entered",
    "bank_connected",
    "employee_changed",
    "agent_ended",
]


@dataclass(frozen=True, slots=True)
class _Wording:
    """Subject, what it is about, what the link is called, and what to do where it was not asked for."""

    subject: str
    body: str
    link: str | None
    otherwise: str


_IGNORE: Final = mark(
    "If you did not ask for this, please ignore this message: nothing happens without the link."
)
_ALARM: Final = mark(
    "If this was not you, reset your password now and end all other sessions in your settings."
)
_NOT_ME: Final = mark("If this was not you, sign in and change your password now, and tell the household.")
_PLAIN_GAPS: Final = frozenset({"when", "what", "old", "new", "start"})
"""What we say ourselves; every other gap takes what somebody chose."""

_WORDINGS: Final[dict[PersonMailKind, _Wording]] = {
    "sign_up": _Wording(
        mark("Your Hearthpay account"),
        mark("Open this link within 24 hours to make your account:"),
        mark("Make my account"),
        _IGNORE,
    ),
    "account_exists": _Wording(
        mark("You have a Hearthpay account"),
        mark(
            "Someone asked to make an account with this address, which has one already. You can sign in here:"
        ),
        mark("Sign in"),
        _IGNORE,
    ),
    "reset": _Wording(
        mark("Choose a new password"),
        mark("Open this link within an hour to choose a new password:"),
        mark("Choose a new password"),
        _IGNORE,
    ),
    "new_email": _Wording(
        mark("Confirm your new address"),
        mark("Open this link within 24 hours to use this address for your account:"),
        mark("Use this address"),
        _IGNORE,
    ),
    "invitation": _Wording(
        mark("You are invited to {organization}"),
        mark("{inviter} invites you to {organization} on Hearthpay. Open this link within seven days:"),
        mark("Accept the invitation"),
        mark("If you do not know who this is, please ignore this message."),
    ),
    "new_sign_in": _Wording(
        mark("New sign-in to your account"),
        mark("Someone signed in to your account from a browser that we had not seen before, on {when}."),
        None,
        _ALARM,
    ),
    "changed": _Wording(
        mark("Your account was changed"),
        mark("This was changed on {when}: {what}."),
        None,
        _ALARM,
    ),
    "moved": _Wording(
        mark("Your account has a new address"),
        mark("On {when} your account was given another email address. This one is not used any more."),
        None,
        mark("If this was not you, please write to whoever runs this service at once."),
    ),
    "employee_account": _Wording(
        mark("Your account for your pay"),
        mark(
            "Open this link within 24 hours to make your account and to see your pay from the {household} household:"
        ),
        mark("Make my account"),
        _IGNORE,
    ),
    "record_changed": _Wording(
        mark("Your record with the {household} household was changed"),
        mark("This was changed on {when}: {what}."),
        None,
        _NOT_ME,
    ),
    "record_entered": _Wording(
        mark("Your record with the {household} household was changed"),
        mark("On {when} this was entered by the link of an invitation: {what}."),
        None,
        mark(
            "If this was not you, tell the household at once and ask for a new link: what you enter by it takes the "
            "place of this."
        ),
    ),
    "bank_changed": _Wording(
        mark("The bank account for your pay is being changed"),
        mark(
            "On {when} a bank account was changed: that for your pay from the {household} household. "
            "Until now: {old}. New: {new}. Money goes to the new one from {start} on, and not before."
        ),
        None,
        _NOT_ME,
    ),
    "bank_entered": _Wording(
        mark("The bank account for your pay is being changed"),
        mark(
            "On {when} a bank account was entered by the link of an invitation: that for your pay from the {household} "
            "household. Until now: {old}. New: {new}. Money goes to the new one from {start} on, and not before."
        ),
        mark("Take the change back"),
        mark(
            "If this was not you, tell the household at once and take the change back: the link above leads to your "
            "account, or to where you make one. Or ask the household for a new link and enter the right bank account: "
            "that takes the place of this one."
        ),
    ),
    "bank_connected": _Wording(
        mark("The bank account for your pay was connected"),
        mark(
            "On {when} a bank account was connected: that for your pay from the {household} household. "
            "Until now: {old}. New: {new}. Money goes to the new one from now on."
        ),
        None,
        mark("If you did not expect this, tell the household at once."),
    ),
    "employee_changed": _Wording(
        mark("{employee} changed something"),
        mark("On {when} {employee} changed this: {what}."),
        None,
        mark("If you did not expect this, ask {employee} in person."),
    ),
    "agent_ended": _Wording(
        mark("A program that acted for you was shut out"),
        mark(
            "On {when} {client} was shut out: what it identifies itself with was used twice, as it would be if "
            "somebody had stolen it. Nothing can be done with it any more."
        ),
        None,
        mark(
            "Look at what it did last, under Settings, Agents. If you still use the program and find nothing wrong, "
            "you can let it in again. If something there was not asked for by you, change it now."
        ),
    ),
}


def person_mail(
    kind: PersonMailKind, to: str, language: str, *, name: str = "", link: str | None = None, **gaps: str
) -> Mail:
    """Return the mail; names in `gaps` stand in it as `name_in_mail` has them."""
    say = say_in(language)
    wording = _WORDINGS[kind]
    safe = {gap: value if gap in _PLAIN_GAPS else name_in_mail(value) for gap, value in gaps.items()}
    return letter(
        to,
        language,
        say(wording.subject, **safe),
        name,
        (say(wording.body, **safe),),
        link=None if link is None or wording.link is None else Link(link, say(wording.link)),
        closing=(say(wording.otherwise, **safe),),
    )
