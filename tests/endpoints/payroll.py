"""The endpoints of `hearthpay.payroll`: payrolls, wages from before, and what is retired."""

from typing import Any, Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Action, Asked, Endpoint, Request, Step, Turn, household_of, id_of

_SOURCES: Final = ("Ana", "Eva", "Ida")


def _payroll(path: str) -> Action:
    def ask(step: Step, worlds: list[World]) -> Request:
        household, about = household_of(step, worlds)
        identity = id_of(step, worlds, "employees", step.thing)
        payroll = worlds[step.speaker].payroll(identity, week=step.variant)
        return Request("POST", path, about | {step.thing}, body={**payroll, **household})

    return ask


def _list_payrolls(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    query: dict[str, Any] = {**household, "limit": 1 + step.variant}
    if step.variant:  # a filter, which may name anybody and finds one's own
        query["employee_id"] = id_of(step, worlds, "employees", step.thing)
    return Request("GET", "/payrolls", about, query=query)


def _void_payroll(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "payrolls", step.thing)
    body = {"reason": "a slip"} if step.variant else {}
    return Request("POST", f"/payroll/{identity}/void", frozenset({step.thing}), body=body)


def _remedy_paycheck(step: Step, worlds: list[World]) -> Request:
    world = worlds[step.thing]
    body: dict[str, Any] = {"action": "wait_for_account", "until": f"2026-12-0{1 + step.variant}"}
    path = f"/payroll/{world.payroll_id}/paychecks/{world.employee_id}/remedy"
    return Request("POST", path, frozenset({step.thing}), body=body)


def _enter_prior_wages(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employees", step.thing)
    line = {"code": "US-SS-EE", "subject_wages": 100, "taxable_wages": 100, "amount": 6.2}
    body = {
        "tax_year": 2026,
        "source": _SOURCES[step.variant],
        "as_of": "2026-06-30",
        "gross_pay": 100,
        "lines": [line],
    }
    return Request("POST", f"/employees/{identity}/prior-wages", frozenset({step.thing}), body=body)


ENDPOINTS: Final = (
    Endpoint(
        id="previewPayroll",
        method="POST",
        path="/payroll/preview",
        scope="payroll",
        household="body",
        turn=Turn.READ,
        request=lambda world: Asked(world.payroll(world.employee_id, week=1)),
        step=_payroll("/payroll/preview"),
    ),
    Endpoint(
        id="explainPayroll",
        method="POST",
        path="/payroll/explain",
        scope="payroll",
        household="body",
        turn=Turn.READ,
        request=lambda world: Asked({**world.payroll(world.employee_id, week=1), "line_code": "US-SS-EE"}),
        step=_payroll("/payroll/explain"),
    ),
    Endpoint(
        id="runPayroll",
        method="POST",
        path="/payroll/run",
        scope="payroll",
        household="body",
        turn=Turn.PAY,
        request=lambda world: Asked(world.payroll(world.employee_id, week=1)),
        step=_payroll("/payroll/run"),
        finds_one=True,
    ),
    Endpoint(
        id="getPayroll",
        method="GET",
        path="/payroll/{payroll_id}",
        scope="payroll",
        turn=Turn.READ,
        request=lambda world: Asked(),
        finds_one=True,
    ),
    Endpoint(
        id="explainStoredPayroll",
        method="GET",
        path="/payroll/{payroll_id}/explanation",
        scope="payroll",
        turn=Turn.READ,
        request=lambda world: Asked(query={"line_code": "US-SS-EE"}),
        finds_one=True,
    ),
    Endpoint(
        id="voidPayroll",
        method="POST",
        path="/payroll/{payroll_id}/void",
        scope="payroll",
        turn=Turn.PAY,
        request=lambda world: Asked({"reason": "The hours were wrong."}),
        step=_void_payroll,
        finds_one=True,
    ),
    Endpoint(
        id="handOverPayroll",
        method="POST",
        path="/payroll/{payroll_id}/hand-over",
        scope="payroll",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"note": "In person."}, {"payroll_id": world.paid_id}),
        finds_one=True,
    ),
    Endpoint(
        id="remedyPaycheck",
        method="POST",
        path="/payroll/{payroll_id}/paychecks/{employee_id}/remedy",
        scope="payroll",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"action": "wait_for_account", "until": "2026-12-04"}),
        step=_remedy_paycheck,
        finds_one=True,
    ),
    Endpoint(
        id="listPayrolls",
        method="GET",
        path="/payrolls",
        scope="payroll",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(query={"status": "processing"}),
        by_thing=lambda world: Asked(query={"employee_id": world.employee_id}),
        step=_list_payrolls,
        contradiction="validation_error",
    ),
    Endpoint(
        id="enterPriorWages",
        method="POST",
        path="/employees/{employee_id}/prior-wages",
        scope="employees",
        turn=Turn.CHANGE,
        request=lambda world: Asked(
            {
                "tax_year": 2026,
                "source": "Another payroll",
                "as_of": "2026-06-30",
                "gross_pay": 1001.5,
                "lines": [
                    {
                        "code": "US-SS-EE",
                        "subject_wages": 1001.5,
                        "taxable_wages": 1001.5,
                        "amount": 62.09,
                    }
                ],
            }
        ),
        step=_enter_prior_wages,
    ),
    Endpoint(
        id="listPriorWages",
        method="GET",
        path="/employees/{employee_id}/prior-wages",
        scope="employees",
        turn=Turn.READ,
        request=lambda world: Asked(),
    ),
    Endpoint(
        id="transferFunds",
        method="POST",
        path="/ach/transfer",
        scope=None,
        turn=Turn.READ,
        request=lambda world: Asked({"amount": 100}),
        stateless=True,
        retired="gone",
    ),
)
