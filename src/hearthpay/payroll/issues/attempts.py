"""How often and how long a payroll that can't be fired is retried: after 1, 4, 16 … minutes, up to 8 hours.

What only the operator or the law can fix is retried every hour at least, and never given up.
"""

import datetime
from typing import Final

from hearthpay.payroll.issues.failures import FOR_THE_HOUSEHOLD, FOR_THE_OPERATOR

MOST_ATTEMPTS: Final = 8
"""The number of failures, a good day of retries, after which a payroll has failed for good."""

MOST_WAITS: Final = 26
"""The number of retries, a week's, if the household can fix the problem: about until the pay date."""

_FIRST_PAUSE: Final = datetime.timedelta(minutes=1)
LONGEST_PAUSE: Final = datetime.timedelta(hours=8)
_LONGEST_PAUSE_FOR_US: Final = datetime.timedelta(hours=1)


def pause_after(attempts: int, code: str) -> datetime.timedelta:
    """Return the pause after the attempt that follows this many earlier ones and failed for this reason."""
    factor: int = 4 ** min(attempts, MOST_ATTEMPTS)
    longest = _LONGEST_PAUSE_FOR_US if code in FOR_THE_OPERATOR else LONGEST_PAUSE
    return min(_FIRST_PAUSE * factor, longest)


def most_attempts(code: str) -> int | None:
    """Return after how many failures for this reason a payroll has failed for good; None if never."""
    if code in FOR_THE_OPERATOR:
        return None
    return MOST_WAITS if code in FOR_THE_HOUSEHOLD else MOST_ATTEMPTS


def given_up_at(next_attempt_at: datetime.datetime, attempts: int, code: str) -> datetime.datetime | None:
    """Return when the last attempt is made, after this many failures; the worker's own delays are added to it.

    None if it is never given up.
    """
    most = most_attempts(code)
    if most is None:
        return None
    rest = (pause_after(each, code) for each in range(attempts, most - 1))
    return next_attempt_at + sum(rest, datetime.timedelta())
