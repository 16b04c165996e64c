"""What employees have entered in the portal, and how it is stored in the vault."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import ARRAY, Uuid, bindparam
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import ENTER_NUMBERS, OWN_RECORD, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database.relations import BANK_ACCOUNTS, VAULT
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import Query, fetch_all
from hearthpay.database.vault_store import store_secret
from hearthpay.employees.commands import PaperLanguage
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.same_person import recognise
from hearthpay.employees.schemas import Onboarding, OnboardingStatus
from hearthpay.employees.service import lock_employee
from hearthpay.employers.commands import PostalAddress
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import SecretNumber

NOTHING_ENTERED: Final = Onboarding(bank_account="missing", tax_info="missing")
"""The onboarding of an employee who was just added."""


class _ProgressRow(NamedTuple):
    employee_id: UUID
    entered: str | None
    invited: str | None


# One statement however long the list is: what is in the vault, and the links that still work.
_PROGRESS: Final = Query(
    _ProgressRow,
    statement(
        "SELECT owner_id AS employee_id, kind AS entered, NULL AS invited FROM {vault} v "
        "WHERE owner_kind = 'employee' AND owner_id = ANY (:employees) "
        "UNION ALL "
        "SELECT employee_id, NULL, type FROM invitations "
        "WHERE employee_id = ANY (:employees) AND status = 'pending' AND expires_at > :now",
        vault=VAULT,
    ).bindparams(bindparam("employees", type_=ARRAY(Uuid))),
)


_HOUSEHOLDS_ACCOUNT: Final = statement(
    "SELECT EXISTS (SELECT FROM {bank_accounts} a WHERE employer_id = :employer_id AND employee_id IS NULL "
    "AND status IN ('verifying', 'active'))",
    bank_accounts=BANK_ACCOUNTS,
)


async def onboarding_of(
    session: AsyncSession, clock: Clock, employees: Sequence[Employee]
) -> Mapping[UUID, Onboarding]:
    """Return the onboarding progress of each employee, by their ids, from one query."""
    if not employees:
        return {}
    ids = [employee.id for employee in employees]
    entered: dict[UUID, set[str]] = {employee_id: set() for employee_id in ids}
    invited: dict[UUID, set[str]] = {employee_id: set() for employee_id in ids}
    for row in await fetch_all(session, _PROGRESS, {"employees": ids, "now": clock.now()}):
        if row.entered is not None:
            entered[row.employee_id].add(row.entered)
        elif row.invited is not None:
            invited[row.employee_id].add(row.invited)
    return {
        employee_id: Onboarding(
            bank_account=_status(
                entered[employee_id] >= {"bank_routing", "bank_account"},
                "bank_account" in invited[employee_id],
            ),
            tax_info=_status(
                not entered[employee_id].isdisjoint({"ssn", "itin"}), "tax_info" in invited[employee_id]
            ),
        )
        for employee_id in ids
    }


def _status(complete: bool, invited: bool) -> OnboardingStatus:
    if complete:
        return "complete"
    return "invited" if invited else "missing"


async def direct_deposit_available(
    session: AsyncSession, employer: Employer, *, direct_deposit_enabled: bool
) -> bool:
    """Return whether the household can pay by direct deposit, or will be able to once its bank account is verified.

    `offered` says whether this installation has a bank; the sandbox has its own.
    """
    if not direct_deposit_enabled and not employer.sandbox:
        return False
    return bool(await session.scalar(_HOUSEHOLDS_ACCOUNT, {"employer_id": employer.id}))


def allow_numbers_of(actor: Actor, employer_id: UUID, employee_id: UUID) -> None:
    """Allow those who may enter this employee's numbers; an employee may enter only their own.

    Raises what `allow` raises, and `household_forbidden`.
    """
    allow(actor, ENTER_NUMBERS, employer_id)
    if actor.kind == "employee" and actor.id != employee_id:
        raise Refusal("household_forbidden", "Employees can enter only their own numbers.")


async def save_employee_tax_number(
    session: AsyncSession, ring: KeyRing, actor: Actor, invitation: Invitation, number: SecretNumber
) -> Collection[UUID]:
    """Store the Social Security number or ITIN that the employee entered in the vault; leaves an audit row.

    If another record of the household has the same number, the two are one person (`same_person`). Returns the
    records of every person that has gained or lost one. The household and its employees must be locked.
    """
    allow_numbers_of(actor, invitation.employer_id, invitation.employee_id)
    owner = _owner(invitation)
    invitation.tax_number_kind = number.kind
    await store_secret(session, ring, actor, owner, number)
    return await recognise(session, ring, actor, owner, number)


async def save_employee_address(
    session: AsyncSession, actor: Actor, clock: Clock, invitation: Invitation, address: PostalAddress
) -> bool:
    """Store the mailing address that the employee entered; leaves an audit row if it differs.

    Returns whether it does. The employee must be locked.
    """
    allow_numbers_of(actor, invitation.employer_id, invitation.employee_id)
    return await _keep_address(session, actor, clock, invitation.employee_id, address)


async def save_own_address(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, address: PostalAddress
) -> bool:
    """Store the mailing address that a signed-in employee entered; leaves an audit row if it differs.

    Returns whether it does. Raises what `allow_own` raises.
    """
    allow_own(actor, OWN_RECORD, employee_id)
    await lock_employee(session, actor, employee_id)
    return await _keep_address(session, actor, clock, employee_id, address)


async def save_own_language(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, language: PaperLanguage
) -> bool:
    """Store the language that a signed-in employee reads; leaves an audit row if it differs.

    Returns whether it does. Raises what `allow_own` raises.
    """
    allow_own(actor, OWN_RECORD, employee_id)
    employee = await lock_employee(session, actor, employee_id)
    return await _keep(session, actor, clock, employee, "language", language)


async def _keep_address(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, address: PostalAddress
) -> bool:
    employee = await session.get_one(Employee, employee_id)
    return await _keep(session, actor, clock, employee, "address", asdict(address))


async def _keep(
    session: AsyncSession, actor: Actor, clock: Clock, employee: Employee, name: str, after: object
) -> bool:
    before = getattr(employee, name)
    if before == after:
        return False
    setattr(employee, name, after)
    employee.updated_at = clock.now()
    await session.flush()
    await record_audit(
        session,
        actor,
        "employee.update",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details={"before": {name: before}, "after": {name: after}},
    )
    return True


def _owner(invitation: Invitation) -> SecretOwner:
    return SecretOwner(
        invitation.organization_id,
        invitation.employer_id,
        invitation.sandbox,
        kind="employee",
        id=invitation.employee_id,
    )
