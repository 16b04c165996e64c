"""`llms.txt`: what the API is and where to read more, as Markdown for language models (llmstxt.org).

Made from the OpenAPI document: one line for each operation, with a link to its documentation.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from hearthpay.http.error_schemas import ERROR_CODES
from hearthpay.http.openapi import SCOPE_KEY
from hearthpay.http.published import Published

_READ_FIRST: Final = (
    "Amounts are dollars as numbers, days are `YYYY-MM-DD`, times are UTC. A success is "
    '`{"success": true, "data": …, "meta": {"requestId": …}}`; lists add `meta.next_cursor`. A refusal is '
    '`{"success": false, "error": {"code", "message", "details"}, "meta"}`: compare `code`, never `message`. A 400 '
    "carries `example`, a correct request. Preview a payroll before you run it. Test keys (`hp_test_…`) reach test "
    "households only and move no money. No call takes or returns Social Security or bank account numbers."
)


def llms_text(openapi: Mapping[str, Any], *, docs: str, document: str) -> str:
    """Return the text; `docs` is the address of the documentation page, `document` that of the OpenAPI document."""
    info = openapi["info"]
    lines = [f"# {info['title']} API {info['version']}", "", f"> {info['description']}", "", _READ_FIRST, ""]
    codes = openapi["components"]["schemas"][ERROR_CODES]["enum"]
    lines += [
        f"Error codes, of which later versions may have more: {', '.join(f'`{code}`' for code in codes)}.",
        "",
        "## Documents",
        "",
        f"- [OpenAPI document]({document}): every operation, field and error, for generators of clients",
        f"- [Documentation]({docs}): the same for people, with examples",
    ]
    for tag in openapi["tags"]:
        lines += ["", f"## {tag['name']}", "", tag["description"], ""]
        lines += [
            f"- [{method.upper()} {path}]({docs}#{quote(operation['operationId'])}): {_summary(operation)}"
            for path, item in openapi["paths"].items()
            for method, operation in item.items()
            if operation["tags"] == [tag["name"]]
        ]
    return "\n".join(lines) + "\n"


def llms_page(openapi: Callable[[], Mapping[str, Any]]) -> Published:
    """Return the text as the service shows it, with links to itself."""

    def text() -> bytes:
        document = openapi()
        address = document["servers"][0]["url"].rstrip("/")
        links = {"docs": f"{address}/docs", "document": f"{address}/openapi.json"}
        return llms_text(document, **links).encode("utf-8")

    return Published(text, "text/plain; charset=utf-8")


def _summary(operation: Mapping[str, Any]) -> str:
    scope = operation.get(SCOPE_KEY)
    retired = " (retired)" if operation.get("deprecated") else ""
    needs = "" if scope is None else f"; scope `{scope}`"
    return f"{operation['summary']}{retired}{needs}"
