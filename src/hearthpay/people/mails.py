"""Mails to people: links that verify an address, and news of their account. In their language, text and HTML."""

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
    "sign_in_link",
    "new_email",
    "invitation",
    "new_sign_in",
    "changed",
    "by_operator",
    "moved",
    "employee_account",
    "record_changed",
    "record_entered",
    "bank_changed",
    "bank_entered",
    "bank_asked",
    "bank_connected",
    "household_decided",
    "employee_changed",
    "link_requested",
    "agent_ended",
    "stopped",
    "disputed",
    "address_settled",
]


@dataclass(frozen=True, slots=True)
class _Wording:
    """The subject, the body, the link's text, and what to do if the mail wasn't requested; `without_link`, where its
    reader gets no link.
    """

    subject: str
    body: str
    link: str | None
    otherwise: str
    without_link: str | None = None


_IGNORE: Final = mark(
    "If you did not ask for this, please ignore this message: nothing happens without the link."
)
_STOP: Final = mark("This was not me")
_ALARM: Final = mark(
    "If this was not you, open the link above. You don't need to sign in. We end the session in which it was done and "
    "remove what was added since. For a day, no new way to sign in can be added."
)
_NOT_ME: Final = mark(
    "If this was not you, open the link above and tell the household. You don't need to sign in. We end the session in "
    "which it was done. For a day, no new way to sign in can be added."
)
_TELL_HOUSEHOLD: Final = mark("If this was not you, tell the household at once.")
_NOT_MY_ACCOUNT: Final = mark(
    "If this was not you, open the link above and tell the household. You don't need to sign "
    "in. We cancel the new bank account and accept no other one for a day."
)
_OPERATOR: Final = mark("Contact your administrator at {operator}.")
_PLAIN_GAPS: Final = frozenset({"when", "what", "old", "new", "start"})
"""Gaps that we fill ourselves; every other gap takes text that someone chose."""

_WORDINGS: Final[dict[PersonMailKind, _Wording]] = {
    "sign_up": _Wording(
        mark("Your Hearthpay account"),
        mark("Open this link within 24 hours to create your account:"),
        mark("Create account"),
        _IGNORE,
    ),
    "account_exists": _Wording(
        mark("You have a Hearthpay account"),
        mark(
            "Someone asked to create an account with this address, which has one already. You can sign in here:"
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
    "sign_in_link": _Wording(
        mark("Sign in from a new browser"),
        mark(
            "Open this link within an hour, in the browser that you want to sign in from. You then sign in as always, "
            "with your password:"
        ),
        mark("Continue to sign in"),
        _IGNORE,
    ),
    "new_email": _Wording(
        mark("Confirm your new address"),
        mark("Open this link within 24 hours to use this address for your account:"),
        mark("Use this address"),
        _IGNORE,
    ),
    "invitation": _Wording(
        mark("You are invited to “{organization}”"),
        mark("“{inviter}” invites you to “{organization}” on Hearthpay. Open this link within seven days:"),
        mark("Accept the invitation"),
        mark(
            "They chose these names themselves. If you do not know who this is, please ignore this message."
        ),
    ),
    "new_sign_in": _Wording(
        mark("New sign-in to your account"),
        mark("Someone signed in to your account from a browser that we had not seen before, on {when}."),
        _STOP,
        _ALARM,
    ),
    "changed": _Wording(
        mark("Your account was changed"),
        mark("This was changed on {when}: {what}."),
        _STOP,
        _ALARM,
    ),
    "by_operator": _Wording(
        mark("Your administrator changed your account"),
        mark("On {when} your administrator changed this: {what}."),
        None,
        mark("If you did not ask for this, contact your administrator at once."),
    ),
    "moved": _Wording(
        mark("Your account has a new address"),
        mark(
            "On {when} the email address of your account was changed. For seven days we still send "
            "warnings to this one."
        ),
        _STOP,
        mark(
            "If this was not you, open the link above. You don't need to sign in. We end the session in which it was "
            "done and mail nobody a link for a new password. Sign in with a browser that you used before, or with "
            "two-step verification, and choose the right address."
        ),
        mark("If this was not you, ask an owner of your organization or your administrator."),
    ),
    "employee_account": _Wording(
        mark("Your account for your pay"),
        mark(
            "Open this link within 24 hours to create your account and see your pay from the {household} household:"
        ),
        mark("Create account"),
        _IGNORE,
    ),
    "record_changed": _Wording(
        mark("Your record with the {household} household was changed"),
        mark("This was changed on {when}: {what}."),
        _STOP,
        _NOT_ME,
        _TELL_HOUSEHOLD,
    ),
    "record_entered": _Wording(
        mark("Your record with the {household} household was changed"),
        mark("On {when} this was entered with an invitation's link: {what}."),
        None,
        mark(
            "If this was not you, tell the household at once and ask for a new link. What you enter there replaces "
            "this."
        ),
    ),
    "bank_changed": _Wording(
        mark("The bank account for your pay is being changed"),
        mark(
            "Your bank account for pay from {household} was changed on {when}. Old: {old}. New: "
            "{new}. The new account starts on {start}."
        ),
        _STOP,
        _NOT_MY_ACCOUNT,
        _TELL_HOUSEHOLD,
    ),
    "bank_entered": _Wording(
        mark("The bank account for your pay is being changed"),
        mark(
            "On {when} a bank account for your pay from the {household} household was entered with an invitation's "
            "link. Old: {old}. New: {new}. Pay goes to the new account from {start} on."
        ),
        _STOP,
        _NOT_MY_ACCOUNT,
        _TELL_HOUSEHOLD,
    ),
    "bank_asked": _Wording(
        mark("The bank account for your pay is being changed"),
        mark(
            "On {when} a bank account for your pay from the {household} household was entered. Old: {old}. New: {new}. "
            "An email address was changed or an account was reported shortly before, so an owner of the household must "
            "agree first. Pay goes to the new account on {start} at the earliest."
        ),
        _STOP,
        _NOT_MY_ACCOUNT,
        _TELL_HOUSEHOLD,
    ),
    "household_decided": _Wording(
        mark("Your record with the {household} household was changed"),
        mark("This was changed on {when}: {what}."),
        None,
        mark("If you do not agree, ask the household."),
    ),
    "bank_connected": _Wording(
        mark("The bank account for your pay was connected"),
        mark(
            "On {when} a bank account for your pay from the {household} household was connected. "
            "Old: {old}. New: {new}. Pay goes to the new account from now on."
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
    "link_requested": _Wording(
        mark("{employee} asks for a new link"),
        mark(
            "On {when} {employee} asked for a new link to enter tax or bank details. Open the employee in Hearthpay "
            "and choose Invitations to send one."
        ),
        None,
        mark("If you did not expect this, ask {employee} in person."),
    ),
    "stopped": _Wording(
        mark("Your account was secured"),
        mark(
            "On {when} somebody opened the link in one of our warnings. What was done since then was ended. A password "
            "from before works only in a browser that you used before, or with two-step verification. Choose a new "
            "password:"
        ),
        mark("Choose a new password"),
        mark("If you did not open that link, somebody else reads your mail."),
    ),
    "disputed": _Wording(
        mark("Which address is yours?"),
        mark(
            "On {when} somebody opened the link in one of our warnings. Shortly before, the address of this account "
            "was changed from {old} to {new}, and we can't tell which mailbox is yours. Until that is decided we mail "
            "no link for a new password. Sign in with a browser that you used before, or with two-step verification, "
            "and choose the right address:"
        ),
        mark("Choose the address"),
        mark("If you can't sign in, another owner of your organization or your administrator can decide it."),
    ),
    "address_settled": _Wording(
        mark("The address of your account"),
        mark("On {when} it was decided that the address of this account is {new}, and not {old}."),
        None,
        mark("If this is not right, ask an owner of your organization or your administrator."),
    ),
    "agent_ended": _Wording(
        mark("We disconnected an app from your account"),
        mark(
            "On {when} we disconnected {client}: its token was used twice, as happens when one is "
            "stolen. It no longer has access."
        ),
        None,
        mark(
            "Check what it did last under Settings, Connected apps. If you still use the app and "
            "everything looks right, connect it again. If you see something you didn't ask for, "
            "change it now."
        ),
    ),
}


def person_mail(
    kind: PersonMailKind,
    to: str,
    language: str,
    *,
    name: str = "",
    link: str | None = None,
    operator: str | None = None,
    **gaps: str,
) -> Mail:
    """Return the mail; names in `gaps` appear as `name_in_mail` formats them. With `operator` it ends with whom to
    contact."""
    say = say_in(language)
    wording = _WORDINGS[kind]
    closing = wording.otherwise if link is not None else wording.without_link or wording.otherwise
    safe = {gap: value if gap in _PLAIN_GAPS else name_in_mail(value) for gap, value in gaps.items()}
    return letter(
        to,
        language,
        say(wording.subject, **safe),
        name,
        (say(wording.body, **safe),),
        link=None if link is None or wording.link is None else Link(link, say(wording.link)),
        closing=(
            say(closing, **safe),
            *(() if operator is None else (say(_OPERATOR, operator=operator),)),
        ),
    )
