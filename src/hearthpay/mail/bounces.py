"""The addresses that refuse mail: a mail server permanently refused the last mail sent there.

Only immediate responses of the operator's mail server are known. A server that accepts a mail and returns it later
writes to the sender's mailbox (`MAIL_FROM`), which is not read here.
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
    """Return the hash that identifies an address in the outbox."""
    return hashlib.sha256(address.lower().encode()).digest()


async def bounced(session: AsyncSession, addresses: Collection[str]) -> dict[str, datetime.datetime]:
    """Return those of the addresses that refused the last mail, and when."""
    known = {hash_of_address(address): address for address in addresses}
    if not known:
        return {}
    rows = await fetch_all(session, _BOUNCED, {"hashes": list(known)})
    return {known[bytes(row.address_hash)]: row.bounced_at for row in rows}
