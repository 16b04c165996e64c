"""A client that knows nothing of us: its recorded requests, sent to the service over a socket in their order."""

import json
import re
from pathlib import Path
from typing import Any, Final

import httpx

from tests.http.api import Account

RECORDED: Final = json.loads(Path(__file__).with_name("conversation.json").read_text("utf-8"))
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


async def test_a_foreign_client_is_understood(
    address: str, account: Account, household: dict[str, Any]
) -> None:
    kept = {"employer_id": household["id"]}
    async with httpx.AsyncClient(base_url=f"{address}/api/v1", headers=account.live.headers()) as client:
        for step in RECORDED["steps"]:
            method, path, *body = filled_in(step["request"], kept)
            sent = {"json": body[0]} if body else {}
            response = await client.request(method, path, headers=step.get("headers"), **sent)
            said = f"{step['say']} {response.text}"
            assert response.status_code == step["status"], said
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
