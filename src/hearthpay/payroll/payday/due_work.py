"""Whether the bank day has anything to do, so that the usual round, which has nothing, ends at once."""

import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.due_work import bank_work_due
from hearthpay.banking.entries import business_date
from hearthpay.database.statements import statement
from hearthpay.payroll.issues.notices import UNREPORTED
from hearthpay.payroll.payday.firing import DUE
from hearthpay.payroll.payday.remedies import WAITED

_DUE: Final = statement(
    "SELECT EXISTS (SELECT FROM payrolls WHERE {due}) OR EXISTS ({waited}) OR EXISTS ({unreported})",
    due=DUE,
    waited=WAITED,
    unreported=UNREPORTED,
)


async def work_due(session: AsyncSession, now: datetime.datetime) -> bool:
    """Return whether a payroll, a payment, an account, or a bank file needs anything done now.

    The session is the worker's. What the bank has sent isn't known here.
    """
    moment = {"now": now, "today": business_date(now)}
    return bool(await session.scalar(_DUE, moment)) or await bank_work_due(session, now)
