"""The email that brings an employee the link to the portal. It holds no secret but the link."""

from datetime import datetime
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from hearthpay.clock import BUSINESS_TIME
from hearthpay.employees.commands import InvitationType
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.mail.mailer import Mail
from hearthpay.mail.wording import name_in_mail

_SUBJECTS: Final[dict[InvitationType, str]] = {
    "bank_account": "{household} would like to pay you by direct deposit",
    "tax_info": "{household} needs your tax information for payroll",
}
_SOMEBODY: Final = "Your employer"
_TEMPLATES: Final = Environment(
    loader=PackageLoader("hearthpay.employees"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def invitation_mail(
    to: str,
    employer: Employer,
    employee: Employee,
    invitation_type: InvitationType,
    portal_url: str,
    expires_at: datetime,
) -> Mail:
    """Return the mail to the address `to`; the last day of the link is told in US Eastern time.

    What the household chose, names, stands in it as `name_in_mail` has it, and nothing else of theirs does.
    """
    household = name_in_mail(employer.first_name, employer.last_name) or _SOMEBODY
    facts = {
        "type": invitation_type,
        "household": household,
        "first_name": name_in_mail(employee.first_name),
        "portal_url": portal_url,
        "expires": f"{expires_at.astimezone(BUSINESS_TIME):%A, %B %-d, at %-I:%M %p} Eastern time",
    }
    return Mail(
        to=to,
        subject=_SUBJECTS[invitation_type].format(household=household),
        text=_TEMPLATES.get_template("invitation.txt").render(facts),
        html=_TEMPLATES.get_template("invitation.html").render(facts),
    )
