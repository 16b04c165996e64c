"""Runs every benchmark and prints one table; a missed aim is told, not an error."""

import asyncio
import os
import platform
import signal
import sys
import time

from benchmarks import calculate_route, command_line, papers, paychecks, payroll_run, rulebook_loading
from benchmarks.event_loop import new_event_loop
from benchmarks.installation import installation
from benchmarks.report import Row, print_table
from hearthpay.taxes import COMPILED


async def main() -> None:
    started = time.monotonic()
    _stop_in_order()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    engine = "compiled" if COMPILED else "plain"
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores{load}, the engine {engine}")
    rows: list[Row] = []
    rows += paychecks.measure()
    rows += rulebook_loading.measure()
    rows += command_line.measure()
    rows += papers.measure()
    async with installation() as installed:
        rows += await calculate_route.measure(installed)
        rows += await payroll_run.measure(installed)
    print()
    print_table(rows)
    print(f"\nMeasured in {time.monotonic() - started:.0f} s.")


def _stop_in_order() -> None:
    """Let SIGTERM end the run as Ctrl-C does: with the server and the database stopped and the files removed."""
    task = asyncio.current_task()
    if sys.platform != "win32" and task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
