"""The tables that laws read, and why no law could tell anything of the others."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

from sqlalchemy import event

from hearthpay.doctor.checks import CHECKS
from hearthpay.doctor.examination import examine
from hearthpay.doctor.proofs import PROOFS, references
from tests.rights.world import Household

EXEMPT = tomllib.loads((Path(__file__).parent / "tables_without_laws.toml").read_text("utf-8"))["tables"]
"""Table to reason."""

_READ = re.compile(r"\b(?:FROM|JOIN)\s+(?:ONLY\s+)?(?:public\.)?(\w+)")
_OTHERS_MATTER = {references.__name__}
"""What looks into every table, and at nothing but whether what it refers to exists."""


async def tables_read(world: Household) -> set[str]:
    """Return the tables that a law reads, for more than whether what they refer to exists."""
    said: dict[str, str] = defaultdict(str)
    under_way: list[str] = []

    def hear(*arguments: object) -> None:
        if under_way:
            said[under_way[-1]] += f"{arguments[2]}\n"

    engine = world.books.owner._engine.sync_engine
    event.listen(engine, "before_cursor_execute", hear)
    try:
        async with world.books.owner.transaction(None) as session:
            await examine(
                session,
                world.books.clock.now(),
                lambda _done, _of, name: under_way.append(name),
                ring=world.books.ring,
            )
            under_way.append("")
    finally:
        event.remove(engine, "before_cursor_execute", hear)
    assert {law.__name__ for law in (*CHECKS, *PROOFS)} <= said.keys()
    return {table for law, sql in said.items() if law not in _OTHERS_MATTER for table in _READ.findall(sql)}
