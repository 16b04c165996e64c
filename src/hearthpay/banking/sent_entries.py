"""What was sent under a trace number: the account, the bank and the company, as the stored file has them."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.framing import disassemble
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.security.file_seal import SealedFile, open_file
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import UnreadableSecretError


class _FileRow(NamedTuple):
    id: UUID
    name: str
    sealed_content: bytes
    nonce: bytes
    key_id: str


_FILES: Final = query(
    _FileRow,
    "SELECT id, name, sealed_content, nonce, key_id FROM bank_files WHERE id = ANY(:ids) ORDER BY id",
)


@dataclass(frozen=True, slots=True)
class SentEntry:
    """An entry as it stands in our file."""

    account: str = field(repr=False)
    company_id: str

    def goes_to(self, account: str) -> bool:
        """Return whether the bank's spelling is this account's; a blank one names no account."""
        return not account.strip() or _plain(account) == _plain(self.account)

    def is_of(self, company_id: str) -> bool:
        """Return whether the bank's spelling is this company's; a blank one names no company."""
        return not company_id.strip() or company_id.strip() == self.company_id


async def read_sent(
    session: AsyncSession, ring: KeyRing, files: Collection[UUID]
) -> dict[tuple[UUID, str], SentEntry]:
    """Return the entries of the files by file and trace number; none of a file that can't be opened."""
    found: dict[tuple[UUID, str], SentEntry] = {}
    for row in await fetch_all(session, _FILES, {"ids": list(files)}) if files else ():
        # In a thread, so that this process keeps sending its heartbeat.
        found |= await asyncio.to_thread(_open, ring, row)
    return found


def _open(ring: KeyRing, row: _FileRow) -> dict[tuple[UUID, str], SentEntry]:
    try:
        content = open_file(ring, row.id, row.name, SealedFile(row.sealed_content, row.nonce, row.key_id))
        framed = disassemble(content)
    except (KeyRingError, UnreadableSecretError, NachaError):
        return {}
    return {
        (row.id, entry.text("trace")): SentEntry(entry.text("account"), batch.text("company_id"))
        for batch in framed.batches
        for entry in batch.entries
    }


def _plain(account: str) -> str:
    """Return the number without what banks add or leave out: blanks, hyphens and zeros in front."""
    return account.replace(" ", "").replace("-", "").upper().lstrip("0")
