"""The history: who did what in the organization, before and after, by kind of action, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_AUDIT
from hearthpay.database import audit
from hearthpay.database.audit import AuditEntry
from hearthpay.database.sensitive_actions import is_delicate
from hearthpay.employers.service import shared_time_zone
from hearthpay.languages.catalogue import Say, mark
from hearthpay.people import members
from hearthpay.people.identity import masked
from hearthpay.time_zones import set_shown_time_zone
from hearthpay.web.framework import page_of, show
from hearthpay.web.presentation import dollars_text
from hearthpay.web.settings.audit_entries import ACTORS, SERVICE_CALLS, SETTINGS
from hearthpay.web.settings.history_objects import ObjectLink, Objects, links_of, read_objects
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

HISTORY_PATH: Final = "/settings/audit"
SHOWN: Final = 50
"""Acts of a page."""

_LONGEST_VALUE: Final = 80
_NONE: Final = mark("none")
_CHANGED: Final = mark("changed")
_MONEY: Final = frozenset({"pay_rate", "overtime_rate", "salary"})
_CHANGED_OF: Final = mark("{who} changed {name}'s {setting} from {before} to {after}")
_CHANGED_SETTING: Final = mark("{who} changed the {setting} from {before} to {after}")
_YES: Final = mark("yes")
_NO: Final = mark("no")


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One changed setting for display, and the sentence that tells the change; addresses are masked."""

    name: str
    before: str
    after: str
    sentence: str


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
    return show(visitor, "audit.html", facts)


def _item(visitor: Visitor, entry: AuditEntry, names: Mapping[UUID, str], objects: Objects) -> HistoryItem:
    say = visitor.say
    known = names.get(entry.actor_id) if entry.actor_id is not None else None
    who = known or say(ACTORS[entry.actor_kind])
    before, after = entry.details.get("before"), entry.details.get("after")
    changes: tuple[SettingChange, ...] = ()
    if isinstance(before, dict) and isinstance(after, dict):
        changed = _name_of(entry, objects)
        changes = tuple(
            _change(say, who, changed, name, before.get(name), after.get(name))
            for name in sorted(before.keys() | after.keys())
        )
    deed = say(SERVICE_CALLS[entry.action]) if entry.action in SERVICE_CALLS else entry.action
    return HistoryItem(
        entry,
        deed,
        who,
        changes,
        entry.sandbox is not True and is_delicate(entry.action, entry.details),
        tuple(links_of(say, visitor.language, entry, objects)),
    )


def _name_of(entry: AuditEntry, objects: Objects) -> str | None:
    """Return whose settings an entry changed."""
    if entry.subject_id is None:
        return None
    if entry.subject_id in objects.employees:
        return objects.employees[entry.subject_id][1]
    return objects.households.get(entry.subject_id)


def _change(say: Say, who: str, whose: str | None, name: str, before: object, after: object) -> SettingChange:
    setting = say(SETTINGS[name]) if name in SETTINGS else name.replace("_", " ")
    shown = {"before": _shown(say, name, before), "after": _shown(say, name, after)}
    sentence = _CHANGED_SETTING if whose is None else _CHANGED_OF
    return SettingChange(
        setting,
        **shown,
        sentence=say(sentence, who=who, name=whose, setting=setting, **shown)
        if whose is not None
        else say(sentence, who=who, setting=setting, **shown),
    )


def _shown(say: Say, name: str, value: object) -> str:
    """Return a setting for display; long or structured values are only marked as changed."""
    if value is None or value == "" or value == []:
        return say(_NONE)
    if name == "email":
        return masked(str(value))
    if isinstance(value, bool):
        return say(_YES if value else _NO)
    if name in _MONEY:
        try:
            return dollars_text(Decimal(str(value)))
        except (InvalidOperation, ValueError):
            return str(value)
    if isinstance(value, dict | list) or len(str(value)) > _LONGEST_VALUE:
        return say(_CHANGED)
    return str(value)


def _id(text: str | None) -> UUID | None:
    try:
        return None if text is None else UUID(text)
    except ValueError:
        return None
