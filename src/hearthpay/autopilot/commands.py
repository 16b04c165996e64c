"""Commands of the Autopilot service, in plain values that the interfaces have parsed."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, get_args
from uuid import UUID

from hearthpay.employees.commands import PayFrequency

AutopilotAction = Literal["pause", "resume", "skip", "disable"]
ACTIONS: Final[tuple[AutopilotAction, ...]] = get_args(AutopilotAction)

LONGEST_SKIP: Final = datetime.timedelta(days=731)
"""How far from today periods may be skipped: two years."""

FURTHEST_CHANGE: Final = datetime.timedelta(days=731)
"""How far from today changed terms may start: two years."""


_MOST_HOURS: Final = 10_000
"""More hours than any pay period has; the limit of a particular period is checked where it is known."""


def is_standard_hours(hours: Decimal) -> bool:
    """Return whether the number of hours can be enrolled: 0 or more (0 for a salary), with at most 3 decimals."""
    return hours.is_finite() and 0 <= hours < _MOST_HOURS and round(hours, 3) == hours


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrolledTerms:
    """Enrolled terms: hours per period, frequency, first period, and the payday after each.

    For a salaried employee the hours are 0: the salary is paid. Raises ValueError for invalid hours or more than
    three decimals.
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
    """The household's consent to the standing authorization: the version of the text, and where it was given."""

    text_version: str
    address: str | None = None
    confirm_large_payroll: bool = False
    """Whether pay above the limits for large payrolls was confirmed for every period of these terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrollEmployee:
    """Pay an employee by direct deposit, period after period."""

    employer_id: UUID
    employee_id: UUID
    terms: EnrolledTerms
    agreement: Agreement


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEnrollment:
    """Change hours or schedule from the period that begins on a given day."""

    employer_id: UUID
    employee_id: UUID
    from_period: datetime.date
    standard_hours: Decimal
    frequency: PayFrequency
    pay_days_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manage:
    """Pause, resume, skip or disable an enrollment.

    ``through_date`` applies to a skip only, and so does ``period_start``: the first day of the one period to skip,
    the next to be paid as the caller saw it.
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
