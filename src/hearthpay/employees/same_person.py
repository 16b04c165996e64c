"""One person with several records: people who come back and are added again, recognized by the number they enter.

Numbers are compared when they are entered, within the household. For records with the same last four digits, which
the vault shows without a key, the number is read through `read_secret`, which leaves an audit row. Records of one
person have the id of the earliest of them as `person_id`, and they share one year: a change to it locks that earliest
record as well as the record it concerns.
"""

import hmac
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Final, Protocol, TypeVar
from uuid import UUID

import structlog
from sqlalchemy import func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database import audit
from hearthpay.database.vault_store import Reader, owners_of, read_secret
from hearthpay.employees.models import Employee
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import SecretOwner, UnreadableSecretError
from hearthpay.security.vault_numbers import SecretNumber
from hearthpay.taxes.messages import Message, message

_PURPOSE = "employee.same_person"
_log = structlog.get_logger("hearthpay.employees")


class Record(Protocol):
    """An employee's record, whatever other data it has."""

    @property
    def id(self) -> UUID:
        """The record's own id."""
        ...

    @property
    def person_id(self) -> UUID | None:
        """The first record of the person; None if this is the only one."""
        ...


WITH_FIRST_RECORDS: Final = text(
    "employees.id = ANY (ARRAY(SELECT unnest(CAST(:records AS uuid[])) UNION ALL SELECT r.person_id FROM employees r "
    "WHERE r.id = ANY (CAST(:records AS uuid[])) AND r.person_id IS NOT NULL))"
)
"""Selects employees by their ids, the list `records`, and for people with several records the first one."""

_R = TypeVar("_R", bound=Record)


async def recognise(
    session: AsyncSession, ring: KeyRing, actor: Reader, owner: SecretOwner, number: SecretNumber
) -> Collection[UUID]:
    """Link the employee who has just entered `number` with the household's other records of the same number.

    Records with the earlier number of this kind are unlinked. A record whose number can't be decrypted is skipped: it
    must not keep the employee from entering one. The household and all its employees must be locked. Return the
    records of every person that has gained or lost one.
    """
    holders = set(await owners_of(session, owner, number)) - {owner.id}
    alike = [other for other in sorted(holders) if await _same(session, ring, actor, owner, other, number)]
    everyone = (
        await session.scalars(
            select(Employee)
            .where(Employee.employer_id == owner.employer_id)
            .where(or_(Employee.id.in_([owner.id, *alike]), Employee.person_id.is_not(None)))
            .order_by(Employee.id)
        )
    ).all()
    employee = next(each for each in everyone if each.id == owner.id)
    people = {each.person_id for each in everyone if each.id in alike} - {None, employee.person_id}
    former = [
        each for each in everyone if each.person_id is not None and each.person_id == employee.person_id
    ]
    with_number = await owners_of(session, owner, number, any_digits=True)
    kept = {each.id for each in former if each.id in alike or each.id not in with_number}
    now_one = {
        each.id for each in everyone if each.id in {owner.id, *alike, *kept} or each.person_id in people
    }
    let_go = {each.id for each in former} - now_one
    changes = {**_linked(now_one), **_linked(let_go)}
    stored = {
        each: changes[each.id]
        for each in everyone
        if each.id in changes and each.person_id != changes[each.id]
    }
    await _store(session, actor, owner, stored)
    return changes.keys() if stored else ()


def _linked(group: Collection[UUID]) -> dict[UUID, UUID | None]:
    first = min(group) if len(group) > 1 else None
    return dict.fromkeys(group, first)


async def _same(
    session: AsyncSession, ring: KeyRing, actor: Reader, owner: SecretOwner, other: UUID, number: SecretNumber
) -> bool:
    holder = SecretOwner(owner.organization_id, owner.employer_id, owner.sandbox, "employee", other)
    try:
        theirs = await read_secret(session, ring, actor, holder, number.kind, purpose=_PURPOSE)
    except (KeyRingError, UnreadableSecretError):
        _log.warning("a number could not be compared", employee_id=str(other))
        return False
    return hmac.compare_digest(theirs.reveal(), number.reveal())


async def _store(
    session: AsyncSession, actor: Reader, owner: SecretOwner, changes: Mapping[Employee, UUID | None]
) -> None:
    for employee, person in changes.items():
        before = employee.person_id
        await session.execute(update(Employee).where(Employee.id == employee.id).values(person_id=person))
        await audit.record(
            session,
            actor_kind=actor.kind,
            actor_id=actor.id,
            organization_id=owner.organization_id,
            employer_id=owner.employer_id,
            sandbox=owner.sandbox,
            action="employee.same_person",
            subject_id=employee.id,
            request_id=actor.request_id,
            details={"before": {"person_id": before}, "after": {"person_id": person}},
        )


async def lock_people(
    lock: Callable[[Sequence[UUID]], Awaitable[Sequence[_R]]], employees: Sequence[UUID]
) -> dict[UUID, _R]:
    """Return what ``lock`` finds of these employees, by id, with everyone's first record locked too.

    ``lock`` locks what `WITH_FIRST_RECORDS` selects, in the order of ids. It is called again only if a record was
    linked during the wait for the lock.
    """
    requested = list(employees)
    while True:
        found = {each.id: each for each in await lock(requested)}
        missing = {each.person_id for each in found.values() if each.person_id is not None} - found.keys()
        if not missing:
            return {each: found[each] for each in employees if each in found}
        requested += missing


async def records_of(session: AsyncSession, people: Collection[UUID]) -> dict[UUID, tuple[UUID, ...]]:
    """Return the ids of each person's records; without people nothing is queried."""
    if not people:
        return {}
    members = select(Employee.person_id, Employee.id).where(Employee.person_id.in_(people))
    found = (await session.execute(members.order_by(Employee.id))).all()
    return {person: tuple(row.id for row in found if row.person_id == person) for person in people}


async def other_records(
    session: AsyncSession, employees: Sequence[Employee]
) -> Mapping[UUID, Sequence[Employee]]:
    """Return the other records of each of these people, by the employees' ids; people without any are left out."""
    people = {employee.person_id for employee in employees if employee.person_id is not None}
    if not people:
        return {}
    found = (
        await session.scalars(select(Employee).where(Employee.person_id.in_(people)).order_by(Employee.id))
    ).all()
    return {
        employee.id: [
            other for other in found if other.person_id == employee.person_id and other.id != employee.id
        ]
        for employee in employees
        if employee.person_id is not None
    }


async def former_namesakes(session: AsyncSession, employee: Employee) -> Sequence[Employee]:
    """Return the former employees with the same name, unless two email addresses tell them apart."""
    same = select(Employee).where(
        Employee.id != employee.id,
        Employee.employer_id == employee.employer_id,
        Employee.status == "terminated",
        func.lower(Employee.first_name) == func.lower(employee.first_name),
        func.lower(Employee.last_name) == func.lower(employee.last_name),
    )
    if employee.email is not None:
        same = same.where(
            or_(Employee.email.is_(None), func.lower(Employee.email) == func.lower(employee.email))
        )
    return (await session.scalars(same.order_by(Employee.id.desc()))).all()


def namesake_warning(former: Employee) -> Message:
    """Return what to do if an added employee seems to have worked here before."""
    return message(
        "former_employee_of_this_name", name=former.name, day=former.end_date, employee=str(former.id)
    )


def other_record_warning(other: Employee) -> Message:
    """Return the consequences if the tax number shows two records to be one person."""
    if other.status == "terminated":
        return message("same_person_as_former", employee=str(other.id), day=other.end_date)
    return message("same_person_as_active", employee=str(other.id))
