"""Autopilot: the status of recurring payroll, and pausing, skipping and ending it."""

from __future__ import annotations

from typing import Any, Final

from hearthpay.mcp.arguments import day, identifier, one_of
from hearthpay.mcp.calls import ApiCall
from hearthpay.mcp.tools.agent_tool import LIST, TEXT, AgentTool, Arguments, NextCall, as_query, data_of

_EXAMPLE: Final[Arguments] = {
    "employer_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10",
    "employee_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11",
}
_ACTIONS: Final = ("pause", "resume", "skip", "disable")


def _read(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/autopilot", query=as_query(arguments))


def _manage(arguments: Arguments) -> ApiCall:
    body: dict[str, Any] = {name: value for name, value in arguments.items() if name != "action"}
    return ApiCall(method="POST", path=f"/autopilot/{arguments['action']}", body=body)


def _when_not_enrolled(code: str, _details: object, arguments: Arguments) -> NextCall | None:
    if code != "not_found":
        return None
    whose = {name: arguments[name] for name in ("employer_id", "employee_id")}
    why = (
        "This employee is not enrolled in Autopilot; only a person can enroll, in the app. Call get_autopilot with the "
        "employer_id and employee_id to see whether the employee is eligible, and which paydays enrolling would give."
    )
    return NextCall("get_autopilot", whose, why)


GET_AUTOPILOT: Final = AgentTool(
    name="get_autopilot",
    title="Read Autopilot",
    description=(
        "Tell where recurring payroll (Autopilot) stands: for one employee the enrollment, whether it may pay and why "
        "not, and the next three paydays (of an eligible employee who is not enrolled: what enrolling now would give); "
        "without employee_id all live enrollments of the household. Look here before you "
        "run a payroll for somebody who may be on Autopilot, and before manage_autopilot. Enrolling is for a person, "
        "in the app."
    ),
    properties={
        "employer_id": identifier("The household, from list_households_and_employees."),
        "employee_id": identifier("One employee; left out, all live enrollments of the household."),
    },
    required=("employer_id",),
    example=_EXAMPLE,
    call=_read,
    output=data_of(
        {
            "employer_id": TEXT,
            "enrollment": {"type": ["object", "null"]},
            "eligibility": {"type": "object"},
            "schedule_preview": LIST,
            "enrollments": LIST,
        },
        "employer_id",
    ),
)

MANAGE_AUTOPILOT: Final = AgentTool(
    name="manage_autopilot",
    title="Change Autopilot",
    description=(
        "Pause, resume, skip or disable one employee's recurring payroll. Somebody's pay depends on it: read "
        "get_autopilot first, tell the person what will happen, and act only on a clear yes. `pause` schedules nothing "
        "more until `resume`; what is scheduled is still paid. `skip` leaves out the next period, or every one that "
        "begins by through_date, and voids what is scheduled for it. `disable` ends it for good, voids what it had "
        "scheduled and ends the authorization of its debits: only a person can enroll again. Never disable or skip "
        "just to make a refused run_payroll go through."
    ),
    properties={
        "employer_id": identifier("The household, from list_households_and_employees."),
        "employee_id": identifier("Whose Autopilot, from list_households_and_employees."),
        "action": one_of(_ACTIONS, "What to do."),
        "through_date": day("Of a skip: every period that begins by this day is left out."),
    },
    required=("employer_id", "employee_id", "action"),
    example={**_EXAMPLE, "action": "pause"},
    changes=True,
    call=_manage,
    next_call=_when_not_enrolled,
    output=data_of(
        {
            "employer_id": TEXT,
            "action": TEXT,
            "changed": {"type": "boolean"},
            "enrollment": {"type": "object"},
        },
        "action",
        "changed",
        "enrollment",
    ),
)
