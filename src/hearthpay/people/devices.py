"""Known devices: browsers in which someone signed in before, recognized by a cookie that they can't forge.

The cookie is sealed with the key ring: it says which device it is, and who signed in there when. Wrong passwords sent
by strangers don't slow down anyone who uses such a browser, which is counted separately; a browser without the cookie
is new.

A browser in which a mailed link was opened is admitted: for a while it isn't slowed down by strangers either. It isn't
known: the person is warned of a sign-in there, and it proves nothing about them but that they read their mail.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

import orjson
from uuid_utils.compat import uuid7

from hearthpay.security.content_seal import device_place
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.sealed_text import open_text, seal_text

KEPT_FOR: Final = datetime.timedelta(days=400)
"""The longest that browsers keep a cookie (RFC 6265bis)."""

ADMITTED_FOR: Final = datetime.timedelta(hours=1)
"""How long a browser may try to sign in after its mailed link was opened, whatever strangers do."""

_MOST_PEOPLE: Final = 8
"""The most people remembered for one browser; beyond that, the most recent are kept."""


class Use(NamedTuple):
    """A person's use of a browser: when they last signed in there, and when first."""

    person_id: UUID
    latest: datetime.datetime
    first: datetime.datetime


@dataclass(frozen=True, slots=True)
class KnownBrowsers:
    """Which browsers count as known for a person: none whose latest sign-in was before `since`, and none first seen
    from `strangers_from` until `strangers_until`, when somebody else was in the account.
    """

    since: datetime.datetime | None = None
    strangers_from: datetime.datetime | None = None
    strangers_until: datetime.datetime | None = None

    def has(self, use: Use) -> bool:
        """Return whether the browser with this use counts as known."""
        if self.since is not None and use.latest < self.since:
            return False
        if self.strangers_from is None or self.strangers_until is None:
            return True
        return not self.strangers_from <= use.first <= self.strangers_until


@dataclass(frozen=True, slots=True)
class Device:
    """A browser: a number without meaning, its use by each person, and when each opened a mailed link there in order to
    sign in.
    """

    id: UUID
    people: tuple[Use, ...] = ()
    admitted: tuple[Use, ...] = ()

    def knows(self, person_id: UUID, known: KnownBrowsers) -> bool:
        """Return whether the person signed in here, and the browser counts as known for them."""
        return any(use.person_id == person_id and known.has(use) for use in self.people)

    def admits(self, person_id: UUID, known: KnownBrowsers) -> bool:
        """Return whether the person lately opened a mailed link here, and nobody else was in the account."""
        return any(use.person_id == person_id and known.has(use) for use in self.admitted)


def read_device(ring: KeyRing | None, now: datetime.datetime, cookie: str | None) -> Device | None:
    """Return the device in the cookie, without sign-ins that are too old; None if the cookie isn't one of ours."""
    content = None if ring is None or not cookie else open_text(ring, device_place(), cookie)
    if content is None:
        return None
    found = orjson.loads(content)
    return Device(
        UUID(found["id"]),
        _read(found["people"], now - KEPT_FOR),
        _read(found.get("admitted", []), now - ADMITTED_FOR),
    )


def device_cookie(
    ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID, *, known: bool = True
) -> str:
    """Return the cookie of a browser in which this person has just signed in; one that wasn't `known` begins again."""
    before = device or Device(uuid7())
    admitted = tuple(use for use in before.admitted if use.person_id != person_id)
    first = next((use.first for use in before.people if known and use.person_id == person_id), now)
    return _seal(ring, Device(before.id, _with(before.people, Use(person_id, now, first)), admitted))


def admitting_cookie(ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID) -> str:
    """Return the cookie of the browser in which this person has just opened a mailed link, in order to sign in."""
    before = device or Device(uuid7())
    return _seal(ring, Device(before.id, before.people, _with(before.admitted, Use(person_id, now, now))))


def _with(uses: Sequence[Use], use: Use) -> tuple[Use, ...]:
    others = tuple(each for each in uses if each.person_id != use.person_id)
    return (*others[-(_MOST_PEOPLE - 1) :], use)


def _read(kept: Sequence[Sequence[str]], after: datetime.datetime) -> tuple[Use, ...]:
    """Return the uses in a cookie; older cookies don't say when it was the first."""
    uses = (
        Use(UUID(person), *(datetime.datetime.fromisoformat(at) for at in (times[0], times[-1])))
        for person, *times in kept
    )
    return tuple(use for use in uses if use.latest > after)


def _seal(ring: KeyRing, device: Device) -> str:
    content = {
        "id": device.id,
        "people": [[str(use.person_id), use.latest, use.first] for use in device.people],
        "admitted": [[str(use.person_id), use.latest, use.first] for use in device.admitted],
    }
    return seal_text(ring.newest, device_place(), orjson.dumps(content))
