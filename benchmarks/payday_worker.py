"""One worker of the payday benchmark: fires what is due, and tells where its time went, as JSON on standard output.

It waits for a line on standard input before it begins, so that all workers begin at once with everything loaded.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from benchmarks.event_loop import new_event_loop
from hearthpay.banking.calendar import is_banking_day
from hearthpay.clock import FixedClock
from hearthpay.database.chunks import AT_ONCE
from hearthpay.database.driver_session import DriverSession
from hearthpay.database.embedded import ROLES
from hearthpay.database.session import Database
from hearthpay.payroll import calculation as register
from hearthpay.payroll.payday.firing import fire_due
from hearthpay.process import collect_garbage_rarely
from hearthpay.taxes import calculate_paycheck, rulebook_for


class Stopwatch:
    """Sums up the time spent in the tax engine, and in waiting for the database."""

    def __init__(self) -> None:
        self.taxes = self.sql = 0.0

    def install(self) -> None:
        engine = calculate_paycheck

        def timed_engine(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return engine(*arguments, **options)
            finally:
                self.taxes += time.perf_counter() - began

        register.calculate_paycheck = timed_engine  # type: ignore[attr-defined]
        for name in ("fetch", "execute", "scalar", "commit"):
            setattr(DriverSession, name, self._timed(getattr(DriverSession, name)))

    def _timed(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def timed(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return await method(*arguments, **options)
            finally:
                self.sql += time.perf_counter() - began

        return timed


async def main(owner_url: str, now: str) -> None:
    clock = FixedClock(datetime.fromisoformat(now))
    database = Database(owner_url, role=ROLES.worker, pool_size=AT_ONCE)
    async with database.transaction(None):
        rules = rulebook_for(clock.today())
    for state in ("CA", "IL", "NY", "TX"):
        rules.state(state)
    is_banking_day(clock.today())
    watch = Stopwatch()
    watch.install()
    collect_garbage_rarely()
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began, cpu = time.perf_counter(), time.process_time()
    report = await fire_due(database, clock)
    seconds = time.perf_counter() - began
    await database.dispose()
    told = {
        "fired": report.fired,
        "not_fired": len(report.put_off) + len(report.failed),
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "taxes": watch.taxes,
        "sql": watch.sql,
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main(*sys.argv[1:]))
