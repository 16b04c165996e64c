"""HTTP routes for reports: JSON, or CSV to download."""

from typing import Annotated, Any, Final

from fastapi import Depends, Query
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS
from hearthpay.http.auth import require
from hearthpay.http.envelope import DatedEnvelope, answer
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import runtime_of
from hearthpay.reports.csv_table import state_wages_csv, tax_liability_csv
from hearthpay.reports.schemas import (
    ReportFormat,
    StateWageReport,
    StateWagesQuery,
    TaxLiabilityQuery,
    TaxLiabilityReport,
    state_wage_report,
    tax_liability_report,
)
from hearthpay.reports.service import report_state_wages, report_tax_liability

router: Final = api_router("Reports")


def _or_csv(described: dict[str, Any]) -> dict[str, Any]:
    """Return what an endpoint says of itself with its other form of success."""
    csv = {"text/csv": {"schema": {"type": "string"}}}
    head = {"Content-Disposition": {"description": "Of CSV: the file's name.", "schema": {"type": "string"}}}
    return described | {"responses": {200: {"content": csv, "headers": head}, **described["responses"]}}


@router.get(
    "/reports/state-wages",
    operation_id="reportStateWages",
    summary="Tell a state's wages by employee",
    **_or_csv(
        describe(
            answer=DatedEnvelope[StateWageReport],
            query={"state": "CA", "year": 2026, "quarter": 3},
            errors=("household_forbidden", "key_mode_mismatch", "unsupported_tax_year"),
        )
    ),
)
async def get_state_wages(
    request: Request,
    query: Annotated[StateWagesQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_PAYROLLS))],
) -> Response:
    """What a state's quarterly wage report asks for, by employee: gross, subject, excess and taxable wages.

    All sums are the ledger's, by pay date. What was voided or failed is deducted in the quarter to which it belonged.
    A tax that makes up for earlier wages of the year is in the quarter of the paycheck that charged it. Excess wages
    are above the state's wage base, or were paid before a threshold was reached. Prior wages, which another payroll
    paid and reported, are not included; they count toward the wage base, and `prior_wages_left_out` lists them.

    Of taxpayer numbers only the last four digits are shown. As CSV, one row for each employee.
    """
    runtime = runtime_of(request)
    asked = query.to_command()
    employer, report = await runtime.read(
        actor.tenant, lambda session: report_state_wages(session, actor, asked)
    )
    if _wants_csv(request, query.format):
        span = str(report.year) if report.quarter is None else f"{report.year}-Q{report.quarter}"
        return _file(state_wages_csv(report), f"state-wages-{report.state}-{span}.csv")
    return answer(request, state_wage_report(employer.id, report), as_of=runtime.clock.today())


@router.get(
    "/reports/tax-liability",
    operation_id="reportTaxLiability",
    summary="Tell what is owed to which agency, by month",
    **_or_csv(
        describe(
            answer=DatedEnvelope[TaxLiabilityReport],
            query={"from": "2026-01-01", "to": "2026-12-31"},
            errors=("household_forbidden", "key_mode_mismatch"),
        )
    ),
)
async def get_tax_liability(
    request: Request,
    query: Annotated[TaxLiabilityQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_PAYROLLS))],
) -> Response:
    """Taxes by agency, line and month of the pay dates: what was withheld from employees, and the household's own.

    Every cent is the ledger's: the sum over a span is the sum of its payrolls' lines, less what was voided or failed.
    Payrolls that are only scheduled are not in it, and neither is what another payroll paid. When an agency wants to
    be paid is another matter.

    `paid` is what `POST /tax-payments` recorded for periods that begin in the report's months, by the agency of the
    taxes that it paid; `open` is what is held or owed and not yet paid.
    """
    runtime = runtime_of(request)
    asked = query.to_command()
    employer, report = await runtime.read(
        actor.tenant, lambda session: report_tax_liability(session, actor, asked)
    )
    if _wants_csv(request, query.format):
        return _file(tax_liability_csv(report), f"tax-liability-{report.first}-to-{report.last}.csv")
    return answer(request, tax_liability_report(employer.id, report), as_of=runtime.clock.today())


def _wants_csv(request: Request, asked: ReportFormat | None) -> bool:
    return prefers_csv(request.headers.get("accept", "")) if asked is None else asked == "csv"


def _file(text: str, name: str) -> Response:
    return Response(
        text.encode(),
        media_type="text/csv; charset=utf-8; header=present",
        headers={"Content-Disposition": f'attachment; filename="{name}"', "Vary": "Accept"},
    )


def prefers_csv(accept: str) -> bool:
    """Return whether `Accept` (RFC 9110, section 12.5.1) asks for CSV more than for JSON; JSON where both are alike."""
    csv = _weight(accept, "text/csv")
    return csv is not None and csv > (_weight(accept, "application/json") or 0.0)


def _weight(accept: str, media_type: str) -> float | None:
    """Return the weight of a named type; None if it isn't named, or only by a wildcard."""
    for each in accept.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        if name == media_type:
            weights = [part.removeprefix("q=") for part in parameters if part.startswith("q=")]
            try:
                return float(weights[0]) if weights else 1.0
            except ValueError:
                return 0.0
    return None
