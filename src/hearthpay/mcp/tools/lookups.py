"""Lookups: who there is to pay, and why a line of a paycheck is what it is."""

from __future__ import annotations

from typing import Final

from hearthpay.mcp.arguments import words
from hearthpay.mcp.calls import ApiCall
from hearthpay.mcp.tools.agent_tool import LIST, TEXT, AgentTool, Arguments, as_query, data_of
from hearthpay.mcp.tools.payrolls import PREVIEW, as_arguments, as_preview


def _households(arguments: Arguments) -> ApiCall:
    return ApiCall(method="GET", path="/households", query=as_query(arguments))


def _explain(arguments: Arguments) -> ApiCall:
    body = dict(arguments)
    code = body.pop("line_code")
    return ApiCall(method="POST", path="/payroll/explain", body={**as_preview(body), "line_code": code})


HOUSEHOLDS: Final = AgentTool(
    name="list_households_and_employees",
    title="List households and employees",
    description=(
        "List the households that you can reach and the people they employ, by name, with the ids that other tools "
        "ask for. Call it first, instead of asking the person for ids. If more than one name fits, ask which one is "
        "meant. Each is real or, with `sandbox`, a test household; a connection reaches one kind and lists no other. "
        "Newest household first; `meta.next_cursor` leads to the next page."
    ),
    properties={"cursor": words("The next_cursor of the page before.", longest=100)},
    required=(),
    example={},
    call=_households,
    output={
        "type": "object",
        "properties": {
            "success": {"const": True},
            "data": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"employer_id": TEXT, "name": TEXT, "employees": LIST},
                    "required": ["employer_id", "name", "employees"],
                },
            },
            "meta": {"type": "object"},
        },
        "required": ["success", "data", "meta"],
    },
)

EXPLAIN: Final = AgentTool(
    name="explain_paycheck_line",
    title="Explain a line of a paycheck",
    description=(
        "Tell why one tax line of a paycheck is what it is: each step of the calculation with its figures, the law or "
        "publication they are from, and how sure they are. Takes the arguments of preview_payroll and the line's code "
        "(such as US-SS-EE, US-FIT, CA-SDI-EE, as `lines` of a preview names it), and creates nothing. Use it for "
        "'why is so much withheld?'; quote the source, and do not explain a tax from memory. "
        "Of a payroll that was paid, read the resource hearthpay://payrolls/{payroll_id}/explanations/{employee_id}."
    ),
    properties={
        **PREVIEW.properties,
        "line_code": words("The code of a line, as a preview lists it.", longest=40, pattern="^[ -~]*$"),
    },
    required=(*PREVIEW.required, "line_code"),
    example={**PREVIEW.example, "line_code": "US-SS-EE"},
    call=_explain,
    in_arguments=as_arguments,
    output=data_of({"employer_id": TEXT, "explanations": LIST}, "explanations"),
)
