"""The archive of issued documents: the same figures give the same bytes, changed figures a new version.

Encrypted together are a salt, the facts behind the document, and its bytes. The hash covers all three: a hash of the
bytes alone would let a reader of the database try all tax numbers until one fits.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import ColumnElement, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer
from uuid_utils.compat import uuid7

from hearthpay.clock import Clock
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.documents.models import IssuedDocument
from hearthpay.documents.paper import Paper
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.security.content_seal import SealedContent, document_place, open_content, seal_content
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import UnreadableSecretError

_SALT_BYTES: Final = 32
_LENGTH_BYTES: Final = 4
_FACTS: Final = _SALT_BYTES + _LENGTH_BYTES


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """An archived version of a document."""

    document: IssuedDocument
    facts: bytes
    content: bytes

    @property
    def etag(self) -> str:
        """The version's entity tag; it reveals nothing about the contents."""
        return self.document.content_hash.hex()


def hash_of(sealed: bytes) -> bytes:
    """Return the hash of what was encrypted, under which a version is recorded."""
    return hashlib.sha256(sealed).digest()


async def read_in_force(
    session: AsyncSession, ring: KeyRing, owner: Owner, papers: Sequence[Paper]
) -> dict[tuple[str, UUID, int, str], ArchivedFile]:
    """Return the versions in force of these documents, as far as they exist, by the documents' positions."""
    statement = (
        select(IssuedDocument)
        .where(*_in_force(owner, papers))
        .options(undefer(IssuedDocument.sealed_content))
        .execution_options(populate_existing=True)
    )
    found = (await session.scalars(statement)).all() if papers else ()
    return {
        (each.kind, each.subject_id, each.tax_year, each.variant): open_document(ring, each) for each in found
    }


async def ids_in_force(
    session: AsyncSession, owner: Owner, papers: Sequence[Paper]
) -> dict[tuple[str, UUID, int, str], UUID]:
    """Return the ids of the versions in force of these documents, as far as they exist, by the documents' positions."""
    columns = select(
        IssuedDocument.id,
        IssuedDocument.kind,
        IssuedDocument.subject_id,
        IssuedDocument.tax_year,
        IssuedDocument.variant,
    )
    if not papers:
        return {}
    rows = await session.execute(columns.where(*_in_force(owner, papers)))
    return {(row.kind, row.subject_id, row.tax_year, row.variant): row.id for row in rows}


def _in_force(owner: Owner, papers: Sequence[Paper]) -> tuple[ColumnElement[bool], ...]:
    places = [paper.place for paper in papers]
    place = tuple_(
        IssuedDocument.kind, IssuedDocument.subject_id, IssuedDocument.tax_year, IssuedDocument.variant
    )
    return (
        IssuedDocument.employer_id == owner.employer_id,
        IssuedDocument.superseded_by.is_(None),
        place.in_(places),
    )


def open_document(ring: KeyRing, document: IssuedDocument) -> ArchivedFile:
    """Return what a version contains.

    Raises UnknownKeyError if the ring lacks its key, UnreadableSecretError if it isn't what was encrypted.
    """
    sealed = SealedContent(document.sealed_content, document.nonce, document.key_id)
    opened = open_content(ring, document_place(document.id), sealed)
    if hash_of(opened) != document.content_hash:
        raise UnreadableSecretError("the document is not the one whose hash was noted")
    return ArchivedFile(document, opened[_FACTS : _end_of_facts(opened)], content_in(opened))


def content_in(opened: bytes) -> bytes:
    """Return a version's bytes from what was encrypted, after the salt and the facts."""
    return opened[_end_of_facts(opened) :]


def _end_of_facts(opened: bytes) -> int:
    return _FACTS + int.from_bytes(opened[_SALT_BYTES:_FACTS])


async def keep(
    session: AsyncSession,
    ring: KeyRing,
    clock: Clock,
    owner: Owner,
    paper: Paper,
    content: bytes,
    before: IssuedDocument | None,
) -> ArchivedFile:
    """Store a version of a document, replacing the one ``before``; the household must be locked."""
    document_id = uuid7()
    opened = b"".join(
        (os.urandom(_SALT_BYTES), len(paper.facts).to_bytes(_LENGTH_BYTES), paper.facts, content)
    )
    sealed = seal_content(await key_for_writing(session, ring), document_place(document_id), opened)
    if before is not None:
        await session.execute(
            update(IssuedDocument)
            .where(IssuedDocument.id == before.id, IssuedDocument.superseded_by.is_(None))
            .values(superseded_by=document_id)
        )
    kind, subject_id, tax_year, variant = paper.place
    document = IssuedDocument(
        id=document_id,
        organization_id=owner.organization_id,
        employer_id=owner.employer_id,
        sandbox=owner.sandbox,
        kind=kind,
        subject_id=subject_id,
        employee_id=paper.employee_id,
        payroll_id=paper.payroll_id,
        tax_year=tax_year,
        variant=variant,
        version=1 if before is None else before.version + 1,
        file_name=paper.file_name,
        content_hash=hash_of(opened),
        sealed_content=sealed.ciphertext,
        nonce=sealed.nonce,
        key_id=sealed.key_id,
        created_at=clock.now(),
        superseded_by=None,
    )
    session.add(document)
    await session.flush()
    return ArchivedFile(document, paper.facts, content)
