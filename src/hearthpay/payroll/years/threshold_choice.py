"""Choosing how a household's thresholds count, also in mid-year: what its years then owe is calculated at once."""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import CHANGE_HOUSEHOLD, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employers.commands import ChangeEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.schemas import EmployerDetail, address_of, employer_json, zone_name_of
from hearthpay.employers.service import update_employer
from hearthpay.employers.threshold_basis import (
    FROM_THE_FIRST,
    ThresholdBasis,
    current_basis,
    lock_threshold_bases,
    save_threshold_bases,
)
from hearthpay.payroll.years.household_year import lock_all, measure_household
from hearthpay.taxes.messages import DollarAmount, Message, message, texts
from hearthpay.unchanged import UNCHANGED
from hearthpay.wire.answer_fields import Warnings
from hearthpay.wire.messages import MessageItem, items_of

_YEARS: Final = text("SELECT DISTINCT tax_year FROM year_balances WHERE employer_id = :employer ORDER BY 1")


class _OpenRow(NamedTuple):
    tax_year: int
    code: str
    cents: int


_OPEN: Final = query(
    _OpenRow,
    "SELECT y.tax_year, o.key AS code, sum(o.value::bigint)::bigint AS cents "
    "FROM year_balances y, jsonb_each_text(y.owed) AS o WHERE y.employer_id = :employer AND y.tax_year >= :since "
    "GROUP BY 1, 2 HAVING sum(o.value::bigint) <> 0 ORDER BY 1, 2",
)


@dataclass(frozen=True, slots=True)
class ChangedEmployer(EmployerDetail):
    """A household with its changed settings, and what they mean for taxes already charged."""

    warnings: Warnings
    warning_codes: list[MessageItem]
    """`warnings` for programs, in the same order."""


@dataclass(frozen=True, slots=True)
class OpenTaxes:
    """What the next paychecks charge, or refund if not `owed`, for wages of a year, in cents by line."""

    year: int
    owed: bool
    lines: tuple[tuple[str, int], ...]

    @property
    def message(self) -> Message:
        """The open taxes as a message."""
        lines = tuple(
            message("part_line_amount", line=code, amount=DollarAmount(cents)) for code, cents in self.lines
        )
        return message("year_taxes_owed" if self.owed else "year_taxes_returned", year=self.year, lines=lines)


@dataclass(frozen=True, slots=True)
class BasisChoice:
    """What a choice changed; ``open_taxes`` are what the next paychecks charge or refund for it."""

    before: ThresholdBasis
    after: ThresholdBasis
    since: int
    """The first tax year to which it applies."""

    open_taxes: tuple[OpenTaxes, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The open taxes as messages."""
        return tuple(each.message for each in self.open_taxes)


async def change_employer(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID, changes: ChangeEmployer
) -> ChangedEmployer:
    """Change a household's settings for an actor who can access it; raises what `update_employer` raises."""
    allow(actor, CHANGE_HOUSEHOLD)
    employer = await update_employer(session, actor, clock, employer_id, changes)
    open_taxes: tuple[Message, ...] = ()
    if changes.threshold_basis is not UNCHANGED:
        choice = await choose_own_basis(session, actor, clock, employer.id, changes.threshold_basis)
        open_taxes = choice.messages
    employer = await session.get_one(Employer, employer.id, populate_existing=True)
    return ChangedEmployer(
        **employer_json(employer),
        address=address_of(employer),
        phone=employer.phone,
        time_zone=zone_name_of(employer),
        warnings=list(texts(open_taxes)),
        warning_codes=items_of(open_taxes),
    )


async def choose_own_basis(
    session: AsyncSession, actor: Actor, clock: Clock, employer_id: UUID, basis: ThresholdBasis
) -> BasisChoice:
    """Change the basis of a household's thresholds for an actor who can access it; raises `not_found`."""
    allow(actor, CHANGE_HOUSEHOLD, employer_id)
    if not actor.reaches(employer_id):
        raise Refusal("not_found", "No household has this id.")
    choice = await _choose(session, employer_id, basis, clock.today())
    if choice.before != choice.after:
        await record_audit(
            session,
            actor,
            "employer.update",
            employer_id=employer_id,
            subject_id=employer_id,
            details=_details(choice),
        )
    return choice


async def choose_threshold_basis(
    session: AsyncSession, clock: Clock, employer_id: UUID, basis: ThresholdBasis
) -> BasisChoice:
    """Change the basis of a household's thresholds for the operator; raises `not_found`."""
    choice = await _choose(session, employer_id, basis, clock.today())
    if choice.before != choice.after:
        employer = await session.get_one(Employer, employer_id)
        await audit.record(
            session,
            actor_kind="operator",
            actor_id=None,
            organization_id=employer.organization_id,
            employer_id=employer_id,
            sandbox=employer.sandbox,
            action="employer.update",
            subject_id=employer_id,
            request_id=None,
            details=_details(choice),
        )
    return choice


def _details(choice: BasisChoice) -> dict[str, object]:
    changed = {"before": choice.before, "after": choice.after, "since": choice.since}
    return {"threshold_basis": changed}


async def _choose(
    session: AsyncSession, employer_id: UUID, basis: ThresholdBasis, today: datetime.date
) -> BasisChoice:
    """Record the basis and measure the years it applies to; the household is locked first, then all its employees."""
    bases = await lock_threshold_bases(session, employer_id)
    if bases is None:
        raise Refusal("not_found", f"There is no household with the id {employer_id}.")
    before = current_basis(bases)
    await lock_all(session, employer_id)
    years = [row.tax_year for row in await session.execute(_YEARS, {"employer": employer_id})]
    first = str(today.year) if any(year < today.year for year in years) else FROM_THE_FIRST
    since = int(first)
    if before != basis:
        bases = {year: kept for year, kept in bases.items() if int(year) < since} | {first: basis}
        await save_threshold_bases(session, employer_id, bases)
        for year in years:
            if year >= since:
                await measure_household(session, employer_id, year, bases)
    return BasisChoice(before, basis, since, await _open_taxes(session, employer_id, since))


async def _open_taxes(session: AsyncSession, employer_id: UUID, since: int) -> tuple[OpenTaxes, ...]:
    """Return the open taxes of the years since, owed ones before overcharges."""
    lines: dict[tuple[bool, int], list[tuple[str, int]]] = {}
    for row in await fetch_all(session, _OPEN, {"employer": employer_id, "since": since}):
        lines.setdefault((row.cents > 0, row.tax_year), []).append((row.code, abs(row.cents)))
    return tuple(
        OpenTaxes(year, owed, tuple(found))
        for (owed, year), found in sorted(lines.items(), key=lambda each: not each[0][0])
    )
