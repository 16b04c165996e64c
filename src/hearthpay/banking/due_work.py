"""Whether the bank day has anything to do with payments, accounts or files, asked in two statements.

Most rounds have nothing to do. What this finds may turn out to be nothing; what it doesn't find, no step does anything
about.
"""

import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.accounts import VERIFIED, verified_by
from hearthpay.banking.entries import effective_by
from hearthpay.banking.files import current_cut_off, earliest_settlement
from hearthpay.banking.settlement import RETURN_DAYS, collected_by
from hearthpay.banking.simulated_bank import ANSWERS_DUE, answer_window
from hearthpay.banking.unreported_returns import UNREPORTED
from hearthpay.database.statements import statement

# To be sent, or on hold; a reversal that waits may be too late, and a deposit may have missed its year.
_DUE: Final = statement(
    "SELECT EXISTS (SELECT FROM bank_entries e WHERE e.status = 'pending' AND (e.send_on <= :cut_off "
    "OR e.kind = 'reversal' OR e.hold_code IS NOT NULL OR e.held_reason IS NOT NULL "
    "OR e.kind = 'credit' AND e.send_on < :new_year "
    "OR (SELECT b.status FROM bank_accounts b WHERE b.id = e.bank_account_id) = 'failed')) "
    "OR EXISTS (SELECT FROM bank_entries WHERE status = 'sent' AND effective_date <= :arrived_by "
    "AND effective_date <= CASE kind WHEN 'debit' THEN CAST(:collected_by AS date) "
    "WHEN 'reversal' THEN CAST(:reversed_by AS date) ELSE CAST(:arrived_by AS date) END) "
    "OR EXISTS (SELECT FROM bank_accounts a WHERE {verified}) "
    "OR EXISTS (SELECT FROM bank_files WHERE status = 'built') "
    "OR EXISTS ({unreported})",
    verified=VERIFIED,
    unreported=UNREPORTED,
)
_ANSWERS_DUE: Final = statement("SELECT {answers_due}", answers_due=ANSWERS_DUE)


async def bank_work_due(session: AsyncSession, now: datetime.datetime) -> bool:
    """Return whether a payment, an account, or a file needs anything done now; the session is the worker's."""
    moments = {
        "cut_off": current_cut_off(now),
        "new_year": datetime.date(earliest_settlement(now).year, 1, 1),
        "arrived_by": effective_by(now, 0),
        "collected_by": collected_by(now),
        "reversed_by": effective_by(now, RETURN_DAYS),
        "verified_by": verified_by(now),
    }
    return bool(await session.scalar(_DUE, moments)) or bool(
        await session.scalar(_ANSWERS_DUE, answer_window(now))
    )
