"""Whether a new migration is on top of those that have landed, as `landed_migrations.toml` remembers them.

The file lists them in the order in which they landed. Its table `order` has, for each one since it began, a digest of
all names up to it: so none can be put between them without changing a line that says what had landed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

UNRECORDED_UNTIL: Final = "0096_turns.py"
"""The first migration with such a digest."""


def order_digest(names: Sequence[str]) -> str:
    """Return the digest of the names that had landed, the newest last."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def order_problems(
    landed: Sequence[str], order: Mapping[str, str], down_revisions: Mapping[str, str | None]
) -> list[str]:
    """Return what is wrong with the order of migrations, each in a sentence that says what to do.

    `landed` are the file names in the order in which they landed, `order` the digests up to some of them, and
    `down_revisions` the revision below each migration that is there.
    """
    newest, new = landed[-1], sorted(down_revisions.keys() - set(landed))
    problems = [
        f"{name} is below {newest}, which has landed: a database that has run {newest} would never run it. "
        f"Number it above {_revision(newest)}, and let its down_revision be the last one's"
        for name in new
        if name < newest
    ]
    below = None
    for name in [*landed, *new]:
        if name in down_revisions and down_revisions[name] != below:
            problems.append(f"{name} must stand on {below}, not on {down_revisions[name]}")
        below = _revision(name)
    for position, name in enumerate(landed):
        digest = order_digest(landed[: position + 1])
        if name not in order:
            if name >= UNRECORDED_UNTIL:
                problems.append(f'[order] of landed_migrations.toml lacks "{name}" = "{digest}"')
        elif order[name] != digest:
            problems.append(
                f"what had landed when {name} did has changed: a migration was put below it, or removed. Put it on top"
            )
    return problems


def _revision(name: str) -> str:
    return name.partition("_")[0]
