"""A package of documents: the archive stores it as a list of versions, and the file is assembled as it is sent.

The versions never change, and they are stored in the file as they are, in their order and without a date: the same
list gives the same bytes. Older packages hold the file itself.
"""

import zipfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import orjson
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer

from hearthpay.documents.archive import ArchivedFile, open_document
from hearthpay.documents.models import IssuedDocument
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError

_AT_ONCE: Final = 8
"""How many documents are in memory while the file is sent."""

_FIRST_DAY_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
_FILE_MODE: Final = 0o600 << 16
_BEGINS_LIST: Final = b"["

Transaction = Callable[[], AbstractAsyncContextManager[AsyncSession]]
"""Opens a transaction that can see the household's rows; commits when the block ends."""


@dataclass(frozen=True, slots=True)
class PackedPaper:
    """A document of a package: its name in the file, its version, and the version's entity tag."""

    name: str
    document_id: UUID
    etag: str


def list_of(papers: Sequence[PackedPaper]) -> bytes:
    """Return the list as the archive stores it."""
    return orjson.dumps([(each.name, each.document_id, each.etag) for each in papers])


def papers_in(content: bytes) -> list[PackedPaper] | None:
    """Return the documents in a package's list; None for an older package, which is the file itself."""
    if not content.startswith(_BEGINS_LIST):
        return None
    return [PackedPaper(name, UUID(version), etag) for name, version, etag in orjson.loads(content)]


async def package_file(transaction: Transaction, ring: KeyRing, kept: ArchivedFile) -> AsyncIterator[bytes]:
    """Yield the file of a package, piece by piece; only a few documents are in memory at a time.

    Raises UnreadableSecretError if a document isn't the one that the package lists, and KeyRingError.
    """
    papers = papers_in(kept.content)
    if papers is None:
        yield kept.content
        return
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:
        for start in range(0, len(papers), _AT_ONCE):
            some = papers[start : start + _AT_ONCE]
            async with transaction() as session:
                contents = await _contents(session, ring, kept, some)
            for each in some:
                entry = zipfile.ZipInfo(each.name, _FIRST_DAY_OF_ZIP)
                entry.external_attr = _FILE_MODE
                archive.writestr(entry, contents[each.document_id])
                yield sink.taken()
    yield sink.taken()


async def _contents(
    session: AsyncSession, ring: KeyRing, kept: ArchivedFile, papers: Sequence[PackedPaper]
) -> dict[UUID, bytes]:
    statement = select(IssuedDocument).where(
        IssuedDocument.id.in_([each.document_id for each in papers]),
        IssuedDocument.employer_id == kept.document.employer_id,
    )
    found = await session.scalars(statement.options(undefer(IssuedDocument.sealed_content)))
    opened = {each.id: open_document(ring, each) for each in found}
    for each in papers:
        if each.document_id not in opened or opened[each.document_id].etag != each.etag:
            raise UnreadableSecretError("a paper of the package is not the one that it lists")
    return {document_id: each.content for document_id, each in opened.items()}


class _Sink:
    """The archive's output: it can't seek back, so each part is final once it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, part: bytes) -> int:
        self._parts.append(bytes(part))
        return len(part)

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""

    def taken(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken
