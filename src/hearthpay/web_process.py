"""Serves the web and nothing else, as the user named by root's process: `python -m hearthpay.web_process`.

Only `hearthpay serve` starts it, with its instructions on standard input.
"""

import asyncio
import os
import socket
import sys
from pathlib import Path

from hearthpay.clock import SystemClock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.process import configure_logging, log_settings, run_in_event_loop
from hearthpay.security.key_ring import KeyRing, KeyRingError, load_key_ring, read_key_ring
from hearthpay.security.tenant_seal import TenantSeal
from hearthpay.separation import WebOrder, become
from hearthpay.server import (
    WebSettings,
    WebSettingsError,
    announce,
    either,
    freeze_start_objects,
    serving,
    stop_signal,
)


def main() -> None:
    """Read the instructions, become the user, serve."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
        order = WebOrder.read(pipe.readline())
    become(order)
    run_in_event_loop(_serve(order))


async def _serve(order: WebOrder) -> None:
    configure_logging(*log_settings(os.environ))
    stopping = stop_signal()
    loop = asyncio.get_running_loop()

    def keeper_has_ended() -> None:
        if not os.read(sys.stdin.fileno(), 1024):
            loop.remove_reader(sys.stdin.fileno())
            stopping.set()

    loop.add_reader(sys.stdin.fileno(), keeper_has_ended)
    clock = SystemClock()
    database = Database(order.database_url, role=order.role, seal=TenantSeal(bytes.fromhex(order.seal)))
    try:
        settings = WebSettings.of(os.environ, clock)
        app = settings.app(
            database,
            clock,
            _key_ring(order),
            direct_deposit=order.direct_deposit,
            keeps_mail=order.keeps_mail,
        )
        async with database.transaction(None):
            pass  # the one thing that this user may lack and root's process cannot see
        with socket.socket(fileno=order.listener) as listener:
            async with serving(app, listener, order.host, connections=settings.connections) as (
                address,
                task,
            ):
                freeze_start_objects(app)
                announce(address)
                await either(stopping, task)
    except (WebSettingsError, KeyRingError) as error:
        raise SystemExit(f"hearthpay: {error}") from None
    except DatabaseUnavailable as error:
        raise SystemExit(f"hearthpay: the web process cannot reach the database: {error}") from None
    finally:
        await database.dispose()


def _key_ring(order: WebOrder) -> KeyRing:
    return load_key_ring(None, os.environ) if order.key_file is None else read_key_ring(Path(order.key_file))


if __name__ == "__main__":
    main()
