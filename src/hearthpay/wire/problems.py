"""Problems that pydantic finds in a request, in the words and field names of the client."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from pydantic_core import ErrorDetails

from hearthpay.access.refusal import Problem
from hearthpay.taxes.messages import Message, message
from hearthpay.wire.secrecy import PORTAL_ONLY, names_a_secret, shown_name

_PLAIN_WORDS: Final = {
    "missing": "is required",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "Enter a whole number.",
    "int_parsing": "Enter a whole number.",
    "int_parsing_size": "Enter a whole number.",
    "int_from_float": "Enter a whole number.",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "string_pattern_mismatch": "must be a name of small letters, digits and underscores",
}
"""What is wrong, by pydantic's names for it."""
_MOST_PROBLEMS: Final = 50


_MESSAGES: Final[Mapping[str, Callable[..., Message]]] = {
    "missing": partial(message, "required"),
    "text_secret": partial(message, "secret_number"),
    "amount_range": partial(message, "out_of_range"),
    "amount_places": partial(message, "too_many_decimals"),
}
"""What is wrong, by pydantic's type of error, whose context has the parameters."""


def problems_of(errors: Sequence[ErrorDetails], *, root: str = "body") -> list[Problem]:
    """Return pydantic's findings as problems, at most fifty; those about the request as a whole are reported for
    `root`.
    """
    return [
        Problem(
            _spell(error["loc"], root),
            _explain(error),
            _code_of(error),
        )
        for error in errors[:_MOST_PROBLEMS]
    ]


def _code_of(error: ErrorDetails) -> Message | None:
    made = _MESSAGES.get(error["type"])
    return None if made is None else made(**error.get("ctx", {}))


def _spell(location: Sequence[int | str], root: str) -> str:
    spelled = ""
    for part in location:
        if isinstance(part, int):
            spelled += f"[{part}]"
        elif part != "[key]":  # pydantic's mark for the name, not the value, of a mapping's entry
            name = shown_name(part)
            spelled += f".{name}" if spelled else name
    return spelled or root


def _explain(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return PORTAL_ONLY if names_a_secret(str(error["loc"][-1])) else "is not a field of this request"
    plain = _PLAIN_WORDS.get(kind)
    if plain is not None:
        return plain
    context = error.get("ctx", {})
    match kind:
        case "literal_error" | "enum":
            return f"must be {context['expected'].replace(chr(39), '')}"
        case "greater_than_equal":
            return f"must be at least {context['ge']:,}"
        case "less_than_equal":
            return f"must be at most {context['le']:,}"
        case "too_short":
            return f"must have at least {_entries(context['min_length'])}"
        case "too_long":
            return f"must have at most {_entries(context['max_length'])}"
    words = error["msg"]
    # Our own are whole sentences; pydantic's are fragments that follow a field's name.
    return words if words.endswith(".") else words[:1].lower() + words[1:]


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
