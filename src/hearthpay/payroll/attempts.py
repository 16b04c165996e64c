"""How often and how long a payroll that cannot be fired is tried again: after 1, 4, 16 … minutes, up to 8 hours."""

import datetime
from typing import Final

MOST_ATTEMPTS: Final = 8
"""After so many failures, a good day of trying, a payroll has failed for good."""

_FIRST_PAUSE: Final = datetime.timedelta(minutes=1)
_LONGEST_PAUSE: Final = datetime.timedelta(hours=8)


def pause_after(attempts: int) -> datetime.timedelta:
    """How long to wait after the attempt that follows so many earlier ones."""
    factor: int = 4**attempts
    return min(_FIRST_PAUSE * factor, _LONGEST_PAUSE)


def given_up_at(next_attempt_at: datetime.datetime, attempts: int) -> datetime.datetime:
    """When the last attempt is made, after so many that have failed; the worker's own delays come on top."""
    rest = (pause_after(each) for each in range(attempts, MOST_ATTEMPTS - 1))
    return next_attempt_at + sum(rest, datetime.timedelta())
