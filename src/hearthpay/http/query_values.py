"""A request's query as values: `metadata[key]=value` becomes one field that holds all keys."""

import re
from typing import Any, Final

from pydantic import BaseModel
from starlette.requests import Request

from hearthpay.access.refusal import invalid

METADATA: Final = "metadata"
"""The parameter that is written once for each key, as OpenAPI's `deepObject` has it."""

_OF_A_KEY: Final = re.compile(r"metadata\[(.*)\]", re.DOTALL)


def query_values(request: Request, model: type[BaseModel]) -> dict[str, Any]:
    """Return the query's parameters by name, the last of each; for lists by metadata, with its keys in one mapping.

    Raises `validation_error` naming `metadata` for a filter in another form, and for a key that is written twice.
    """
    if METADATA not in model.model_fields:
        return dict(request.query_params)
    values: dict[str, Any] = {}
    wanted: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if not name.startswith(METADATA):
            values[name] = value
            continue
        written = _OF_A_KEY.fullmatch(name)
        if written is None:
            raise invalid(METADATA, "Write a filter as metadata[key]=value.")
        if written[1] in wanted:
            raise invalid(METADATA, "Write each key once.")
        wanted[written[1]] = value
    return values | ({METADATA: wanted} if wanted else {})
