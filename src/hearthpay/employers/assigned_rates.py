"""The unemployment rates that states assign to households, in place of the new-employer rates."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import KEEP_SUI_RATES, allow
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES

MOST_DECIMALS: Final = 9
"""More decimals than any state prints."""

FIRST_YEAR, LAST_YEAR = 2000, 2200

_YEAR: Final = mark("Choose this year or next year.")
_RATE: Final = mark("Enter a rate of 0% or more, and below 100%, with at most 7 decimals.")
_NOTICE: Final = mark("Enter today's date or an earlier one.")


@dataclass(frozen=True, slots=True)
class AssignRate:
    """The rate of a state's notice for a year, such as 0.027, and the day of the notice if it is known."""

    tax_year: int
    state: str
    rate: Decimal
    notice_on: datetime.date | None = None


class KeptRate(NamedTuple):
    """A rate on record."""

    tax_year: int
    state: str
    sui_rate: Decimal
    notice_on: datetime.date | None


class _BeforeRow(NamedTuple):
    sui_rate: Decimal | None
    notice_on: datetime.date | None


class _AddedRow(NamedTuple):
    state: str


_ADD: Final = query(
    _AddedRow,
    "INSERT INTO assigned_rates (organization_id, employer_id, sandbox, tax_year, state, sui_rate, notice_on) "
    "VALUES (:organization_id, :employer_id, :sandbox, :tax_year, :state, :sui_rate, :notice_on) "
    "ON CONFLICT (employer_id, tax_year, state) DO NOTHING RETURNING state",
)

# The row is locked before it changes: of two simultaneous changes the second sees the first one's result.
_CHANGE: Final = query(
    _BeforeRow,
    "UPDATE assigned_rates a SET sui_rate = :sui_rate, notice_on = :notice_on "
    "FROM (SELECT employer_id, tax_year, state, sui_rate, notice_on FROM assigned_rates "
    "WHERE employer_id = :employer_id AND tax_year = :tax_year AND state = :state FOR UPDATE) AS previous "
    "WHERE a.employer_id = previous.employer_id AND a.tax_year = previous.tax_year AND a.state = previous.state "
    "RETURNING previous.sui_rate, previous.notice_on",
)

_KEPT: Final = query(
    KeptRate,
    "SELECT tax_year, state, sui_rate, notice_on FROM assigned_rates "
    "WHERE employer_id = :employer_id AND tax_year = ANY(CAST(:years AS smallint[])) ORDER BY tax_year, state",
)


class TaxTerms(NamedTuple):
    """What a household's taxes of a year depend on, besides the law."""

    sui_rates: Mapping[str, Decimal]
    """The assigned unemployment rates by state; usually one, or none."""

    threshold_bases: Mapping[str, str]
    """See `hearthpay.employers.threshold_basis`."""


class _TermsRow(NamedTuple):
    threshold_bases: dict[str, str]
    state: str | None
    sui_rate: Decimal | None


# Every payroll reads it. A select of the ORM, made anew each time, takes twice the processor time of this.
_TERMS: Final = query(
    _TermsRow,
    "SELECT e.threshold_bases, r.state, r.sui_rate FROM employers e "
    "LEFT JOIN assigned_rates r ON r.employer_id = e.id AND r.tax_year = :tax_year WHERE e.id = :employer",
)


async def tax_terms(session: AsyncSession, employer_id: UUID, tax_year: int) -> TaxTerms:
    """Return a household's assigned rates for a year and the basis of its thresholds, with one statement."""
    rows = await fetch_all(session, _TERMS, {"employer": employer_id, "tax_year": tax_year})
    rates = {row.state: row.sui_rate for row in rows if row.state is not None and row.sui_rate is not None}
    return TaxTerms(rates, rows[0].threshold_bases if rows else {})


async def kept_rates(session: AsyncSession, employer_id: UUID, years: Sequence[int]) -> list[KeptRate]:
    """Return a household's assigned rates of these years; the caller has checked that they may be shown."""
    return await fetch_all(session, _KEPT, {"employer_id": employer_id, "years": list(years)})


def years_to_assign(today: datetime.date) -> tuple[int, int]:
    """Return the years whose rates a household enters: this one, and the next, whose notice comes before it begins."""
    return today.year, today.year + 1


def check_rate(assigned: AssignRate, today: datetime.date) -> None:
    """Refuse what a household can't enter: `validation_error` naming ``state``, ``tax_year``, ``rate`` or
    ``notice_on``.
    """
    if assigned.state not in STATES:
        raise invalid("state", "Choose a state, or DC.")
    if assigned.tax_year not in years_to_assign(today):
        raise invalid("tax_year", _YEAR)
    if not _is_rate(assigned.rate):
        raise invalid("rate", _RATE)
    if assigned.notice_on is not None and assigned.notice_on > today:
        raise invalid("notice_on", _NOTICE)


async def keep_sui_rate(
    session: AsyncSession, actor: Actor, clock: Clock, employer: Employer, assigned: AssignRate
) -> None:
    """Record the rate of a state's notice for the household, in place of an earlier one, with an audit row.

    Payrolls run from now on with a pay date in that year use it; what is already run stays. Raises what `allow` and
    `check_rate` raise.
    """
    allow(actor, KEEP_SUI_RATES, employer.id)
    check_rate(assigned, clock.today())
    before = await _keep(session, employer, assigned)
    await record_audit(
        session,
        actor,
        "employer.assign_sui_rate",
        employer_id=employer.id,
        subject_id=employer.id,
        details=_details(assigned, before),
    )


async def assign_sui_rate(
    session: AsyncSession, employer_id: UUID, *, tax_year: int, state: str, rate: Decimal
) -> None:
    """Record the rate of a state's notice, such as 0.027, in place of an earlier one; for the operator's session.

    Payrolls run from now on use it; what is already paid stays. Raises `not_found` for an unknown household and
    `validation_error` naming ``state``, ``tax_year`` or ``rate``.
    """
    if state not in STATES:
        raise invalid("state", "Choose a state, or DC.")
    if not FIRST_YEAR <= tax_year <= LAST_YEAR:
        raise invalid("tax_year", f"must be between {FIRST_YEAR} and {LAST_YEAR}")
    if not _is_rate(rate):
        raise invalid("rate", "must be a fraction between 0 and 1, such as 0.027")
    employer = await session.get(Employer, employer_id)
    if employer is None:
        raise Refusal("not_found", f"There is no household with the id {employer_id}.")
    assigned = AssignRate(tax_year, state, rate)
    before = await _keep(session, employer, assigned)
    await audit.record(
        session,
        actor_kind="operator",
        actor_id=None,
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        action="employer.assign_sui_rate",
        subject_id=employer.id,
        request_id=None,
        details=_details(assigned, before),
    )


def _is_rate(rate: Decimal) -> bool:
    return rate.is_finite() and 0 <= rate < 1 and -int(rate.as_tuple().exponent) <= MOST_DECIMALS


async def _keep(session: AsyncSession, employer: Employer, assigned: AssignRate) -> _BeforeRow:
    """Store the rate; return what was there before."""
    values = {
        "organization_id": employer.organization_id,
        "employer_id": employer.id,
        "sandbox": employer.sandbox,
        "tax_year": assigned.tax_year,
        "state": assigned.state,
        "sui_rate": assigned.rate,
        "notice_on": assigned.notice_on,
    }
    if await fetch_optional(session, _ADD, values) is not None:
        return _BeforeRow(None, None)
    before = await fetch_optional(session, _CHANGE, values)
    if before is None:  # Deleted meanwhile, with its sandbox household.
        raise Refusal("not_found", f"There is no household with the id {employer.id}.")
    return before


def _details(assigned: AssignRate, before: _BeforeRow) -> dict[str, object]:
    """Return the details of the audit row: the rate, and both sides of what changed."""
    old: dict[str, object] = {"sui_rate": before.sui_rate}
    new: dict[str, object] = {"sui_rate": assigned.rate}
    if before.notice_on is not None or assigned.notice_on is not None:
        old["notice_on"], new["notice_on"] = before.notice_on, assigned.notice_on
    return {
        "tax_year": assigned.tax_year,
        "state": assigned.state,
        "sui_rate": assigned.rate,
        "before": old,
        "after": new,
    }
