"""Test values in place of the numbers that people enter in the app and the portal: accounts, EIN, tax numbers.

They have the effects of real numbers: the same vault, the same rows, the same audit trail, and an open invitation for
the same purpose is used up.
"""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import USE_SANDBOX
from hearthpay.access.refusal import Refusal
from hearthpay.banking.accounts import connect_sandbox_account, disconnect_sandbox_account
from hearthpay.clock import Clock
from hearthpay.database.session import Tenant, become
from hearthpay.database.vault_store import store_secret
from hearthpay.employees.commands import InvitationType
from hearthpay.employees.invitations import complete_pending
from hearthpay.employees.models import Employee
from hearthpay.employees.same_person import recognise
from hearthpay.employees.service import lock_everyone
from hearthpay.employers.ein import keep_sandbox_ein
from hearthpay.employers.ein_status import note_sandbox_ein_status
from hearthpay.employers.models import Employer
from hearthpay.employers.schemas import EinStatus
from hearthpay.payroll.years.household_year import measure_people_anew
from hearthpay.sandbox.households import allow_in_sandbox, sandbox_household
from hearthpay.sandbox.magic import (
    EINS,
    EMPLOYEE_ACCOUNTS,
    HOUSEHOLD_ACCOUNTS,
    SandboxAccount,
    chosen,
    ein_of,
    tax_number_of,
)
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner


@dataclass(frozen=True, slots=True)
class EmployeeOfSandbox:
    """The employee of a call, and the link that it used up, if one was open."""

    employee: Employee
    completed_invitation: UUID | None


async def set_household_account(
    session: AsyncSession, ring: KeyRing, actor: Actor, clock: Clock, employer_id: UUID, magic: str
) -> Employer:
    """Connect the test account of that value as the household's, or none.

    Raises what `sandbox_household` raises, `validation_error` naming `magic`, and `invalid_state` while a payment
    is on hold for an account that would be disconnected.
    """
    employer = await sandbox_household(session, actor, USE_SANDBOX, employer_id)
    await _set_account(session, ring, actor, clock, employer, chosen(HOUSEHOLD_ACCOUNTS, magic))
    return employer


async def set_ein(
    session: AsyncSession, ring: KeyRing, actor: Actor, employer_id: UUID, magic: str
) -> EinStatus:
    """Set the IRS's answer: applied, refused, or assigned with a test number; return the new status.

    Raises what `sandbox_household` raises, `validation_error` naming `magic`, and `invalid_state` for an answer that
    can't follow: an assigned number is final.
    """
    employer = await sandbox_household(session, actor, USE_SANDBOX, employer_id)
    status = chosen(EINS, magic)
    if status == "approved":
        await keep_sandbox_ein(session, ring, actor, employer, ein_of(employer.id))
    elif status != employer.ein_status:
        await note_sandbox_ein_status(session, actor, employer, status)
    return status


async def set_employee_account(
    session: AsyncSession, ring: KeyRing, actor: Actor, clock: Clock, employee_id: UUID, magic: str
) -> EmployeeOfSandbox:
    """Connect the test account of that value as the employee's, or none; an open link for it is used up.

    Raises as `set_household_account` does.
    """
    employee = await _employee(session, actor, employee_id)
    account = chosen(EMPLOYEE_ACCOUNTS, magic)
    await _set_account(session, ring, actor, clock, employee, account)
    used = None if account is None else await _use_up(session, actor, clock, employee, "bank_account")
    return EmployeeOfSandbox(employee, used)


async def set_tax_number(
    session: AsyncSession, ring: KeyRing, actor: Actor, clock: Clock, employee_id: UUID, magic: str
) -> EmployeeOfSandbox:
    """Save a test Social Security number or ITIN as the employee's; an open link for it is used up.

    Raises as `set_household_account` does.
    """
    employee = await _employee(session, actor, employee_id)
    number = tax_number_of(magic, employee.employer_id, employee.id)
    owner = SecretOwner(
        employee.organization_id, employee.employer_id, employee.sandbox, "employee", employee.id
    )
    await store_secret(session, ring, actor, owner, number)
    await measure_people_anew(session, await recognise(session, ring, actor, owner, number))
    return EmployeeOfSandbox(employee, await _use_up(session, actor, clock, employee, "tax_info"))


async def _set_account(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    clock: Clock,
    whose: Employer | Employee,
    account: SandboxAccount | None,
) -> None:
    if account is None:
        await disconnect_sandbox_account(session, actor, whose, clock.now())
        return
    await connect_sandbox_account(
        session, ring, actor, whose, account.details(), clock.now(), prenote=account.prenote
    )


async def _employee(session: AsyncSession, actor: Actor, employee_id: UUID) -> Employee:
    """Return the employee, with the household and everyone in it locked; the transaction becomes the household's."""
    allow_in_sandbox(actor, USE_SANDBOX, None)
    employee = await lock_everyone(session, actor, employee_id)
    if not employee.sandbox:
        raise Refusal("not_found", "We couldn't find that employee.")
    await become(session, Tenant(actor.organization_id, actor.sandbox, employee.employer_id))
    return employee


async def _use_up(
    session: AsyncSession, actor: Actor, clock: Clock, employee: Employee, invitation_type: InvitationType
) -> UUID | None:
    used = await complete_pending(session, clock, employee, invitation_type)
    if used is not None:
        await record_audit(
            session,
            actor,
            "invitation.complete",
            employer_id=employee.employer_id,
            subject_id=used,
            details={"employee_id": employee.id, "type": invitation_type},
        )
    return used
