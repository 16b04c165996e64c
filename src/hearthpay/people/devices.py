"""Known devices: browsers in which someone signed in before, recognized by a cookie that they can't forge.

The cookie is sealed with the key ring: it says which device it is, and who signed in there when. Wrong passwords sent
by strangers don't slow down anyone who uses such a browser, which is counted separately; a browser without the cookie
is new.
"""

from __future__ import annotations

import datetime
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

_MOST_PEOPLE: Final = 8
"""The most people remembered for one browser; beyond that, the most recent are kept."""


@dataclass(frozen=True, slots=True)
class Device:
    """A browser: a number without meaning, and when each person last signed in there."""

    id: UUID
    people: tuple[tuple[UUID, datetime.datetime], ...] = ()

    def knows(self, person_id: UUID, since: datetime.datetime | None) -> bool:
        """Return whether the person signed in here, and not before `since`, when they had all browsers forgotten."""
        return any(known == person_id and (since is None or at >= since) for known, at in self.people)


def read_device(ring: KeyRing | None, now: datetime.datetime, cookie: str | None) -> Device | None:
    """Return the device in the cookie, without sign-ins that are too old; None if the cookie isn't one of ours."""
    content = None if ring is None or not cookie else open_text(ring, device_place(), cookie)
    if content is None:
        return None
    found = orjson.loads(content)
    people = tuple((UUID(person), datetime.datetime.fromisoformat(at)) for person, at in found["people"])
    return Device(UUID(found["id"]), tuple((each, at) for each, at in people if at > now - KEPT_FOR))


def device_cookie(ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID) -> str:
    """Return the cookie of the browser in which this person has just signed in."""
    others = () if device is None else tuple(each for each in device.people if each[0] != person_id)
    people = (*others[-(_MOST_PEOPLE - 1) :], (person_id, now))
    number = uuid7() if device is None else device.id
    content = orjson.dumps({"id": number, "people": [[str(person), at] for person, at in people]})
    return seal_text(ring.newest, device_place(), content)
