"""Stop links: links in warnings by which the reader can stop the reported change without signing in.

A link names what it stops and until when it works, sealed with the key ring: the database keeps nothing of it. It can
only reverse, end and freeze. It works once because of what it does: a reversed change can't be reversed again.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

import orjson

from hearthpay.access.refusal import Refusal
from hearthpay.security.content_seal import stop_link_place
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.sealed_text import open_text, seal_text

STOP_PATH: Final = "/stop"
WORKS_FOR: Final = datetime.timedelta(days=7)

PersonChange = Literal[
    "sign_in",
    "password",
    "factor_added",
    "factor_removed",
    "codes",
    "passkey_added",
    "passkey_removed",
    "address",
    "record",
]
"""The changes that can happen to a person's account; `record`: something in an employee's record that is theirs."""


@dataclass(frozen=True, slots=True)
class StopAccount:
    """Stops a change of a person's account: `subject` is the session or the credential it concerns, and `address` the
    one that the account had before.

    `at` is when the change was made, and `session_id` the session in which it was: what is older stays.
    """

    person_id: UUID
    change: PersonChange
    at: datetime.datetime
    subject: UUID | None = None
    address: str | None = None
    session_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class StopRecord:
    """Stops an employee's new bank account while it is pending, as long as `address` is the employee's; links of
    earlier versions name none.
    """

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID
    address: str | None = None


@dataclass(frozen=True, slots=True)
class StopActs:
    """Stops sensitive actions of an organization: those of the audit log with these ids, as far as its holder may.

    The holder is the reader of `address`: `member` if it is an owner's or admin's, or was until their own removal;
    else a household's contact or an employee. Links of earlier versions name no holder.
    """

    organization_id: UUID
    acts: tuple[UUID, ...]
    address: str | None = None
    member: UUID | None = None


Stop = StopAccount | StopRecord | StopActs
_KINDS: Final[dict[str, type[Stop]]] = {"account": StopAccount, "record": StopRecord, "acts": StopActs}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def stop_link(ring: KeyRing, now: datetime.datetime, links_begin: str, stop: Stop) -> str:
    """Return the link, valid for WORKS_FOR from now; `links_begin` is the service's address."""
    facts = {name: getattr(stop, name) for name in stop.__slots__}
    content = orjson.dumps({"kind": _NAMES[type(stop)], "until": now + WORKS_FOR, "facts": facts})
    return f"{links_begin}{STOP_PATH}/{seal_text(ring.newest, stop_link_place(), content)}"


def read_stop(ring: KeyRing, now: datetime.datetime, token: str) -> Stop:
    """Return what the link stops. Raises `not_found` for a link that isn't ours, `gone` for one that has expired."""
    content = open_text(ring, stop_link_place(), token)
    if content is None:
        raise Refusal("not_found", "Link not found.")
    found: dict[str, Any] = orjson.loads(content)
    if datetime.datetime.fromisoformat(found["until"]) <= now:
        raise Refusal("gone", "This link was used already or has expired.")
    facts = found["facts"]
    match found["kind"]:
        case "account":
            until = datetime.datetime.fromisoformat(found["until"])
            at = facts.get("at")
            return StopAccount(
                UUID(facts["person_id"]),
                facts["change"],
                until - WORKS_FOR if at is None else datetime.datetime.fromisoformat(at),
                _id(facts["subject"]),
                facts["address"],
                _id(facts.get("session_id")),
            )
        case "record":
            return StopRecord(
                UUID(facts["organization_id"]),
                UUID(facts["employer_id"]),
                facts["sandbox"],
                UUID(facts["employee_id"]),
                facts.get("address"),
            )
        case _:
            return StopActs(
                UUID(facts["organization_id"]),
                tuple(UUID(each) for each in facts["acts"]),
                facts.get("address"),
                _id(facts.get("member")),
            )


def _id(text: str | None) -> UUID | None:
    return None if text is None else UUID(text)
