"""A rotation in a process of its own, to kill: `python -m tests.security.rotator OWNER_URL KEY_FILE`.

Prints how many rows are done after each batch.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from hearthpay.database.embedded import OWNER_ROLE
from hearthpay.database.session import Database
from hearthpay.database.vault_rotation import rotate
from hearthpay.security.key_ring import open_key_file


def report(done: int, total: int) -> None:
    print(done, flush=True)
    time.sleep(0.1)


async def main() -> None:
    operator = Database(sys.argv[1], role=OWNER_ROLE, pool_size=1)
    await rotate(lambda: operator.transaction(None), open_key_file(Path(sys.argv[2])), report, batch=10)
    await operator.dispose()


if __name__ == "__main__":
    asyncio.run(main())
