"""A browser without a screen for people's pages: it keeps cookies, sends forms with their token, from our own site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI

from tests.web.html import parsed_text

HOME = "https://pay.example.com"
OWN = {"Sec-Fetch-Site": "same-origin"}
_SESSION = "__Host-hearthpay"
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64}\.[^"]*)"')
_LEADS_ELSEWHERE = ("/settings/where", "/begin")
"""Forms after which the visitor is in another organization or mode, which the token of a form names."""


@dataclass
class Browser:
    """One person's browser."""

    client: httpx.AsyncClient
    name: str = "Firefox"
    _tokens: dict[tuple[str, ...], str] = field(default_factory=dict)

    @classmethod
    def of(cls, app: FastAPI, name: str = "Firefox") -> Browser:
        transport = httpx.ASGITransport(app, client=("192.0.2.7", 1234))
        headers = {"User-Agent": name}
        return cls(httpx.AsyncClient(transport=transport, base_url=HOME, headers=headers), name)

    async def look(self, path: str, **headers: str) -> httpx.Response:
        return self._noted(await self.client.get(path, headers=headers))

    async def token(self, page: str | None = None) -> str:
        """The token of the forms on a page; every page of a browser carries the same.

        Without a page that of the lightest which the visitor may see.
        """
        if page is None:
            page = "/sign-in" if _SESSION not in self.client.cookies else "/sign-in/again"
        response = self._noted(await self.client.get(page, follow_redirects=True))
        found = _TOKEN.search(response.text)
        assert found is not None, response.text
        return found[1]

    async def send(self, path: str, *, page: str | None = None, **form: Any) -> httpx.Response:
        """Send a form, with the token of the page seen last; `page` is fetched when the session has seen none."""
        if self._cookies() not in self._tokens:
            await self.token(page)
        data = {"form_token": self._tokens[self._cookies()], **form}
        response = await self.client.post(path, data=data, headers=OWN)
        if path in _LEADS_ELSEWHERE:
            self._tokens.clear()
        return self._noted(response)

    def _noted(self, response: httpx.Response) -> httpx.Response:
        """Keep the token of a page's forms, unless the page came with the cookie of another session."""
        begun = f"{_SESSION}=" in response.headers.get("set-cookie", "")
        found = _TOKEN.search(response.text) if "/html" in response.headers.get("content-type", "") else None
        if found is not None and not begun:
            self._tokens[self._cookies()] = found[1]
        return response

    def _cookies(self) -> tuple[str, ...]:
        """What a token hangs on: the cookie of the session, or else that of the visit."""
        kept = {cookie.name: cookie.value or "" for cookie in self.client.cookies.jar}
        return tuple(kept.get(name, "") for name in (_SESSION, "__Host-hearthpay-visit"))

    async def sign_in(self, email: str, password: str) -> httpx.Response:
        return await self.send("/sign-in", email=email, password=password)


def typed_in(page: httpx.Response) -> dict[str, str]:
    """What a browser would send of the page's longest form as it was shown, its token aside."""
    forms = parsed_text(page.text).iter("form")
    form = max(forms, key=lambda each: len(list(each.iter())))
    found: dict[str, str] = {}
    for entry in form.iter("input"):
        if entry.get("type") not in ("checkbox", "radio") or entry.get("checked") is not None:
            found[entry.get("name", "")] = entry.get("value", "")
    for entry in form.iter("select"):
        options = list(entry.iter("option"))
        chosen = [each for each in options if each.get("selected") is not None] or options[:1]
        found[entry.get("name", "")] = chosen[0].get("value", "") if chosen else ""
    found.pop("form_token", None)
    found.pop("", None)
    return found
