"""The API's requests and responses about invitations to the portal."""

import datetime
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hearthpay.employees.commands import InvitationType, Invite
from hearthpay.wire.answer_fields import EmployeeIdentifier, HouseholdIdentifier
from hearthpay.wire.fields import RequestModel


class NewInvitation(RequestModel):
    """A link through which an employee enters a number that the API never takes."""

    type: InvitationType = Field(
        description="`bank_account`: routing and account number. `tax_info`: Social Security number or ITIN."
    )
    send_email: bool = Field(
        default=True,
        description="Whether to send the link to the employee. False: you pass it on yourself, and the limit of one "
        "`bank_account` invitation in 24 hours does not apply.",
    )

    def to_command(self) -> Invite:
        """Return the invitation in plain values."""
        return Invite(self.type, self.send_email)


EmailStatus = Literal["sent", "queued", "failed"]


@dataclass(frozen=True, slots=True)
class InvitationItem:
    """An open invitation; the link is valid whatever happens to the email.

    `email_sent` is true once the mail server has accepted the email. Otherwise `email_status` is `queued` (it is
    retried until the link expires), `failed`, or null if none was to be sent; `email_reason` is the reason, in a
    word: `not_requested`, `no_address`, `no_mail_server`, `sandbox`, `daily_limit_of_employee` (or `_household`,
    `_organization`), `not_taken_yet`, `mail_server_unreachable`, `mail_server_too_slow`, `mail_server_busy`,
    `mail_server_refuses_us`, `recipient_refused`, `message_refused`, `unsafe_content`, `not_taken_in_time`,
    `replaced`, `used`.
    """

    portal_url: str
    """The link to give the employee. Anyone who has it can enter the number: don't publish it."""

    email_sent: bool
    """Whether the mail server has accepted the email. The link is valid either way."""

    expires_at: datetime.datetime
    """Until when the link is valid, in UTC."""

    email_status: EmailStatus | None
    """`sent`, `queued` (it is retried until the link expires) or `failed`; null if no email was to be sent."""

    email_reason: str | None
    """Why the email wasn't sent, by code, such as `not_requested` or `no_address`; null if it was."""

    employer_id: HouseholdIdentifier
    employee_id: EmployeeIdentifier
