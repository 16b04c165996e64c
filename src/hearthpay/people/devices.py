"""Known devices: browsers in which someone signed in before, recognized by a cookie that they can't forge.

The cookie is sealed with the key ring: it says which device it is, and who signed in there when. Wrong passwords sent
by strangers don't slow down anyone who uses such a browser, which is counted separately; a browser without the cookie
is new.
"""

from __future__ import annotations

import datetime
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
    """A browser: a number without meaning, and its use by each person."""

    id: UUID
    people: tuple[Use, ...] = ()

    def knows(self, person_id: UUID, known: KnownBrowsers) -> bool:
        """Return whether the person signed in here, and the browser counts as known for them."""
        return any(use.person_id == person_id and known.has(use) for use in self.people)


def read_device(ring: KeyRing | None, now: datetime.datetime, cookie: str | None) -> Device | None:
    """Return the device in the cookie, without sign-ins that are too old; None if the cookie isn't one of ours."""
    content = None if ring is None or not cookie else open_text(ring, device_place(), cookie)
    if content is None:
        return None
    found = orjson.loads(content)
    people = tuple(_use(*facts) for facts in found["people"])
    return Device(UUID(found["id"]), tuple(use for use in people if use.latest > now - KEPT_FOR))


def device_cookie(
    ring: KeyRing, now: datetime.datetime, device: Device | None, person_id: UUID, *, known: bool = True
) -> str:
    """Return the cookie of a browser in which this person has just signed in; one that wasn't `known` begins again."""
    before = () if device is None else device.people
    others = tuple(use for use in before if use.person_id != person_id)
    first = next((use.first for use in before if use.person_id == person_id), now)
    if not known:
        first = now
    uses = (*others[-(_MOST_PEOPLE - 1) :], Use(person_id, now, first))
    number = uuid7() if device is None else device.id
    content = orjson.dumps(
        {"id": number, "people": [[str(use.person_id), use.latest, use.first] for use in uses]}
    )
    return seal_text(ring.newest, device_place(), content)


def _use(person: str, latest: str, first: str | None = None) -> Use:
    """Return the use in a cookie; older cookies don't say when it was the first."""
    last = datetime.datetime.fromisoformat(latest)
    return Use(UUID(person), last, last if first is None else datetime.datetime.fromisoformat(first))
