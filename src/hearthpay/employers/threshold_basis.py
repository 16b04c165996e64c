"""Whether a household pays threshold-dependent taxes from the first dollar, or once wages paid reach the threshold."""

from collections.abc import Mapping
from typing import Final, Literal, TypeGuard
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

ThresholdBasis = Literal["assume_crossed", "as_paid"]

ASSUME_CROSSED: Final[ThresholdBasis] = "assume_crossed"
AS_PAID: Final[ThresholdBasis] = "as_paid"
FROM_THE_FIRST: Final = "2000"
"""Starting with the first year that can be paid."""

_BASES: Final = text("SELECT threshold_bases FROM employers WHERE id = :employer")
_LOCK: Final = text("SELECT threshold_bases FROM employers WHERE id = :employer FOR NO KEY UPDATE")
_SAVE: Final = text("UPDATE employers SET threshold_bases = CAST(:bases AS jsonb) WHERE id = :employer")


def is_threshold_basis(value: str) -> TypeGuard[ThresholdBasis]:
    """Return whether `value` is one of the two."""
    return value in (ASSUME_CROSSED, AS_PAID)


def basis_of(bases: Mapping[str, str], tax_year: int) -> ThresholdBasis:
    """Return the basis of a year; ``bases`` has each by the first year to which it applies."""
    begun = [year for year in bases if int(year) <= tax_year]
    return AS_PAID if begun and bases[max(begun, key=int)] == AS_PAID else ASSUME_CROSSED


def current_basis(bases: Mapping[str, str]) -> ThresholdBasis:
    """Return the latest basis chosen."""
    return basis_of(bases, max((int(year) for year in bases), default=0))


async def threshold_bases(session: AsyncSession, employer_id: UUID) -> Mapping[str, str]:
    """Return what a household has chosen, by the first year to which it applies; empty if it never chose."""
    return await session.scalar(_BASES, {"employer": employer_id}) or {}


async def lock_threshold_bases(session: AsyncSession, employer_id: UUID) -> Mapping[str, str] | None:
    """Return what a household has chosen, and keep it locked until the transaction ends; None without the household."""
    bases: Mapping[str, str] | None = await session.scalar(_LOCK, {"employer": employer_id})
    return bases


async def save_threshold_bases(session: AsyncSession, employer_id: UUID, bases: Mapping[str, str]) -> None:
    """Store what a household has chosen, by the first year to which it applies."""
    await session.execute(_SAVE, {"employer": employer_id, "bases": orjson.dumps(dict(bases)).decode()})
