"""Fast dispatch: calls an endpoint directly, without the framework's route search and its wrappers.

The framework tries one route after the other and wraps the result in layers for features that none of our endpoints
uses: forms, files to close, dependencies that clean up. If method and address match an endpoint's exactly, it is
looked up and called; its refusals are answered by the application's handlers. Everything else, including paths with
ids, is dispatched by the framework, to the same endpoints and handlers; `route_index.py` finds the route for it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hearthpay.http.route_index import RouteIndex
from hearthpay.http.routing import Endpoint

FailureHandler = Callable[[Request, Exception], Awaitable[Response]]


class FastDispatch:
    """ASGI middleware, the innermost; a route added after the first request is dispatched by the framework."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        """Look up endpoints in `routes`, and leave everything else to `app`."""
        self.app = app
        self._endpoints = endpoints_by_address(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if endpoint is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = endpoint
        request = Request(scope, receive, send)
        try:
            response = await endpoint.respond(request)
        except Exception as failure:  # noqa: BLE001 - raised again where nobody knows it
            response = await answer_to_failure(request, failure)
        await response(scope, receive, send)


async def answer_to_failure(request: Request, failure: Exception) -> Response:
    """Return the application handlers' response to a failure; raises it if none knows its kind."""
    handlers = request.app.exception_handlers
    known = next((kind for kind in type(failure).__mro__ if kind in handlers), None)
    if known is None:
        raise failure
    return await cast(FailureHandler, handlers[known])(request, failure)


def endpoints_by_address(routes: Sequence[BaseRoute]) -> dict[tuple[str, str], Endpoint]:
    """Return the endpoints without parameters, by method and address; not those that the framework wouldn't find."""
    endpoints = {}
    routes = [each for each in routes if not isinstance(each, RouteIndex)]
    index = RouteIndex(routes)
    for route in routes:
        if isinstance(route, Endpoint) and not route.param_convertors:
            for method in route.methods or ():
                found = index.find({"type": "http", "method": method, "path": route.path})
                if found is not None and found[0] is route:
                    endpoints[method, route.path] = route
    return endpoints
