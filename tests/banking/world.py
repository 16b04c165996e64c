"""The databases, the ring and the clock in one hand: what a test of moving money does before it looks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import date

import psycopg

from hearthpay.banking.entries import collect, pay_out
from hearthpay.banking.files import BuiltFile, build_file
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import NachaFile
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security.file_seal import SealedFile, open_file
from hearthpay.security.key_ring import KeyRing
from tests.banking.families import Family, add_family, connect_all, move_to, rows
from tests.worlds.originator import ORIGINATOR


@dataclass
class World:
    """The databases, the ring and the clock, with the few steps that every test takes."""

    owner: psycopg.Connection
    operator: Database
    worker: Database
    ring: KeyRing
    clock: FixedClock

    async def family(self, **kind: object) -> Family:
        family = add_family(self.owner, **kind)  # type: ignore[arg-type]
        await connect_all(self.operator, self.ring, family, self.clock.now(), authorized=True)
        return family

    async def collect(self, *families: Family) -> None:
        async with self.worker.transaction(None) as session:
            await collect(session, self.clock.now(), [family.debit for family in families])

    async def pay(self, *families: Family) -> None:
        async with self.worker.transaction(None) as session:
            await pay_out(session, self.clock.now(), [each for family in families for each in family.credits])

    async def build(self, day: date, hour: int = 15) -> BuiltFile | None:
        move_to(self.clock, day, hour)
        return await build_file(self.worker, self.ring, ORIGINATOR, self.clock)

    def content(self, built: BuiltFile) -> bytes:
        [(name, digest, *sealed)] = rows(
            self.owner,
            "SELECT name, sha256, sealed_content, nonce, key_id FROM bank_files WHERE id = %s",
            built.id,
        )
        assert built.id is not None
        content = open_file(self.ring, built.id, name, SealedFile(*sealed))
        assert hashlib.sha256(content).digest() == digest
        return content

    def nacha(self, built: BuiltFile | None) -> NachaFile:
        assert built is not None
        return parse_nacha(self.content(built))
