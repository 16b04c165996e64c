"""The days of a debit: when the account is debited, when its bank has answered, and when the pay arrives."""

import datetime
from dataclasses import dataclass
from typing import Final

from hearthpay.banking.calendar import add_banking_days, next_banking_day, previous_banking_day
from hearthpay.banking.files import earliest_settlement
from hearthpay.banking.settlement import RETURN_DAYS

DEBIT_WAITS: Final = 5
"""Business days that a debit may lack an account or an authorization: until the day on which the wages were due."""


@dataclass(frozen=True, slots=True)
class DebitDays:
    """The days of a debit in progress; all are business days."""

    leaves_on: datetime.date
    """When the account is debited."""

    @property
    def fund_by(self) -> datetime.date:
        """The last business day before that: by then, the money must be in the account."""
        return previous_banking_day(self.leaves_on)

    @property
    def answer_by(self) -> datetime.date:
        """The day by whose morning the household's bank has returned it, if there were insufficient funds."""
        return add_banking_days(self.leaves_on, RETURN_DAYS)

    @property
    def earliest_arrival(self) -> datetime.date:
        """The first day on which pay can arrive that this debit collects."""
        return next_banking_day(self.answer_by)


def days_of_debit(
    status: str, settle_on: datetime.date, effective_date: datetime.date | None, now: datetime.datetime
) -> DebitDays:
    """Return the days of a debit as they are known at the instant `now`.

    A debit that was not sent on its day is in the next file: its planned day is never one that has passed.
    """
    if status == "pending" or effective_date is None:
        return DebitDays(max(settle_on, earliest_settlement(now)))
    return DebitDays(effective_date)
