"""Former addresses: for a week after a change, warnings also go to the old address.

The person who changes where warnings go must not be the only one warned. Reversed changes no longer count: neither
the address that is restored, nor those that came after it, which may be a thief's.

Only an address that was there before the week's first change may be restored: one that a thief set for a minute
restores nothing.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.statements import Fragment, compose, statement
from hearthpay.database.typed_rows import fetch_all, query

TOLD_FOR: Final = datetime.timedelta(days=7)
"""How long a former address is notified, and may reverse the change."""

MAY_RESTORE: Final = Fragment("(f.held_since IS NULL OR f.held_since <= f.changed_at - interval '7 days')")
"""SQL: whether the former address `f` was held for TOLD_FOR when it was changed, so that it may be restored."""

# Who returns to the address of before the week's first change has held it since then.
_HELD_SINCE: Final = compose(
    "CASE WHEN bool_or({same} AND {may_restore}) THEN min(f.held_since) FILTER (WHERE {same} AND {may_restore}) "
    "ELSE max(f.changed_at) END",
    same=Fragment("lower(f.address) IS NOT DISTINCT FROM lower(CAST(:address AS text))"),
    may_restore=MAY_RESTORE,
)
_NOTE: Final = statement(
    "INSERT INTO former_addresses (id, organization_id, employer_id, sandbox, employee_id, address, changed_at, "
    "told_until, held_since) SELECT :id, :organization, :employer, :sandbox, CAST(:employee AS uuid), "
    "CAST(:address AS text), CAST(:now AS timestamptz), CAST(:until AS timestamptz), {held_since} "
    "FROM former_addresses f WHERE f.employer_id = :employer "
    "AND f.employee_id IS NOT DISTINCT FROM CAST(:employee AS uuid) AND f.taken_back_at IS NULL",
    held_since=_HELD_SINCE,
)
_NOTE_PERSON: Final = statement(
    "INSERT INTO former_person_addresses (id, person_id, address, changed_at, told_until, held_since) "
    "SELECT :id, :person, CAST(:address AS text), CAST(:now AS timestamptz), CAST(:until AS timestamptz), "
    "{held_since} FROM former_person_addresses f WHERE f.person_id = :person AND f.taken_back_at IS NULL",
    held_since=_HELD_SINCE,
)
_CHANGED: Final = text(
    "SELECT EXISTS (SELECT FROM former_addresses WHERE employer_id = :employer "
    "AND (employee_id = :employee OR employee_id IS NULL) AND address IS NOT NULL AND changed_at > :since "
    "AND taken_back_at IS NULL)"
)


class _OfEmployeeRow(NamedTuple):
    address: str
    may_restore: bool


_OF_EMPLOYEE: Final = query(
    _OfEmployeeRow,
    "SELECT lower(f.address) AS address, bool_or({may_restore}) AS may_restore FROM former_addresses f "
    "WHERE f.employer_id = :employer AND f.employee_id = :employee AND f.address IS NOT NULL "
    "AND f.told_until > :now AND f.taken_back_at IS NULL GROUP BY 1 ORDER BY 1",
    may_restore=MAY_RESTORE,
)
_OF_HOUSEHOLD: Final = text(
    "SELECT DISTINCT lower(address) FROM former_addresses WHERE employer_id = :employer AND employee_id IS NULL "
    "AND address IS NOT NULL AND told_until > :now AND taken_back_at IS NULL"
)
# The first is the address of before the week's first change.
_OF_PERSON: Final = statement(
    "SELECT f.address FROM former_person_addresses f JOIN people p ON p.id = f.person_id WHERE f.person_id = :person "
    "AND f.address <> p.email AND {may_restore} AND f.told_until > :now AND f.taken_back_at IS NULL "
    "GROUP BY f.address ORDER BY min(f.changed_at)",
    may_restore=MAY_RESTORE,
)
# The earliest change from this address that can still be reversed: later changes are reversed with it.
_TAKE_BACK: Final = statement(
    "WITH first AS (SELECT f.id FROM former_addresses f WHERE f.employer_id = :employer "
    "AND f.employee_id IS NOT DISTINCT FROM CAST(:employee AS uuid) "
    "AND lower(f.address) IS NOT DISTINCT FROM lower(CAST(:address AS text)) AND {may_restore} "
    "AND f.told_until > :now AND f.taken_back_at IS NULL ORDER BY f.id LIMIT 1) "
    "UPDATE former_addresses f SET taken_back_at = :now FROM first WHERE f.employer_id = :employer "
    "AND f.employee_id IS NOT DISTINCT FROM CAST(:employee AS uuid) AND f.id >= first.id "
    "AND f.taken_back_at IS NULL RETURNING true",
    may_restore=MAY_RESTORE,
)
_TAKE_BACK_PERSON: Final = statement(
    "WITH first AS (SELECT f.id FROM former_person_addresses f WHERE f.person_id = :person "
    "AND f.address = :address AND {may_restore} AND f.told_until > :now AND f.taken_back_at IS NULL "
    "ORDER BY f.id LIMIT 1) "
    "UPDATE former_person_addresses f SET taken_back_at = :now FROM first WHERE f.person_id = :person "
    "AND f.id >= first.id AND f.taken_back_at IS NULL RETURNING true",
    may_restore=MAY_RESTORE,
)


async def note_former_address(
    session: AsyncSession,
    now: datetime.datetime,
    *,
    organization_id: UUID,
    employer_id: UUID,
    sandbox: bool,
    employee_id: UUID | None,
    address: str | None,
) -> None:
    """Record that this was the address of a household, or of one of its employees, until now; None: there was none."""
    await session.execute(
        _NOTE,
        {
            "id": uuid7(),
            "organization": organization_id,
            "employer": employer_id,
            "sandbox": sandbox,
            "employee": employee_id,
            "address": address,
            "now": now,
            "until": now + TOLD_FOR,
        },
    )


async def note_former_person_address(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, address: str
) -> None:
    """Record that this was the address of the person's account until now; the transaction is the person's."""
    values = {"id": uuid7(), "person": person_id, "address": address, "now": now, "until": now + TOLD_FOR}
    await session.execute(_NOTE_PERSON, values)


async def address_was_changed(
    session: AsyncSession, now: datetime.datetime, employer_id: UUID, employee_id: UUID
) -> bool:
    """Return whether the employee's address or the household's was changed within TOLD_FOR."""
    values = {"employer": employer_id, "employee": employee_id, "since": now - TOLD_FOR}
    return bool(await session.scalar(_CHANGED, values))


async def former_addresses_of_employee(
    session: AsyncSession, now: datetime.datetime, employer_id: UUID, employee_id: UUID
) -> Mapping[str, bool]:
    """Return the former addresses, in lower case, at which an employee is still warned, and whether each may stop what
    it is warned of: one that was set within the week before it was changed may not.
    """
    values = {"employer": employer_id, "employee": employee_id, "now": now}
    return {row.address: row.may_restore for row in await fetch_all(session, _OF_EMPLOYEE, values)}


async def former_addresses_of_household(
    session: AsyncSession, now: datetime.datetime, employer_id: UUID
) -> Collection[str]:
    """Return the former addresses, in lower case, at which a household is still warned."""
    return tuple(await session.scalars(_OF_HOUSEHOLD, {"employer": employer_id, "now": now}))


async def former_addresses_of_person(
    session: AsyncSession, now: datetime.datetime, person_id: UUID
) -> Sequence[str]:
    """Return the former addresses at which the person whose transaction it is is still warned, the oldest first.

    One that was set within the week before it was changed isn't among them: it may be an intruder's.
    """
    values = {"person": person_id, "now": now}
    return tuple(await session.scalars(_OF_PERSON, values))


async def end_former_addresses(
    session: AsyncSession,
    now: datetime.datetime,
    employer_id: UUID,
    employee_id: UUID | None,
    address: str | None,
) -> bool:
    """Mark a change from this address as reversed, with all later ones; return False if none can be.

    None may be: the address was set within the week before it was changed.
    """
    values = {"employer": employer_id, "employee": employee_id, "address": address, "now": now}
    return bool((await session.execute(_TAKE_BACK, values)).all())


async def end_former_person_addresses(
    session: AsyncSession, now: datetime.datetime, person_id: UUID, address: str
) -> bool:
    """Do the same for the account of the person whose transaction it is."""
    values = {"person": person_id, "address": address, "now": now}
    return bool((await session.execute(_TAKE_BACK_PERSON, values)).all())
