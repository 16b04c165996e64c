"""Which addresses take no mail: what a mail server refused for good the last time that something was sent there.

What is known is what the operator's mail server answers while it is spoken to. A server that takes a mail and sends
it back later writes to the sender's own mailbox (`MAIL_FROM`), which is not read here.
"""

import datetime
import hashlib
from collections.abc import Collection
from typing import Final, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import fetch_all, query


class _BouncedRow(NamedTuple):
    address_hash: bytes
    bounced_at: datetime.datetime


_BOUNCED: Final = query(
    _BouncedRow, "SELECT address_hash, bounced_at FROM bounced_addresses(CAST(:hashes AS bytea[]))"
)


def hash_of_address(address: str) -> bytes:
    """Return what the outbox knows an address by."""
    return hashlib.sha256(address.lower().encode()).digest()


async def bounced(session: AsyncSession, addresses: Collection[str]) -> dict[str, datetime.datetime]:
    """Return those of the addresses to which the last mail was refused, and when."""
    known = {hash_of_address(address): address for address in addresses}
    if not known:
        return {}
    rows = await fetch_all(session, _BOUNCED, {"hashes": list(known)})
    return {known[bytes(row.address_hash)]: row.bounced_at for row in rows}
