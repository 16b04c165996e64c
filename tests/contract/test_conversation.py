"""Clients that know nothing of us: their recorded requests, sent to the service over a socket in their order.

What stands in `conversations/` is sent by two kinds of client, with made-up people. The third kind, an agent that calls
tools, has its conversations in `tests/mcp`.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.http.api import Account

RECORDED: Final = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parent / "conversations").glob("*.json"))
}
_MISSING: Final = object()
_KEPT: Final = re.compile(r"\$\{(\w+)\}")


def filled_in(value: Any, kept: dict[str, Any]) -> Any:
    """The recorded value with what was kept of earlier answers in its place."""
    if isinstance(value, dict):
        return {name: filled_in(each, kept) for name, each in value.items()}
    if isinstance(value, list):
        return [filled_in(each, kept) for each in value]
    if not isinstance(value, str):
        return value
    whole = _KEPT.fullmatch(value)
    return kept[whole[1]] if whole else _KEPT.sub(lambda found: str(kept[found[1]]), value)


def at(body: Any, path: str) -> Any:
    """What stands at a path such as `data.employees.0.name`."""
    for part in path.split("."):
        if isinstance(body, list):
            body = body[int(part)] if int(part) < len(body) else _MISSING
        else:
            body = body.get(part, _MISSING) if isinstance(body, dict) else _MISSING
    return body


@pytest.mark.parametrize("recorded", RECORDED)
async def test_a_foreign_client_is_understood(
    address: str, account: Account, household: dict[str, Any], recorded: str
) -> None:
    conversation = RECORDED[recorded]
    kept = {"employer_id": household["id"]}
    caller = account.test if conversation.get("key") == "test" else account.live
    async with httpx.AsyncClient(base_url=f"{address}/api/v1", headers=caller.headers()) as client:
        for step in conversation["steps"]:
            method, path, *body = filled_in(step["request"], kept)
            sent = {"json": body[0]} if body else {}
            response = await client.request(method, path, headers=step.get("headers"), **sent)
            said = f"{step['say']} {response.text[:2_000]}"
            assert response.status_code == step["status"], said
            if step.get("pdf"):
                assert response.headers["content-type"] == "application/pdf", said
                assert response.content.startswith(b"%PDF"), said
                continue
            answer = response.json()
            for where, expected in filled_in(step.get("expect", {}), kept).items():
                assert at(answer, where) == expected, f"{where}: {said}"
            for where in step.get("absent", ()):
                assert at(answer, where) is _MISSING, f"{where}: {said}"
            for where, words in step.get("mentions", {}).items():
                assert all(word in at(answer, where) for word in words), f"{where}: {said}"
            for header, expected in step.get("answered_with", {}).items():
                assert response.headers[header] == expected, said
            kept |= {name: at(answer, where) for name, where in step.get("keep", {}).items()}
