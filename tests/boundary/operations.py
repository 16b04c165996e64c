"""One right request for every endpoint, in any world; what a wrong key gets for it follows from the OpenAPI document.

A new endpoint needs one function here: it returns the request that succeeds in the world given, without the path's
ids and without `employer_id`, which the tests fill in with right and with wrong ones.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from fastapi import FastAPI

from hearthpay.http.routing import Endpoint
from tests.boundary.worlds import SUBMITTER, World, tax_payment


@dataclass(frozen=True, slots=True)
class Asked:
    """A request without the path's ids and without `employer_id`. No body: none is sent."""

    body: dict[str, Any] | None = None
    #: What the path names that belongs to nobody, such as a state.
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, Any] = field(default_factory=dict)


class Names(Enum):
    """How a request says whose rows it is about."""

    NOTHING = "the key alone"
    HOUSEHOLD_IN_BODY = "employer_id in the body"
    HOUSEHOLD_IN_QUERY = "employer_id in the query"
    HOUSEHOLD_IN_PATH = "employer_id in the path"
    OBJECT_IN_PATH = "another id in the path"


@dataclass(frozen=True, slots=True)
class Case:
    """How to ask one endpoint rightly, and what is particular about it."""

    ask: Callable[[World], Asked]
    test_keys_only: bool = False
    #: Answers everybody who has a key that it is no more.
    retired: bool = False
    #: Leaves a row in the audit trail, although it only reads.
    traced: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One endpoint as the application and its document describe it."""

    id: str
    method: str
    path: str
    scope: str | None
    names: Names
    household_required: bool

    @property
    def changes_nothing(self) -> bool:
        """Whether its method promises so."""
        return self.method == "GET"


CASES: Final[dict[str, Case]] = {}


def _case(operation_id: str, **particulars: Any) -> Callable[[Callable[[World], Asked]], None]:
    def register(ask: Callable[[World], Asked]) -> None:
        CASES[operation_id] = Case(ask, **particulars)

    return register


def operations(app: FastAPI) -> dict[str, Operation]:
    """Every endpoint of the application, by its operation id."""
    document = app.openapi()
    found = {}
    for route in app.routes:
        if isinstance(route, Endpoint):
            for method in route.methods or ():
                described = document["paths"][route.path_format][method.lower()]
                names, required = _names(document, route, described)
                operation_id = described["operationId"]
                found[operation_id] = Operation(
                    operation_id, method, route.path_format, route.required_scope, names, required
                )
    return found


def _names(document: dict[str, Any], route: Endpoint, described: dict[str, Any]) -> tuple[Names, bool]:
    if "{employer_id}" in route.path_format:
        return Names.HOUSEHOLD_IN_PATH, True
    if "_id}" in route.path_format:
        return Names.OBJECT_IN_PATH, True
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "query" and parameter["name"] == "employer_id":
            return Names.HOUSEHOLD_IN_QUERY, parameter.get("required", False)
    for content in described.get("requestBody", {}).get("content", {}).values():
        schema = _resolved(document, content["schema"])
        if "employer_id" in schema["properties"]:
            return Names.HOUSEHOLD_IN_BODY, "employer_id" in schema.get("required", ())
    return Names.NOTHING, False


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


@_case("calculate")
def _calculate(world: World) -> Asked:
    return Asked({"state": "CA", "annual_wages": 35_000})


@_case("checkThreshold")
def _check_threshold(world: World) -> Asked:
    return Asked(query={"state": "CA", "annual_wages": 2_900})


@_case("listEmployers")
def _list_employers(world: World) -> Asked:
    return Asked()


@_case("createEmployer")
def _create_employer(world: World) -> Asked:
    return Asked(world.household())


@_case("getEmployer")
def _get_employer(world: World) -> Asked:
    return Asked()


@_case("updateEmployer")
def _update_employer(world: World) -> Asked:
    return Asked({"email": f"home@{world.word.lower()}.example", "threshold_basis": "as_paid"})


@_case("setSandboxHouseholdAccount", test_keys_only=True)
def _set_household_account(world: World) -> Asked:
    return Asked({"magic": "debit_returned_r01"})


@_case("setSandboxEin", test_keys_only=True)
def _set_ein(world: World) -> Asked:
    return Asked({"magic": "assigned"})


@_case("setSandboxTaxInfo", test_keys_only=True)
def _set_tax_info(world: World) -> Asked:
    return Asked({"magic": "itin"})


@_case("setSandboxEmployeeAccount", test_keys_only=True)
def _set_employee_account(world: World) -> Asked:
    return Asked({"magic": "credit_returned_r03"})


@_case("advanceSandboxClock", test_keys_only=True)
def _advance_clock(world: World) -> Asked:
    return Asked({"to": "2027-01-15"})


@_case("getSandboxClock", test_keys_only=True)
def _get_clock(world: World) -> Asked:
    return Asked()


@_case("deleteEmployer", test_keys_only=True)
def _delete_employer(world: World) -> Asked:
    return Asked(query={"reset": "true"})


@_case("listEmployees")
def _list_employees(world: World) -> Asked:
    return Asked(query={"limit": 10})


@_case("listHouseholds")
def _list_households(world: World) -> Asked:
    return Asked(query={"limit": 10})


@_case("createEmployee")
def _create_employee(world: World) -> Asked:
    return Asked(world.person("Eva"))


@_case("getEmployee")
def _get_employee(world: World) -> Asked:
    return Asked()


@_case("updateEmployee")
def _update_employee(world: World) -> Asked:
    return Asked({"pay_rate": 1001.5})


@_case("terminateEmployee")
def _terminate_employee(world: World) -> Asked:
    return Asked({"end_date": "2026-11-20"})


@_case("reinstateEmployee")
def _reinstate_employee(world: World) -> Asked:
    return Asked({})


@_case("inviteEmployee")
def _invite_employee(world: World) -> Asked:
    return Asked({"type": "tax_info", "send_email": False})


@_case("enterPriorWages")
def _enter_prior_wages(world: World) -> Asked:
    line = {"code": "US-SS-EE", "subject_wages": 1001.5, "taxable_wages": 1001.5, "amount": 62.09}
    return Asked(
        {
            "tax_year": 2026,
            "source": "Another payroll",
            "as_of": "2026-06-30",
            "gross_pay": 1001.5,
            "lines": [line],
        }
    )


@_case("listPriorWages")
def _list_prior_wages(world: World) -> Asked:
    return Asked()


@_case("previewPayroll")
def _preview_payroll(world: World) -> Asked:
    return Asked(world.payroll(world.employee_id, week=1))


@_case("explainPayroll")
def _explain_payroll(world: World) -> Asked:
    return Asked({**world.payroll(world.employee_id, week=1), "line_code": "US-SS-EE"})


@_case("runPayroll")
def _run_payroll(world: World) -> Asked:
    return Asked(world.payroll(world.employee_id, week=1))


@_case("getPayroll")
def _get_payroll(world: World) -> Asked:
    return Asked()


@_case("explainStoredPayroll")
def _explain_stored_payroll(world: World) -> Asked:
    return Asked(query={"line_code": "US-SS-EE"})


@_case("listPayrolls")
def _list_payrolls(world: World) -> Asked:
    return Asked(query={"status": "processing"})


@_case("remedyPaycheck")
def _remedy_paycheck(world: World) -> Asked:
    return Asked({"action": "wait_for_account", "until": "2026-12-04"})


@_case("voidPayroll")
def _void_payroll(world: World) -> Asked:
    return Asked({"reason": "The hours were wrong."})


@_case("getDirectDepositStatus")
def _direct_deposit_status(world: World) -> Asked:
    return Asked()


@_case("getJurisdiction")
def _jurisdiction(world: World) -> Asked:
    return Asked(path={"state": "CA"})


@_case("getRules")
def _rules(world: World) -> Asked:
    return Asked(query={"state": "CA", "year": 2027})


@_case("transferFunds", retired=True)
def _transfer(world: World) -> Asked:
    return Asked({"amount": 100})


@_case("authorizeDebit")
def _authorize_debit(world: World) -> Asked:
    return Asked({"confirm_ach_debit": True})


@_case("listStateRegistrations")
def _list_state_registrations(world: World) -> Asked:
    return Asked()


@_case("reportStateWages")
def _report_state_wages(world: World) -> Asked:
    return Asked(query={"state": "CA", "year": "2026", "quarter": "4"})


@_case("reportTaxLiability")
def _report_tax_liability(world: World) -> Asked:
    return Asked(query={"from": "2026-01-01", "to": "2026-12-31"})


@_case("getTaxCalendar")
def _get_tax_calendar(world: World) -> Asked:
    return Asked(query={"from": "2026-01-01"})


@_case("listTaxPayments")
def _list_tax_payments(world: World) -> Asked:
    return Asked()


@_case("recordTaxPayment")
def _record_tax_payment(world: World) -> Asked:
    return Asked(tax_payment())


@_case("reverseTaxPayment")
def _reverse_tax_payment(world: World) -> Asked:
    return Asked({"reason": "Recorded twice."})


@_case("listFilings")
def _list_filings(world: World) -> Asked:
    return Asked()


@_case("recordFiling")
def _record_filing(world: World) -> Asked:
    return Asked({"key": f"CA/new-hire/hire-1/{world.employee_id}", "filed_on": "2026-11-20"})


@_case("reverseFiling")
def _reverse_filing(world: World) -> Asked:
    return Asked({"reason": "Rejected."})


@_case("issuePaystub")
def _issue_paystub(world: World) -> Asked:
    return Asked({"payroll_id": world.paid_id, "language": "es"})


@_case("issueW2")
def _issue_w2(world: World) -> Asked:
    return Asked({"employee_id": world.employee_id, "tax_year": 2026})


@_case("issueW3")
def _issue_w3(world: World) -> Asked:
    return Asked({"tax_year": 2026})


@_case("issueScheduleH")
def _issue_schedule_h(world: World) -> Asked:
    return Asked({"tax_year": 2026})


@_case("issueEfw2")
def _issue_efw2(world: World) -> Asked:
    return Asked({"tax_year": 2026, "submitter": SUBMITTER})


@_case("issueYearPackage")
def _issue_year_package(world: World) -> Asked:
    return Asked({"tax_year": 2026})


@_case("listDocuments")
def _list_documents(world: World) -> Asked:
    return Asked(query={"tax_year": 2026})


@_case("getDocument", traced=True)
def _get_document(world: World) -> Asked:
    return Asked()


@_case("getYearPackage")
def _get_year_package(world: World) -> Asked:
    return Asked()


@_case("estimateTax")
def _estimate_tax(world: World) -> Asked:
    return Asked(query={"year": 2026})


@_case("getAutopilot")
def _get_autopilot(world: World) -> Asked:
    return Asked(query={"employee_id": world.employee_id})


@_case("listAutopilotHistory")
def _list_autopilot_history(world: World) -> Asked:
    return Asked(query={"employee_id": world.employee_id})


@_case("manageAutopilot")
def _manage_autopilot(world: World) -> Asked:
    return Asked({"employee_id": world.employee_id}, path={"action": "pause"})


@_case("enrollInAutopilot", retired=True)
def _enroll_in_autopilot(world: World) -> Asked:
    return Asked()
