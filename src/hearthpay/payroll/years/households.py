"""What the taxes of many households at once depend on: assigned rates, thresholds, connected years."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import ASSIGNED_RATES, EMPLOYEES, EMPLOYERS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.payroll.ledger.years import History
from hearthpay.payroll.orders import SettledOrder
from hearthpay.payroll.years.household_year import HouseholdYear, read_household_year


class _TermsRow(NamedTuple):
    id: UUID
    threshold_bases: dict[str, str]
    tax_year: int | None
    state: str | None
    sui_rate: Decimal | None


_TERMS: Final = query(
    _TermsRow,
    "SELECT e.id, e.threshold_bases, r.tax_year, r.state, r.sui_rate FROM {employers} e "
    "LEFT JOIN {assigned_rates} r ON r.employer_id = e.id WHERE e.id = ANY(:employers)",
    employers=EMPLOYERS,
    assigned_rates=ASSIGNED_RATES,
)


class _EmployeesTogetherRow(NamedTuple):
    id: UUID
    employer_id: UUID


_EMPLOYEES_TOGETHER: Final = query(
    _EmployeesTogetherRow,
    "SELECT m.id, e.id AS employer_id FROM {employers} e JOIN {employees} m ON m.employer_id = e.id "
    "WHERE e.id = ANY(:employers) AND e.threshold_bases <> '{}'",
    employers=EMPLOYERS,
    employees=EMPLOYEES,
)


class TermsOfHouseholds(NamedTuple):
    """Assigned unemployment rates by household and year, then by state; and the bases of the thresholds."""

    rates: dict[tuple[UUID, int], dict[str, Decimal]]
    bases: dict[UUID, Mapping[str, str]]


async def terms_of_households(session: AsyncSession, employers: Sequence[UUID]) -> TermsOfHouseholds:
    """Return the terms of the households; bases only for those that chose."""
    terms = TermsOfHouseholds({}, {})
    for employer_id, bases, tax_year, state, rate in await fetch_all(
        session, _TERMS, {"employers": list(employers)}
    ):
        if bases:
            terms.bases[employer_id] = bases
        if tax_year is not None and state is not None and rate is not None:
            terms.rates.setdefault((employer_id, tax_year), {})[state] = rate
    return terms


async def employees_together(session: AsyncSession, employers: Sequence[UUID]) -> dict[UUID, UUID]:
    """Return the employees, with their households, of those that chose how their thresholds count.

    The years of all their employees depend on each other.
    """
    rows = await fetch_all(session, _EMPLOYEES_TOGETHER, {"employers": list(employers)})
    return {row.id: row.employer_id for row in rows}


async def years_of_households(
    session: AsyncSession,
    orders: Iterable[SettledOrder],
    bases: Mapping[UUID, Mapping[str, str]],
    histories: Mapping[int, Mapping[UUID, History]],
) -> dict[tuple[UUID, int], HouseholdYear]:
    """Return the household's year of each payroll whose taxes depend on it, by household and year."""
    found: dict[tuple[UUID, int], HouseholdYear] = {}
    for order in orders:
        key = employer_id, tax_year = order.employer_id, order.dates.pay_date.year
        years = histories[tax_year]
        own = [years[entry.employee_id] for entry in order.entries if entry.employee_id in years]
        concerned = employer_id in bases or any(history.fica_repaid for history in own)
        if concerned and key not in found:
            found[key] = await read_household_year(
                session, employer_id, tax_year, bases.get(employer_id, {}), years
            )
    return found
