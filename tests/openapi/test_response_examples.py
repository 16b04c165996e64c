"""The answers that the OpenAPI document shows are those of the service, and each operation shows one."""

import json
import os
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

import httpx
import psycopg
import pytest

from hearthpay.http import response_examples
from tests.cases import every_case
from tests.http.api import Account
from tests.openapi.document import Document
from tests.openapi.response_examples import Story

RECORD: Final = "HEARTHPAY_RECORD_EXAMPLES"
"""The variable under which the answers are recorded again."""
COMMAND: Final = "make examples"

_SHOWN_TYPES: Final = frozenset({"application/json", "text/csv"})
_FILES: Final = frozenset({"getDocument"})
"""Operations that give a kept file back, whatever its kind."""
_SECRET: Final = re.compile(r"\b\d{3}-\d{2}-\d{4}\b|\b\d{2}-\d{7}\b|\b\d{9}\b|hp_(live|test|pub)_|whsec_")


def _answers(document: Document) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every successful answer that is JSON or CSV: operation, status, media type and what is said of it."""
    for _, _, operation in document.operations():
        for status, response in operation["responses"].items():
            for media_type, content in response.get("content", {}).items():
                is_shown = (
                    media_type.partition(";")[0] in _SHOWN_TYPES and operation["operationId"] not in _FILES
                )
                if status.startswith("2") and is_shown:
                    yield operation["operationId"], status, media_type, content


@pytest.mark.completeness
def test_every_operation_shows_an_answer(document: Document) -> None:
    missing = [each[:3] for each in _answers(document) if "example" not in each[3]]
    assert missing == [], f"ask for it in tests/openapi/response_examples.py, then run: {COMMAND}"
    shown = {operation_id for operation_id, *_ in _answers(document)}
    idle = sorted(response_examples.read().keys() - shown)
    assert idle == [], f"there is no such operation, run: {COMMAND}"


def test_an_answer_that_is_shown_keeps_to_the_schema_of_its_operation(document: Document) -> None:
    with every_case() as case:
        for operation_id, status, media_type, content in _answers(document):
            with case(f"{operation_id} {status} {media_type}"):
                assert document.schema_problems(content["schema"], content["example"]) == []


def test_an_answer_that_is_shown_holds_no_secret() -> None:
    assert _SECRET.findall(json.dumps(response_examples.read())) == []


async def test_answers_that_are_shown_are_what_the_service_answers(
    document: Document,
    client: httpx.AsyncClient,
    account: Account,
    owner_connection: psycopg.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A package of few papers is otherwise answered at once, as a file.
    monkeypatch.setattr(import_module("hearthpay.documents.routes"), "PACKAGE_AT_ONCE", 1)
    story = Story(document, client, account, owner_connection)
    await story.live()
    shown = story.shown()
    if RECORD in os.environ:
        _record(shown)
    recorded = response_examples.read()
    stale = sorted(name for name in recorded.keys() | shown.keys() if recorded.get(name) != shown.get(name))
    assert stale == [], f"run: {COMMAND}"


def _record(shown: dict[str, Any]) -> None:
    text = json.dumps(shown, indent=1, ensure_ascii=False)
    response_examples.FILE.write_text(f"{text}\n", encoding="utf-8")
    response_examples.read.cache_clear()
