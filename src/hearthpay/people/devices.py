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
from typing import Final
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


@dataclass(frozen=True, slots=True)
class Device:
    """A browser: a number without meaning, when each person last signed in there, and when each opened a mailed link
    there in order to sign in.
    """

    id: UUID
    people: tuple[tuple[UUID, datetime.datetime], ...] = ()
    admitted: tuple[tuple[UUID, datetime.datetime], ...] = ()

    def knows(self, person_id: UUID, since: datetime.datetime | None) -> bool:
        """Return whether the person signed in here, and not before `since`, when they had all browsers forgotten."""
        return _has(self.people, person_id, since)

    def admits(self, person_id: UUID, since: datetime.datetime | None) -> bool:
        """Return whether the person lately opened a mailed link here, and not before `since`."""
        return _has(self.admitted, person_id, since)


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


def device_cookie(ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID) -> str:
    """Return the cookie of the browser in which this person has just signed in."""
    before = device or Device(uuid7())
    admitted = tuple(each for each in before.admitted if each[0] != person_id)
    return _seal(ring, Device(before.id, _with(before.people, person_id, now), admitted))


def admitting_cookie(ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID) -> str:
    """Return the cookie of the browser in which this person has just opened a mailed link, in order to sign in."""
    before = device or Device(uuid7())
    return _seal(ring, Device(before.id, before.people, _with(before.admitted, person_id, now)))


def _has(
    people: Sequence[tuple[UUID, datetime.datetime]], person_id: UUID, since: datetime.datetime | None
) -> bool:
    return any(person == person_id and (since is None or at >= since) for person, at in people)


def _with(
    people: Sequence[tuple[UUID, datetime.datetime]], person_id: UUID, now: datetime.datetime
) -> tuple[tuple[UUID, datetime.datetime], ...]:
    others = tuple(each for each in people if each[0] != person_id)
    return (*others[-(_MOST_PEOPLE - 1) :], (person_id, now))


def _read(
    kept: Sequence[tuple[str, str]], after: datetime.datetime
) -> tuple[tuple[UUID, datetime.datetime], ...]:
    people = ((UUID(person), datetime.datetime.fromisoformat(at)) for person, at in kept)
    return tuple((person, at) for person, at in people if at > after)


def _seal(ring: KeyRing, device: Device) -> str:
    content = {
        "id": device.id,
        "people": [[str(person), at] for person, at in device.people],
        "admitted": [[str(person), at] for person, at in device.admitted],
    }
    return seal_text(ring.newest, device_place(), orjson.dumps(content))
