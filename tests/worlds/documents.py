"""The OpenAPI document, built once for all applications of a process that have the same endpoints.

Each test has an application of its own, and to describe its endpoints takes a hundred times as long as to make it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.routing import APIRoute

from hearthpay.http.openapi import Application


@contextmanager
def documents_are_built_once() -> Iterator[None]:
    """For the length of the block, `Application.openapi` returns the document of another with the same endpoints."""
    build = Application.openapi
    built: dict[object, dict[str, Any]] = {}

    def openapi(app: Application) -> dict[str, Any]:
        if app.openapi_schema is None:
            endpoints = tuple(
                (route.path_format, *sorted(route.methods or ()), route.endpoint)
                for route in app.routes
                if isinstance(route, APIRoute) and route.include_in_schema
            )
            key = (repr(app.servers), endpoints)
            if key not in built:
                built[key] = build(app)
            app.openapi_schema = built[key]
        return app.openapi_schema

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Application, "openapi", openapi)
        yield
