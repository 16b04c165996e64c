"""What the service of Autopilot is asked to do, in plain values: whichever face was asked has parsed them."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, get_args
from uuid import UUID

from hearthpay.employees.commands import PayFrequency

AutopilotAction = Literal["pause", "resume", "skip", "disable"]
ACTIONS: Final[tuple[AutopilotAction, ...]] = get_args(AutopilotAction)

LONGEST_SKIP: Final = datetime.timedelta(days=731)
"""Two years: how far from today periods may be skipped."""

FURTHEST_CHANGE: Final = datetime.timedelta(days=731)
"""Two years: how far from today other terms may begin to hold."""


_MOST_HOURS: Final = 10_000
"""More than any pay period has; how many a certain one has is asked where it is known."""


def is_standard_hours(hours: Decimal) -> bool:
    """Return whether that many hours can be enrolled: from 0, of a salary, with at most 3 decimals."""
    return hours.is_finite() and 0 <= hours < _MOST_HOURS and round(hours, 3) == hours


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolledTerms:
    """What is enrolled: hours of each period, how often, from which period on, and the pay day after each.

    Of a salaried employee the hours are 0: the salary is paid. Raises ValueError for hours that are none or have parts
    of a thousandth.
    """

    standard_hours: Decimal
    frequency: PayFrequency
    anchor: datetime.date
    pay_days_after: int

    def __post_init__(self) -> None:
        if not is_standard_hours(self.standard_hours):
            raise ValueError(
                f"standard_hours must be at least 0 with at most 3 decimals, not {self.standard_hours}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """That the household agrees to the standing authorization: which version of its text it saw, and from where."""

    text_version: str
    address: str | None = None
    confirm_large_payroll: bool = False
    """That pay above the limits for large payrolls is right for what is enrolled, in every period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollEmployee:
    """Pay an employee by direct deposit, period after period."""

    employer_id: UUID
    employee_id: UUID
    terms: EnrolledTerms
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnrollment:
    """Other hours or another schedule, from the period on that begins on a day."""

    employer_id: UUID
    employee_id: UUID
    from_period: datetime.date
    standard_hours: Decimal
    frequency: PayFrequency
    pay_days_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manage:
    """One of the four things that may be asked of an enrollment.

    ``through_date`` belongs to a skip alone, and so does ``period_start``: the first day of the one period that is
    meant, the next that is paid as somebody has seen it.
    """

    employee_id: UUID
    action: AutopilotAction
    employer_id: UUID | None = None
    through_date: datetime.date | None = None
    period_start: datetime.date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuery:
    """Whose history, and which page of it."""

    employer_id: UUID | None = None
    employee_id: UUID | None = None
    cursor: UUID | None = None
    limit: int = 25
