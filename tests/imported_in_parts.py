"""The test modules of the whole suite imported by its workers in parts, each another part first.

In a tree that has not run yet, pytest rewrites the assertions of each module and compiles it, which takes longer than
to import it. Workers that all import in the same order would all do so for each module; these find two thirds done.
"""

import importlib
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def import_own_part(config: pytest.Config) -> None:
    """Import this worker's part, if this is a worker and runs the whole suite; the rest is imported as usual.

    What can't be imported is told when pytest collects it.
    """
    worker: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    number, workers = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
    for path in sorted((ROOT / "tests").rglob("test_*.py"))[number::workers]:
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
