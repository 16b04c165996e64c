"""What a tool is: its words for models, its arguments, the one call that it makes, and the shape of its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

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
    },
    "required": ["error", "code", "next_step"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """One tool.

    `required_hosted` are arguments that it needs besides where it is hosted, `required_previewed` where each run must
    be held to a preview. `changes` says that it may change something for good. `in_arguments` writes an example of the
    API's as arguments of the tool, `shaped` the body of a success as the tool answers it.
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
    in_arguments: Callable[[Arguments], Arguments] = dict
    shaped: Callable[[dict[str, Any]], dict[str, Any]] = dict

    def input_schema(self, terms: CallTerms) -> JsonSchema:
        """Return the schema of its arguments, on these terms."""
        required = [
            *self.required,
            *(self.required_hosted if terms.hosted else ()),
            *(self.required_previewed if terms.demands_preview else ()),
        ]
        return schema_of(self.properties, required)

    @property
    def output_schema(self) -> JsonSchema:
        """The schema of its answers, refusals among them: clients hold both against it."""
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
    """Return those of the arguments that were given, or all of them where none is named."""
    wanted = names or tuple(arguments)
    return {name: arguments[name] for name in wanted if name in arguments}


def as_query(arguments: Arguments) -> dict[str, str]:
    """Return plain arguments as a query."""
    return {name: str(value) for name, value in arguments.items()}
