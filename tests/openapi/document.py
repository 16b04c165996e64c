"""The OpenAPI document as a promise to hold answers against.

Stricter than JSON Schema is by itself: an answer may have no field that the document does not name.
"""

import copy
import json
import re
from typing import Any

import httpx
import jsonschema
from fastapi import FastAPI


class Document:
    """What the service says of itself, and whether an answer keeps to it."""

    def __init__(self, openapi: dict[str, Any]) -> None:
        self.openapi = openapi
        self._closed = copy.deepcopy(openapi["components"])
        for schema in self._closed["schemas"].values():
            if "properties" in schema:
                schema.setdefault("additionalProperties", False)
        self._paths = [
            (re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))), item)
            for path, item in sorted(openapi["paths"].items(), key=lambda entry: "{" in entry[0])
        ]

    def operations(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Every operation: its method, its path, and what is said of it."""
        return [
            (method, path, operation)
            for path, item in self.openapi["paths"].items()
            for method, operation in item.items()
        ]

    def operation(self, method: str, path: str) -> dict[str, Any] | None:
        """The operation that answers such a request; None where none is documented."""
        item = next((item for pattern, item in self._paths if pattern.fullmatch(path)), {})
        found: dict[str, Any] | None = item.get(method.lower())
        return found

    def schema_problems(self, schema: dict[str, Any], value: object) -> list[str]:
        """Where `value` departs from a schema of the document."""
        validator = jsonschema.Draft202012Validator(
            {**schema, "components": self._closed},
            format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
        )
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]

    def problems(self, response: httpx.Response) -> list[str]:
        """What the document does not say of this answer, or says otherwise; nothing for an undocumented address."""
        request = response.request
        operation = self.operation(request.method, request.url.path)
        if operation is None:
            return []
        documented = operation["responses"].get(str(response.status_code))
        if documented is None:
            return [f"the status {response.status_code} is not documented: {response.text}"]
        content = documented["content"].get(response.headers.get("Content-Type"))
        if content is None:
            return [f"the content type {response.headers.get('Content-Type')} is not documented"]
        if not response.headers["Content-Type"].startswith("application/json"):
            return []
        body = json.loads(response.content)
        found = self.schema_problems(content["schema"], body)
        if not body["success"] and f"`{body['error']['code']}`" not in documented["description"]:
            found.append(f"{response.status_code} is not documented with the code {body['error']['code']}")
        return found


_DOCUMENTS: dict[int, Document] = {}


def document_of(app: FastAPI) -> Document:
    """The document of an application; those that share theirs get the same, which nobody may change."""
    openapi = app.openapi()
    found = _DOCUMENTS.get(id(openapi))
    if found is None:
        found = _DOCUMENTS[id(openapi)] = Document(openapi)
    return found
