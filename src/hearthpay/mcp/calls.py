"""What a tool requests from the API, what it gets, and the two ways to call: over HTTP, or inside the process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import orjson

API: Final = "/api/v1"
UNANSWERED: Final = 0
"""The status of a call that got no response from the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One request of the API, by its path below `/api/v1`; without a body none is sent."""

    method: Literal["GET", "POST"]
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The response: the API's own bytes, an envelope as JSON or a document."""

    status: int
    media_type: str
    content: bytes

    def envelope(self) -> dict[str, Any]:
        """Return the JSON of the response; for any other content, a refusal that says so."""
        try:
            parsed = orjson.loads(self.content)
        except ValueError:
            parsed = None
        return parsed if isinstance(parsed, dict) else refused("not_an_envelope", "The answer was not JSON.")


@dataclass(frozen=True, slots=True)
class CallTerms:
    """The agent's terms, set by the person who authorized it: `hosted` calls need an idempotency key to run a
    payroll, and a grant may require that each run matches a preview, and allow only some `tools` (None: all).
    """

    hosted: bool = False
    demands_preview: bool = False
    tools: frozenset[str] | None = None

    def give(self, tool: str) -> bool:
        """Return whether the agent may call this tool."""
        return self.tools is None or tool in self.tools


class ApiCaller(Protocol):
    """Calls the API for one agent."""

    @property
    def terms(self) -> CallTerms:
        """The agent's terms."""
        ...

    async def call(self, call: ApiCall) -> ApiAnswer:
        """Make the call; any failure is returned as an answer."""
        ...

    async def count(self) -> Mapping[str, Any] | None:
        """Count what is answered without a call; return an envelope's `error` if no more may be answered."""
        ...


def refused(code: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a refusal envelope, for what never reached the API."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = dict(details)
    return {"success": False, "error": error}


def refusal(code: str, message: str, details: Mapping[str, Any] | None = None) -> ApiAnswer:
    """Return the same refusal as an answer."""
    return ApiAnswer(UNANSWERED, "application/json", json.dumps(refused(code, message, details)).encode())
