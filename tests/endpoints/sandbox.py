"""The endpoints of `hearthpay.sandbox`, for test keys alone."""

from typing import Final

from tests.boundary.worlds import World
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, id_of


def _test_value(operation_id: str, kind: str, what: str, *values: str) -> Endpoint:
    """The endpoint that puts a test value in the place of a number; the last of the values is the right request's."""

    def ask(step: Step, worlds: list[World]) -> Request:
        identity = id_of(step, worlds, kind, step.thing)
        body = {"magic": values[step.variant % len(values)]}
        return Request("POST", f"/sandbox/{kind}/{identity}/{what}", frozenset({step.thing}), body=body)

    return Endpoint(
        id=operation_id,
        method="POST",
        path=f"/sandbox/{kind}/{{{kind.removesuffix('s')}_id}}/{what}",
        scope="employees",
        turn=Turn.TEST_VALUE,
        request=lambda world: Asked({"magic": values[-1]}),
        step=ask,
        test_keys_only=True,
        refuses_live_keys_first=True,
    )


def _advance_clock(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "employers", step.thing)
    body = {"to": f"2027-01-1{step.variant}"}
    return Request("POST", f"/sandbox/employers/{identity}/advance", frozenset({step.thing}), body=body)


ENDPOINTS: Final = (
    _test_value("setSandboxHouseholdAccount", "employers", "bank-account", "verified", "debit_returned_r01"),
    _test_value("setSandboxEin", "employers", "ein", "applied", "assigned"),
    _test_value("setSandboxTaxInfo", "employees", "tax-info", "ssn", "ssn_shared", "itin"),
    _test_value("setSandboxEmployeeAccount", "employees", "bank-account", "verified", "credit_returned_r03"),
    Endpoint(
        id="advanceSandboxClock",
        method="POST",
        path="/sandbox/employers/{employer_id}/advance",
        scope="employees",
        turn=Turn.END,
        request=lambda world: Asked({"to": "2027-01-15"}),
        step=_advance_clock,
        test_keys_only=True,
        refuses_live_keys_first=True,
        finds_one=True,
    ),
    Endpoint(
        id="getSandboxClock",
        method="GET",
        path="/sandbox/employers/{employer_id}/clock",
        scope="employees",
        turn=Turn.READ,
        request=lambda world: Asked(),
        test_keys_only=True,
        refuses_live_keys_first=True,
    ),
)
