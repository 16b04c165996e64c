"""The organization: its members, and its API keys."""

import datetime
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import (
    FEATURE_OF_SCOPE,
    KEEP_KEYS,
    KEEP_MEMBERS,
    LEAVE,
    READ_KEYS,
    READ_MEMBERS,
    SCOPES,
)
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.accounts.freezing import freezes_in_force
from hearthpay.accounts.own_keys import (
    NewKey,
    create_own_key,
    households_for_keys,
    keys_made_by,
    list_own_keys,
    revoke_own_key,
)
from hearthpay.clock import end_of_day
from hearthpay.http.runtime import address_in_mail
from hearthpay.languages.catalogue import mark
from hearthpay.mail.bounces import bounced
from hearthpay.mail.person_mail import ASKED_LINKS
from hearthpay.people import members
from hearthpay.people.identity import read_address
from hearthpay.people.mails import person_mail
from hearthpay.people.owner_removal import keep_member
from hearthpay.web.framework import go, id_in_path, page_of, problems_of, show
from hearthpay.web.mode_switch import in_other_mode
from hearthpay.web.settings.scope_words import SCOPE_NAMES, SCOPE_WORDS
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_INVITED: Final = mark("The invitation is on its way.")
_ASKED: Final = mark(
    "This is an owner, so we emailed them. Ask again after a day, or have another owner ask too, and it is done."
)
_KEPT_KEY: Final = "keep_"


@page_of(router, "GET", "/settings/members", "member", permission=READ_MEMBERS)
async def list_members(visitor: Visitor) -> Response:
    """List the organization's members and invitations."""
    return await _members(visitor, {})


@page_of(router, "POST", "/settings/members", "member", permission=KEEP_MEMBERS, fresh=True)
async def invite(visitor: Visitor) -> Response:
    """Invite a person by email; without a mail server the owner is shown the link."""
    people_context, who, actor = visitor.people_context, visitor.signed_in, visitor.actor(of_both_modes=True)
    assert who.here is not None
    try:
        if people_context.sends_mail:
            mailbox = read_address(visitor.form.get("email", ""))
            await people_context.throttle.account_asked_for(
                visitor.visit.address, mailbox, asked_by=actor.organization_id
            )
        async with people_context.database.transaction(actor.tenant) as session:
            sent = await members.invite_member(
                session,
                actor,
                people_context.clock,
                visitor.form.get("email", ""),
                visitor.form.get("role", ""),
            )
            link = f"{address_in_mail(visitor.request)}/join/{sent.token.text}"
            if people_context.sends_mail:
                mail = person_mail(
                    "invitation",
                    sent.email,
                    visitor.language,
                    link=link,
                    inviter=who.name,
                    organization=who.here.organization,
                )
                now = people_context.clock.now()
                await people_context.queue_mail(
                    session,
                    now,
                    "invitation",
                    mail,
                    now + members.INVITED_FOR,
                    sort=ASKED_LINKS,
                    about=f"invitation {actor.organization_id}",
                )
    except Refusal as error:
        return await _members(visitor, problems_of(error))
    if people_context.sends_mail:
        return await _members(visitor, {}, notice=_INVITED)
    return await _members(visitor, {}, link=link, link_for=sent.email)


@page_of(
    router,
    "POST",
    "/settings/members/invitations/{invitation_id}/withdraw",
    "member",
    permission=KEEP_MEMBERS,
)
async def withdraw(visitor: Visitor) -> Response:
    """Withdraw an invitation."""
    actor, requested = visitor.actor(of_both_modes=True), id_in_path(visitor, "invitation_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await members.withdraw_member_invitation(session, actor, visitor.people_context.clock, requested)
    return go("/settings/members")


@page_of(
    router,
    "POST",
    "/settings/members/{membership_id}/role",
    "member",
    permission=KEEP_MEMBERS,
    fresh=True,
)
async def change_role(visitor: Visitor) -> Response:
    """Give a member another role."""
    actor, requested = visitor.actor(of_both_modes=True), id_in_path(visitor, "membership_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        role = visitor.form.get("role", "")
        changed = await members.change_role(session, actor, visitor.people_context.clock, requested, role)
    return go("/settings/members") if changed == "done" else await _members(visitor, {}, notice=_ASKED)


@page_of(
    router, "GET", "/settings/members/{membership_id}/remove", "member", permission=KEEP_MEMBERS, fresh=True
)
async def confirm_removal(visitor: Visitor) -> Response:
    """Ask whether to remove the member."""
    actor, requested = visitor.actor(of_both_modes=True), id_in_path(visitor, "membership_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        there = await members.list_members(session, actor)
        member = next((each for each in there if each.membership_id == requested), None)
        if member is None:
            raise Refusal("not_found", "Member not found.")
        keys = await keys_made_by(session, actor, member.person_id)
    waits = member.role == "owner" and member.person_id != actor.id and member.leaving_asked_at is None
    facts = {"member": member, "keys": keys, "waits": waits, "scope_names": SCOPE_NAMES}
    return show(visitor, "remove_member.html", facts)


@page_of(
    router, "POST", "/settings/members/{membership_id}/remove", "member", permission=KEEP_MEMBERS, fresh=True
)
async def remove(visitor: Visitor) -> Response:
    """End somebody's membership."""
    actor, requested = visitor.actor(of_both_modes=True), id_in_path(visitor, "membership_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        keep = [
            key_id
            for name, value in visitor.form.items()
            if value and (key_id := _kept_key(name)) is not None
        ]
        removed = await members.remove_member(
            session, actor, visitor.people_context.clock, requested, keep_keys=frozenset(keep)
        )
    return go("/settings/members") if removed == "done" else await _members(visitor, {}, notice=_ASKED)


@page_of(router, "POST", "/settings/members/{membership_id}/keep", "member", permission=KEEP_MEMBERS)
async def keep(visitor: Visitor) -> Response:
    """Keep an owner whom another owner asked to remove or demote."""
    actor, requested = visitor.actor(of_both_modes=True), id_in_path(visitor, "membership_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        there = await members.list_members(session, actor)
        member = next((each for each in there if each.membership_id == requested), None)
        if member is None:
            raise Refusal("not_found", "Member not found.")
        await keep_member(session, actor, visitor.people_context.clock, member.person_id)
    return go("/settings/members")


@page_of(router, "GET", "/settings/members/leave", "member", permission=LEAVE)
async def confirm_leaving(visitor: Visitor) -> Response:
    """Ask whether to leave."""
    here = visitor.signed_in.here
    assert here is not None
    facts = {
        "title": visitor.say(mark("Leave {organization}?"), organization=here.organization),
        "text": visitor.say(mark("You will not see it any more, until somebody invites you again.")),
        "button": visitor.say(mark("Leave")),
        "back": "/settings/members",
    }
    return show(visitor, "confirm.html", facts)


@page_of(router, "POST", "/settings/members/leave", "member", permission=LEAVE)
async def leave(visitor: Visitor) -> Response:
    """End one's own membership."""
    actor = visitor.actor(of_both_modes=True)
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await members.leave(session, actor, visitor.people_context.clock)
    return go("/home")


@page_of(router, "GET", "/settings/keys", "member", permission=READ_KEYS)
async def list_keys(visitor: Visitor) -> Response:
    """List the API keys of the current mode."""
    return await _keys(visitor, {})


@page_of(router, "POST", "/settings/keys", "member", permission=KEEP_KEYS, fresh=True)
async def make_key(visitor: Visitor) -> Response:
    """Create a key, and show it this once."""
    actor = visitor.actor()
    try:
        new = _new_key(visitor)
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            issued = await create_own_key(session, actor, visitor.people_context.clock, new)
    except Refusal as error:
        return await _keys(visitor, problems_of(error))
    return show(visitor, "key_made.html", {"key": issued.text})


@page_of(router, "GET", "/settings/keys/{key_id}/revoke", "member", permission=KEEP_KEYS, fresh=True)
async def confirm_revocation(visitor: Visitor) -> Response:
    """Ask whether to revoke the key."""
    actor, requested = visitor.actor(), id_in_path(visitor, "key_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        there = await list_own_keys(session, actor)
    ending = next((each.last_four for each in there if each.id == requested), None)
    if ending is None:
        raise Refusal("not_found", "Key not found.")
    facts = {
        "title": visitor.say(mark("Revoke the key …{ending}?"), ending=ending),
        "text": visitor.say(mark("Apps that use it stop working within five seconds. You can't undo this.")),
        "button": visitor.say(mark("Revoke")),
        "back": "/settings/keys",
    }
    return show(visitor, "confirm.html", facts)


@page_of(router, "POST", "/settings/keys/{key_id}/revoke", "member", permission=KEEP_KEYS, fresh=True)
async def revoke_key(visitor: Visitor) -> Response:
    """Revoke a key."""
    actor, requested = visitor.actor(), id_in_path(visitor, "key_id")
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        await revoke_own_key(session, actor, visitor.people_context.clock, requested)
    return go("/settings/keys")


async def _members(visitor: Visitor, problems: dict[str, str], **more: str) -> Response:
    actor = visitor.actor(of_both_modes=True)
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        there = await members.list_members(session, actor)
        invited = await members.list_member_invitations(session, actor, visitor.people_context.clock)
        facts = {
            "members": there,
            "invitations": invited,
            "bounced": await bounced(
                session, [*(each.email for each in there), *(each.email for each in invited)]
            ),
            "may_keep": actor.role == "owner",
            "freezes": await freezes_in_force(session, actor, visitor.people_context.clock.now()),
            "problems": problems,
            "form_values": visitor.form if problems else {},
            "link": None,
        }
    return show(visitor, "members.html", facts | more, status=400 if problems else 200)


async def _keys(visitor: Visitor, problems: dict[str, str]) -> Response:
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        keys = await list_own_keys(session, actor)
        households = await households_for_keys(session, actor)
        makers = {each.person_id: each.name for each in await members.list_members(session, actor)}
    facts = {
        "makers": makers,
        "keys": keys,
        "households": households,
        "names": {each.id: each.name for each in households},
        "scopes": SCOPES,
        "scope_names": SCOPE_NAMES,
        "scope_words": SCOPE_WORDS,
        "scope_features": FEATURE_OF_SCOPE,
        "now": visitor.people_context.clock.now(),
        "may_keep": actor.role == "owner",
        "problems": problems,
        "form_values": visitor.form,
    }
    facts |= await in_other_mode(visitor, keys=_count_keys)
    return show(visitor, "keys.html", facts, status=400 if problems else 200)


async def _count_keys(session: AsyncSession, actor: Actor) -> int:
    return len(await list_own_keys(session, actor))


def _kept_key(name: str) -> UUID | None:
    """Return the key that the form's field keeps; None for another field."""
    if not name.startswith(_KEPT_KEY):
        return None
    try:
        return UUID(name.removeprefix(_KEPT_KEY))
    except ValueError:
        return None


def _new_key(visitor: Visitor) -> NewKey:
    """Return the key to create from the form. Raises `validation_error`."""
    form = visitor.form
    household = form.get("employer_id", "")
    try:
        employer_id = UUID(household) if household else None
    except ValueError:
        raise invalid("employer_id", "Choose one of your households.") from None
    return NewKey(
        scopes=tuple(scope for scope in SCOPES if form.get(f"scope_{scope}")),
        employer_id=employer_id,
        confined=bool(form.get("confined")),
        expires_at=_last_moment(form.get("expires_at", "")),
    )


def _last_moment(day: str) -> datetime.datetime | None:
    if not day:
        return None
    try:
        return end_of_day(datetime.date.fromisoformat(day))
    except (ValueError, OverflowError):
        raise invalid("expires_at", "Enter a date, like 11/20/2026.") from None
