"""Return files that the bank writes in ways that can't be read, or not as a whole, and what lies beside them."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace

import psycopg

from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import Entry, NachaFile
from hearthpay.banking.nacha.returns import Rejection, build_returns
from hearthpay.banking.unread_files import UnreadFile, unread_files
from hearthpay.cli.unread_bank_files import set_aside
from hearthpay.database.session import Database
from tests.http.api import Caller, data
from tests.lifecycle.forging import money_of
from tests.worlds.town import Family, Town, new_family, rows

Change = Callable[[Entry], Entry]

_DEBIT = (
    "SELECT e.trace_number, f.name FROM bank_entries e JOIN bank_files f ON f.id = e.file_id "
    "WHERE e.payroll_id = %s AND e.kind = 'debit'"
)


async def run_of(town: Town, caller: Caller, hours: int, account: str = "123456789") -> tuple[Family, str]:
    """A new household, and its payroll of so many hours by direct deposit."""
    family = await new_family(town, caller, household=account)
    entry = {**family.order()["employees"][0], "regular_hours": hours}
    answer = await family.caller.post("/payroll/run", family.order(employees=[entry]))
    return family, data(answer)["payroll_id"]


def return_of(
    town: Town,
    owner: psycopg.Connection,
    payroll_id: str,
    code: str = "R01",
    *,
    change: Change = lambda entry: entry,
    company_id: str | None = None,
) -> bytes:
    """The file that returns the payroll's debit, after changing what the bank says of it."""
    [(trace, name)] = rows(owner, _DEBIT, payroll_id)
    sent = parse_nacha((town.outbox / "outbox" / name).read_bytes())
    return build_returns(
        _changed(sent, trace, change, company_id), [Rejection(trace, code)], created_at=town.clock.now()
    )


def _changed(sent: NachaFile, trace: str, change: Change, company_id: str | None) -> NachaFile:
    batches = tuple(
        replace(
            batch,
            company_id=company_id or batch.company_id,
            entries=tuple(change(each) if each.trace == trace else each for each in batch.entries),
        )
        for batch in sent.batches
    )
    return replace(sent, batches=batches)


def leave(town: Town, name: str | bytes, content: bytes) -> None:
    """Leave a file at the bank."""
    (town.outbox / "inbox").mkdir(exist_ok=True)
    (town.outbox / "inbox" / os.fsdecode(name)).write_bytes(content)


def finish(town: Town, unfinished: str, name: str) -> None:
    """Let the bank finish an upload."""
    (town.outbox / "inbox" / unfinished).rename(town.outbox / "inbox" / name)


def damaged(content: bytes, seed: int) -> bytes:
    """The file after one of the accidents that befall files: cut, doubled, emptied, altered, shuffled."""
    draw = random.Random(seed)
    at = draw.randrange(len(content))
    end = min(len(content), at + draw.randint(1, 200))
    lines = content.split(b"\n")
    kind = seed % 8
    if kind == 0:
        return content[:at]
    if kind == 1:
        return content[:at] + content[end:]
    if kind == 2:
        return content[:end] + content[at:]
    if kind == 3:
        return content[:at] + bytes([draw.randrange(256)]) + content[at + 1 :]
    if kind == 4:
        draw.shuffle(lines)
        return b"\n".join(lines)
    if kind == 5:
        return content[:at] + draw.randbytes(end - at) + content[end:]
    if kind == 6:
        del lines[draw.randrange(len(lines) - 1)]
        return b"\n".join(lines)
    digits = [position for position, each in enumerate(content) if chr(each).isdigit()]
    position = draw.choice(digits)
    other = draw.choice([each for each in b"0123456789" if each != content[position]])
    return content[:position] + bytes([other]) + content[position + 1 :]


def wages_left(owner: psycopg.Connection, payroll_id: str) -> bool:
    """Whether a deposit of the payroll has left for the bank."""
    return any(each in ("credit sent", "credit settled") for each in money_of(owner, payroll_id))


def debit_of(owner: psycopg.Connection, payroll_id: str) -> str:
    """The state of the payroll's first debit."""
    [(status,)] = rows(
        owner,
        "SELECT status FROM bank_entries WHERE payroll_id = %s AND kind = 'debit' AND attempt = 1",
        payroll_id,
    )
    return str(status)


async def open_files(owner: Database) -> list[UnreadFile]:
    async with owner.transaction(None) as session:
        return await unread_files(session)


async def set_all_aside(owner: Database, town: Town) -> int:
    """Set every open file aside; returns how many payments they held."""
    held = 0
    for each in await open_files(owner):
        async with owner.transaction(None) as session:
            held += (
                await set_aside(
                    session, each, "The bank says that it returns nothing.", town.clock.now(), "r"
                )
                or 0
            )
    return held
