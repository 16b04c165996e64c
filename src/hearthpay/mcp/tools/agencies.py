"""State registrations, the to-dos, and the calendar of what is due."""

from __future__ import annotations

from typing import Any, Final

from hearthpay.mcp.arguments import day, identifier
from hearthpay.mcp.calls import ApiCall
from hearthpay.mcp.tools.agent_tool import (
    LIST,
    TEXT,
    AgentTool,
    Arguments,
    as_query,
    choose_household,
    data_of,
)

_ON_FILE: Final = "registered"
_MISSING: Final = ("required", "pending")
_NO_ADDRESS: Final = ("registered", "not_required")
_COUNT: Final = {"type": "integer"}


def _registrations(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/state-registrations", query=as_query(arguments))


def by_state(body: dict[str, Any]) -> dict[str, Any]:
    """Return the accounts grouped by state, with a summary; a state with nothing to do has no address."""
    states: dict[str, list[dict[str, Any]]] = {}
    items = body["data"]["items"]
    for item in items:
        states.setdefault(item["state_code"], []).append(
            {
                "type": item["account_type"],
                "label": item["label"],
                "agency": item["agency"],
                "last_four": item["account_number_last_four"],
                "status": item["status"],
                "registration_url": None if item["status"] in _NO_ADDRESS else item["registration_url"],
            }
        )
    return {
        "states": [{"state_code": code, "accounts": accounts} for code, accounts in states.items()],
        "summary": {
            "states_with_data": len(states),
            "total_accounts_on_file": sum(item["status"] == _ON_FILE for item in items),
            "accounts_missing": sum(item["status"] in _MISSING for item in items),
        },
    }


def _to_dos(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/to-dos", query=as_query(arguments))


def _calendar(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/tax-calendar", query=as_query(arguments))


STATE_FILING_STATUS: Final = AgentTool(
    name="get_state_filing_status",
    title="Read state registrations",
    description=(
        "Tell with which state agencies the household must register (withholding, unemployment, disability, paid "
        "leave), and how it stands with each: `registered` (a number is on file, its end shown), `pending` (applied), "
        "`required` (still to do, with the agency's address), `not_required`. Use it for 'am I registered?' and 'what "
        "do I still have to do?'. Numbers are entered by people in the app: never ask for one, and never repeat one."
    ),
    properties={"employer_id": identifier("The household; left out, the one that the key remembers.")},
    required=(),
    example={"employer_id": "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10"},
    call=_registrations,
    next_call=choose_household("get_state_filing_status"),
    shaped=by_state,
    output={
        "type": "object",
        "properties": {
            "states": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"state_code": TEXT, "accounts": LIST},
                    "required": ["state_code", "accounts"],
                },
            },
            "summary": {
                "type": "object",
                "properties": {
                    "states_with_data": _COUNT,
                    "total_accounts_on_file": _COUNT,
                    "accounts_missing": _COUNT,
                },
                "required": ["states_with_data", "total_accounts_on_file", "accounts_missing"],
            },
        },
        "required": ["states", "summary"],
    },
)

TO_DOS: Final = AgentTool(
    name="list_to_dos",
    title="List the to-dos",
    description=(
        "List what the household has to do, most urgent first: payments and filings that are late or due soon, "
        "payrolls to approve, money on hold, accounts to register for, missing details. Use it for 'what do I have to "
        "do?' and 'am I up to date?'. Only an empty list means all clear, and only for the days of `due_within`. Give "
        "the person each `link`: they pay and file themselves, and record it there."
    ),
    properties={
        "employer_id": identifier("The household; left out, the one that the key remembers."),
        "due_within": {
            "type": "integer",
            "minimum": 0,
            "maximum": 150,
            "description": "Leaves out what is due in so many days or later; left out, 7.",
        },
    },
    required=(),
    example={"due_within": 31},
    call=_to_dos,
    next_call=choose_household("list_to_dos"),
    output={
        "type": "object",
        "properties": {
            "success": {"const": True},
            "data": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"id": TEXT, "kind": TEXT, "title": TEXT, "link": TEXT},
                    "required": ["id", "kind", "title", "link"],
                },
            },
            "meta": {"type": "object"},
        },
        "required": ["success", "data", "meta"],
    },
)

TAX_CALENDAR: Final = AgentTool(
    name="get_tax_calendar",
    title="Read the tax calendar",
    description=(
        "List what the household must file, pay, hand out or report, by due date, with what payments come to so far. "
        "`payment_request` of an item is the API's request to record it as paid, once the person has paid the agency. "
        "Use it for 'what is due next?'. Nothing is filed or paid by reading it, and only people mark things as done."
    ),
    properties={
        "employer_id": identifier("The household; left out, the one that the key remembers."),
        "from": day("Due from this day on; left out, today."),
        "to": day("Due up to this day, two years after at most; left out, a year after."),
    },
    required=(),
    example={"from": "2026-12-01", "to": "2027-04-30"},
    call=_calendar,
    next_call=choose_household("get_tax_calendar"),
    output=data_of({"employer_id": TEXT, "items": LIST}, "items"),
)
