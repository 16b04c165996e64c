"""How often and how long a payroll that cannot be fired is tried again: after 1, 4, 16 … minutes, up to 8 hours."""

import datetime
from typing import Final

from hearthpay.payroll.trouble.failures import FOR_THE_HOUSEHOLD

MOST_ATTEMPTS: Final = 8
"""After so many failures, a good day of trying, a payroll has failed for good."""

MOST_WAITS: Final = 26
"""Where the household itself can put it right, it is tried for a week: about until the pay date."""

_FIRST_PAUSE: Final = datetime.timedelta(minutes=1)
_LONGEST_PAUSE: Final = datetime.timedelta(hours=8)


def pause_after(attempts: int) -> datetime.timedelta:
    """Return how long to wait after the attempt that follows so many earlier ones."""
    factor: int = 4 ** min(attempts, MOST_ATTEMPTS)
    return min(_FIRST_PAUSE * factor, _LONGEST_PAUSE)


def most_attempts(code: str) -> int:
    """After how many failures a payroll that cannot be fired for this reason has failed for good."""
    return MOST_WAITS if code in FOR_THE_HOUSEHOLD else MOST_ATTEMPTS


def given_up_at(next_attempt_at: datetime.datetime, attempts: int, code: str) -> datetime.datetime:
    """Return when the last attempt is made, after so many that have failed; the worker's own delays come on top."""
    rest = (pause_after(each) for each in range(attempts, most_attempts(code) - 1))
    return next_attempt_at + sum(rest, datetime.timedelta())
