"""Slows down guessing: failures are counted by account and by network address, and forgiven with time.

A browser in which the person signed in before, and an existing session, are counted separately: a stranger who fails
on the person's address locks them out of neither. Kept in this process's memory, with a limit. Whether the address
has an account isn't checked, so a request to wait reveals nothing about it. A passkey can't be guessed and isn't
delayed by failures of its account.
"""

import datetime
import hashlib
import ipaddress
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock

_REMEMBERED: Final = 20_000


@dataclass(frozen=True, slots=True)
class Patience:
    """How many failures in a row are allowed, and how long it takes to forgive one."""

    burst: int
    forgiven_after: datetime.timedelta


OF_ACCOUNT: Final = Patience(8, datetime.timedelta(minutes=2))
OF_ADDRESS: Final = Patience(40, datetime.timedelta(seconds=20))
MAILS_OF_ADDRESS: Final = Patience(10, datetime.timedelta(minutes=3))
"""Links requested by mail, right or wrong: each may reach a stranger."""
ACCOUNTS_OF_MAILBOX: Final = Patience(5, datetime.timedelta(minutes=30))
"""Links to one mailbox that create an account there, no matter who requests them. Links for a new password have no
such limit: a stranger must not use it up."""


@dataclass(slots=True)
class _Tally:
    """Failures that aren't forgiven yet, as of a moment."""

    failures: float
    at: datetime.datetime


class SignInThrottle:
    """The recent failures."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tallies: OrderedDict[bytes, _Tally] = OrderedDict()

    def admit(self, address: str | None, account: str | None = None) -> None:
        """Allow an attempt, or raise `rate_limited` with the seconds to wait.

        It counts as a failure until `succeeded` reverses that, so parallel attempts get no more tries than sequential
        ones.
        """
        self._admit(_names(address, account))

    def admit_known(self, kind: Literal["device", "session"], number: UUID) -> None:
        """Do the same for a known browser or a session: counted separately, whatever strangers do."""
        self._admit([(_key(kind, str(number)), OF_ACCOUNT)])

    def known_succeeded(self, kind: Literal["device", "session"], number: UUID) -> None:
        """Forget the failures of a browser or a session: its person has signed in."""
        self._tallies.pop(_key(kind, str(number)), None)

    def _admit(self, names: list[tuple[bytes, Patience]]) -> None:
        due = max(self._due(name, patience) for name, patience in names)
        if due:
            raise Refusal(
                "rate_limited",
                "Too many attempts. Wait a few minutes, then try again.",
                details={"retry_after": due},
                headers={"Retry-After": str(due)},
            )
        for name, patience in names:
            self._count(name, patience)

    def succeeded(self, address: str | None, account: str | None = None) -> None:
        """Remove the attempt from the address's count, and forget the failures of the account, whose owner has signed
        in.
        """
        tally = self._tallies.get(_key("address", _network(address)))
        if tally is not None:
            tally.failures = max(0.0, tally.failures - 1)
        if account is not None:
            self._tallies.pop(_key("account", account), None)

    def mail_asked_for(self, address: str | None) -> None:
        """Count a requested link, or raise `rate_limited`."""
        self._count_links([_links_of(address)])

    def account_asked_for(self, address: str | None, mailbox: str) -> None:
        """Count a link to `mailbox` that would create an account, wherever it is requested from, or raise
        `rate_limited`.

        It counts the same if there is already an account.
        """
        self._count_links([_links_of(address), (_key("mailbox", mailbox), ACCOUNTS_OF_MAILBOX)])

    def _count_links(self, names: list[tuple[bytes, Patience]]) -> None:
        due = max(self._due(name, patience) for name, patience in names)
        if due:
            raise Refusal(
                "rate_limited",
                "Too many links were requested. Wait a few minutes.",
                details={"retry_after": due},
                headers={"Retry-After": str(due)},
            )
        for name, patience in names:
            self._count(name, patience)

    def _due(self, name: bytes, patience: Patience) -> int:
        tally = self._tallies.get(name)
        if tally is None:
            return 0
        over = self._left(tally, patience) - patience.burst + 1
        return max(0, math.ceil(over * patience.forgiven_after.total_seconds()))

    def _count(self, name: bytes, patience: Patience) -> None:
        tally = self._tallies.pop(name, None)
        failures = 1.0 if tally is None else self._left(tally, patience) + 1
        self._tallies[name] = _Tally(failures, self._clock.now())
        if len(self._tallies) > _REMEMBERED:
            self._tallies.popitem(last=False)

    def _left(self, tally: _Tally, patience: Patience) -> float:
        passed = max(0.0, (self._clock.now() - tally.at) / patience.forgiven_after)
        return max(0.0, tally.failures - passed)


def _names(address: str | None, account: str | None) -> list[tuple[bytes, Patience]]:
    names = [(_key("address", _network(address)), OF_ADDRESS)]
    if account is not None:
        names.append((_key("account", account), OF_ACCOUNT))
    return names


def _links_of(address: str | None) -> tuple[bytes, Patience]:
    return _key("mail", _network(address)), MAILS_OF_ADDRESS


def _key(kind: str, name: str) -> bytes:
    return hashlib.sha256(f"{kind} {name}".encode()).digest()


def _network(address: str | None) -> str:
    """Return the address, or for IPv6 one customer's network: the customer chooses the rest freely."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return (address or "")[:64]
    if found.version == 6:
        return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
