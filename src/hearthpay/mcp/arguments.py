"""Arguments of tools: the schemas that models read are the ones that are enforced.

The SDK's low-level server passes arguments on unchecked. Here they are checked against the published schema, and
errors are reported by argument, in plain words, with a corrected example.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker, ValidationError  # type: ignore[import-untyped]

from hearthpay.wire.secrecy import PORTAL_ONLY, names_a_secret, shown_name

JsonSchema = dict[str, Any]

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TYPES: Final = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
}
_FORMATS: Final = {"uuid": "must be an id (a UUID)", "date": "must be a date written YYYY-MM-DD"}
_MOST_PROBLEMS: Final = 20


def _is_id(value: object) -> bool:
    return not isinstance(value, str) or _UUID.fullmatch(value) is not None


def _is_day(value: object) -> bool:
    if not isinstance(value, str):
        return True
    if _DATE.fullmatch(value) is None:
        return False
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


_formats: Final = FormatChecker(formats=())
_formats.checks("uuid")(_is_id)
_formats.checks("date")(_is_day)


def identifier(description: str) -> JsonSchema:
    """Return the schema of an id."""
    return {"type": "string", "format": "uuid", "description": description}


def day(description: str) -> JsonSchema:
    """Return the schema of a day, `YYYY-MM-DD`."""
    return {"type": "string", "format": "date", "description": description}


def amount(description: str, *, maximum: int = 999_999_999) -> JsonSchema:
    """Return the schema of an amount or a number of hours, from 0."""
    return {"type": "number", "minimum": 0, "maximum": maximum, "description": description}


def one_of(values: Sequence[str], description: str, *, default: str | None = None) -> JsonSchema:
    """Return the schema of a choice."""
    schema: JsonSchema = {"type": "string", "enum": list(values), "description": description}
    return schema if default is None else schema | {"default": default}


def words(description: str, *, longest: int, pattern: str | None = None) -> JsonSchema:
    """Return the schema of a text."""
    schema: JsonSchema = {
        "type": "string",
        "minLength": 1,
        "maxLength": longest,
        "description": description,
    }
    return schema if pattern is None else schema | {"pattern": pattern}


def flag(description: str) -> JsonSchema:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": description}


def state(description: str) -> JsonSchema:
    """Return the schema of a state by its two-letter code."""
    return {"type": "string", "pattern": "^[A-Za-z]{2}$", "description": description}


def schema_of(properties: Mapping[str, JsonSchema], required: Sequence[str]) -> JsonSchema:
    """Return the schema of all arguments: no others are accepted."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def without_nulls(schema: JsonSchema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without the optional ones that are null: null means omitted, in nested objects too."""
    properties, required = schema.get("properties", {}), schema.get("required", ())
    kept = {
        name: value
        for name, value in arguments.items()
        if value is not None or name in required or name not in properties
    }
    return {
        name: without_nulls(properties.get(name, {}), value) if isinstance(value, Mapping) else value
        for name, value in kept.items()
    }


def problems_with(schema: JsonSchema, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what is wrong with the arguments, each with its name; empty if they are valid."""
    return problems_by(validator_of(schema), arguments)


def validator_of(schema: JsonSchema) -> Draft202012Validator:
    """Return what checks arguments against a schema; problems are found in the alphabetical order of its names."""
    in_order = json.loads(json.dumps(schema, sort_keys=True))
    return Draft202012Validator(in_order, format_checker=_formats)


def problems_by(validator: Draft202012Validator, arguments: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what is wrong with the arguments, as `problems_with` does."""
    found: list[dict[str, str]] = []
    for error in validator.iter_errors(dict(arguments)):
        found += _problems_in_error(error)
        if len(found) >= _MOST_PROBLEMS:
            break
    return found


def _problems_in_error(error: ValidationError) -> list[dict[str, str]]:
    place = ".".join(str(part) for part in error.absolute_path)
    match error.validator:
        case "required":
            missing = next(name for name in error.validator_value if f"'{name}' " in error.message)
            return [_problem(place, missing, "is required")]
        case "additionalProperties":
            known = error.schema.get("properties", {})
            extra = [str(name) for name in error.instance if name not in known]
            return [
                _problem(
                    place,
                    shown_name(name),
                    PORTAL_ONLY if names_a_secret(name) else "is not an argument of this tool",
                )
                for name in extra
            ]
    return [{"field": place or "arguments", "message": _explained(error)}]


def _problem(place: str, name: str, message: str) -> dict[str, str]:
    return {"field": f"{place}.{name}" if place else name, "message": message}


def _explained(error: ValidationError) -> str:
    value = error.validator_value
    match error.validator:
        case "type":
            return f"must be {_TYPES.get(value, value)}"
        case "enum":
            return f"must be one of {', '.join(map(str, value))}"
        case "format":
            return _FORMATS.get(value, "has another form")
        case "minimum":
            return f"must be at least {value:,}"
        case "maximum":
            return f"must be at most {value:,}"
        case "minLength" | "maxLength":
            limits = error.schema
            return f"must have {limits.get('minLength', 0)} to {limits['maxLength']} characters"
        case "pattern" if error.schema.get("maxLength") is None:
            return "must be a state or DC, by its two letters"
    return "must be printable ASCII characters"
