"""A browser without a screen for people's pages: it keeps cookies, sends forms with their token, from our own site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import html5lib
import httpx
from fastapi import FastAPI

HOME = "https://pay.example.com"
OWN = {"Sec-Fetch-Site": "same-origin"}
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


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
        return await self.client.get(path, headers=headers)

    async def token(self, page: str = "/sign-in") -> str:
        """The token of the forms on a page; every page of a browser carries the same."""
        response = await self.client.get(page, follow_redirects=True)
        found = _TOKEN.search(response.text)
        assert found is not None, response.text
        return found[1]

    async def send(self, path: str, *, page: str = "/sign-in", **form: Any) -> httpx.Response:
        """Send a form, with the token of the forms on `page`; it is fetched again only when the session is another."""
        cookies = self._cookies()
        if cookies not in self._tokens:
            token = await self.token(page)
            cookies = self._cookies()  # a first visit is given one
            self._tokens[cookies] = token
        data = {"form_token": self._tokens[cookies], **form}
        return await self.client.post(path, data=data, headers=OWN)

    def _cookies(self) -> tuple[str, ...]:
        """What a token hangs on: the cookie of the session, or else that of the visit."""
        kept = {cookie.name: cookie.value or "" for cookie in self.client.cookies.jar}
        return tuple(kept.get(name, "") for name in ("__Host-hearthpay", "__Host-hearthpay-visit"))

    async def sign_in(self, email: str, password: str) -> httpx.Response:
        return await self.send("/sign-in", email=email, password=password)


def typed_in(page: httpx.Response) -> dict[str, str]:
    """What a browser would send of the page's longest form as it was shown, its token aside."""
    forms = html5lib.parse(page.text, namespaceHTMLElements=False).iter("form")
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
