"""Every sensitive action, done by a thief in an owner's account, and whether each was undone afterward."""

from collections.abc import Awaitable, Callable
from typing import Final
from uuid import uuid4

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.accounts.own_keys import NewKey, create_own_key
from hearthpay.banking.account_changes import change_account
from hearthpay.banking.accounts import (
    AccountDetails,
    connect_household_account,
    current_household_account,
    disconnect,
)
from hearthpay.duties.feed import make_link
from hearthpay.employees.commands import ChangeEmployee, Invite
from hearthpay.employees.invitations import Sending, invite
from hearthpay.employees.models import Employee
from hearthpay.employees.service import reinstate_employee, terminate_employee, update_employee
from hearthpay.employers.commands import ChangeEmployer, CreateEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.service import create_employer, update_employer
from hearthpay.payroll.set_asides.escrow import set_rule
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.people import members
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_numbers import parse_number
from tests.people.test_members import joined
from tests.web.rows.world import World

OWNER: Final = "ana@example.com"
ACCOUNT: Final = "maria@example.com"
CONTACT: Final = "home@example.com"
MINUTE: Final = "minute@evil.example"
THIEF: Final = "thief@evil.example"
EMPLOYEE: Final = "rosa@example.com"
NEW_EMPLOYEE: Final = "rosa@evil.example"
OTHER: Final = "other@example.com"
REMOVED: Final = "vic@example.com"

UNDONE: Final = {
    "employer.update": f"SELECT email = '{CONTACT}' FROM employers WHERE is_primary",
    "employee.update": f"SELECT email = '{EMPLOYEE}' FROM employees",
    "invitation.create": "SELECT bool_and(status = 'cancelled') FROM invitations",
    "account_change.ask": "SELECT status = 'withdrawn' FROM account_changes",
    "bank_account.connect": "SELECT status = 'replaced' FROM bank_accounts WHERE id = %(subject)s",
    "bank_account.disconnect": "SELECT bool_or(last_four = '4321' AND status <> 'replaced') FROM bank_accounts",
    "key.create": "SELECT bool_and(revoked_at IS NOT NULL) FROM api_keys",
    "agent.connect": "SELECT bool_and(ended_at IS NOT NULL) FROM agent_grants",
    "calendar_link.create": "SELECT bool_and(revoked_at IS NOT NULL) FROM calendar_links",
    "member.invite": "SELECT status = 'withdrawn' FROM member_invitations WHERE email = 'zed@example.com'",
    "member.ask_to_leave": "SELECT bool_and(leaving_asked_at IS NULL) FROM memberships",
    "member.join": "SELECT count(*) = 0 FROM people WHERE email = 'vic@example.com'",
    "member.change_role": "SELECT role = 'viewer' FROM memberships m JOIN people p ON p.id = m.person_id "
    "WHERE p.email = 'vic@example.com'",
    "member.remove": "SELECT ended_at IS NULL FROM memberships m JOIN people p ON p.id = m.person_id "
    "WHERE p.email = 'vic@example.com'",
    "member.leave": "SELECT ended_at IS NULL FROM memberships m JOIN people p ON p.id = m.person_id "
    "WHERE p.email = 'ben@example.com'",
    "employee.unlink": "SELECT count(*) > 0 FROM employee_links WHERE ended_at IS NULL",
    "employee.terminate": "SELECT false",
    "employee.reinstate": "SELECT status = 'terminated' FROM employees",
    "escrow.set_rule": "SELECT rule_amount IS NULL FROM escrow_accounts",
}
"""What is true of the rows when an action, with this subject, was undone."""

Act = Callable[[World, KeyRing], Awaitable[object]]


def details(account: str) -> AccountDetails:
    """A bank account with this number."""
    return AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", account), "checking"
    )


async def settle(world: World, ring: KeyRing) -> World:
    """What there is before: another owner, a second household, somebody who leaves, and a bank account."""
    await joined(world.people_context, world.owner, OWNER, "owner")
    clock = world.people_context.clock
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        other = CreateEmployer(first_name="Olga", last_name="Other", state="CA", email=OTHER)
        await create_employer(session, world.actor, clock, other)
        employer = await session.get_one(Employer, world.household_id)
        await connect_household_account(
            session, ring, world.actor, employer, details("987654321"), clock.now()
        )
    return world


async def steal(world: World, ring: KeyRing) -> None:
    """Do every sensitive action there is, with the owner's session."""
    clock = world.people_context.clock
    ben = await joined(world.people_context, world.owner, "ben@example.com", "viewer")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await members.leave(session, ben.actor("r"), clock)
    await joined(world.people_context, world.owner, REMOVED, "viewer")
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        there = {each.email: each for each in await members.list_members(session, world.actor)}
        vic, ana = there[REMOVED].membership_id, there[OWNER].membership_id
        await members.change_role(session, world.actor, clock, vic, "admin")
        await members.remove_member(session, world.actor, clock, vic)
        await members.remove_member(session, world.actor, clock, ana)
        await members.invite_member(session, world.actor, clock, "zed@example.com", "owner")
    await enter_account(world, ring, "11112222")
    await _in_household(world, ring)
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await create_own_key(session, world.actor, clock, NewKey(("payroll",)))
    await _agent(world)
    await enter_account(world, ring, "5678")


async def enter_account(world: World, ring: KeyRing, account: str) -> None:
    """Enter a bank account as the employee."""
    employee = Actor.employee(
        world.employee_id, world.actor.organization_id, world.household_id, sandbox=False, request_id="r"
    )
    clock = world.people_context.clock
    async with world.people_context.database.transaction(employee.tenant) as session:
        await change_account(session, ring, employee, clock, world.employee_id, details(account))


async def _in_household(world: World, ring: KeyRing) -> None:
    clock, actor = world.people_context.clock, world.actor
    async with world.people_context.database.transaction(actor.tenant) as session:
        for address in (MINUTE, THIEF):
            await update_employer(session, actor, clock, world.household_id, ChangeEmployer(email=address))
        await terminate_employee(session, actor, clock, world.employee_id)
        await reinstate_employee(session, actor, clock, world.employee_id)
        employee = await session.get_one(Employee, world.employee_id)
        await set_rule(session, actor, employee, SetAsideRule(rate=None, amount_cents=1000))
        changes = ChangeEmployee(email=NEW_EMPLOYEE)
        await update_employee(session, actor, clock, world.employee_id, changes)
        await record_audit(
            session,
            actor,
            "employee.unlink",
            employer_id=world.household_id,
            subject_id=world.employee_id,
            details={"person_id": uuid4()},
        )
        sending = Sending("https://pay.example.com/portal", ring, None)
        bank_link = Invite("bank_account", send_email=False)
        await invite(
            session, actor, clock, sending, world.employee_id, bank_link, direct_deposit_enabled=True
        )
        employer = await session.get_one(Employer, world.household_id)
        account = await current_household_account(session, world.household_id)
        assert account is not None
        await disconnect(session, actor, account, clock.now())
        await connect_household_account(session, ring, actor, employer, details("33334444"), clock.now())
        await make_link(session, actor, clock, employer)


async def _agent(world: World) -> None:
    grant = uuid4()
    world.connection.execute(
        "INSERT INTO agent_grants (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, "
        "returns_to, tools, demands_preview, resource, created_at, expires_at) VALUES (%s, %s, %s, false, %s, 'c', "
        "'Books', 'localhost', '{list_employees}', true, 'r', %s, %s + interval '90 days')",
        (
            grant,
            world.actor.organization_id,
            world.household_id,
            world.owner.person_id,
            world.people_context.clock.now(),
            world.people_context.clock.now(),
        ),
    )
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await record_audit(
            session,
            world.actor,
            "agent.connect",
            employer_id=world.household_id,
            subject_id=grant,
            details={"client": "Books"},
        )
