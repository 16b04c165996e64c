"""Previewing, running and reading payrolls: one employee per call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hearthpay.mcp.arguments import JsonSchema, amount, day, flag, identifier, one_of, words
from hearthpay.mcp.calls import ApiCall
from hearthpay.mcp.tools.agent_tool import (
    LIST,
    OBJECT,
    SUMS,
    TEXT,
    AgentTool,
    Arguments,
    data_of,
    without_nothing,
)
from hearthpay.mcp.tools.calculations import FREQUENCIES

_OF_THE_ENTRY: Final = (
    "employee_id",
    "regular_hours",
    "overtime_hours",
    "bonus",
    "other_earnings",
    "unpaid_days",
    "pay_salary",
    "payment_method",
    "voluntary_set_aside",
)
_NO_ARGUMENTS: Final = ("employees", "default_payment_method")
_METHODS: Final = ("check", "cash", "direct_deposit")
_BY_CHECK: Final = "check"
_LOOK_UP: Final = "from list_households_and_employees."

_ASKED: Final[Mapping[str, JsonSchema]] = {
    "employer_id": identifier(f"The household, {_LOOK_UP}"),
    "employee_id": identifier(f"Who is paid, {_LOOK_UP}"),
    "pay_period_start": day("First day of the period that is paid."),
    "pay_period_end": day("Last day of it."),
    "pay_date": day(
        "The day of payment. Left out: by direct deposit the earliest day on which the money can arrive, else today or "
        "the period's end."
    ),
    "pay_frequency": one_of(FREQUENCIES, "How often this employee is paid."),
    "regular_hours": amount(
        "Hours at the usual rate, rounded to three decimals. Ask; never assume. Of a salaried employee leave them out, "
        "or give those worked: they are not paid, only compared with the minimum wage and overtime.",
        maximum=744,
    ),
    "overtime_hours": amount(
        "Hours at the overtime rate, of a salaried employee on top of the salary.", maximum=744
    ),
    "bonus": amount("In dollars."),
    "other_earnings": amount("In dollars."),
    "unpaid_days": amount(
        "Of a salaried employee: working days of the period that are not paid, such as 2 or 0.5.", maximum=62
    ),
    "pay_salary": flag(
        "Of a salaried employee: false pays only what else is given, such as a bonus beside the period's salary. Left "
        "out: the salary is paid."
    ),
    "voluntary_set_aside": {
        "type": "object",
        "description": "For this paycheck alone: skip what the employee has set aside, or another amount.",
        "properties": {
            "skip": flag("Set nothing aside."),
            "amount": amount("Set this aside, in dollars.", maximum=9_999),
        },
        "additionalProperties": False,
    },
}
_NEEDED: Final = (
    "employer_id",
    "employee_id",
    "pay_period_start",
    "pay_period_end",
    "pay_frequency",
)
_EXAMPLE: Final[Arguments] = {
    "employer_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10",
    "employee_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11",
    "pay_period_start": "2026-11-09",
    "pay_period_end": "2026-11-15",
    "pay_date": "2026-11-20",
    "pay_frequency": "weekly",
    "regular_hours": 40,
}
_PAYROLL: Final[Mapping[str, JsonSchema]] = {
    "employer_id": TEXT,
    "pay_period": OBJECT,
    "pay_date_defaulted": {"type": "boolean"},
    "employees": LIST,
    "totals": SUMS,
    "rulebook": OBJECT,
    "scheduled_send_at": TEXT,
    "is_estimated": {"type": "boolean"},
}


def as_request(arguments: Arguments) -> dict[str, Any]:
    """Return the arguments as the API's body: those about the employee go into its one entry."""
    entry = without_nothing(arguments, *_OF_THE_ENTRY)
    rest = {name: value for name, value in arguments.items() if name not in _OF_THE_ENTRY}
    return {**rest, "employees": [entry]}


def as_arguments(request: Arguments) -> dict[str, Any]:
    """Return an API body as arguments: the reverse, for its examples."""
    entries = request.get("employees") or [{}]
    rest = {name: value for name, value in request.items() if name not in _NO_ARGUMENTS}
    return {**rest, **entries[0]}


def as_preview(arguments: Arguments) -> dict[str, Any]:
    """Return the body of a preview: an omitted method becomes the one by which run_payroll would pay."""
    unnamed = arguments.get("payment_method") is None
    return as_request(arguments) | ({"default_payment_method": _BY_CHECK} if unnamed else {})


def _preview(arguments: Arguments) -> ApiCall:
    return ApiCall(method="POST", path="/payroll/preview", body=as_preview(arguments))


def _run(arguments: Arguments) -> ApiCall:
    body = {"payment_method": _BY_CHECK, **arguments}
    key = body.pop("idempotency_key", None)
    return ApiCall(method="POST", path="/payroll/run", body=as_request(body), idempotency_key=key)


def _get(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path=f"/payroll/{arguments['payroll_id']}")


PREVIEW: Final = AgentTool(
    name="preview_payroll",
    title="Preview a payroll",
    description=(
        "Calculate one employee's paycheck exactly as run_payroll would, without creating anything: every tax line, "
        "net pay, the household's cost, warnings, and which confirmations a run needs. Always do this before "
        "run_payroll, and show the person gross pay, net pay, total cost, the pay date and every warning. Ask for the "
        "period and the hours (or bonus); never invent hours. A salaried employee (pay_type salary in "
        "list_households_and_employees) needs no hours: the period's share of the salary is paid, and you ask for "
        "unpaid days and overtime instead. `preview_token` goes into run_payroll: the run then does what was shown, or "
        "nothing. Pass payment_method, check too: a preview that names neither a method nor a pay_date is dated for "
        "direct deposit, which needs days, and can be run by direct deposit alone. "
        "`next_valid_pay_date` is the earliest day by direct deposit, where pay_date is too near for it. "
        "`is_estimated` means that the amounts will be worked out again when the money is sent."
    ),
    properties={
        **_ASKED,
        "payment_method": one_of(_METHODS, "How it will be paid. Ask if you do not know."),
    },
    required=_NEEDED,
    example={**_EXAMPLE, "payment_method": "check"},
    call=_preview,
    in_arguments=as_arguments,
    output=data_of(
        {
            **_PAYROLL,
            "preview": {"const": True},
            "next_step": TEXT,
            "preview_token": TEXT,
            "next_valid_pay_date": TEXT,
            "confirmations_required": LIST,
        },
        "preview",
        "employees",
        "totals",
        "pay_period",
    ),
)

RUN: Final = AgentTool(
    name="run_payroll",
    title="Run a payroll",
    description=(
        "Pay one employee: this makes a permanent tax record, and by direct deposit it moves real money. Call it only "
        "after preview_payroll, once the person has seen the amounts and clearly said yes to this very payroll. Pass "
        "the preview's preview_token, so that nothing else can be run, and an idempotency_key that you make up for "
        "this one payroll (such as 'rosa-2026-11-09'); after a lost connection or a timeout call again with the same "
        "key and the same arguments, which answers with the first payroll and never pays twice. Status: `completed` "
        "(check, cash: the household hands it over), `processing` or `pending_funding` (under way at the bank), "
        "`scheduled`: nothing is paid yet, and the amounts are worked out again at scheduled_send_at; never say that "
        "a scheduled payroll is paid. When refused, do not change dates, hours, method or flags to get around it: "
        "409 autopilot_run_scheduled, period_ahead_of_anchor, clock_advancing, payroll_overlap, idempotency_conflict "
        "and amounts_changed each protect somebody from being paid twice or wrongly: `next_step` says what to do. Set "
        "confirm_large_payroll and confirm_ach_debit only after asking the person for each. A completed check or cash "
        "payroll can be undone only by a person."
    ),
    properties={
        **_ASKED,
        "payment_method": one_of(
            _METHODS,
            "How it is paid. Money moves with direct_deposit alone; a check or cash the household hands over itself.",
            default=_BY_CHECK,
        ),
        "notes": words(
            "`catch-up` records in retrospect what was paid before, completes at once and moves no money.",
            longest=500,
        ),
        "confirm_large_payroll": flag(
            "The person confirmed a direct deposit of more than 5,000 in all or 3,000 to one. Only after asking."
        ),
        "confirm_ach_debit": flag(
            "The person authorized the debit of the household's bank account. Only after asking."
        ),
        "off_cycle": flag("Retired and ignored."),
        "preview_token": words(
            "The preview_token of preview_payroll, half an hour at most old: with it the run is refused with "
            "amounts_changed where any amount would be another than was shown. It is good for one payroll.",
            longest=4_000,
            pattern="^[ -~]*$",
        ),
        "idempotency_key": words(
            "Names this one payroll, 1 to 255 characters of your own. The same key and arguments again never pay "
            "twice.",
            longest=255,
            pattern="^[ -~]*$",
        ),
    },
    required=_NEEDED,
    required_hosted=("idempotency_key",),
    required_previewed=("preview_token",),
    example={**_EXAMPLE, "payment_method": "check", "idempotency_key": "rosa-2026-11-09"},
    changes=True,
    call=_run,
    in_arguments=as_arguments,
    output=data_of({**_PAYROLL, "payroll_id": TEXT, "status": TEXT}, "payroll_id", "status", "totals"),
)

GET_PAYROLL: Final = AgentTool(
    name="get_payroll",
    title="Read a payroll",
    description=(
        "Read one payroll: its paychecks line by line, its status with history, what is in its way and what can be "
        "done (`failure`, `actions`), and which papers it has. Use it after a run, to check whether a call whose "
        "answer was lost did anything, or to answer questions about a paycheck. `scheduled` is not paid."
    ),
    properties={"payroll_id": identifier("As run_payroll answered it.")},
    required=("payroll_id",),
    example={"payroll_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b12"},
    call=_get,
    output=data_of({**_PAYROLL, "payroll_id": TEXT, "status": TEXT}, "payroll_id", "status", "employees"),
)
