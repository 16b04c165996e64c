"""Reading a request's JSON body, strictly: what is not exactly JSON, or not fit for storage, is refused.

Refused with 413: more than one megabyte. With 400: nothing at all, bytes that are not UTF-8, text that is not
JSON (RFC 8259 knows neither NaN nor Infinity), more objects, lists or entries than any request of ours has,
nesting of more than 64 levels, and NUL characters, which PostgreSQL's text cannot hold. What is counted is counted in
the bytes, before they are parsed: a megabyte of empty objects would keep everybody waiting while it is looked at.
"""

from typing import Final

import orjson
from starlette.requests import Request

from hearthpay.access.refusal import Problem, invalid
from hearthpay.http.statuses import HttpRefusal
from hearthpay.wire.secrecy import shown_name

LARGEST_BODY: Final = 1_000_000
DEEPEST_NESTING: Final = 64
MOST_CONTAINERS: Final = 1_000
"""Objects and lists of a body; a payroll of a hundred employees has two hundred and two."""
MOST_ENTRIES: Final = 5_000
"""Commas of a body, which divide the entries of objects and lists (and of texts: there are few)."""
_DRAIN_AT_MOST: Final = 32_000_000

_BODY_KEY: Final = "hearthpay.json_body"


async def read_json(request: Request, *, optional: bool = False) -> object:
    """Return the parsed body of `request`; parsed once, however often it is asked for.

    With `optional`, no body at all is an empty object.

    Raises `validation_error` naming the field `body`, or the field that holds a NUL character.
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
    # A count of brackets is cheap and settles nearly every body; only a suspicious one is walked.
    if b"\\u0000" in raw or containers > DEEPEST_NESTING:
        _inspect(parsed)
    request.scope[_BODY_KEY] = parsed
    return parsed


async def _read(request: Request) -> bytes:
    """Return the raw body. One over the limit is still received (up to a bound), so that the client, which
    may be busy sending, gets to read the refusal."""
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
