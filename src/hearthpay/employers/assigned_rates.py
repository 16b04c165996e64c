"""The unemployment rates that states assign to households, in place of the new-employer rates."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database import audit
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employers.models import AssignedRate, Employer
from hearthpay.taxes.jurisdictions import STATES

MOST_DECIMALS: Final = 9
"""More decimals than any state prints."""

FIRST_YEAR, LAST_YEAR = 2000, 2200


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
    if not rate.is_finite() or not 0 <= rate < 1 or -int(rate.as_tuple().exponent) > MOST_DECIMALS:
        raise invalid("rate", "must be a fraction between 0 and 1, such as 0.027")
    employer = await session.get(Employer, employer_id)
    if employer is None:
        raise Refusal("not_found", f"There is no household with the id {employer_id}.")
    same = (
        AssignedRate.employer_id == employer.id,
        AssignedRate.tax_year == tax_year,
        AssignedRate.state == state,
    )
    before = await session.scalar(select(AssignedRate.sui_rate).where(*same).with_for_update())
    statement = insert(AssignedRate).values(
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        tax_year=tax_year,
        state=state,
        sui_rate=rate,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["employer_id", "tax_year", "state"], set_={"sui_rate": rate}
        )
    )
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
        details={
            "tax_year": tax_year,
            "state": state,
            "sui_rate": rate,
            "before": {"sui_rate": before},
            "after": {"sui_rate": rate},
        },
    )
