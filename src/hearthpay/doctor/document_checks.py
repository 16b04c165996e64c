"""Laws of the archive of papers: one version in force, each replaced by the next, and nothing kept has changed."""

import hashlib
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.doctor.difference import Difference
from hearthpay.security.content_seal import SealedContent, document_place, open_content
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import UnreadableSecretError

_BATCH: Final = 50
_SEALED: Final = text(
    "SELECT id, content_hash, sealed_content, nonce, key_id FROM documents WHERE id > :after ORDER BY id LIMIT :batch"
)


def document_versions() -> str:
    """Of each paper the latest version is in force, and every other names the next one."""
    return """
        SELECT 'document' AS subject, id, 'version ' || version || ' is replaced by' AS what,
               coalesce(superseded_by::text, 'none') AS recorded, coalesce(next::text, 'none') AS expected
          FROM (SELECT *, lead(id) OVER (PARTITION BY employer_id, kind, subject_id, tax_year, variant
                                             ORDER BY version) AS next FROM documents) d
         WHERE superseded_by IS DISTINCT FROM next
    """


async def document_contents(session: AsyncSession, ring: KeyRing | None) -> list[Difference]:
    """Every paper that was issued opens, and is the one whose hash was noted."""
    found = []
    after = UUID(int=0)
    while ring is not None:
        rows = (await session.execute(_SEALED, {"after": after, "batch": _BATCH})).all()
        for row in rows:
            sealed = SealedContent(row.sealed_content, row.nonce, row.key_id)
            try:
                opened = open_content(ring, document_place(row.id), sealed)
            except (KeyRingError, UnreadableSecretError) as error:
                found.append(Difference("document", row.id, "content", str(error), "a paper"))
                continue
            digest = hashlib.sha256(opened).hexdigest()
            if digest != row.content_hash.hex():
                found.append(Difference("document", row.id, "hash", row.content_hash.hex(), digest))
        if not rows:
            break
        after = rows[-1].id
    return found
