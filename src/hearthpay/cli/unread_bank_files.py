"""Sets a file of the bank aside at the command line, with the owner's login."""

import datetime
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.unread_files import UnreadFile, values_of_ending

_END: Final = text("SELECT end_bank_file(:file, :why, :at, :person, :request, CAST(:ids AS uuid[]))")


async def set_aside(
    session: AsyncSession, file: UnreadFile, reason: str, now: datetime.datetime, request_id: str | None
) -> int | None:
    """Set the file aside: it holds nothing any more. Return how many payments it held; None if it isn't open.

    The session is the owner's. Each payment that it held gets an entry in the audit log.
    """
    values = values_of_ending(file, reason, now, None, request_id)
    ended: int | None = await session.scalar(_END, values)
    return ended
