"""What a place name can refer to besides a local tax, and the assumptions if no place was named."""

from typing import NamedTuple

from hearthpay.taxes.trace import Source


class CertificatePlace(NamedTuple):
    """A place whose tax is part of the state's line: choosing it fills in an entry of the certificate."""

    locality: str
    aliases: tuple[str, ...]
    field: str
    value: str


class NotOwed(NamedTuple):
    """A local payroll tax that a household doesn't owe, and why."""

    locality: str
    aliases: tuple[str, ...]
    name: str
    reason: str
    sources: tuple[Source, ...]


GOES_WITH = ("state_line", "state_tax", "nothing")
"""What an assumption about the place depends on: the state's own line, the state's tax, or nothing."""

CITIES = ("", "all", "some")
"""Whether the rule file has all of the cities that tax, or only some; empty if the tax isn't a city's."""


class Unchosen(NamedTuple):
    """What is assumed about an employee whose place wasn't named."""

    code: str
    message: str
    certificate_fields: tuple[str, ...]
    """Certificate entries any of which settles the place, even by saying that there is none."""

    groups: tuple[str, ...]
    """Groups of localities any of which settles it; empty if any locality does."""

    goes_with: str
    only_if: str | None
    """A flag of the certificate that must be set for the assumption to matter."""

    cities: str
