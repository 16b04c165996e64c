"""What the link of a security alert does: it reverses each action that can be reversed, and freezes the organization
for a day.

Anyone who has the mail can use it. It starts nothing: it restores a previous address and ends a key, agent, link or
account. The owners are notified, and decide everything that needs a new decision.
"""

import datetime
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.refusal import Refusal
from hearthpay.accounts.freezing import freeze_organization
from hearthpay.accounts.own_keys import revoke_own_key
from hearthpay.alerts.sensitive_actions import SensitiveAct, acts_of
from hearthpay.banking.account_changes import withdraw_change
from hearthpay.banking.accounts import disconnect, fail_accounts
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
from hearthpay.people.members import keep_member, withdraw_member_invitation
from hearthpay.people.stop_links import StopActs, StopRecord

REPORTED: Final = "reported"
"""The reason recorded for an account that is disconnected while money is pending: its connection was reported as
wrong.
"""

_DONE: Final = text(
    "SELECT EXISTS (SELECT FROM audit_log WHERE organization_id = :organization AND action = 'alert.stop' "
    "AND details ->> 'link' = :link)"
)


@dataclass(frozen=True, slots=True)
class ReversedActs:
    """The result: the actions that were reversed, those that the owners must decide, and the end of the freeze."""

    taken_back: tuple[SensitiveAct, ...]
    left: tuple[SensitiveAct, ...]
    frozen_until: datetime.datetime


async def reversible_acts(people_context: PeopleContext, stop: StopActs) -> tuple[SensitiveAct, ...]:
    """Return the actions that the link covers."""
    async with people_context.database.transaction(Tenant(stop.organization_id, False)) as session:
        return tuple(await acts_of(session, stop.acts))


async def reverse_acts(
    people_context: PeopleContext, stop: StopActs, token: str, request_id: str
) -> ReversedActs:
    """Reverse what can be reversed of the actions, and freeze the organization. The link's `token` works once.

    Raises `gone` for a used link.
    """
    now = people_context.clock.now()
    used = hashlib.sha256(token.encode()).hexdigest()
    actor = Actor.stop_link(stop.organization_id, sandbox=False, request_id=request_id)
    async with people_context.database.transaction(actor.tenant) as session:
        values = {"organization": stop.organization_id, "link": used}
        if await session.scalar(_DONE, values):
            raise Refusal("gone", "This link was used already or has expired.")
        taken_back: list[SensitiveAct] = []
        left: list[SensitiveAct] = []
        for act in reversed(await acts_of(session, stop.acts)):  # the latest first: each finds what it left
            done = await _reverse(session, actor, people_context.clock, act)
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
        until = await freeze_organization(session, actor, now, "alert_stopped")
    return ReversedActs(tuple(taken_back), tuple(left), until)


async def stop_record(people_context: PeopleContext, stop: StopRecord, request_id: str) -> bool:
    """Cancel the employee's pending change of bank account; return whether there was one. No other is accepted for a
    day.
    """
    actor = Actor.stop_link(stop.organization_id, sandbox=stop.sandbox, request_id=request_id)
    tenant = Tenant(stop.organization_id, stop.sandbox, stop.employer_id)
    async with people_context.database.transaction(tenant) as session:
        return await withdraw_change(session, actor, people_context.clock, stop.employee_id)


async def _reverse(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:
    """Reverse one action if that needs no decision; return whether it did."""
    stopper = _STOPPERS.get(act.action)
    if stopper is None or act.subject_id is None:
        return False
    try:
        async with session.begin_nested():
            return await stopper(session, actor, clock, act)
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
    former = act.details["before"].get("email")
    employee = await session.get(Employee, act.subject_id, with_for_update={"key_share": True})
    if former is None or employee is None:
        return False
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
    """Disconnect the account; if money is pending for it, hold that money instead."""
    account = await session.get(BankAccount, act.subject_id)
    if account is None or account.status == "replaced":
        return False
    try:
        async with session.begin_nested():
            await disconnect(session, actor, account, clock.now())
    except Refusal:
        await fail_accounts(session, clock.now(), {account.id: REPORTED})
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


async def _keep_member(session: AsyncSession, actor: Actor, clock: Clock, act: SensitiveAct) -> bool:  # noqa: ARG001 - as all
    assert act.subject_id is not None
    return await keep_member(session, actor, act.subject_id)


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
    "member.ask_to_leave": _keep_member,
    "calendar_link.create": _revoke_calendar,
}

LEFT_TO_OWNERS: Final[frozenset[str]] = frozenset(
    {
        "employee.unlink",
        "bank_account.disconnect",
        "member.join",
        "member.change_role",
        "member.remove",
        "member.change_role_by_operator",
        "member.remove_by_operator",
        "member.leave",
        "organization.freeze",
    }
)
"""Actions whose reversal would be a new decision: who belongs to the organization, and where money goes."""


def stoppable(act: SensitiveAct) -> bool:
    """Return whether the link reverses this action, as far as it still stands."""
    return act.action in _STOPPERS
