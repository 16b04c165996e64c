"""The story of docs/reference/sandbox.md is played as it stands there."""

import json
import re
from pathlib import Path

from tests.http.api import data
from tests.sandbox.households import Lab

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sandbox.md"


def story() -> list[tuple[str, str, str, str, str]]:
    (block,) = re.findall(r"```story\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    lines = []
    for line in block.strip().splitlines():
        call, _, expected = line.partition(" => ")
        name, method, path, *body = call.split(maxsplit=3)
        lines.append((name, method, path, body[0] if body else "", expected))
    return lines


async def test_the_story_of_the_page_happens(lab: Lab) -> None:
    known: dict[str, str] = {}

    def filled_in(text: str) -> str:
        return re.sub(r"\$(\w+)", lambda found: known[found[1]], text)

    for name, method, path, body, expected in story():
        sent = filled_in(path)
        answered = await (
            lab.caller.get(sent) if method == "GET" else lab.caller.post(sent, json.loads(filled_in(body)))
        )
        assert answered.is_success, (sent, answered.text)
        if expected == "PDF":
            assert answered.content.startswith(b"%PDF")
            continue
        found = data(answered, answered.status_code)
        if name != "-":
            known[name] = found.get("payroll_id") or found["id"]
        for fact in expected.split():
            place, _, value = fact.partition("=")
            at = found
            for part in place.split("."):
                at = at[part]
            assert at == json.loads(value), (sent, place, at)
        if sent.endswith("/advance"):
            await lab.work()
