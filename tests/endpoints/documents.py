"""The endpoints of `hearthpay.documents`."""

from typing import Any, Final

from tests.boundary.worlds import SUBMITTER, World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of


def _issue_paystub(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    body = {"payroll_id": worlds[step.thing].paid_id, "language": ("en", "es")[step.variant % 2]}
    return Request("POST", "/documents/paystub", about | {step.thing}, body={**body, **household})


def _list_documents(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/documents", about, query={**household, "limit": 1 + step.variant})


def _of_a_year(operation_id: str, path: str, **more: Any) -> Endpoint:
    """The endpoint that issues a paper of a household's whole year."""
    return Endpoint(
        id=operation_id,
        method="POST",
        path=f"/documents/{path}",
        scope="documents",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"tax_year": 2026, **more}),
    )


ENDPOINTS: Final = (
    Endpoint(
        id="issuePaystub",
        method="POST",
        path="/documents/paystub",
        scope="documents",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"payroll_id": world.paid_id, "language": "es"}),
        step=_issue_paystub,
        finds_one=True,
        contradiction="validation_error",
    ),
    Endpoint(
        id="issueW2",
        method="POST",
        path="/documents/w2",
        scope="documents",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"employee_id": world.employee_id, "tax_year": 2026}),
        lacks="document_not_available",
        contradiction="validation_error",
    ),
    _of_a_year("issueW3", "w3"),
    _of_a_year("issueScheduleH", "schedule-h"),
    _of_a_year("issueEfw2", "efw2", submitter=SUBMITTER),
    _of_a_year("issueYearPackage", "year-package"),
    Endpoint(
        id="getYearPackage",
        method="GET",
        path="/documents/packages/{package_id}",
        scope="documents",
        turn=Turn.READ,
        request=lambda world: Asked(),
    ),
    Endpoint(
        id="listDocuments",
        method="GET",
        path="/documents",
        scope="documents",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"tax_year": 2026}),
        step=_list_documents,
    ),
    Endpoint(
        id="getDocument",
        method="GET",
        path="/documents/{document_id}",
        scope="documents",
        turn=Turn.READ,
        request=lambda world: Asked(),
        leaves_audit_row=True,
    ),
    Endpoint(
        id="estimateTax",
        method="GET",
        path="/reports/estimated-tax",
        scope="documents",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"year": 2026}),
    ),
)
