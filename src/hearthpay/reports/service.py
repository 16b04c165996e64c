"""Reports of a household: the wages of a state, and what is owed to which agency. They change nothing."""

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, allow
from hearthpay.access.refusal import invalid
from hearthpay.employers.models import Employer
from hearthpay.employers.service import resolve_employer
from hearthpay.reports.commands import AskStateWages, AskTaxLiability
from hearthpay.reports.reading import read_state_wages, read_tax_liability
from hearthpay.reports.state_wages import StateWageDetail
from hearthpay.reports.tax_liability import TaxLiability

MOST_MONTHS = 36
"""The most calendar months that a liability report may cover."""


async def report_state_wages(
    session: AsyncSession, actor: Actor, asked: AskStateWages
) -> tuple[Employer, StateWageDetail]:
    """Return the household and its wages in a state.

    Raises what `allow` and `resolve_employer` raise, and `TaxInputError` for a year without rules.
    """
    allow(actor, READ_PAYROLLS)
    employer = await resolve_employer(session, actor, asked.employer_id)
    return employer, await state_wages_of_household(session, actor, employer, asked)


async def state_wages_of_household(
    session: AsyncSession, actor: Actor, employer: Employer, asked: AskStateWages
) -> StateWageDetail:
    """Return the wages in a state of a household that has already been found.

    Raises what `allow` raises, and `TaxInputError` for a year without rules.
    """
    allow(actor, READ_PAYROLLS, employer.id)
    return await read_state_wages(session, employer.id, asked.state, asked.year, asked.quarter)


async def report_tax_liability(
    session: AsyncSession, actor: Actor, asked: AskTaxLiability
) -> tuple[Employer, TaxLiability]:
    """Return the household and what it owes to agencies for the pay dates of a date range.

    Raises what `allow` and `resolve_employer` raise, and `validation_error` for a range that is invalid or too long.
    """
    allow(actor, READ_PAYROLLS)
    employer = await resolve_employer(session, actor, asked.employer_id)
    return employer, await tax_liability_of_household(session, actor, employer, asked)


async def tax_liability_of_household(
    session: AsyncSession, actor: Actor, employer: Employer, asked: AskTaxLiability
) -> TaxLiability:
    """Return what a household that has already been found owes to agencies.

    Raises what `allow` raises, and `validation_error` for a date range that is invalid or too long.
    """
    allow(actor, READ_PAYROLLS, employer.id)
    if asked.last < asked.first:
        raise invalid("to", "must not be before from")
    if (asked.last.year - asked.first.year) * 12 + asked.last.month - asked.first.month >= MOST_MONTHS:
        raise invalid("to", f"a report touches at most {MOST_MONTHS} calendar months")
    return await read_tax_liability(session, employer.id, asked.first, asked.last)
