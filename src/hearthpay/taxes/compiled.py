"""Whether the engine runs compiled, by ``make compile``, and a guard against a build that is older than its sources.

Python prefers an extension module to the ``.py`` next to it: after editing a method, you would keep running the old
one.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent

INTERPRETED = ("__init__.py", "certificates.py", "compiled.py", "rulebook.py", "vocabulary.py")
"""Not compiled: modules that must see the sources as they are, that keep computed properties on their instances, or
that describe requests and answers, since a compiled class doesn't expose its exact types."""

BESIDE = ("calculator/answers.py",)
"""Modules of other packages that are compiled with the engine: they turn each estimate into an answer."""

STAMP = PACKAGE.joinpath(f"compiled.{sys.implementation.cache_tag}.stamp")
"""Identifies the sources from which the build for this interpreter was made; it exists exactly while a build does."""


class StaleBuildError(ImportError):
    """The compiled engine was made from other sources than those next to it."""


def sources() -> Iterator[Path]:
    """Yield the modules that are compiled, in a fixed order."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if str(path.relative_to(PACKAGE)) not in INTERPRETED:
            yield path
    for name in BESIDE:
        yield PACKAGE.parent.joinpath(name)


def fingerprint() -> str:
    """Return the fingerprint of the sources."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(str(path.relative_to(PACKAGE.parent)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_compiled() -> bool:
    """Return whether there is a build for this interpreter; raises `StaleBuildError` if it isn't from these sources."""
    if not STAMP.exists():
        return False
    if STAMP.read_text("ascii") != fingerprint():
        raise StaleBuildError(
            "the compiled tax engine is not of the sources beside it: `make compile` builds it anew, "
            "`make clean-compile` removes it"
        )
    return True
