"""The proof of kept answers: an encrypted one can be read only under its idempotency key."""

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.difference import Difference
from hearthpay.security.content_seal import SealedContent, answer_place, open_content
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.security.vault_cipher import UnreadableSecretError

_BATCH: Final = 1_000


class _AnswersRow(NamedTuple):
    organization_id: UUID
    sandbox: bool
    key: str
    confined_to: UUID
    body: bytes
    nonce: bytes
    key_id: str


_ANSWERS: Final = query(
    _AnswersRow,
    "SELECT organization_id, sandbox, key, confined_to, body, nonce, key_id FROM idempotency_keys "
    "WHERE key_id IS NOT NULL AND nonce IS NOT NULL AND body IS NOT NULL "
    "AND (organization_id, sandbox, key, confined_to) > (:organization, :sandbox, :key, :household) "
    "ORDER BY organization_id, sandbox, key, confined_to LIMIT :batch",
)


async def sealed_answers(session: AsyncSession, ring: KeyRing | None) -> list[Difference]:
    """Every encrypted answer that is kept for an idempotency key can be decrypted as that key's."""
    found: list[Difference] = []
    after: dict[str, object] = {
        "organization": UUID(int=0),
        "sandbox": False,
        "key": "",
        "household": UUID(int=0),
    }
    while ring is not None:
        rows = await fetch_all(session, _ANSWERS, after | {"batch": _BATCH})
        for row in rows:
            place = answer_place(row.organization_id, row.key, sandbox=row.sandbox)
            try:
                open_content(ring, place, SealedContent(row.body, row.nonce, row.key_id))
            except (KeyRingError, UnreadableSecretError) as error:
                what = f"answer for the idempotency key {row.key}"
                found.append(Difference("organization", row.organization_id, what, str(error), "an answer"))
        if len(rows) < _BATCH:
            break
        last = rows[-1]
        after = {
            "organization": last.organization_id,
            "sandbox": last.sandbox,
            "key": last.key,
            "household": last.confined_to,
        }
    return found
