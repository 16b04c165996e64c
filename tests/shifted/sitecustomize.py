"""Loaded at the start of each Python of a run on another date (`tools/suite_on_dates.py`).

Processes that are started with an environment of their own, PostgreSQL among them, see the shifted clock too.
"""

import os
import subprocess
from typing import Any

_SHIFT = {
    name: os.environ[name] for name in ("LD_PRELOAD", "SHIFTED_CLOCK", "PYTHONPATH") if name in os.environ
}
_start = subprocess.Popen.__init__


def _start_shifted(self: Any, *arguments: Any, **options: Any) -> None:
    options["env"] = _SHIFT | dict(options.get("env") or os.environ)
    _start(self, *arguments, **options)


subprocess.Popen.__init__ = _start_shifted  # type: ignore[method-assign]
