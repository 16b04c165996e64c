"""The schemas of errors in the OpenAPI document, made from the registered codes and the rows of their details.

`error` is one of several shapes: one for each code that carries details, its `code` a constant, and `OtherError`. So a
generated client that has compared the code reads the details with their types. A code that the document doesn't list
is an `OtherError`: the list is open.
"""

from typing import Any, Final, get_args

from pydantic import TypeAdapter

from hearthpay.access.refusal import RefusalCode
from hearthpay.access.refusal_details import DETAILS

REF: Final = "#/components/schemas/"
OTHER: Final = "OtherError"
ERROR_CODES: Final = "ErrorCode"
"""The name of the component that lists every code."""
_VALIDATION: Final = "validation_error"
_BODY: Final = "ErrorBody"
_PROBLEM: Final = "FieldProblem"


def type_errors(schemas: dict[str, Any]) -> None:
    """Give `ErrorBody`, among a document's component `schemas`, one shape for each code that carries details."""
    common = schemas[_BODY]["properties"]
    message, example, docs_url = (common[name] for name in ("message", "example", "docs_url"))
    rest = {"message": message, "example": example, "docs_url": docs_url}
    shapes = {_shape_name(code): _shape(code, rest) for code in (_VALIDATION, *DETAILS)}
    shapes[OTHER] = {
        "type": "object",
        "description": "Any other error: its code carries no details, or is newer than this document. Such an error "
        "may have `details` too, as an object.",
        "properties": {
            "code": {
                "anyOf": [{"$ref": f"{REF}{ERROR_CODES}"}, {"type": "string"}],
                "description": "A code of the list, or one that was added later. Accept codes that you don't know, and "
                "go by the HTTP status.",
            },
            **rest,
        },
        "required": ["code", "message"],
    }
    schemas[ERROR_CODES] = {
        "type": "string",
        "enum": list(get_args(RefusalCode)),
        "description": "Every code of this version. Later versions add codes.",
    }
    schemas[_PROBLEM] = {
        "type": "object",
        "description": "One thing wrong with a request.",
        "properties": {
            "field": {
                "type": "string",
                "description": "The field as the client wrote it: `employees[0].bonus`.",
            },
            "message": {"type": "string", "description": "What is wrong with it."},
        },
        "required": ["field", "message"],
    }
    schemas[_BODY] = {
        "description": "What went wrong. `code` says which shape it has; every 400 carries `example`, a correct "
        "request, and `docs_url`.",
        "anyOf": [{"$ref": f"{REF}{name}"} for name in shapes],
    }
    shapes |= details_schemas()
    if taken := shapes.keys() & schemas.keys():
        raise ValueError(f"two schemas of the document have the name {', '.join(sorted(taken))}")
    schemas.update(shapes)


def details_name(code: str) -> str:
    """Return the name of the component with a code's details."""
    kind: type = DETAILS[code].kind  # type: ignore[index]
    return kind.__name__


def _shape_name(code: str) -> str:
    name = "".join(word.capitalize() for word in code.split("_"))
    return name if name.endswith("Error") else f"{name}Error"


def _shape(code: str, rest: dict[str, Any]) -> dict[str, Any]:
    if code == _VALIDATION:
        details: dict[str, Any] = {
            "type": "array",
            "items": {"$ref": f"{REF}{_PROBLEM}"},
            "description": "Every field that is wrong.",
        }
        always = False
    else:
        details = {
            "$ref": f"{REF}{details_name(code)}",
            "description": "What the code is about, such as the ids, days or amounts that it names.",
        }
        always = DETAILS[code].always  # type: ignore[index]
    return {
        "type": "object",
        "description": f"An error with the code `{code}`.",
        "properties": {
            "code": {"type": "string", "const": code, "description": "Tells this shape from the others."},
            **rest,
            "details": details,
        },
        "required": ["code", "message", *(["details"] if always else ())],
    }


def details_schemas() -> dict[str, Any]:
    """Return the components with the details of all codes, and what these refer to, by name."""
    kinds = {row.kind.__name__: row.kind for row in DETAILS.values()}
    inputs = [(name, "validation", TypeAdapter(kind)) for name, kind in kinds.items()]
    _, written = TypeAdapter.json_schemas(inputs, ref_template=f"{REF}{{model}}")  # type: ignore[arg-type]
    made: dict[str, Any] = written["$defs"]
    for schema in made.values():
        for field in schema["properties"].values():
            field.pop("title", None)
    return made
