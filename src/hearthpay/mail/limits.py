"""Daily limits of mail, which keep the operator's mail server from becoming a relay."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import Final

LIMITS_VARIABLE: Final = "MAIL_LIMITS"


class MailLimitsError(Exception):
    """MAIL_LIMITS is invalid; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class MailLimits:
    """The mails that may be queued in a UTC day, on behalf of one employee, household and organization."""

    employee: int
    household: int
    organization: int
    mailbox: int
    """Invitations to one mailbox, on behalf of all organizations together."""

    young: int
    """Mailboxes that an organization less than a week old may invite."""

    def exceeded_by(self, *, employee: int, household: int, organization: int) -> str | None:
        """Return whose limit leaves no room for one more mail after today's count; None if there is room."""
        for name, sent in (("employee", employee), ("household", household), ("organization", organization)):
            if sent >= getattr(self, name):
                return name
        return None


def _packaged() -> MailLimits:
    with files("hearthpay.mail").joinpath("limits.toml").open("rb") as file:
        return MailLimits(**tomllib.load(file))


USUAL_LIMITS: Final = _packaged()
"""The limits in `limits.toml`."""


def mail_limits(environment: Mapping[str, str]) -> MailLimits:
    """Return the usual limits, with those replaced by MAIL_LIMITS. Raises MailLimitsError."""
    names = {field.name for field in fields(MailLimits)}
    replaced: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in environment.get(LIMITS_VARIABLE, "").split(","))):
        name, _, number = (part.strip() for part in entry.partition("="))
        if name not in names or name in replaced or not (number.isascii() and number.isdecimal()):
            raise MailLimitsError(
                f"{LIMITS_VARIABLE} must be written employee=5,household=25,organization=100,mailbox=6,young=10, each "
                "once and none below zero"
            )
        replaced[name] = int(number)
    return replace(USUAL_LIMITS, **replaced)
