"""The history: who did what in the organization, before and after, by kind of action, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_AUDIT
from hearthpay.database import audit
from hearthpay.database.audit import AuditEntry
from hearthpay.database.sensitive_actions import is_delicate
from hearthpay.employers.service import shared_time_zone
from hearthpay.people import members
from hearthpay.time_zones import set_shown_time_zone
from hearthpay.web.framework import page_of, show
from hearthpay.web.mode_switch import count_households, in_other_mode
from hearthpay.web.settings.audit_entries import ACTORS, SERVICE_CALLS
from hearthpay.web.settings.history_changes import SettingChange, changes_of
from hearthpay.web.settings.history_objects import ObjectLink, Objects, about, links_of, read_objects
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

HISTORY_PATH: Final = "/settings/audit"
SHOWN: Final = 50
"""Acts of a page."""


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One action: its name, who did it, what it changed, and whether it is sensitive."""

    entry: AuditEntry
    deed: str
    who: str
    changes: tuple[SettingChange, ...]
    delicate: bool
    links: tuple[ObjectLink, ...]
    """The pages of what it is about."""


@page_of(router, "GET", HISTORY_PATH, "member", permission=READ_AUDIT)
async def show_history(visitor: Visitor) -> Response:
    """Show who did what: of one kind of action if the query says so, and from one action on."""
    actor, query, say = visitor.actor(), visitor.request.query_params, visitor.say
    requested = query.get("what") if query.get("what") in SERVICE_CALLS else None
    older_than = _id(query.get("before"))
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        entries = await audit.entries(
            session,
            organization_id=actor.organization_id,
            action=requested,
            older_than=older_than,
            limit=SHOWN + 1,
        )
        zone = await shared_time_zone(session)
        objects = await read_objects(session, entries[:SHOWN])
        names = {each.person_id: each.name for each in await members.list_members(session, actor)}
    if zone is not None:
        set_shown_time_zone(zone)
    items = [_item(visitor, entry, names, objects) for entry in entries[:SHOWN]]
    facts = {
        "items": items,
        "kinds": sorted(
            ((name, say(words)) for name, words in SERVICE_CALLS.items()), key=lambda each: each[1]
        ),
        "requested": requested,
        "older": entries[SHOWN - 1].id if len(entries) > SHOWN else None,
        "newest": older_than is None,
    }
    facts |= await in_other_mode(visitor, kind="history", history=count_households)
    return show(visitor, "audit.html", facts)


def _item(visitor: Visitor, entry: AuditEntry, names: Mapping[UUID, str], objects: Objects) -> HistoryItem:
    say = visitor.say
    known = names.get(entry.actor_id) if entry.actor_id is not None else None
    who = known or say(ACTORS[entry.actor_kind])
    changes = changes_of(say, visitor.language, entry, who, _name_of(entry, names, objects))
    deed = say(SERVICE_CALLS[entry.action]) if entry.action in SERVICE_CALLS else entry.action
    return HistoryItem(
        entry,
        deed,
        who,
        changes,
        entry.sandbox is not True and is_delicate(entry.action, entry.details),
        tuple(links_of(say, visitor.language, entry, objects)),
    )


def _name_of(entry: AuditEntry, names: Mapping[UUID, str], objects: Objects) -> str | None:
    """Return whose settings an entry changed."""
    subject = about(entry)
    if subject is None:
        return None
    if subject in objects.employees:
        return objects.employees[subject][1]
    return objects.households.get(subject) or names.get(subject)


def _id(text: str | None) -> UUID | None:
    try:
        return None if text is None else UUID(text)
    except ValueError:
        return None
