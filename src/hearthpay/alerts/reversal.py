"""What the link of a security alert does: it reverses each action that can be reversed, and freezes the household of
the action for a day; the organization, if one of its members uses the link.

Anyone who has the mail can use it, as far as its address reaches (`reach.py`). It starts nothing: it restores the
address of before the week's first change and ends a key, agent, link or account. The owners are notified, and decide
everything that needs a new decision.
"""

import datetime
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import freeze_household, freeze_organization
from hearthpay.accounts.own_keys import revoke_own_key
from hearthpay.alerts.reach import UNSTOPPABLE, Holder, holder_now, is_the_employee_s
from hearthpay.alerts.sensitive_actions import SensitiveAct, acts_of
from hearthpay.banking.account_changes import withdraw_change
from hearthpay.banking.accounts import end_reported
from hearthpay.banking.models import BankAccount
from hearthpay.clock import Clock
from hearthpay.database.session import Tenant
from hearthpay.duties.feed import revoke_link
from hearthpay.employees.invitations import withdraw_invitation
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employers.models import Employer
from hearthpay.oauth.grants import revoke_grant as disconnect_agent
from hearthpay.people.context import PeopleContext
from hearthpay.people.former_addresses import end_former_addresses
from hearthpay.people.members import withdraw_member_invitation
from hearthpay.people.owner_removal import keep_member, restore_owner
from hearthpay.people.stop_links import StopActs, StopRecord

_DONE: Final = text(
    "SELECT EXISTS (SELECT FROM audit_log WHERE organization_id = :organization AND action = 'alert.stop' "
    "AND details ->> 'link' = :link)"
)


@dataclass(frozen=True, slots=True)
class ReversedActs:
    """The result: the actions that were reversed, those that the owners must decide, and the end of the freeze; None
    if nothing is frozen, because these actions froze something before.
    """

    taken_back: tuple[SensitiveAct, ...]
    left: tuple[SensitiveAct, ...]
    frozen_until: datetime.datetime | None


async def reversible_acts(people_context: PeopleContext, stop: StopActs) -> tuple[SensitiveAct, ...]:
    """Return the actions that the link's holder may stop now."""
    async with people_context.database.transaction(Tenant(stop.organization_id, False)) as session:
        _, acts = await _within_reach(session, people_context.clock.now(), stop)
        return tuple(acts)


async def reverse_acts(
    people_context: PeopleContext, stop: StopActs, token: str, request_id: str
) -> ReversedActs:
    """Reverse what can be reversed of the actions within the holder's reach, and freeze. The link's `token` works once.

    Raises `gone` for a used link, and for one whose holder has nothing to stop any more.
    """
    now = people_context.clock.now()
    used = hashlib.sha256(token.encode()).hexdigest()
    actor = Actor.stop_link(stop.organization_id, sandbox=False, request_id=request_id)
    async with people_context.database.transaction(actor.tenant) as session:
        holder, acts = await _within_reach(session, now, stop)
        if not acts or await session.scalar(_DONE, {"organization": stop.organization_id, "link": used}):
            raise Refusal("gone", "This link was used already or has expired.")
        taken_back: list[SensitiveAct] = []
        left: list[SensitiveAct] = []
        for act in reversed(acts):  # the latest first: each finds what it left
            done = await _reverse(session, actor, people_context.clock, act, holder.member)
            (taken_back if done else left).append(act)
        await record_audit(
            session,
            actor,
            "alert.stop",
            employer_id=None,
            subject_id=stop.organization_id,
            details={
                "link": used,
                "taken_back": [act.id for act in taken_back],
                "left": [act.id for act in left],
            },
        )
        if not holder.manages:  # the link may have kept a member
            holder = await holder_now(session, now, stop, acts)
        until = await _freeze(session, actor, now, holder, acts)
    return ReversedActs(tuple(taken_back), tuple(left), until)


async def _within_reach(
    session: AsyncSession, now: datetime.datetime, stop: StopActs
) -> tuple[Holder, Sequence[SensitiveAct]]:
    acts = await acts_of(session, stop.acts)
    holder = await holder_now(session, now, stop, acts)
    return holder, [act for act in acts if holder.reaches(act)]


async def _freeze(
    session: AsyncSession,
    actor: Actor,
    now: datetime.datetime,
    holder: Holder,
    acts: Sequence[SensitiveAct],
) -> datetime.datetime | None:
    """Freeze what the holder may: the organization, or else the households of these actions."""
    if holder.manages:
        latest = max(act.at for act in acts)
        return await freeze_organization(session, actor, now, "alert_stopped", latest=latest)
    households = {act.employer_id for act in acts if act.employer_id is not None}
    if holder.of_all:
        households |= holder.households
    ends = [
        await freeze_household(
            session,
            actor,
            now,
            "alert_stopped",
            household,
            latest=max(act.at for act in acts if act.employer_id in (household, None)),
        )
        for household in sorted(households)
    ]
    return max((end for end in ends if end is not None), default=None)


async def stop_record(people_context: PeopleContext, stop: StopRecord, request_id: str) -> bool:
    """Cancel the employee's pending change of bank account; return whether there was one. No other is accepted for a
    day. Raises `gone` if the link was sent to an address that no longer counts.
    """
    actor = Actor.stop_link(stop.organization_id, sandbox=stop.sandbox, request_id=request_id)
    tenant = Tenant(stop.organization_id, stop.sandbox, stop.employer_id)
    async with people_context.database.transaction(tenant) as session:
        now = people_context.clock.now()
        if stop.address is not None and not await is_the_employee_s(
            session, now, stop.employee_id, stop.address
        ):
            raise Refusal("gone", "This link was used already or has expired.")
        return await withdraw_change(session, actor, people_context.clock, stop.employee_id)


async def _reverse(
    session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct, member: UUID | None
) -> bool:
    """Reverse one action if that needs no decision; return whether it did. `member` is the link's holder, if one."""
    if act.subject_id is None or not stoppable(act, member):
        return False
    try:
        async with session.begin_nested():
            if act.action == _KEEPING:
                return await keep_member(session, actor, clock, act.subject_id, holder=member)
            return await _STOPPERS[act.action](session, actor, clock, act)
    except Refusal:  # it has ended, or no longer exists
        return False


async def _restore_household_address(
    session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct
) -> bool:
    assert act.subject_id is not None
    former = act.details["before"].get("email")
    employer = await session.get(Employer, act.subject_id, with_for_update={"key_share": True})
    if former is None or employer is None:
        return False
    if not await end_former_addresses(session, clock.now(), employer.id, None, former):
        return False
    change = {"before": {"email": employer.email}, "after": {"email": former}}
    await session.execute(update(Employer).where(Employer.id == employer.id).values(email=former))
    await record_audit(
        session,
        actor,
        "employer.restore_address",
        employer_id=employer.id,
        subject_id=employer.id,
        details=change,
    )
    return True


async def _restore_employee_address(
    session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct
) -> bool:
    assert act.subject_id is not None
    before = act.details["before"]
    employee = await session.get(Employee, act.subject_id, with_for_update={"key_share": True})
    if "email" not in before or employee is None:
        return False
    former = before["email"]
    now = clock.now()
    if not await end_former_addresses(session, now, employee.employer_id, employee.id, former):
        return False
    change = {"before": {"email": employee.email}, "after": {"email": former}}
    await session.execute(
        update(Employee).where(Employee.id == employee.id).values(email=former, updated_at=now)
    )
    await record_audit(
        session,
        actor,
        "employee.restore_address",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details=change,
    )
    return True


async def _close_invitation(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    found = await session.get(Invitation, act.subject_id)
    if found is None or found.status != "pending":
        return False
    await withdraw_invitation(session, actor, clock, found.employee_id, "bank_account")
    return True


async def _reverse_account_change(
    session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct
) -> bool:
    employee_id = act.employee_id
    return employee_id is not None and await withdraw_change(session, actor, clock, employee_id)


async def _end_account(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    """End the account, or hold the money that is pending for it; nothing earlier comes back."""
    account = await session.get(BankAccount, act.subject_id)
    if account is None or account.status == "replaced":
        return False
    await end_reported(session, actor, account, clock.now())
    return True


async def _revoke_key(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    assert act.subject_id is not None
    await revoke_own_key(session, actor, clock, act.subject_id)
    return True


async def _end_agent(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    assert act.subject_id is not None
    await disconnect_agent(session, actor, clock, act.subject_id)
    return True


async def _withdraw_member(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    assert act.subject_id is not None
    await withdraw_member_invitation(session, actor, clock, act.subject_id)
    return True


async def _restore_owner(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    assert act.subject_id is not None
    return await restore_owner(session, actor, clock, act.subject_id)


async def _revoke_calendar(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    employer = await session.get(Employer, act.employer_id)
    return employer is not None and await revoke_link(session, actor, clock, employer)


_Stopper = Callable[[AsyncSession, Actor, Clock, SensitiveAct], Awaitable[bool]]
_STOPPERS: Final[Mapping[str, _Stopper]] = {
    "employer.update": _restore_household_address,
    "employee.update": _restore_employee_address,
    "invitation.create": _close_invitation,
    "account_change.ask": _reverse_account_change,
    "bank_account.connect": _end_account,
    "key.create": _revoke_key,
    "agent.connect": _end_agent,
    "member.invite": _withdraw_member,
    "member.change_role": _restore_owner,
    "member.remove": _restore_owner,
    "calendar_link.create": _revoke_calendar,
}

_KEEPING: Final = "member.ask_to_leave"
REVERSIBLE: Final = frozenset({*_STOPPERS, _KEEPING})
"""Actions that a link reverses, as far as its holder may."""

LEFT_TO_OWNERS: Final[frozenset[str]] = UNSTOPPABLE | {
    "employee.unlink",
    "employee.terminate",
    "employee.reinstate",
    "escrow.set_rule",
    "bank_account.disconnect",
    "member.join",
    "member.leave",
}
"""Actions whose reversal would be a new decision: who belongs to the organization, and where money goes."""

_ADDRESS_CHANGES: Final = frozenset({"employer.update", "employee.update"})


def stoppable(act: SensitiveAct, member: UUID | None) -> bool:
    """Return whether the link reverses this action, as far as it still stands; `member` is its holder, if one.

    The removal or demotion of an owner is reversed by that owner's own link alone, and never if the operator did it.
    """
    if act.action == _KEEPING:
        return member is not None
    if act.action in ("member.change_role", "member.remove"):
        return act.removes_owner and member is not None and act.subject_id == member
    return act.action in _STOPPERS and (act.action not in _ADDRESS_CHANGES or "email" in act.changes)
