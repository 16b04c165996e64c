"""Finds the route of a path by its segments: the framework tries hundreds of routes, one after the other."""

from collections.abc import Sequence
from functools import cache
from itertools import product
from operator import itemgetter

from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_FOUND = "hearthpay.route"
_COMPARED = 3
"""How many of the first segments routes are looked up by: `/app/{household_id}/payrolls`, `/api/v1/payrolls`."""

_Key = tuple[int, tuple[str | None, ...]]


class RouteIndex(BaseRoute):
    """Stands before the routes that it knows, and takes the requests that one of them answers.

    The route is the one that the framework would find: the first whose method and path match. Where none does, and for
    routes added later, the framework tries all routes, as without this.
    """

    methods = None

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        """Index `routes`, in the order in which they are tried."""
        self._any_path: list[tuple[int, BaseRoute]] = []
        self._by_segments: dict[_Key, list[tuple[int, BaseRoute]]] = {}
        for place, route in enumerate(routes):
            key = _key_of_pattern(route.path) if isinstance(route, Route) else None
            known = self._any_path if key is None else self._by_segments.setdefault(key, [])
            known.append((place, route))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return a full match with the route to call, or none."""
        found = self.find(scope)
        if found is None:
            return Match.NONE, {}
        route, child_scope = found
        return Match.FULL, {**child_scope, _FOUND: route}

    def find(self, scope: Scope) -> tuple[BaseRoute, Scope] | None:
        """Return the route that answers a request, and what its path adds to the scope; None if there is none."""
        if scope["type"] != "http":
            return None
        path = scope["path"]
        # A path below another application's is cut first; and a pattern's end also matches before a line's end.
        if scope.get("root_path") or "\n" in path:
            return None
        for _, route in self._candidates(path):
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                return route, child_scope
        return None

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the route that was found."""
        await scope.pop(_FOUND).handle(scope, receive, send)

    def _candidates(self, path: str) -> list[tuple[int, BaseRoute]]:
        number, words = _key_of(path)
        keys = product((number,), product(*({word, None} for word in words)))
        found = [each for key in keys for each in self._by_segments.get(key, ())]
        found += self._any_path
        found.sort(key=itemgetter(0))
        return found


@cache
def _key_of_pattern(pattern: str) -> _Key | None:
    """Return None if a parameter may have slashes in it: such a route is tried for every path."""
    return None if ":path}" in pattern else _key_of(pattern)


def _key_of(path: str) -> _Key:
    """Return the number of segments, and the first ones: None for a parameter."""
    segments = path.split("/")
    words = tuple(None if "{" in each else each for each in segments[1 : _COMPARED + 1])
    return len(segments), words
