"""Whether the engine runs compiled, by ``make compile``, and a guard against a build that its sources have left behind.

Python prefers an extension module to the ``.py`` beside it: whoever edited a method would go on running the old one.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent

INTERPRETED = ("__init__.py", "certificates.py", "compiled.py", "rulebook.py", "vocabulary.py")
"""Not compiled: what must see the sources as they are, what keeps computed properties on its instances, and what
requests and answers are described with: of its types a compiled class tells no more than that they are some."""

STAMP = PACKAGE.joinpath(f"compiled.{sys.implementation.cache_tag}.stamp")
"""Says of which sources the build for this interpreter was made; it is there exactly while a build is."""


class StaleBuildError(ImportError):
    """The compiled engine was made of other sources than those that stand beside it."""


def sources() -> Iterator[Path]:
    """Yield the modules that are compiled, in a settled order."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if str(path.relative_to(PACKAGE)) not in INTERPRETED:
            yield path


def fingerprint() -> str:
    """Return the fingerprint of the sources."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(str(path.relative_to(PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_compiled() -> bool:
    """Tell whether a build for this interpreter is in place; raises `StaleBuildError` if it is not of these sources."""
    if not STAMP.exists():
        return False
    if STAMP.read_text("ascii") != fingerprint():
        raise StaleBuildError(
            "the compiled tax engine is not of the sources beside it: `make compile` builds it anew, "
            "`make clean-compile` removes it"
        )
    return True
