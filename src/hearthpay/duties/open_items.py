"""Which items of a settled calendar are still to be done, and which of them are late.

The one rule for pages, mails, the API and the calendar feed. An election is optional, so it is open until its date and
never late. A notice (Form I-9, a written contract, a policy) can be done without telling us, so it stays open after
its date and isn't called late. A payment of which nothing is owed so far leaves nothing to do.
"""

import datetime
from typing import Final

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.employment_rules import LAST_WAGES
from hearthpay.duties.settlement import FILED

_NEVER_LATE: Final = frozenset({"election", "notice"})
_TO_DO: Final = frozenset({"pay", "file", "file_and_pay", "amend"})


def is_open(item: CalendarItem, today: datetime.date) -> bool:
    """Return whether something is left to do, or may still be chosen."""
    if item.kind == "payment" or item.kind in FILED:
        # A payment without an amount only names the last day for what other items pay.
        has_amount = item.kind != "payment" or item.amount is not None
        return has_amount and item.next_step in _TO_DO
    if item.done_on is not None:
        return False
    if item.kind == "election" or item.key.split("/")[1] == LAST_WAGES:
        return item.due >= today
    return True


def is_overdue(item: CalendarItem, today: datetime.date) -> bool:
    """Return whether it is open after its due date."""
    return (
        item.due < today
        and item.kind not in _NEVER_LATE
        and item.next_step != "amend"
        and is_open(item, today)
    )
