"""Writes the Bruno collection of the API: `python -m tools.bruno` makes `docs/api/bruno` from `docs/api/openapi.json`.

The files are OpenCollection YAML, which Bruno reads since its version 3. A folder is a chapter of the documentation, a
request an operation with its example. Ids stand in variables, and an operation that answers with one sets it.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

DOCUMENT: Final = Path(__file__).resolve().parent.parent / "docs" / "api" / "openapi.json"
FOLDER: Final = DOCUMENT.with_name("bruno")
_SERVED_AT: Final = "http://127.0.0.1:8000"
_QUERY: Final = "x-example-query"
_FIRST: Final = ("Employers", "Employees")
"""Chapters whose requests come first: they create what the others name."""


def collection(openapi: Mapping[str, Any]) -> dict[str, str]:
    """Return the files of the collection, by their paths in its folder."""
    info = openapi["info"]
    ids = _ids(openapi)
    variables = [("base_url", _SERVED_AT), *((name, "") for name in sorted(ids))]
    files = {
        "opencollection.yml": _lines(
            "opencollection: 1.0.0",
            "info:",
            f"  name: {_text(info['title'] + ' API')}",
            f"  version: {_text(info['version'])}",
            "request:",
            "  auth:",
            "    type: bearer",
            f"    token: {_text('{{api_key}}')}",
            "docs:",
            f"  content: {_text(info['description'])}",
            "  type: text/markdown",
        ),
        "environments/local.yml": _lines(
            "name: local",
            "variables:",
            *(
                line
                for name, value in variables
                for line in (f"  - name: {name}", f"    value: {_text(value)}")
            ),
            "  - name: api_key",
            "    secret: true",
        ),
    }
    chapters = sorted(openapi["tags"], key=lambda tag: tag["name"] not in _FIRST)
    for number, tag in enumerate(chapters, 1):
        folder = _file_name(tag["name"])
        files[f"{folder}/folder.yml"] = _lines(
            "info:",
            f"  name: {_text(tag['name'])}",
            "  type: folder",
            f"  seq: {number}",
            "docs:",
            f"  content: {_text(tag['description'])}",
            "  type: text/markdown",
        )
        operations = [each for each in _operations(openapi) if each[2]["tags"] == [tag["name"]]]
        for place, (method, path, operation) in enumerate(operations, 1):
            name = _file_name(re.sub(r"(?<!^)(?=[A-Z])", "-", operation["operationId"]))
            files[f"{folder}/{name}.yml"] = _request(method, path, operation, place, ids)
    return files


def _request(method: str, path: str, operation: Mapping[str, Any], place: int, ids: frozenset[str]) -> str:
    address = re.sub(r"\{(\w+)\}", r":\1", path)
    lines = [
        *("info:", f"  name: {_text(operation['summary'])}", "  type: http", f"  seq: {place}"),
        *("http:", f"  method: {method.upper()}", f"  url: {_text('{{base_url}}' + address)}"),
    ]
    parameters = operation.get("parameters", ())
    if any(each["in"] == "header" for each in parameters):
        lines += [
            "  headers:",
            "    - name: Idempotency-Key",
            f"      value: {_text('{{$guid}}')}",
            "      disabled: true",
        ]
    lines += _params(parameters, operation.get(_QUERY) or {}, ids)
    if "requestBody" in operation:
        example = operation["requestBody"]["content"]["application/json"]["example"]
        body = json.dumps(_with_variables(example, ids), indent=2, ensure_ascii=False)
        lines += [
            "  body:",
            "    type: json",
            "    data: |-",
            *(f"      {line}" for line in body.split("\n")),
        ]
    lines += ["  auth: inherit", "runtime:"]
    status, response = next(iter(sorted(operation["responses"].items())))
    if sets := list(_sets(response)):
        lines += [
            "  scripts:",
            "    - type: after-response",
            "      code: |-",
            "        if (res.status < 300) {",
        ]
        lines += [f"          bru.setVar({json.dumps(name)}, res.body.{field});" for name, field in sets]
        lines += ["        }"]
    lines += [
        "  assertions:",
        "    - expression: res.status",
        "      operator: eq",
        f"      value: {_text(status)}",
    ]
    lines += ["docs:", f"  content: {_text(operation['description'])}", "  type: text/markdown"]
    return _lines(*lines)


def _params(parameters: Any, example: Mapping[str, Any], ids: frozenset[str]) -> Iterator[str]:
    """Yield the parameters of path and query; those of the query that no example has are disabled."""
    shown = [each for each in parameters if each["in"] in ("path", "query")]
    if shown:
        yield "  params:"
    for each in shown:
        name, of_path = each["name"], each["in"] == "path"
        value = _with_variables({name: example.get(name, "")}, ids)[name]
        if of_path:
            value = f"{{{{{name}}}}}" if name in ids else _first_value(each["schema"])
        yield from (
            f"    - name: {name}",
            f"      value: {_text(_plain(value))}",
            f"      type: {each['in']}",
        )
        if not of_path and name not in example and not each.get("required"):
            yield "      disabled: true"


def _first_value(schema: Mapping[str, Any]) -> str:
    """Return a value that a parameter of the path may have: the first that its schema lists, else a state."""
    return str(next(iter(schema.get("enum", ())), "CA"))


def _sets(response: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variables that an answer sets, and the fields of its body that they are taken from."""
    for link in response.get("links", {}).values():
        for name, expression in link.get("parameters", {}).items():
            yield name, expression.removeprefix("$response.body#/").replace("/", ".")


def _ids(openapi: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the path's parameters that are ids."""
    return frozenset(
        each["name"]
        for _, _, operation in _operations(openapi)
        for each in operation.get("parameters", ())
        if each["in"] == "path" and each["name"].endswith("_id")
    )


def _with_variables(value: Any, ids: frozenset[str]) -> Any:
    """Return an example with a variable in place of every id."""
    if isinstance(value, dict):
        return {
            name: f"{{{{{name}}}}}" if name in ids else _with_variables(inner, ids)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_variables(inner, ids) for inner in value]
    return value


def _operations(openapi: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def _file_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: str) -> str:
    """Return a text as a YAML scalar: in JSON's quotation marks, which YAML reads alike."""
    return json.dumps(value, ensure_ascii=False)


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def fresh() -> dict[str, str]:
    """Return the files as the document in the repository makes them."""
    return collection(json.loads(DOCUMENT.read_text(encoding="utf-8")))


def main() -> None:
    """Write the collection anew."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, text in fresh().items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
