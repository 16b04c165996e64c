"""The parts of a tool: its words for models, its arguments, its one call, and the shape of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hearthpay.mcp.arguments import JsonSchema, schema_of
from hearthpay.mcp.calls import ApiCall, CallTerms

Arguments = Mapping[str, Any]

ERROR_OUTPUT: Final[JsonSchema] = {
    "type": "object",
    "description": "A refusal: what was wrong, a corrected example where there is one, and what to do next.",
    "properties": {
        "error": {"type": "string"},
        "code": {"type": "string"},
        "validation_details": {},
        "details": {},
        "example_request": {"type": "object"},
        "docs_url": {"type": "string"},
        "next_step": {"type": "string"},
        "next_call": {
            "type": "object",
            "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["tool", "arguments"],
        },
    },
    "required": ["error", "code", "next_step"],
}


class NextCall(NamedTuple):
    """The next call after a refusal: the tool, its arguments, and why, in words for models."""

    tool: str
    arguments: dict[str, Any]
    why: str


NextCallOf = Callable[[str, object, Arguments], NextCall | None]
"""Finds the next call from a refusal's code and details, and the refused arguments."""


def _no_next_call(_code: str, _details: object, _arguments: Arguments) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """One tool.

    `required_hosted` are additional required arguments if it is hosted, `required_previewed` if each run must match a
    preview. `changes` says that it may change something permanently, `uses_account` that it may read or change
    something of a household. `in_arguments` writes an example of the API's as
    arguments of the tool, `shaped` the body of a success as the tool answers it. `next_call` finds the next call
    after a refusal by the API, if the advice for its code isn't enough.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, JsonSchema]
    required: tuple[str, ...]
    example: Arguments
    call: Callable[[Arguments], ApiCall]
    output: JsonSchema
    required_hosted: tuple[str, ...] = ()
    required_previewed: tuple[str, ...] = ()
    changes: bool = False
    uses_account: bool = True
    in_arguments: Callable[[Arguments], Arguments] = dict
    shaped: Callable[[dict[str, Any]], dict[str, Any]] = dict
    next_call: NextCallOf = _no_next_call

    def input_schema(self, terms: CallTerms) -> JsonSchema:
        """Return the schema of its arguments under these terms."""
        required = [
            *self.required,
            *(self.required_hosted if terms.hosted else ()),
            *(self.required_previewed if terms.demands_preview else ()),
        ]
        return schema_of(self.properties, required)

    @property
    def output_schema(self) -> JsonSchema:
        """The schema of its answers, including refusals: clients check both against it."""
        return {"type": "object", "anyOf": [self.output, ERROR_OUTPUT]}


def data_of(properties: Mapping[str, JsonSchema], *required: str) -> JsonSchema:
    """Return the schema of the API's envelope around an answer with at least these properties."""
    return {
        "type": "object",
        "properties": {
            "success": {"const": True},
            "data": {"type": "object", "properties": dict(properties), "required": list(required)},
            "meta": {"type": "object", "properties": {"requestId": {"type": "string"}}},
        },
        "required": ["success", "data", "meta"],
    }


NUMBER: Final[JsonSchema] = {"type": "number"}
TEXT: Final[JsonSchema] = {"type": "string"}
OBJECT: Final[JsonSchema] = {"type": "object"}
LIST: Final[JsonSchema] = {"type": "array"}
SUMS: Final[JsonSchema] = {"type": "object", "additionalProperties": {"type": ["number", "string"]}}


def without_nothing(arguments: Arguments, *names: str) -> dict[str, Any]:
    """Return the arguments that were given, out of those named or out of all."""
    requested = names or tuple(arguments)
    return {name: arguments[name] for name in requested if name in arguments}


def choose_household(tool: str) -> NextCallOf:
    """Return the next call if a tool was called without a household and the account has several."""

    def found(code: str, details: object, arguments: Arguments) -> NextCall | None:
        named = details if isinstance(details, list) else ()
        missing = any(isinstance(each, dict) and each.get("field") == "employer_id" for each in named)
        if code != "validation_error" or not missing or "employer_id" in arguments:
            return None
        why = (
            "The account has several households. Call list_households_and_employees, ask the person which one is "
            f"meant, then call {tool} again with its employer_id."
        )
        return NextCall("list_households_and_employees", {}, why)

    return found


def as_query(arguments: Arguments) -> dict[str, str]:
    """Return plain arguments as a query string."""
    return {name: str(value) for name, value in arguments.items()}
