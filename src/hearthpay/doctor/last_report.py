"""The last doctor report: an examination's result, kept for the operator's page."""

import datetime
from collections.abc import Sequence
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.doctor.examination import CheckResult, count_wrong
from hearthpay.doctor.exposure import OpenCase

_KEEP: Final = text(
    "INSERT INTO examinations (id, at, checks, differing, open_cases, open_amount) "
    "VALUES (:id, :at, :checks, :differing, :open_cases, :open_amount)"
)


async def store_last_report(
    session: AsyncSession, now: datetime.datetime, results: Sequence[CheckResult], cases: Sequence[OpenCase]
) -> None:
    """Store how many figures differed and how much real money was exposed; the session is the owner's."""
    real = [case for case in cases if not case.sandbox]
    await session.execute(
        _KEEP,
        {
            "id": uuid7(),
            "at": now,
            "checks": len(results),
            "differing": count_wrong(results),
            "open_cases": len(real),
            "open_amount": sum(case.amount for case in real),
        },
    )
