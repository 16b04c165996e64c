"""API schemas for the sandbox's test values and clocks."""

import datetime
import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.clock import BUSINESS_TIME
from hearthpay.employees.schemas import Onboarding
from hearthpay.employers.schemas import EinStatus
from hearthpay.sandbox.clocks import HouseholdClockState
from hearthpay.sandbox.magic import EINS, EMPLOYEE_ACCOUNTS, HOUSEHOLD_ACCOUNTS, TAX_NUMBERS, not_listed_words
from hearthpay.sandbox.models import ClockStatus
from hearthpay.wire.answer_fields import EmployeeIdentifier, HouseholdIdentifier
from hearthpay.wire.fields import RequestModel

_INSTANT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2}))?", re.ASCII
)
END_OF_BANKING: Final = datetime.time(18)
"""The time that a date alone stands for, Eastern time: the bank's cut-off of that day has passed, and what follows
from it is done.
"""


def _one_of(values: tuple[str, ...]) -> BeforeValidator:
    def read(value: object) -> str:
        if isinstance(value, str) and value in values:
            return value
        raise PydanticCustomError("magic", not_listed_words(values))

    return BeforeValidator(read)


def _schema(values: tuple[str, ...]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(values)})


_HOUSEHOLD: Final = tuple(HOUSEHOLD_ACCOUNTS)
_EMPLOYEE: Final = tuple(EMPLOYEE_ACCOUNTS)
_EIN: Final = tuple(EINS)


class HouseholdTestAccount(RequestModel):
    """Which account the household shall have; real numbers are never taken."""

    magic: Annotated[str, _one_of(_HOUSEHOLD), _schema(_HOUSEHOLD)] = Field(
        description="`verified`: ready at once. `verification_pending`: tried by a prenote, ready after three business "
        "days. `verification_fails`: the prenote comes back as R03. `debit_returned_rNN`: ready, and every debit comes "
        "back with that reason two business days after its effective date. `corrected_cNN`: ready, and the bank sends "
        "a notification of change. `disconnected`: no account."
    )


class EmployeeTestAccount(RequestModel):
    """Which account the employee shall have; real numbers are never taken."""

    magic: Annotated[str, _one_of(_EMPLOYEE), _schema(_EMPLOYEE)] = Field(
        description="As of a household's account; `credit_returned_rNN`: every deposit comes back with that reason."
    )


class TestEin(RequestModel):
    """How far the household is with its employer identification number."""

    __test__ = False  # no test, whatever its name

    magic: Annotated[str, _one_of(_EIN), _schema(_EIN)] = Field(
        description="`applied`: the status is pending. `refused`: none again. `assigned`: approved, with a test number "
        "that papers show; an assigned number is final."
    )


class TestTaxInfo(RequestModel):
    """Which taxpayer number the employee shall have."""

    __test__ = False  # no test, whatever its name

    magic: Annotated[str, _one_of(TAX_NUMBERS), _schema(TAX_NUMBERS)] = Field(
        description="`ssn`: a test Social Security number for this employee alone. `itin`: the same as ITIN. "
        "`ssn_shared`: one that all employees of the household with this value share, so that their records are "
        "one person's."
    )


def _read_instant(value: object) -> datetime.datetime:
    form = "must be a date (YYYY-MM-DD) or a time with its zone (2026-12-01T20:00:00Z)"
    if not isinstance(value, str) or _INSTANT.fullmatch(value) is None:
        raise PydanticCustomError("instant_form", form)
    try:
        if len(value) == 10:
            day = datetime.date.fromisoformat(value)
            return datetime.datetime.combine(day, END_OF_BANKING, BUSINESS_TIME).astimezone(datetime.UTC)
        instant = datetime.datetime.fromisoformat(value)
        return instant.astimezone(datetime.UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        raise PydanticCustomError("instant_form", form) from None


class ClockAdvance(RequestModel):
    """Where the household's clock is to be led."""

    to: Annotated[
        datetime.datetime,
        BeforeValidator(_read_instant),
        WithJsonSchema({"type": "string", "examples": ["2026-12-31", "2026-12-01T20:00:00Z"]}),
    ] = Field(
        description="A time with its zone; a date stands for 18:00 Eastern of that day, after the bank's cut-off. "
        "Ahead of the household's time, and at most two years."
    )


@dataclass(frozen=True, slots=True)
class EinState:
    """How far the household is with its employer identification number."""

    employer_id: HouseholdIdentifier
    ein_status: EinStatus
    """`none`: no employer identification number. `pending`: applied for. `approved`: a test number is on file."""


@dataclass(frozen=True, slots=True)
class EmployeeState:
    """What the employee has entered so far; `completed_invitation` tells whether an open link was used up."""

    employer_id: HouseholdIdentifier
    employee_id: EmployeeIdentifier
    onboarding: Onboarding
    """What the employee still has to enter."""

    completed_invitation: bool
    """Whether an open link was used up by this."""


@dataclass(frozen=True, slots=True)
class HouseholdClockView:
    """What time it is at the household.

    `ready`: the time is fixed, or real time without a test clock. `advancing`: it is on its way to `target`, and every
    change of the household is refused until then. `internal_failure`: it stopped at a step that failed, and can be
    advanced again. `now` and `today` (Eastern) are the household's own, `target` and `advanced_from` those of
    the last advance.
    """

    employer_id: HouseholdIdentifier
    status: ClockStatus
    """`ready`: the time stands still, or is real without a test clock. `advancing`: it is on its way to `target`, and
    changes are refused. `internal_failure`: it stopped at a step that failed; advance it again."""

    test_clock: bool
    """Whether the household has its own time; `false` until its clock is first advanced."""

    now: datetime.datetime
    """The household's time, in UTC."""

    today: datetime.date
    """The household's date in US Eastern time."""

    advanced_from: datetime.datetime | None
    """The household's time before the last advance, in UTC; null before the first."""

    target: datetime.datetime | None
    """Where the last advance leads, in UTC; null before the first."""

    requested_at: datetime.datetime | None
    """When the last advance was requested, in real UTC time; null before the first."""

    finished_at: datetime.datetime | None
    """When the last advance ended, in real UTC time; null while it runs and before the first."""

    clock_url: str
    """Where to ask for the clock again."""


def clock_view(state: HouseholdClockState) -> HouseholdClockView:
    """Return a household's clock as it goes over the wire."""
    return HouseholdClockView(
        employer_id=state.employer_id,
        status=state.status,
        test_clock=state.test_clock,
        now=state.now,
        today=state.now.astimezone(BUSINESS_TIME).date(),
        advanced_from=state.advanced_from,
        target=state.target,
        requested_at=state.requested_at,
        finished_at=state.finished_at,
        clock_url=f"/api/v1/sandbox/employers/{state.employer_id}/clock",
    )
