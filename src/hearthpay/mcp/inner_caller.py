"""The way to the API inside the process: for an agent that has connected to `/mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from hearthpay.access.refusal import Refusal
from hearthpay.http.auth import spend
from hearthpay.http.inner_call import call_inside
from hearthpay.mcp.authentication import Admitted
from hearthpay.mcp.calls import API, ApiAnswer, ApiCall, CallTerms


class InnerCaller:
    """Calls the API for an agent, while its request is being answered."""

    __slots__ = ("_admitted", "_request")

    def __init__(self, request: Request, admitted: Admitted) -> None:
        self._request = request
        self._admitted = admitted

    @property
    def terms(self) -> CallTerms:
        """On which terms the agent was let in."""
        return self._admitted.terms

    async def call(self, call: ApiCall) -> ApiAnswer:
        """Make the call with the agent's actor."""
        answered = await call_inside(
            self._request,
            self._admitted.actor,
            call.method,
            API + call.path,
            query=call.query,
            body=call.body,
            idempotency_key=call.idempotency_key,
        )
        media_type = answered.headers.get("content-type", "").partition(";")[0]
        return ApiAnswer(answered.status, media_type, answered.body)

    async def count(self) -> Mapping[str, Any] | None:
        """Count it against the requests of the day, as each call of the API is."""
        try:
            await spend(self._request, self._admitted.actor)
        except Refusal as refusal:
            return {"code": refusal.code, "message": refusal.message, "details": refusal.details}
        return None
