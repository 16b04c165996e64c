"""The endpoints of `hearthpay.reports`."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of


def _report_state_wages(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    query = {**household, "state": "CA", "year": 2026, **({"quarter": 4} if step.variant else {})}
    return Request("GET", "/reports/state-wages", about, query=query)


ENDPOINTS: Final = (
    Endpoint(
        id="reportStateWages",
        method="GET",
        path="/reports/state-wages",
        scope="payroll",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"state": "CA", "year": "2026", "quarter": "4"}),
        step=_report_state_wages,
    ),
    Endpoint(
        id="reportTaxLiability",
        method="GET",
        path="/reports/tax-liability",
        scope="payroll",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"from": "2026-01-01", "to": "2026-12-31"}),
    ),
)
