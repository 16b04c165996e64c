"""The email with the link to the portal, in the employee's language. It contains no secret but the link."""

import datetime
from typing import Final

from hearthpay.employees.commands import InvitationType
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import hour_in, mark, say_in
from hearthpay.mail.letter import Link, letter
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail
from hearthpay.time_zones import shown_in

_SUBJECTS: Final[dict[InvitationType, str]] = {
    "bank_account": mark("The “{household}” household would like to pay you by direct deposit"),
    "tax_info": mark("The “{household}” household needs your tax information for payroll"),
}
_ASKED: Final[dict[InvitationType, str]] = {
    "bank_account": mark(
        "A household that calls itself “{household}” would like to pay your wages straight to your bank account. "
        "Enter your routing and account number on this page:"
    ),
    "tax_info": mark(
        "A household that calls itself “{household}” needs your Social Security number or ITIN to report your wages. "
        "Enter it, your address and your tax forms on three short pages:"
    ),
}
_UNTIL: Final[dict[InvitationType, str]] = {
    "bank_account": mark(
        "The link is for you alone and works once, until {expires}. Never send these numbers by email or text message."
    ),
    "tax_info": mark(
        "The link is for you alone and works until {expires}, or until everything is in. Never send these numbers by "
        "email or text message."
    ),
}
_NOT_YOU: Final = mark("If you do not work for “{household}”, please ignore this message.")
_SOMEBODY: Final = mark("Your employer")


def invitation_mail(
    to: str,
    employer: Employer,
    employee: Employee,
    invitation_type: InvitationType,
    portal_url: str,
    expires_at: datetime.datetime,
) -> Mail:
    """Return the mail to the address `to`; the link's last day is in the household's time.

    Names that the household chose appear as `name_in_mail` formats them, and nothing else that it chose appears.
    """
    language = employee.language
    say = say_in(language)
    household = name_in_mail(employer.first_name, employer.last_name) or say(_SOMEBODY)
    with shown_in(employer.zone):
        expires = hour_in(language, expires_at)
    return letter(
        to,
        language,
        say(_SUBJECTS[invitation_type], household=household),
        employee.first_name,
        (say(_ASKED[invitation_type], household=household),),
        link=Link(portal_url, say(mark("Open the page"))),
        closing=(
            say(_UNTIL[invitation_type], expires=expires),
            say(_NOT_YOU, household=household),
        ),
    )
