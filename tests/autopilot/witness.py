"""Reads the rows of three years and tells, by its own arithmetic, whether each period is paid once or has its reason.

It shares nothing with the product or its doctor: the calendar is the one that the Federal Reserve printed, the periods
are counted here, and what households asked comes from diaries.
"""

import datetime
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any, Final

import psycopg
from psycopg.rows import namedtuple_row

from tests.autopilot.diary import FOREVER, Diary

_HOLIDAYS: Final = {
    2025: (
        (1, 1),
        (1, 20),
        (2, 17),
        (5, 26),
        (6, 19),
        (7, 4),
        (9, 1),
        (10, 13),
        (11, 11),
        (11, 27),
        (12, 25),
    ),
    2026: ((1, 1), (1, 19), (2, 16), (5, 25), (6, 19), (9, 7), (10, 12), (11, 11), (11, 26), (12, 25)),
    2027: ((1, 1), (1, 18), (2, 15), (5, 31), (7, 5), (9, 6), (10, 11), (11, 11), (11, 25)),
    2028: ((1, 17), (2, 21)),
}
"""Holidays observed by the Federal Reserve System, as printed (frbservices.org); those on a Saturday close nothing."""

CLOSED: Final = frozenset(datetime.date(year, *day) for year, days in _HOLIDAYS.items() for day in days)

NO_RULES: Final = datetime.date(2028, 1, 1)
"""From here on there are no rules: nothing can be paid, and what is to be stays open."""

DAY: Final = datetime.timedelta(days=1)

_ENROLLMENTS: Final = (
    "SELECT *, id::text AS enrollment, employee_id::text AS employee FROM autopilot_enrollments"
)
_VERSIONS: Final = (
    "SELECT *, enrollment_id::text AS enrollment FROM autopilot_versions ORDER BY from_period, number"
)
_PERIODS: Final = """
    SELECT g.*, g.enrollment_id::text AS enrollment, g.payroll_id::text AS payroll,
           (SELECT array_agg(h::text) FROM unnest(g.by_hand) h) AS hands,
           p.status, p.pay_date AS paid_on, p.rulebook_version, p.tax_year,
           (SELECT count(*) FROM paychecks c WHERE c.payroll_id = g.payroll_id AND c.reverses IS NULL
               AND NOT EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)) AS paychecks,
           (SELECT array_agg(DISTINCT c.tax_year) FROM paychecks c WHERE c.payroll_id = g.payroll_id) AS tax_years,
           (SELECT array_agg(e.payroll_id::text) FROM payroll_entries e
             WHERE e.employee_id = g.employee_id AND e.live AND e.regular_hours > 0
               AND e.period && daterange(g.period_start, g.period_end, '[]')) AS paying
      FROM autopilot_periods g LEFT JOIN payrolls p ON p.id = g.payroll_id ORDER BY g.enrollment_id, g.period_start
"""
_EVENTS: Final = (
    "SELECT enrollment_id::text AS enrollment, event, at, source FROM autopilot_events ORDER BY id"
)
_TWICE: Final = """
    SELECT e.employee_id, e.period, o.period FROM payroll_entries e
      JOIN payroll_entries o ON o.employee_id = e.employee_id AND o.period && e.period AND o.payroll_id > e.payroll_id
       AND o.live AND o.regular_hours > 0 WHERE e.live AND e.regular_hours > 0
"""


def last_day(frequency: str, start: datetime.date) -> datetime.date:
    """The last day of the period that begins on the day."""
    if frequency in ("weekly", "biweekly"):
        return start + (7 if frequency == "weekly" else 14) * DAY - DAY
    if frequency == "semimonthly" and start.day < 16:
        return start.replace(day=15)
    return (start.replace(day=28) + 4 * DAY).replace(day=1) - DAY


def is_open(day: datetime.date) -> bool:
    """Whether banks are."""
    return day.weekday() < 5 and day not in CLOSED


def open_day_by(day: datetime.date) -> datetime.date:
    """The day, or the last one before it on which banks are open."""
    while not is_open(day):
        day -= DAY
    return day


def _nobody_is_paid_twice(owner: psycopg.Connection) -> None:
    """No day's hours are paid by two payrolls."""
    assert owner.execute(_TWICE).fetchall() == []


def bear_witness(owner: psycopg.Connection, diaries: Sequence[Diary]) -> Counter[str]:
    """Hold every period of every enrollment against diaries and calendar; return how many came to which end."""
    rows = owner.cursor(row_factory=namedtuple_row)
    versions: dict[str, list[Any]] = {}
    for version in rows.execute(_VERSIONS).fetchall():
        versions.setdefault(version.enrollment, []).append(version)
    periods: dict[str, list[Any]] = {}
    for period in rows.execute(_PERIODS).fetchall():
        periods.setdefault(period.enrollment, []).append(period)
    events: dict[str, list[Any]] = {}
    for event in rows.execute(_EVENTS).fetchall():
        events.setdefault(event.enrollment, []).append(event)
    diary_of = {diary.employee_id: diary for diary in diaries}
    own_payrolls = {period.payroll for each in periods.values() for period in each if period.payroll}
    counted: Counter[str] = Counter()
    for enrollment in rows.execute(_ENROLLMENTS).fetchall():
        own = periods.get(enrollment.enrollment, [])
        _follow_each_other(enrollment, versions[enrollment.enrollment], own)
        pauses = _told_as_asked(enrollment, diary_of[enrollment.employee], events[enrollment.enrollment])
        for period in own:
            _has_its_reason(period, diary_of[enrollment.employee], pauses)
            _is_paid_as_told(period, diary_of[enrollment.employee].by_hand | own_payrolls)
            counted[period.outcome] += 1
    _nobody_is_paid_twice(owner)
    return counted


def _follow_each_other(enrollment: Any, versions: Sequence[Any], periods: Sequence[Any]) -> None:
    start = enrollment.first_start
    for period in periods:
        in_force = [version for version in versions if version.from_period <= start][-1]
        assert (period.period_start, period.period_end) == (start, last_day(in_force.frequency, start)), (
            period
        )
        planned = open_day_by(period.period_end + in_force.pay_days_after * DAY)
        assert is_open(period.pay_date), period
        if period.payroll_id is None:
            assert period.pay_date == planned, period
        else:  # a worker that was away pays later, never earlier
            assert period.pay_date >= planned, period
        start = period.period_end + DAY
    assert enrollment.next_start == start, enrollment


def _told_as_asked(
    enrollment: Any, diary: Diary, events: Sequence[Any]
) -> list[tuple[datetime.datetime, datetime.datetime]]:
    """Hold the household's lines of the history against its diary; return when the enrollment did not work."""
    asked = [
        ("skip" if wish.what == "void" else wish.what, wish.at)
        for wish in diary.wishes.get(enrollment.enrollment, [])
    ]
    told = [(each.event, each.at) for each in events if each.source == "api"]
    assert told == asked, (enrollment, told, asked)
    assert events[0].event == "enroll"
    pauses = []
    since = None
    for each in events:
        if each.event in ("pause", "disable") and since is None:
            since = each.at
        elif each.event == "resume":
            assert since is not None
            pauses.append((since, each.at))
            since = None
    assert (since is not None) == (enrollment.status != "active"), enrollment
    return pauses if since is None else [*pauses, (since, FOREVER)]


def _has_its_reason(
    period: Any, diary: Diary, pauses: Sequence[tuple[datetime.datetime, datetime.datetime]]
) -> None:
    """What was decided is what had been asked for by then."""
    at = period.decided_at
    through = diary.skipped_through(period.enrollment, at)
    skipped = through is not None and period.period_start <= through
    resumed = any(at == end for _, end in pauses)
    if period.outcome == "paused" or (resumed and period.outcome == "skipped"):
        assert resumed, period
        assert period.send_at <= at, period
    else:
        assert not any(start < at < end for start, end in pauses), period
    assert skipped == (period.outcome == "skipped"), (period, through)
    if period.outcome == "voided":
        assert period.payroll in set(diary.voided()), period
    if period.outcome == "ineligible":
        assert not set(period.reasons) - {
            *("employee_inactive", "employment_ended_in_period"),
            *("employee_not_started", "authorization_missing"),
        }, period
        last_day = diary.last_day(at)
        gone = last_day is not None and last_day < period.period_start
        assert ("employee_inactive" in period.reasons) == gone, period
        partly = last_day is not None and period.period_start <= last_day < period.period_end
        assert ("employment_ended_in_period" in period.reasons) == partly, period
        assert ("authorization_missing" in period.reasons) <= any(day < at for day in diary.returned), period


def _is_paid_as_told(period: Any, asked_for: Set[str]) -> None:
    """One payroll pays the period where the books say so, and else none of Autopilot's for this enrollment."""
    paying = period.paying or []
    if period.outcome in ("scheduled", "fired", "paid"):
        assert paying == [period.payroll], period
        assert period.paid_on < NO_RULES, period
        assert is_open(period.paid_on), period
    else:
        assert period.payroll not in paying, period
    if period.outcome in ("fired", "paid"):
        assert period.paychecks == 1, period
        assert period.tax_years == [period.paid_on.year] == [period.tax_year], period
        assert period.rulebook_version.startswith(f"{period.paid_on.year}."), period
    elif period.outcome != "scheduled":
        assert not period.paychecks, period
    if period.outcome == "by_hand":
        assert set(period.hands) <= asked_for, period
    assert set(paying) <= asked_for, period
