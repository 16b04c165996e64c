"""The command line: calculators that need no database, the server, and the operator's commands."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hearthpay.cli.main import app

__all__ = ["app", "main"]

_ALLOCATIONS = 200_000
"""Objects made, less those freed, before the youngest are searched for garbage; services set their own number later."""


def main() -> None:
    """Run the command line."""
    run_arguments()


def run_arguments() -> None:
    """Run what `sys.argv` names; `hearthpay mcp` and a plain `hearthpay calculate` start without Typer.

    Garbage is searched for rarely: nothing that is imported becomes garbage, and at Python's thresholds the search
    takes a sixth of a command's start.
    """
    gc.set_threshold(_ALLOCATIONS, 10, 10)
    if sys.argv[1:] == ["mcp"]:
        from hearthpay.mcp.stdio import main as serve_agents

        serve_agents()
        return
    if sys.argv[1:2] == ["calculate"]:
        from hearthpay.cli.estimate import calculate_plainly

        if calculate_plainly(sys.argv[2:]):
            return
    from hearthpay.cli.main import main as run

    run()


def __getattr__(name: str) -> Any:
    """Return `app`, imported when it is asked for."""
    if name == "app":
        from hearthpay.cli.main import app

        return app
    raise AttributeError(name)
