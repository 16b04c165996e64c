"""The law of the kept figures of what households have to do: they are what the books say as of their day."""

import datetime
from dataclasses import fields
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.difference import Difference
from hearthpay.duties.dues import HouseholdDues, compute_dues, rules_fingerprint
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing

_BATCH: Final = 500
_FIGURES: Final = tuple(each.name for each in fields(HouseholdDues))


class _DuesRow(NamedTuple):
    employer_id: UUID
    computed_on: datetime.date
    overdue_since: datetime.date | None
    overdue_count: int
    overdue_cents: int
    week_count: int
    week_cents: int
    next_due: datetime.date | None
    payday_to_run: datetime.date | None


_FRESH: Final = query(
    _DuesRow,
    "SELECT d.employer_id, d.computed_on, d.overdue_since, d.overdue_count, d.overdue_cents, d.week_count, "
    "d.week_cents, d.next_due, d.payday_to_run FROM household_dues d "
    "WHERE d.employer_id > :after AND d.rules = :rules "
    "AND NOT EXISTS (SELECT FROM outdated_dues o WHERE o.employer_id = d.employer_id) "
    "ORDER BY d.employer_id LIMIT :batch",
)


class _WithoutRow(NamedTuple):
    employer_id: UUID


_WITHOUT: Final = query(
    _WithoutRow,
    "SELECT e.id AS employer_id FROM employers e "
    "WHERE NOT EXISTS (SELECT FROM household_dues d WHERE d.employer_id = e.id) ORDER BY e.id",
)


async def household_dues(session: AsyncSession, _ring: KeyRing | None) -> list[Difference]:
    """What is kept as overdue and due soon for a household is what its books say, unless a change is noted; every
    household has a row for it.
    """
    found: list[Difference] = [
        Difference("employer", row.employer_id, "household_dues", "no row", "a row")
        for row in await fetch_all(session, _WITHOUT)
    ]
    after = UUID(int=0)
    asked = {"rules": rules_fingerprint(), "batch": _BATCH}
    while rows := await fetch_all(session, _FRESH, asked | {"after": after}):
        for row in rows:
            try:
                employer = await session.get_one(Employer, row.employer_id)
                expected = await compute_dues(session, employer, row.computed_on)
            except (ArithmeticError, LookupError, ValueError) as error:  # of damaged books, or of other rules
                found.append(
                    Difference(
                        "employer", row.employer_id, "household_dues", "calculated", f"refused: {error}"
                    )
                )
                continue
            finally:
                session.expunge_all()
            found += [
                Difference(
                    "employer",
                    row.employer_id,
                    f"{name} of household_dues",
                    _text(row, name),
                    _text(expected, name),
                )
                for name in _FIGURES
                if getattr(row, name) != getattr(expected, name)
            ]
        after = rows[-1].employer_id
    return found


def _text(figures: _DuesRow | HouseholdDues, name: str) -> str | None:
    value = getattr(figures, name)
    return None if value is None else str(value)
