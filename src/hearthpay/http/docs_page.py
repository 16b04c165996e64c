"""The documentation page: the OpenAPI document as one plain HTML page.

Rendered here rather than by a third-party viewer: it works offline, needs no script and leaks no visitor. Each
operation's id is an anchor; the `docs_url` of a 400 leads to it. If scripts run, the served page turns into the
interactive reference (`hearthpay.http.reference`).
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, Final

from hearthpay.http import reference
from hearthpay.http.example import example_in
from hearthpay.http.llms_text import llms_text
from hearthpay.http.openapi import PLAN_KEY, SCOPE_KEY
from hearthpay.http.published import Published

_STYLE: Final = """
:root { color-scheme: light dark; }
body { background: light-dark(#fff, #14171a); color: light-dark(#1d2327, #eceff1); }
body { font: 100%/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem 1rem 4rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid #8888; }
h3 code { font-size: 1rem; }
:is(h3, p, li, td, th) { overflow-wrap: anywhere; } td:not(:last-child) { min-width: 4rem; }
@media (max-width: 40rem) { table { font-size: .8125rem; } }
.method { font-weight: 700; color: light-dark(#17624f, #6fcfb0); }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
.plain pre { background: light-dark(#f3f3f1, #23292e); padding: .75rem; overflow-x: auto; border-radius: .25rem; }
a { color: inherit; }
"""
_HASH: Final = b64encode(sha256(_STYLE.encode("utf-8")).digest()).decode("ascii")
_SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    f"style-src 'self' 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}
"""Only our own scripts run, and none inline. Swagger UI has its icons as `data:` in its style."""


def docs_page(openapi: Callable[[], Mapping[str, Any]]) -> Published:
    """Return the page that documents every operation of what `openapi` returns."""

    def page() -> bytes:
        address = "/openapi.json"
        return render_page(openapi(), document=address, head=reference.head(address)).encode("utf-8")

    return Published(page, "text/html; charset=utf-8", _SECURITY)


def openapi_document(openapi: Callable[[], Mapping[str, Any]]) -> Published:
    """Return the OpenAPI document itself."""

    def document() -> bytes:
        return json.dumps(openapi(), ensure_ascii=False, separators=(",", ":")).encode("utf-8")

    return Published(document, "application/json")


def static_docs(openapi: Mapping[str, Any]) -> dict[str, str]:
    """Return the documentation as files that can be read without the service, by their names."""
    return {
        "index.html": render_page(openapi, document="openapi.json") + "\n",
        "openapi.json": json.dumps(openapi, indent=2, ensure_ascii=False) + "\n",
        "llms.txt": llms_text(openapi, docs="index.html", document="openapi.json"),
    }


def write_docs(openapi: Mapping[str, Any], directory: Path) -> None:
    """Write the files of `static_docs` into `directory`, creating it if needed; raises OSError."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in static_docs(openapi).items():
        (directory / name).write_text(text, encoding="utf-8")


def render_page(openapi: Mapping[str, Any], *, document: str, head: str = "") -> str:
    """Return the page that documents every operation of `openapi`, with a link to the `document` itself.

    `head` is the content of its head besides title and style.
    """
    operations = list(_operations(openapi))
    info = openapi["info"]
    body = [
        f"<header><h1>{escape(info['title'])} API {escape(info['version'])}</h1>",
        _prose(info["description"]),
    ]
    body.append(
        '</header><main><p>As a document: <a href="' + escape(document) + '">openapi.json</a></p><nav><ul>'
    )
    body += [
        f'<li><a href="#{_anchor(operation)}">{escape(operation["summary"])}</a></li>'
        for _, _, operation in operations
    ]
    body.append("</ul></nav>")
    tag = None
    for method, path, operation in operations:
        if operation["tags"][0] != tag:
            tag = operation["tags"][0]
            body.append(f"<h2>{escape(tag)}</h2>")
        body += _operation(openapi, method, path, operation)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])} API</title><style>{_STYLE}</style>{head}</head>"
        f'<body><div class="plain">{"".join(body)}</main></div></body></html>'
    )


def _operations(openapi: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def _operation(openapi: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> list[str]:
    address = f'<code><span class="method">{method.upper()}</span> {escape(path)}</code>'
    parts = [
        f'<h3 id="{_anchor(operation)}">{escape(operation["summary"])}<br>{address}</h3>',
        _prose(operation.get("description", "")),
    ]
    if SCOPE_KEY in operation:
        parts.append(f"<p>Needs a key with the scope <code>{escape(operation[SCOPE_KEY])}</code>.</p>")
    if PLAN_KEY in operation:
        parts.append(f"<p>On the plan <code>{escape(operation[PLAN_KEY])}</code> and every larger one.</p>")
    if operation.get("parameters"):
        rows = [
            (entry["name"], entry["schema"], entry.get("required", False), entry.get("description", ""))
            for entry in operation["parameters"]
        ]
        parts += ["<h4>Parameters</h4>", _table(openapi, rows)]
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        parts += ["<h4>Body</h4>", _object(openapi, schema)]
    example = example_in(operation)
    if example:
        parts += ["<h4>Example</h4>", f'<pre tabindex="0">{escape(json.dumps(example, indent=2))}</pre>']
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            parts += [f"<h4>Answer {status}</h4>", *_answer(openapi, response), *_answer_examples(response)]
    refusals = [
        f"<li>{status}: {_code(response['description'])}</li>"
        for status, response in operation["responses"].items()
        if not status.startswith("2")
    ]
    return [*parts, f"<h4>Refusals</h4><ul>{''.join(refusals)}</ul>"]


def _answer(openapi: Mapping[str, Any], response: Mapping[str, Any]) -> list[str]:
    """Return the contents of the envelope's `data`: the object, or one item of the list, or each of several kinds."""
    if "application/json" not in response["content"]:
        kinds_of_file = " or ".join(f"<code>{escape(name)}</code>" for name in response["content"])
        return [f"<p>{escape(response['description'])} A file: {kinds_of_file}.</p>"]
    envelope = _resolve(openapi, response["content"]["application/json"]["schema"])
    data: Mapping[str, Any] = envelope["properties"]["data"]
    item = data.get("items", data)
    kinds = item.get("anyOf", [item])
    return ["<p>or</p>" * (position > 0) + _object(openapi, kind) for position, kind in enumerate(kinds)]


def _answer_examples(response: Mapping[str, Any]) -> Iterator[str]:
    """Yield each example of an answer, closed: they are longer than what is said of the operation."""
    for media_type, content in response["content"].items():
        if "example" in content:
            example = content["example"]
            shown = (
                example.replace("\r", "")
                if isinstance(example, str)
                else json.dumps(example, indent=2, ensure_ascii=False)
            )
            yield f"<details><summary>Example: <code>{escape(media_type)}</code></summary>"
            yield f'<pre tabindex="0">{escape(shown)}</pre></details>'


def _object(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    resolved = _resolve(openapi, schema)
    required = resolved.get("required", [])
    rows = [
        (name, entry, name in required, entry.get("description", ""))
        for name, entry in resolved.get("properties", {}).items()
    ]
    return _table(openapi, rows)


def _table(openapi: Mapping[str, Any], rows: list[tuple[str, Mapping[str, Any], bool, str]]) -> str:
    lines = [
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(openapi, schema))}</td>"
        f"<td>{'required' if required else ''}</td><td>{_code(description)}</td></tr>"
        for name, schema, required, description in rows
    ]
    return f"<table><tr><th>Field<th>Type<th><th>Meaning</tr>{''.join(lines)}</table>"


def _kind(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """Return the type in words: `string (date)`, `list of Employee`, `weekly | biweekly`."""
    if "$ref" in schema:
        name: str = schema["$ref"].rsplit("/", 1)[-1]
        fields = _resolve(openapi, schema).get("properties")
        return f"{name} {{{', '.join(fields)}}}" if fields else name
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_kind(openapi, option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_kind(openapi, schema.get('items', {}))}"
    kind = str(schema.get("type", "any"))
    return f"{kind} ({schema['format']})" if schema.get("format") else kind


def _resolve(openapi: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    resolved: Mapping[str, Any] = openapi["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return resolved


def _anchor(operation: Mapping[str, Any]) -> str:
    return escape(operation["operationId"])


def _prose(text: str) -> str:
    return "".join(f"<p>{_code(paragraph)}</p>" for paragraph in text.split("\n\n") if paragraph.strip())


def _code(text: str) -> str:
    """Return `text` escaped, with anything between backticks set as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces))
