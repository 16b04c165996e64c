"""What a name of a place may mean besides a local tax, and what is assumed where no place was named."""

from typing import NamedTuple

from hearthpay.taxes.trace import Source


class CertificatePlace(NamedTuple):
    """A place whose tax is part of the state's line: choosing it fills in an entry of the certificate."""

    locality: str
    aliases: tuple[str, ...]
    field: str
    value: str


class NotOwed(NamedTuple):
    """A local payroll tax that a household owes nothing of, and why."""

    locality: str
    aliases: tuple[str, ...]
    name: str
    reason: str
    sources: tuple[Source, ...]


GOES_WITH = ("state_line", "state_tax", "nothing")
"""What an assumption about the place goes with: the state's own line, the state's tax, or nothing."""

CITIES = ("", "all", "some")
"""Whether the cities of the rule file are all that tax, or some; empty where the tax is none of cities."""


class Unchosen(NamedTuple):
    """What is taken for granted of an employee whose place nobody named."""

    code: str
    message: str
    certificate_fields: tuple[str, ...]
    """Entries of the certificate of which any settles the place, also by saying that there is none."""

    groups: tuple[str, ...]
    """Groups of localities of which one settles it; empty where any locality does."""

    goes_with: str
    only_if: str | None
    """A flag of the certificate that must be set for the assumption to matter."""

    cities: str
