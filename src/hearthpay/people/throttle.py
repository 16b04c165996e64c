"""Slows down whoever guesses: failures are counted by account and by network address, and forgiven with time.

A browser in which she signed in before, and a session that she has, are counted by themselves: a stranger who fails on
her address keeps her out of neither. In this process's memory, bounded. Whether there is an account of that address is
not looked at, so being told to wait says nothing about it. A passkey is never guessed and is not held up by failures of
its account.
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
    """How many failures in a row are taken, and how long it takes to forgive one."""

    burst: int
    forgiven_after: datetime.timedelta


OF_ACCOUNT: Final = Patience(8, datetime.timedelta(minutes=2))
OF_ADDRESS: Final = Patience(40, datetime.timedelta(seconds=20))
MAILS_OF_ADDRESS: Final = Patience(10, datetime.timedelta(minutes=3))
"""Links asked for by mail, right or wrong: each may reach a stranger."""
ACCOUNTS_OF_MAILBOX: Final = Patience(5, datetime.timedelta(minutes=30))
"""Links to one mailbox that make an account there, whoever asks. Those for a new password have no such end: a stranger
must not use it up."""


@dataclass(slots=True)
class _Tally:
    """Failures that are not forgiven yet, as of a moment."""

    failures: float
    at: datetime.datetime


class SignInThrottle:
    """The failures of the last while."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tallies: OrderedDict[bytes, _Tally] = OrderedDict()

    def admit(self, address: str | None, account: str | None = None) -> None:
        """Let an attempt pass, or raise `rate_limited` with the seconds to wait.

        It counts as a failure until `succeeded` takes that back: of many attempts at once no more pass than one by one.
        """
        self._admit(_names(address, account))

    def admit_known(self, kind: Literal["device", "session"], number: UUID) -> None:
        """The same for a browser that is known, or a session: counted by itself, whatever strangers do meanwhile."""
        self._admit([(_key(kind, str(number)), OF_ACCOUNT)])

    def known_succeeded(self, kind: Literal["device", "session"], number: UUID) -> None:
        """Forget the failures of a browser or a session: its person is here."""
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
        """Take the attempt back from the address, and forget the failures of the account, whose owner is here."""
        tally = self._tallies.get(_key("address", _network(address)))
        if tally is not None:
            tally.failures = max(0.0, tally.failures - 1)
        if account is not None:
            self._tallies.pop(_key("account", account), None)

    def mail_asked_for(self, address: str | None) -> None:
        """Count a link that was asked for, or raise `rate_limited`."""
        self._count_links([_links_of(address)])

    def account_asked_for(self, address: str | None, mailbox: str) -> None:
        """Count a link to `mailbox` that would make an account, or raise `rate_limited`, from wherever it is asked for.

        It counts alike whether there is an account already.
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
    """Return the address, of IPv6 the network of one customer: the rest he may choose as he likes."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return (address or "")[:64]
    if found.version == 6:
        return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
