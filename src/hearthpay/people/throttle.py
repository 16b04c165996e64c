"""Slows down guessing: failures are counted by account and by network address, and forgiven with time.

A browser in which the person signed in before, and an existing session, are counted separately: a stranger who fails
on the person's address locks them out of neither. So are the browsers in which a mailed link was opened, all of an
account together: links give their reader no more attempts than strangers have. All processes count together
(`access.throttle`). Whether the address has an account isn't checked, so a request to wait reveals nothing about it. A
passkey can't be guessed and isn't delayed by failures of its account.

Never ask within a transaction: the count may be another server's, or need a second connection.
"""

import datetime
import ipaddress
from collections.abc import Callable, Sequence
from typing import Final, Literal
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.access.throttle import AttemptLimit, AttemptStore, Tally, Throttle, tally
from hearthpay.clock import Clock

_REMEMBERED: Final = 20_000

OF_ACCOUNT: Final = AttemptLimit(8, datetime.timedelta(minutes=2))
OF_ADDRESS: Final = AttemptLimit(40, datetime.timedelta(seconds=20))
MAILS_OF_ADDRESS: Final = AttemptLimit(10, datetime.timedelta(minutes=3))
"""Links requested by mail, right or wrong: each may reach a stranger."""
ACCOUNTS_OF_MAILBOX: Final = AttemptLimit(5, datetime.timedelta(minutes=30))
"""Links to one mailbox that create an account there: all that strangers request together, and those that each
organization or invited employee requests. Links for a new password have no such limit: a stranger must not use it
up.
"""

ESTIMATES_OF_ADDRESS: Final = AttemptLimit(60, datetime.timedelta(seconds=10))
"""Estimates of a cost without signing in: a person tries some, a program that walks through all is slowed down."""


KnownPlace = Literal["device", "device code", "mailed", "mailed code", "session"]
"""What is counted apart from strangers: passwords and codes in a known browser, passwords and codes in the browsers
that an account's mailed links admitted, and proofs in a session.
"""


class SignInThrottle:
    """The recent failures."""

    def __init__(self, clock: Clock, stores: Sequence[AttemptStore] = ()) -> None:
        self._throttle = Throttle(clock, stores, remembered=_REMEMBERED)

    async def admit(self, address: str | None, account: str | None = None) -> None:
        """Allow an attempt, or raise `rate_limited` with the seconds to wait.

        It counts as a failure until `succeeded` reverses that, so parallel attempts get no more tries than sequential
        ones.
        """
        of_account = [] if account is None else [_of_account(account)]
        await self._admit([_of_address(address), *of_account], _too_many_attempts)

    async def admit_known(self, kind: KnownPlace, number: UUID) -> None:
        """Do the same for a known browser or a session: counted separately, whatever strangers do."""
        await self._admit([tally(kind, str(number), OF_ACCOUNT)], _too_many_attempts)

    async def known_succeeded(self, kind: KnownPlace, number: UUID) -> None:
        """Forget the failures of a browser or a session: its person has signed in."""
        await self._throttle.forgive(entirely=[tally(kind, str(number), OF_ACCOUNT)])

    async def succeeded(self, address: str | None, account: str | None = None, *others: str) -> None:
        """Remove the attempt from the address's count, and forget the failures of the account, whose owner has signed
        in, and those counted under `others`.
        """
        accounts = others if account is None else (account, *others)
        await self._throttle.forgive([_of_address(address)], [_of_account(each) for each in accounts])

    async def mail_asked_for(self, address: str | None) -> None:
        """Count a requested link, or raise `rate_limited`."""
        await self._admit([_links_of(address)], _too_many_links)

    async def account_asked_for(
        self, address: str | None, mailbox: str, *, asked_by: UUID | None = None
    ) -> None:
        """Count a link to `mailbox` that would create an account, wherever it is requested from, or raise
        `rate_limited`.

        It counts the same if there is already an account. What an organization or an invited employee asks for
        (`asked_by`) is counted apart from strangers and from others.
        """
        counted = mailbox if asked_by is None else f"{mailbox} {asked_by}"
        await self._admit(
            [_links_of(address), tally("mailbox", counted, ACCOUNTS_OF_MAILBOX)], _too_many_links
        )

    async def estimate_asked_for(self, address: str | None) -> None:
        """Count an estimate by somebody who isn't signed in, or raise `rate_limited`."""
        await self._admit([tally("estimate", _network(address), ESTIMATES_OF_ADDRESS)], _too_many_attempts)

    async def _admit(self, tallies: Sequence[Tally], refusal: Callable[[int], Refusal]) -> None:
        due = await self._throttle.admit(tallies)
        if due:
            raise refusal(due)


def _too_many_attempts(seconds: int) -> Refusal:
    return Refusal(
        "rate_limited",
        "Too many attempts. Wait a few minutes, then try again.",
        details={"retry_after": seconds},
        headers={"Retry-After": str(seconds)},
    )


def _too_many_links(seconds: int) -> Refusal:
    return Refusal(
        "rate_limited",
        "Too many links were requested. Wait a few minutes.",
        details={"retry_after": seconds},
        headers={"Retry-After": str(seconds)},
    )


def _of_address(address: str | None) -> Tally:
    return tally("address", _network(address), OF_ADDRESS)


def _of_account(account: str) -> Tally:
    return tally("account", account, OF_ACCOUNT)


def _links_of(address: str | None) -> Tally:
    return tally("mail", _network(address), MAILS_OF_ADDRESS)


def _network(address: str | None) -> str:
    """Return the address, or for IPv6 one customer's network: the customer chooses the rest freely."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return (address or "")[:64]
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped  # as a server that listens on both kinds of addresses sees IPv4 clients
    if found.version == 6:
        return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
    return str(found)
