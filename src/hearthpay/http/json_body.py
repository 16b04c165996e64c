"""Strict reading of a request's JSON body: what isn't exactly JSON, or can't be stored, is refused.

Refused with 413: more than one megabyte. With 400: an empty body, bytes that aren't UTF-8, text that isn't JSON (RFC
8259 has neither NaN nor Infinity), more objects, lists or entries than any request of ours has, nesting of more than
64 levels, NUL characters, which PostgreSQL's text can't hold, and a name that is in one object twice, of which readers
take the first or the last. Counting is done in the bytes, before they are parsed: a megabyte of empty objects would
delay everybody while it is checked.
"""

import json
import re
from typing import Final

import orjson
from starlette.requests import Request

from hearthpay.access.refusal import Problem, invalid
from hearthpay.http.statuses import HttpRefusal
from hearthpay.wire.secrecy import shown_name

LARGEST_BODY: Final = 1_000_000
DEEPEST_NESTING: Final = 64
MOST_CONTAINERS: Final = 1_000
"""The most objects and lists in a body; a payroll of a hundred employees has two hundred and two."""
MOST_ENTRIES: Final = 5_000
"""The most commas in a body, which separate the entries of objects and lists (and occur in texts, though rarely)."""
_NAME_END: Final = re.compile(rb'"\s*:')
_DRAIN_AT_MOST: Final = 32_000_000

_BODY_KEY: Final = "hearthpay.json_body"


async def read_json(request: Request, *, optional: bool = False) -> object:
    """Return the parsed body of `request`; parsed once, however often this is called.

    With `optional`, an empty body is an empty object.

    Raises `validation_error` naming the field `body`, or the field with a NUL character.
    """
    if _BODY_KEY in request.scope:
        return request.scope[_BODY_KEY]
    raw = await _read(request)
    if not raw.strip():
        if optional:
            return request.scope.setdefault(_BODY_KEY, {})
        raise invalid("body", "a JSON object is required")
    containers = raw.count(b"[") + raw.count(b"{")
    if containers > MOST_CONTAINERS:
        raise invalid("body", f"must not hold more than {MOST_CONTAINERS:,} objects and lists")
    if raw.count(b",") > MOST_ENTRIES:
        raise invalid("body", f"must not hold more than {MOST_ENTRIES:,} entries")
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        hint = _form_hint(request) or f"is not valid JSON in UTF-8 (at character {error.pos})"
        raise invalid("body", hint) from None
    # Counting brackets is cheap and is enough for nearly every body; only a suspicious one is walked.
    if b"\\u0000" in raw or containers > DEEPEST_NESTING:
        _inspect(parsed)
    _refuse_doubled_names(raw, parsed)
    request.scope[_BODY_KEY] = parsed
    return parsed


async def _read(request: Request) -> bytes:
    """Return the raw body. One over the limit is still received (up to a bound), so that the client, which may still
    be sending, can read the refusal."""
    chunks: list[bytes] = []
    size = 0
    more = True
    while more and size <= _DRAIN_AT_MOST:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise invalid("body", "ended before it was complete")
        chunk = message.get("body", b"")
        more = message.get("more_body", False)
        size += len(chunk)
        if size <= LARGEST_BODY:
            chunks.append(chunk)
        else:
            chunks.clear()
    if size > LARGEST_BODY:
        problem = Problem("body", f"must not be larger than {LARGEST_BODY:,} bytes")
        raise HttpRefusal("validation_error", f"body: {problem.message}", details=[problem], status=413)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _form_hint(request: Request) -> str | None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("", "application/json"):
        return None
    return f"must be JSON; send it with the header 'Content-Type: application/json', not '{kind[:80]}'"


def _refuse_doubled_names(raw: bytes, parsed: object) -> None:
    """Refuse an object that has a name twice.

    A body with as many ends of names as its objects have names has none twice. In others, some of which have such an
    end within a text, each name is looked at.
    """
    if len(_NAME_END.findall(raw)) > _count_names(parsed):
        json.loads(raw, object_pairs_hook=_refuse_pairs, parse_int=str, parse_float=str)


def _count_names(parsed: object) -> int:
    pending, count = [parsed], 0
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            count += len(value)
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return count


def _refuse_pairs(pairs: list[tuple[str, object]]) -> None:
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            raise invalid(shown_name(name), "is in the same object twice")
        names.add(name)


def _inspect(parsed: object) -> None:
    """Refuse deep nesting and NUL characters, without recursion."""
    pending: list[tuple[object, str, int]] = [(parsed, "", 1)]
    while pending:
        value, path, depth = pending.pop()
        if isinstance(value, str):
            if "\x00" in value:
                raise invalid(path or "body", "must not contain NUL characters")
            continue
        if not isinstance(value, dict | list):
            continue
        if depth > DEEPEST_NESTING:
            raise invalid("body", f"must not be nested deeper than {DEEPEST_NESTING} levels")
        if isinstance(value, list):
            pending += [(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
            continue
        for name, item in value.items():
            if "\x00" in name:
                raise invalid(path or "body", "must not contain NUL characters in its names")
            spelled = shown_name(name)
            pending.append((item, f"{path}.{spelled}" if path else spelled, depth + 1))
