"""The household's taxes: what is open by agency; of a year, what is owed by quarter and the thresholds; links."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.permissions import (
    CHANGE_HOUSEHOLD,
    KEEP_TAX_LEDGER,
    READ_CALENDAR,
    READ_PAYROLLS,
    RUN_PAYROLL,
)
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.kept_calendars import KnownHousehold
from hearthpay.duties.service import known_household_of, read_employees
from hearthpay.duties.threshold_standing import (
    HouseholdThresholds,
    ThresholdProgress,
    read_threshold_progress,
)
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.employers.service import find_employer
from hearthpay.filing.commands import LedgerQuery
from hearthpay.filing.service import balances_of_household, balances_span, payments_of_household
from hearthpay.languages.catalogue import Say, mark
from hearthpay.reports.commands import AskTaxLiability
from hearthpay.reports.service import tax_liability_of_household
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import year_in, years_of
from hearthpay.web.household.taxes.open_amounts import open_amounts
from hearthpay.web.household.taxes.payment_rows import payment_row
from hearthpay.web.household.taxes.quarters import QUARTERS, quarterly
from hearthpay.web.household.taxes.year_costs import year_costs

router: Final = APIRouter(include_in_schema=False)

_NAMES: Final = {
    "fica": mark("Social Security and Medicare"),
    "futa": mark("Federal unemployment tax (FUTA)"),
    "sui": mark("Unemployment insurance"),
    "sdi": mark("Disability insurance"),
    "tdi": mark("Temporary disability insurance"),
}
_FEDERAL: Final = mark("Federal")
_LAST_RECORDED: Final = 5


@dataclass(frozen=True, slots=True)
class ThresholdMeter:
    """One threshold for the page; the counted wages and the threshold are cents."""

    title: str
    standing: ThresholdProgress

    @property
    def crossed(self) -> bool:
        """Whether the wages paid make the taxes behind it due."""
        return self.standing.since is not None


@household_page(router, "GET", "/taxes", permission=READ_CALENDAR)
async def taxes(at: HouseholdContext) -> Response:
    """Show what is open today, and of a year its taxes and thresholds."""
    today = at.clock.today()
    year = year_in(at.visitor, today)
    span = AskTaxLiability(datetime.date(year, 1, 1), datetime.date(year, 12, 31))
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        records = await read_employees(session, employer.id)
        known = None
        if year == today.year:
            known = await known_household_of(session, employer, today, *balances_span(today), records)
        thresholds = await read_threshold_progress(session, at.actor, employer, year, records, known)
        liability = await tax_liability_of_household(session, at.actor, employer, span)
        ledger = {} if known is None else await _ledger(at, session, employer, records, known)
        costs = await year_costs(at, session, year) if at.may(READ_PAYROLLS) else None
    facts = {
        "ledger": ledger,
        "costs": costs,
        "year": year,
        "years": years_of(today),
        "assumed": thresholds.assumed,
        "may_run": year == today.year and at.may(RUN_PAYROLL),
        "may_choose": at.may(CHANGE_HOUSEHOLD),
        "areas": _areas(thresholds, at.say),
        "quarters": QUARTERS,
        "agencies": [(each, quarterly(each.months)) for each in liability.agencies],
        "by_quarter": quarterly(liability.by_month),
        "total": liability.total,
        "withheld": liability.of_payer("employee"),
        "own": liability.of_payer("employer"),
    }
    return at.show("taxes/overview.html", facts)


async def _ledger(
    at: HouseholdContext,
    session: AsyncSession,
    employer: Employer,
    records: Sequence[Employee],
    known: KnownHousehold,
) -> dict[str, Any]:
    """Return what is open by agency as of today, and the last payments."""
    balances = await balances_of_household(session, at.actor, at.clock, employer, records, known)
    last = LedgerQuery(at.id, limit=_LAST_RECORDED)
    payments, _ = await payments_of_household(session, at.actor, employer, last)
    return {
        "amounts": open_amounts(balances, at.id, at.clock.today(), at.say, at.visitor.language),
        "payments": [payment_row(at, each) for each in payments],
        "may_keep": at.may(KEEP_TAX_LEDGER),
    }


def _areas(thresholds: HouseholdThresholds, say: Say) -> Sequence[tuple[str, list[ThresholdMeter]]]:
    """Return the meters under federal law and each state, each with its title."""
    areas: dict[str, list[ThresholdMeter]] = {}
    for standing in thresholds.standings:
        known = _NAMES.get(standing.threshold.liability)
        title = standing.threshold.name if known is None else say(known)
        if standing.name is not None:
            title = f"{title} · {standing.name}"
        areas.setdefault(standing.jurisdiction, []).append(ThresholdMeter(title, standing))
    return [
        (say(_FEDERAL) if jurisdiction == FEDERAL else STATES[jurisdiction], meters)
        for jurisdiction, meters in areas.items()
    ]
