"""Known devices: browsers in which somebody signed in before, told by a cookie that they keep and cannot make.

The cookie is sealed with the key ring: which device it is, and who signed in there when. Wrong passwords that strangers
send slow down nobody who comes from such a browser, which is counted by itself; and a browser that has none is new.
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
"""As long as browsers keep a cookie (RFC 6265bis)."""

_MOST_PEOPLE: Final = 8
"""People whom one browser is known for; of more, those who came last."""


@dataclass(frozen=True, slots=True)
class Device:
    """A browser: a number that means nothing, and when each person last signed in there."""

    id: UUID
    people: tuple[tuple[UUID, datetime.datetime], ...] = ()

    def knows(self, person_id: UUID, since: datetime.datetime | None) -> bool:
        """Return whether the person signed in here, and not before `since`, when she had all browsers forgotten."""
        return any(known == person_id and (since is None or at >= since) for known, at in self.people)


def read_device(ring: KeyRing | None, now: datetime.datetime, cookie: str | None) -> Device | None:
    """Return the device that the cookie tells; None for none of ours, and for one that is too old."""
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
