"""The tests of the service; what holds for all of them is set here, before any is imported."""

import gc
import sys

# httpx looks for trio's `sniffio` at each request to an application: not installed, it would be searched for on every
# path again. None in its place is an import that fails at once.
if "sniffio" not in sys.modules:
    try:
        import sniffio  # type: ignore[import-not-found]  # noqa: F401
    except ModuleNotFoundError:
        sys.modules["sniffio"] = None  # type: ignore[assignment]

# The conftest imports the product, a million objects that live on: they are seldom searched for garbage.
gc.set_threshold(200_000, 20, 20)
