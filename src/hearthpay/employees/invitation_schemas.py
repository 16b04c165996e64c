"""What goes over the wire about invitations to the portal."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from hearthpay.http.fields import RequestModel

InvitationType = Literal["bank_account", "tax_info"]


class NewInvitation(RequestModel):
    """A link by which an employee enters a number that the API never takes."""

    type: InvitationType = Field(
        description="`bank_account`: routing and account number. `tax_info`: Social Security number or ITIN."
    )
    send_email: bool = Field(
        default=True,
        description="Whether to send the link to the employee. False: you pass it on yourself, and the limit of one "
        "`bank_account` invitation in 24 hours does not apply.",
    )


@dataclass(frozen=True, slots=True)
class InvitationItem:
    """An open invitation.

    `email_sent` is false where no email left: none was asked for, the employee has no address, the household is
    a sandbox one, or the service has no mail server that would take it. The link is valid all the same.
    """

    portal_url: str
    email_sent: bool
    expires_at: datetime
