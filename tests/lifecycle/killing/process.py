"""The processes to be killed: `python -m tests.lifecycle.killing.process api|worker PLACE`.

They are put together as `hearthpay serve` and `hearthpay worker` are, but for their clock, which travels, a worker's
pace, and the bank, which is a folder.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import replace
from pathlib import Path

from hearthpay.banking.gateways.address import open_gateway
from hearthpay.database.startup import Addresses, open_database
from hearthpay.payroll.payday.bank_day import Bank
from hearthpay.process import configure_logging, run_in_event_loop, supervised
from hearthpay.security.key_ring import load_key_ring
from hearthpay.server import serve
from hearthpay.worker.connector import queue_of
from hearthpay.worker.duties import worker_duties
from hearthpay.worker.runner import Pulse, run_worker
from tests.lifecycle.killing.place import Place, TravellingClock
from tests.worlds.originator import ORIGINATOR

CONCURRENCY = 2
EVERY_SECOND = "* * * * * */1"
PULSE = Pulse(beat=1, stalled=5, poll=0.5)


async def work(place: Place) -> None:
    configure_logging()
    stopping = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    bank = Bank(ORIGINATOR, open_gateway(f"folder://{place.bank}"))
    async with (
        open_database(place.data, Addresses()) as opened,
        supervised(opened),
        opened.as_worker(CONCURRENCY) as database,
    ):
        ring = load_key_ring(place.data, {})
        duties = worker_duties(database, ring, bank, TravellingClock(place.time))
        often = [replace(duty, cron=EVERY_SECOND) for duty in duties]
        print("The worker is at work.", flush=True)
        queue = queue_of(opened)
        await run_worker(queue, often, concurrency=CONCURRENCY, stopping=stopping, pulse=PULSE)


if __name__ == "__main__":
    there = Place(Path(sys.argv[2]))
    if sys.argv[1] == "worker":
        run_in_event_loop(work(there))
    else:
        run_in_event_loop(serve("127.0.0.1", 0, there.data, Addresses(), TravellingClock(there.time)))
