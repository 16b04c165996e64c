"""What the navigation of a page leads to: five things at the most on a telephone, all of them beside the page."""

from dataclasses import dataclass
from typing import Literal

Symbol = Literal[
    "home",
    "person",
    "people",
    "key",
    "list",
    "pay",
    "paper",
    "day",
    "loop",
    "bank",
    "flag",
    "more",
    "gear",
    "heart",
]


@dataclass(frozen=True, slots=True)
class NavigationItem:
    """One address, its name, said later, and its symbol.

    `seen`: on a telephone alone (`narrow`), beside the page alone (`wide`), or either way.
    """

    address: str
    name: str
    symbol: Symbol
    seen: Literal["always", "narrow", "wide"] = "always"

    def current(self, path: str, *, alone: bool = False) -> str | None:
        """Return what `aria-current` says on the page at `path`: the page itself, or the part that it is in."""
        if path == self.address:
            return "page"
        return "true" if not alone and path.startswith(f"{self.address}/") else None
