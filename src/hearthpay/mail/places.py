"""Where a notice leads: the page about its very subject, as the button of its letter, and whose household it is.

Letters are written before it is known where the installation is reached, so their links to our own pages begin with a
name that nobody has. The outbox replaces it.
"""

from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from hearthpay.languages.catalogue import mark
from hearthpay.mail.mailer import Mail

OURS: Final = "https://hearthpay.invalid"
"""How links to our own pages begin until the letter is queued."""

_HOUSEHOLD: Final = ("", mark("Open the household"))
_PAYROLL: Final = mark("View payroll")
_OF_HOUSEHOLD: Final[dict[str, tuple[str, str]]] = {
    "duties_due": ("/calendar", mark("Open the calendar")),
    "account_changed": ("/bank", mark("View the bank account")),
    "package_ready": ("/taxes/papers", mark("Open the documents")),
}
_OF_EMPLOYEE: Final[dict[str, tuple[str, str]]] = {
    "pay_stub": ("/my", mark("View your pay stub")),
    "document_ready": ("/my", mark("View your W-2")),
}
_AUTOPILOT: Final = ("/autopilot", mark("Open Autopilot"))


@dataclass(frozen=True, slots=True)
class MailPlace:
    """A page of ours, the words of the button that leads there, and the household that the letter is about, if any."""

    path: str
    label: str
    household: tuple[str, ...] = ()


def place_of_household(
    kind: str, household: UUID, payroll: UUID | None, name: tuple[str, ...] = ()
) -> MailPlace:
    """Return where a household's notice of this kind leads; `name` is the household's."""
    root = f"/app/{household}"
    if payroll is not None:
        return MailPlace(f"{root}/payrolls/{payroll}", _PAYROLL, name)
    otherwise = _AUTOPILOT if kind.startswith("autopilot_") else _HOUSEHOLD
    path, label = _OF_HOUSEHOLD.get(kind, otherwise)
    return MailPlace(root + path, label, name)


def place_of_employee(kind: str) -> MailPlace | None:
    """Return where an employee's notice of this kind leads; None where they can do nothing on a page."""
    return MailPlace(*_OF_EMPLOYEE[kind]) if kind in _OF_EMPLOYEE else None


def reached_at(mail: Mail, begin: str) -> Mail:
    """Return the mail with its links to our pages as they begin at this installation."""
    return replace(mail, text=mail.text.replace(OURS, begin), html=mail.html.replace(OURS, begin))
