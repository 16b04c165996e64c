"""A tool call, from arguments to what the model reads: the API's whole answer, or what was wrong and what to do."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from hearthpay.mcp.advice import next_step
from hearthpay.mcp.arguments import problems_by, validator_of, without_nulls
from hearthpay.mcp.calls import ApiCaller, CallTerms
from hearthpay.mcp.tools.agent_tool import AgentTool, Arguments
from hearthpay.mcp.tools.toolbox import BY_NAME
from hearthpay.wire.secrecy import holds_a_secret, key_holds_a_secret

OK: Final = "ok"

_WRONG: Final = "validation_error"
_OF_THE_ENTRY: Final = re.compile(r"^employees\[0\]\.")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer: an object, and the same as text; `code` is that of a refusal, or `ok`."""

    structured: dict[str, Any]
    text: str
    code: str = OK

    @property
    def refused(self) -> bool:
        """Whether it is a refusal."""
        return self.code != OK


async def answer_call(caller: ApiCaller, name: str, arguments: Arguments) -> ToolAnswer:
    """Call a tool by its name; any failure is returned as an answer, and counts as a call."""
    if name in BY_NAME:
        arguments = without_nulls(_validator_under(caller.terms, name).schema, arguments)
    refused = _refused_here(caller.terms, name, arguments)
    if refused is not None:
        over = await caller.count()
        return refused if over is None else _refusal(over["code"], over["message"], details=over["details"])
    tool = BY_NAME[name]
    answered = await caller.call(tool.call(arguments))
    body = answered.envelope()
    if "error" in body:
        return _refused_by_the_api(tool, arguments, body["error"])
    shaped = tool.shaped(body)
    # What wasn't reshaped is passed on as the API wrote it, to the last digit.
    text = answered.content.decode("utf-8") if shaped == body else json.dumps(shaped, ensure_ascii=False)
    return ToolAnswer(shaped, text)


def _refused_here(terms: CallTerms, name: str, arguments: Arguments) -> ToolAnswer | None:
    """Return what is wrong with a call before the API is called; None if it is valid."""
    tool = BY_NAME.get(name)
    if tool is None:
        return _refusal("unknown_tool", f"There is no tool of this name. There are: {', '.join(BY_NAME)}.")
    if not terms.give(name):
        return _refusal("scope_required", f"The person who let you in did not give you {name}.")
    validator = _validator_under(terms, name)
    problems = problems_by(validator, arguments)
    if problems:
        first = problems[0]
        return _refusal(
            _WRONG,
            f"{first['field']}: {first['message']}",
            validation_details=problems,
            example_request=_corrected(tool, arguments, problems, validator.schema["required"]),
        )
    return None


def _validator_under(terms: CallTerms, name: str) -> Draft202012Validator:
    # Which tools a grant gives changes no tool's schema.
    return _validator(name, terms.hosted, terms.demands_preview)


@functools.cache
def _validator(name: str, hosted: bool, demands_preview: bool) -> Draft202012Validator:
    """Return what checks the arguments of a tool under these terms; making one takes longer than many checks."""
    return validator_of(BY_NAME[name].input_schema(CallTerms(hosted, demands_preview)))


def _refused_by_the_api(tool: AgentTool, arguments: Arguments, error: Mapping[str, Any]) -> ToolAnswer:
    code = str(error.get("code", "internal_error"))
    details, example = error.get("details"), error.get("example")
    told: dict[str, Any] = {}
    if isinstance(details, list):
        details = [
            {**problem, "field": _OF_THE_ENTRY.sub("", str(problem.get("field")))} for problem in details
        ]
    if details is not None:
        told["validation_details" if example is not None else "details"] = details
    if code == _WRONG and isinstance(details, list):
        told["example_request"] = _corrected(tool, arguments, details, tool.required)
    elif isinstance(example, Mapping):
        told["example_request"] = {**_own(tool, arguments), **tool.in_arguments(example)}
    if "docs_url" in error:
        told["docs_url"] = error["docs_url"]
    message = _OF_THE_ENTRY.sub("", str(error.get("message", "It was refused.")))
    leads_on = tool.next_call(code, details, arguments)
    if leads_on is not None:
        told["next_step"] = leads_on.why
        told["next_call"] = {"tool": leads_on.tool, "arguments": leads_on.arguments}
    return _refusal(code, message, **told)


def _refusal(code: str, message: str, **told: Any) -> ToolAnswer:
    structured = {"error": message, "code": code, "next_step": next_step(code), **told}
    return ToolAnswer(structured, json.dumps(structured, ensure_ascii=False), code)


def _own(tool: AgentTool, arguments: Arguments) -> dict[str, Any]:
    """Return the example values that the API's examples don't have."""
    keep = ("idempotency_key",) if "idempotency_key" in tool.properties else ()
    return {
        name: arguments[name]
        for name in keep
        if name in arguments and _can_be_repeated(name, arguments[name])
    }


def _can_be_repeated(name: str, value: object) -> bool:
    """Return whether the argument contains nothing like a number that must not be repeated in an answer."""
    if isinstance(value, str):
        return not (key_holds_a_secret(value) if name == "idempotency_key" else holds_a_secret(value))
    if isinstance(value, Mapping):
        return all(_can_be_repeated(each, part) and not holds_a_secret(each) for each, part in value.items())
    if isinstance(value, list):
        return all(_can_be_repeated("", part) for part in value)
    return True


def _corrected(
    tool: AgentTool, arguments: Arguments, problems: list[dict[str, str]], required: tuple[str, ...]
) -> dict[str, Any]:
    """Return the arguments as they were sent, with example values where something was wrong or is missing."""
    wrong = {problem["field"].partition(".")[0] for problem in problems}
    kept = {
        name: value
        for name, value in arguments.items()
        if name in tool.properties and name not in wrong and _can_be_repeated(name, value)
    }
    filled = {
        name: tool.example[name]
        for name in tool.properties
        if name in tool.example and (name in wrong or name in required) and name not in kept
    }
    return {name: {**kept, **filled}[name] for name in tool.properties if name in kept or name in filled}
