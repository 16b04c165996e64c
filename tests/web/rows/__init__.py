"""The rows of a household's pages, by area: each module has `ROWS`, and may have `things`, what its paths name.

`async def things(world: World) -> dict[str, str]` returns them by the names that paths and forms have for them.
"""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Final

AREAS: Final[tuple[ModuleType, ...]] = tuple(
    import_module(f"{__name__}.{each.name}")
    for each in pkgutil.iter_modules(__path__)
    if each.name not in ("row", "world")
)
