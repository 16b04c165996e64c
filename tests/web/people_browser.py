"""A browser without a screen for people's pages: it keeps cookies, sends forms with their token, from our own site."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
        token = await self.token(page)
        return await self.client.post(path, data={"form_token": token, **form}, headers=OWN)

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
