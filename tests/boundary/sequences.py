"""Random conversations of four keys with the API, and what must hold after each request.

A step is drawn before there is anything to name: it says which world's key speaks and of which world, and how
manieth, the household, employee or payroll it names shall be. What that is, is looked up when its turn comes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import httpx
import psycopg
from hypothesis import strategies as st

from tests.boundary.worlds import (
    SUBMITTER,
    Leak,
    World,
    fingerprint,
    ids_in,
    learn_ids,
    refuse_changes,
    refuse_leaks,
    tax_payment,
)
from tests.openapi.document import Document

NOBODY: Final = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
_NAMES: Final = ("Ana", "Eva", "Ida")
#: The same for everybody: what one key claimed says nothing about another world's.
_IDEMPOTENCY_KEYS: Final = ("monday", "tuesday")


@dataclass(frozen=True, slots=True)
class Step:
    """One request to come. `household` and `thing` tell whose household, and whose other object, is named."""

    action: str
    speaker: int
    household: int | None
    thing: int
    which: int = -1
    variant: int = 0
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and the worlds whose rows it is about."""

    method: str
    path: str
    about: frozenset[int] = frozenset()
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None


Action = Callable[[Step, list[World]], Request]


def _id(step: Step, worlds: list[World], table: str, of: int) -> str:
    ids = worlds[of].ids.get(table, [])
    return ids[step.which % len(ids)] if ids else NOBODY


def _household(step: Step, worlds: list[World]) -> tuple[dict[str, str], frozenset[int]]:
    """The field `employer_id`, or nothing where the step names no household."""
    if step.household is None:
        return {}, frozenset()
    return {"employer_id": _id(step, worlds, "employers", step.household)}, frozenset({step.household})


def _calculate(step: Step, worlds: list[World]) -> Request:
    return Request("POST", "/calculate", body={"state": "CA", "annual_wages": 35_000})


def _list_employers(step: Step, worlds: list[World]) -> Request:
    return Request("GET", "/employers", query={"limit": 1 + step.variant})


def _list_households(step: Step, worlds: list[World]) -> Request:
    return Request("GET", "/households", query={"limit": 1 + step.variant})


def _create_employer(step: Step, worlds: list[World]) -> Request:
    return Request("POST", "/employers", body=worlds[step.speaker].household())


def _get_employer(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    return Request("GET", f"/employers/{identity}", frozenset({step.thing}))


def _update_employer(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    word = worlds[step.speaker].word
    home = {"line1": f"1 {word} St", "city": word, "state": "CA", "zip": "94110"}
    changes = (
        {"state": "NV", "threshold_basis": "as_paid"},
        {"address": home},
        {"email": f"home@{word.lower()}.example"},
    )
    return Request("PATCH", f"/employers/{identity}", frozenset({step.thing}), body=changes[step.variant])


def _delete_employer(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    query = {"reset": "true"} if step.variant else None
    return Request("DELETE", f"/employers/{identity}", frozenset({step.thing}), query=query)


def _sandbox_value(kind: str, what: str, *values: str) -> Action:
    def act(step: Step, worlds: list[World]) -> Request:
        identity = _id(step, worlds, kind, step.thing)
        body = {"magic": values[step.variant % len(values)]}
        return Request("POST", f"/sandbox/{kind}/{identity}/{what}", frozenset({step.thing}), body=body)

    return act


def _advance_clock(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    body = {"to": f"2027-01-1{step.variant}"}
    return Request("POST", f"/sandbox/employers/{identity}/advance", frozenset({step.thing}), body=body)


def _get_clock(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    return Request("GET", f"/sandbox/employers/{identity}/clock", frozenset({step.thing}))


def _list_employees(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/employees", about, query={**household, "limit": 1 + step.variant})


def _list_state_registrations(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    reveal = "true" if step.variant else "false"
    return Request("GET", "/state-registrations", about, query={**household, "reveal": reveal})


def _report_state_wages(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    query = {**household, "state": "CA", "year": 2026, **({"quarter": 4} if step.variant else {})}
    return Request("GET", "/reports/state-wages", about, query=query)


def _report_tax_liability(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    query = {**household, "from": "2026-01-01", "to": "2026-12-31"}
    return Request("GET", "/reports/tax-liability", about, query=query)


def _get_tax_calendar(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    first = f"202{6 + step.variant}-01-01"
    return Request("GET", "/tax-calendar", about, query={**household, "from": first})


def _list_tax_payments(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/tax-payments", about, query={**household, "limit": 1 + step.variant})


def _record_tax_payment(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    body = tax_payment() | {"period": f"2026-I{2 + step.variant}"}
    return Request("POST", "/tax-payments", about, body=body | household)


def _reverse_tax_payment(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "tax_payments", step.thing)
    return Request("POST", f"/tax-payments/{identity}/reverse", frozenset({step.thing}))


def _list_filings(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/filings", about, query={**household, "limit": 1 + step.variant})


def _record_filing(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    body = {"key": f"CA/wages-quarterly/2026-Q{2 + step.variant}", "filed_on": "2026-11-20"}
    return Request("POST", "/filings", about, body=body | household)


def _reverse_filing(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "filings", step.thing)
    return Request("POST", f"/filings/{identity}/reverse", frozenset({step.thing}))


def _get_autopilot(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    employee = {"employee_id": _id(step, worlds, "employees", step.thing)} if step.variant else {}
    about |= frozenset({step.thing}) if step.variant else frozenset()
    return Request("GET", "/autopilot", about, query={**household, **employee})


def _list_autopilot_history(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/autopilot/history", about, query={**household, "limit": 1 + step.variant})


def _manage_autopilot(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    action = ("pause", "skip", "disable")[step.variant]
    body = {**household, "employee_id": _id(step, worlds, "employees", step.thing)}
    return Request("POST", f"/autopilot/{action}", about | {step.thing}, body=body)


def _create_employee(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    person = worlds[step.speaker].person(_NAMES[step.variant])
    return Request("POST", "/employees", about, body={**person, **household})


def _get_employee(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    return Request("GET", f"/employees/{identity}", frozenset({step.thing}))


def _update_employee(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    changes: tuple[dict[str, Any], ...] = ({"pay_rate": 1001.5}, {"first_name": "Ora"}, {"email": None})
    return Request(
        "PATCH", f"/employees/{identity}", frozenset({step.thing}), body=changes[step.variant % len(changes)]
    )


def _terminate_employee(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    body = {"end_date": f"2026-11-{20 + step.variant}"}
    return Request("POST", f"/employees/{identity}/terminate", frozenset({step.thing}), body=body)


def _reinstate_employee(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    body = {"start_date": "2026-12-07"} if step.variant == 2 else {}
    return Request("POST", f"/employees/{identity}/reinstate", frozenset({step.thing}), body=body)


def _enter_prior_wages(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    line = {"code": "US-SS-EE", "subject_wages": 100, "taxable_wages": 100, "amount": 6.2}
    body = {
        "tax_year": 2026,
        "source": _NAMES[step.variant],
        "as_of": "2026-06-30",
        "gross_pay": 100,
        "lines": [line],
    }
    return Request("POST", f"/employees/{identity}/prior-wages", frozenset({step.thing}), body=body)


def _list_prior_wages(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    return Request("GET", f"/employees/{identity}/prior-wages", frozenset({step.thing}))


def _invite_employee(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employees", step.thing)
    body = {"type": "tax_info", "send_email": step.variant == 2}
    return Request("POST", f"/employees/{identity}/invite", frozenset({step.thing}), body=body)


def _payroll(step: Step, worlds: list[World], path: str) -> Request:
    household, about = _household(step, worlds)
    identity = _id(step, worlds, "employees", step.thing)
    payroll = worlds[step.speaker].payroll(identity, week=step.variant)
    return Request("POST", path, about | {step.thing}, body={**payroll, **household})


def _preview_payroll(step: Step, worlds: list[World]) -> Request:
    return _payroll(step, worlds, "/payroll/preview")


def _explain_payroll(step: Step, worlds: list[World]) -> Request:
    return _payroll(step, worlds, "/payroll/explain")


def _run_payroll(step: Step, worlds: list[World]) -> Request:
    return _payroll(step, worlds, "/payroll/run")


def _get_payroll(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "payrolls", step.thing)
    return Request("GET", f"/payroll/{identity}", frozenset({step.thing}))


def _explain_stored_payroll(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "payrolls", step.thing)
    return Request("GET", f"/payroll/{identity}/explanation", frozenset({step.thing}))


def _list_payrolls(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    query: dict[str, Any] = {**household, "limit": 1 + step.variant}
    if step.variant:  # a filter, which may name anybody and finds one's own
        query["employee_id"] = _id(step, worlds, "employees", step.thing)
    return Request("GET", "/payrolls", about, query=query)


def _void_payroll(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "payrolls", step.thing)
    body = {"reason": "a slip"} if step.variant else {}
    return Request("POST", f"/payroll/{identity}/void", frozenset({step.thing}), body=body)


def _direct_deposit_status(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    return Request("GET", f"/employers/{identity}/dd-status", frozenset({step.thing}))


def _authorize_debit(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "employers", step.thing)
    body = {"confirm_ach_debit": True}
    return Request("POST", f"/employers/{identity}/debit-authorization", frozenset({step.thing}), body=body)


def _remedy_paycheck(step: Step, worlds: list[World]) -> Request:
    world = worlds[step.thing]
    body: dict[str, Any] = {"action": "wait_for_account", "until": f"2026-12-0{1 + step.variant}"}
    path = f"/payroll/{world.payroll_id}/paychecks/{world.employee_id}/remedy"
    return Request("POST", path, frozenset({step.thing}), body=body)


def _papers_of_a_year(path: str, **more: Any) -> Action:
    def ask(step: Step, worlds: list[World]) -> Request:
        household, about = _household(step, worlds)
        return Request("POST", f"/documents/{path}", about, body={"tax_year": 2026, **more, **household})

    return ask


def _issue_paystub(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    body = {"payroll_id": worlds[step.thing].paid_id, "language": ("en", "es")[step.variant % 2]}
    return Request("POST", "/documents/paystub", about | {step.thing}, body={**body, **household})


def _issue_w2(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    body = {"employee_id": worlds[step.thing].employee_id, "tax_year": 2026}
    return Request("POST", "/documents/w2", about | {step.thing}, body={**body, **household})


def _list_documents(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/documents", about, query={**household, "limit": 1 + step.variant})


def _get_document(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "documents", step.thing)
    return Request("GET", f"/documents/{identity}", frozenset({step.thing}))


def _get_year_package(step: Step, worlds: list[World]) -> Request:
    identity = _id(step, worlds, "document_packages", step.thing)
    return Request("GET", f"/documents/packages/{identity}", frozenset({step.thing}))


def _estimate_tax(step: Step, worlds: list[World]) -> Request:
    household, about = _household(step, worlds)
    return Request("GET", "/reports/estimated-tax", about, query={**household, "year": 2026})


ACTIONS: Final[dict[str, Action]] = {
    "calculate": _calculate,
    "listEmployers": _list_employers,
    "createEmployer": _create_employer,
    "getEmployer": _get_employer,
    "updateEmployer": _update_employer,
    "setSandboxHouseholdAccount": _sandbox_value(
        "employers", "bank-account", "verified", "debit_returned_r01"
    ),
    "setSandboxEin": _sandbox_value("employers", "ein", "applied", "assigned"),
    "setSandboxTaxInfo": _sandbox_value("employees", "tax-info", "ssn", "ssn_shared"),
    "setSandboxEmployeeAccount": _sandbox_value(
        "employees", "bank-account", "verified", "credit_returned_r03"
    ),
    "getSandboxClock": _get_clock,
    "advanceSandboxClock": _advance_clock,
    "deleteEmployer": _delete_employer,
    "listEmployees": _list_employees,
    "listHouseholds": _list_households,
    "listStateRegistrations": _list_state_registrations,
    "reportStateWages": _report_state_wages,
    "reportTaxLiability": _report_tax_liability,
    "getTaxCalendar": _get_tax_calendar,
    "listTaxPayments": _list_tax_payments,
    "recordTaxPayment": _record_tax_payment,
    "reverseTaxPayment": _reverse_tax_payment,
    "listFilings": _list_filings,
    "recordFiling": _record_filing,
    "reverseFiling": _reverse_filing,
    "getAutopilot": _get_autopilot,
    "listAutopilotHistory": _list_autopilot_history,
    "manageAutopilot": _manage_autopilot,
    "createEmployee": _create_employee,
    "getEmployee": _get_employee,
    "updateEmployee": _update_employee,
    "terminateEmployee": _terminate_employee,
    "reinstateEmployee": _reinstate_employee,
    "enterPriorWages": _enter_prior_wages,
    "listPriorWages": _list_prior_wages,
    "inviteEmployee": _invite_employee,
    "previewPayroll": _preview_payroll,
    "explainPayroll": _explain_payroll,
    "runPayroll": _run_payroll,
    "getPayroll": _get_payroll,
    "explainStoredPayroll": _explain_stored_payroll,
    "listPayrolls": _list_payrolls,
    "remedyPaycheck": _remedy_paycheck,
    "voidPayroll": _void_payroll,
    "authorizeDebit": _authorize_debit,
    "getDirectDepositStatus": _direct_deposit_status,
    "issuePaystub": _issue_paystub,
    "issueW2": _issue_w2,
    "issueW3": _papers_of_a_year("w3"),
    "issueScheduleH": _papers_of_a_year("schedule-h"),
    "issueEfw2": _papers_of_a_year("efw2", submitter=SUBMITTER),
    "issueYearPackage": _papers_of_a_year("year-package"),
    "listDocuments": _list_documents,
    "getDocument": _get_document,
    "getYearPackage": _get_year_package,
    "estimateTax": _estimate_tax,
}
"""How a step of each operation becomes a request."""


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    speaker = draw(st.integers(0, 3))
    # Half of the requests are about the speaker's own world: without its rows there is nothing to protect.
    whose = st.one_of(st.just(speaker), st.integers(0, 3))
    return Step(
        action=draw(st.sampled_from(sorted(ACTIONS))),
        speaker=speaker,
        household=draw(st.one_of(whose, st.none())),
        thing=draw(whose),
        which=draw(st.integers(-2, 1)),
        variant=draw(st.integers(0, 2)),
        idempotency_key=draw(st.sampled_from((None, None, *_IDEMPOTENCY_KEYS))),
    )


def conversations(steps: int) -> st.SearchStrategy[list[Step]]:
    """Lists of steps, mostly of about that length."""
    return st.lists(_steps(), min_size=steps // 2, max_size=steps + steps // 2)


@dataclass
class Conversation:
    """Plays steps and raises Leak as soon as one world learns of another or changes it.

    With a `document`, every answer must also be one that it promises, none may be a failure of the service, and
    nobody may succeed in the name of another.
    """

    client: httpx.AsyncClient
    worlds: list[World]
    owner: psycopg.Connection
    document: Document | None = None
    #: How many requests of each operation succeeded.
    succeeded: dict[str, int] | None = None
    #: Whether a request that fails changes nothing at all; a build without its conditions may fail after its commit.
    whole: bool = True

    async def play(self, steps: list[Step]) -> None:
        """Send one request after the other."""
        before = fingerprint(self.owner)
        for step in steps:
            speaker = self.worlds[step.speaker]
            request = ACTIONS[step.action](step, self.worlds)
            response = await self.client.request(
                request.method,
                f"/api/v1{request.path}",
                json=request.body,
                params=request.query,
                headers=speaker.caller.headers(step.idempotency_key),
            )
            after = fingerprint(self.owner)
            refuse_changes(
                before, after, except_of=speaker if response.is_success or not self.whole else None
            )
            learn_ids(self.worlds, self.owner)
            refuse_leaks(response, speaker, self.worlds)
            if self.document is not None:
                self._refuse_surprises(step, request, response)
            if self.succeeded is not None and response.is_success:
                self.succeeded[step.action] = self.succeeded.get(step.action, 0) + 1
            before = after

    def _refuse_surprises(self, step: Step, request: Request, response: httpx.Response) -> None:
        assert self.document is not None
        what = f"{step} {request.method} {response.request.url} {response.status_code} {response.text}"
        assert response.status_code < 500, what
        assert self.document.problems(response) == [], what
        if not response.is_success or response.headers.get("Idempotent-Replayed"):
            return
        own = self.worlds[step.speaker]
        if request.about - {step.speaker}:
            raise Leak(f"a request about another world succeeded: {what}")
        asked = ids_in(f"{response.request.url} {response.request.content.decode()}")
        if not response.headers["Content-Type"].startswith(
            "application/json"
        ):  # a file holds none of our ids
            return
        body = response.json()
        known = own.every_id | asked | {str(own.organization_id), body["meta"]["requestId"]}
        strange = ids_in(response.text) - known
        assert not strange, f"ids that nobody knows, {strange}: {what}"
