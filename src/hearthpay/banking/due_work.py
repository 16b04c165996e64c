"""Whether the bank day has anything to do with payments, accounts or files, asked in one statement.

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
    "SELECT EXISTS (SELECT FROM bank_entries e JOIN bank_accounts b ON b.id = e.bank_account_id "
    "WHERE e.status = 'pending' AND (e.send_on <= :cut_off OR e.kind = 'reversal' OR b.status = 'failed' "
    "OR e.hold_code IS NOT NULL OR e.held_reason IS NOT NULL OR e.kind = 'credit' AND e.send_on < :new_year)) "
    "OR EXISTS (SELECT FROM bank_entries WHERE status = 'sent' AND effective_date <= :arrived_by "
    "AND effective_date <= CASE kind WHEN 'debit' THEN CAST(:collected_by AS date) "
    "WHEN 'reversal' THEN CAST(:reversed_by AS date) ELSE CAST(:arrived_by AS date) END) "
    "OR EXISTS (SELECT FROM bank_accounts a WHERE {verified}) "
    "OR {answers_due} "
    "OR EXISTS (SELECT FROM bank_files WHERE status = 'built') "
    "OR EXISTS ({unreported})",
    verified=VERIFIED,
    answers_due=ANSWERS_DUE,
    unreported=UNREPORTED,
)


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
    return bool(await session.scalar(_DUE, moments | answer_window(now)))
