"""The navigation of a page: at most five items on a phone, all of them next to the page on a wide screen."""

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
    "badge",
    "plug",
    "clock",
    "search",
    "help",
]


@dataclass(frozen=True, slots=True)
class NavigationItem:
    """One address, its name, translated later, and its icon.

    `seen`: on a phone only (`narrow`), next to the page only (`wide`), or either way.
    """

    address: str
    name: str
    symbol: Symbol
    seen: Literal["always", "narrow", "wide"] = "always"

    def current(self, path: str, *, alone: bool = False) -> str | None:
        """Return the value of `aria-current` on the page at `path`: the page itself, or the section that it is in."""
        if path == self.address:
            return "page"
        return "true" if not alone and path.startswith(f"{self.address}/") else None
