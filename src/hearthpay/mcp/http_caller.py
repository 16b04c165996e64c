"""Calls the API over HTTP with a key, for an agent on the same machine."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from hearthpay import __version__
from hearthpay.mcp.calls import API, ApiAnswer, ApiCall, CallTerms, refusal

KEY_VARIABLE: Final = "HEARTHPAY_API_KEY"
ADDRESS_VARIABLE: Final = "HEARTHPAY_API_URL"
OLD_KEY_VARIABLE: Final = "NANNYKEEPER_API_KEY"
OLD_ADDRESS_VARIABLE: Final = "NANNYKEEPER_API_URL"
"""The variables that clients of this kind are configured with; read if ours aren't set."""

USUAL_ADDRESS: Final = "http://127.0.0.1:8000"

_JSON: Final = "application/json"
_TIMEOUT: Final = httpx2.Timeout(60.0, connect=5.0)
_PERMANENT: Final = range(300, 400)


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """Where the API is, and the key for it; without a key each call says what to set."""

    address: str
    key: str | None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ApiEndpoint:
        """Return the endpoint from the environment.

        An address under the old name is used only with a key under the old name: our key is sent nowhere else.
        """
        key = environment.get(KEY_VARIABLE, "").strip()
        old_key = environment.get(OLD_KEY_VARIABLE, "").strip()
        address = environment.get(ADDRESS_VARIABLE, "").strip()
        if not address and not key:
            address = environment.get(OLD_ADDRESS_VARIABLE, "").strip()
        address = (address or USUAL_ADDRESS).rstrip("/").removesuffix(API)
        return cls(address, key or old_key or None)

    @property
    def mistake(self) -> ApiAnswer | None:
        """What is wrong with it, as the answer to a call; None if it is valid."""
        if self.key is None:
            return refusal(
                "key_missing",
                f"No API key is set. Put one into {KEY_VARIABLE} (and the service's address into {ADDRESS_VARIABLE}, "
                f"unless it is {USUAL_ADDRESS}) in this server's settings.",
            )
        if not (self.key.isascii() and self.key.isprintable()):
            return refusal("key_missing", f"What {KEY_VARIABLE} holds cannot be an API key.")
        try:
            parts = urlsplit(self.address)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            sound = False
        if not sound:
            return refusal(
                "address_wrong",
                f"{ADDRESS_VARIABLE} must be an address such as https://pay.example.com.",
            )
        return None


class HttpCaller:
    """Calls the API at an address with a key."""

    def __init__(self, connection: ApiEndpoint, client: str | None = None) -> None:
        """Set the endpoint; `client` is the agent's program, sent to the API in `User-Agent`."""
        self._connection = connection
        self._client = client
        self._http: httpx2.AsyncClient | None = None

    @property
    def terms(self) -> CallTerms:
        """No terms: the key already sets what the agent may do."""
        return CallTerms()

    async def call(self, call: ApiCall) -> ApiAnswer:
        """Make the call. A run without an idempotency key gets one, so that it can be sent again if the answer is
        lost: once by us, then by the caller, who is given the key.
        """
        mistake = self._connection.mistake
        if mistake is not None:
            return mistake
        changes = call.method == "POST" and call.path == "/payroll/run"
        if changes and call.idempotency_key is None:
            call = replace(call, idempotency_key=f"agent-{secrets.token_hex(16)}")
        for attempt in (1, 2):
            try:
                return await self._send(call)
            except httpx2.InvalidURL:
                return refusal("address_wrong", f"{ADDRESS_VARIABLE} is not an address.")
            except httpx2.HTTPError as error:
                again = isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError)
                if attempt == 1 and again and (call.method == "GET" or call.idempotency_key is not None):
                    continue
                return self._unreachable(call, error)
        raise AssertionError("the second attempt returns")

    async def count(self) -> Mapping[str, Any] | None:
        """Count nothing: what never reaches the service costs it nothing."""
        return None

    async def close(self) -> None:
        """Close the open connections."""
        if self._http is not None:
            await self._http.aclose()

    async def _send(self, call: ApiCall) -> ApiAnswer:
        if self._http is None:
            agent = f"hearthpay-mcp/{__version__}"
            self._http = httpx2.AsyncClient(
                base_url=self._connection.address,
                headers={
                    "Authorization": f"Bearer {self._connection.key}",
                    "User-Agent": agent if self._client is None else f"{agent} ({self._client})",
                },
                timeout=_TIMEOUT,
                follow_redirects=False,
            )
        key = {} if call.idempotency_key is None else {"Idempotency-Key": call.idempotency_key}
        response = await self._http.request(
            call.method,
            API + call.path,
            params=dict(call.query) or None,
            json=None if call.body is None else dict(call.body),
            headers=key,
        )
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code in _PERMANENT:
            return refusal(
                "address_wrong",
                f"{self._connection.address} sends on to another address. Put that into {ADDRESS_VARIABLE}.",
            )
        if media_type == _JSON and '"success"' not in response.text[:200]:
            return refusal("not_an_envelope", f"What answers at {self._connection.address} is not Hearthpay.")
        if media_type != _JSON and response.status_code != httpx2.codes.OK:
            return refusal("not_an_envelope", f"What answers at {self._connection.address} is not Hearthpay.")
        return ApiAnswer(response.status_code, media_type, response.content)

    def _unreachable(self, call: ApiCall, error: Exception) -> ApiAnswer:
        reason = (
            "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "cannot be reached"
        )
        details = {} if call.idempotency_key is None else {"idempotency_key": call.idempotency_key}
        return refusal("unreachable", f"The service at {self._connection.address} {reason}.", details)
