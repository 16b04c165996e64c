"""What the household cannot mend keeps a period open; enrollments that were paused by it alone are resumed."""

from __future__ import annotations

import datetime
import json
from typing import Any, Final
from zoneinfo import ZoneInfo

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

ENROLLMENTS = """
ALTER TABLE autopilot_enrollments ADD COLUMN mend_by timestamptz;
COMMENT ON COLUMN autopilot_enrollments.mend_by IS
    'Until when the household may mend what keeps the next period from being paid; null where nothing does yet';
GRANT UPDATE (mend_by) ON autopilot_enrollments TO hearthpay_service, hearthpay_worker;

ALTER TABLE autopilot_errands DROP CONSTRAINT autopilot_errands_kind_check;
ALTER TABLE autopilot_errands ADD CONSTRAINT autopilot_errands_kind_check CHECK (
    kind IN ('enrolled', 'debit_tomorrow', 'held', 'refused', 'paid', 'failed', 'paused', 'resumed'));
"""

# Paused by the worker, after failures that were the law's alone, and left so since.
_PAUSED = """
SELECT e.id, e.next_start, e.skip_through FROM autopilot_enrollments e
 WHERE e.status = 'paused' AND EXISTS (
       SELECT FROM autopilot_events h WHERE h.enrollment_id = e.id AND h.event = 'pause' AND h.source = 'system'
          AND h.details -> 'reasons' = '["tax_year_not_final"]'
          AND h.id = (SELECT l.id FROM autopilot_events l
                       WHERE l.enrollment_id = e.id AND l.event IN ('pause', 'resume', 'disable')
                       ORDER BY l.id DESC LIMIT 1))
   AND NOT EXISTS (
       SELECT FROM (SELECT g.outcome, g.reasons, p.failure ->> 'code' AS code
                      FROM autopilot_periods g LEFT JOIN payrolls p ON p.id = g.payroll_id
                     WHERE g.enrollment_id = e.id AND g.outcome IN ('ineligible', 'failed', 'paid')
                     ORDER BY g.period_start DESC LIMIT 3) l
        WHERE l.outcome = 'ineligible' AND l.reasons <> '{tax_year_not_final}'
           OR l.outcome = 'failed' AND l.code <> 'tax_year_not_final')
 ORDER BY e.id
"""
_VERSIONS = """
SELECT number, from_period, frequency, pay_days_after FROM autopilot_versions WHERE enrollment_id = %s
"""
_PERIOD = """
INSERT INTO autopilot_periods (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, version,
                               period_start, period_end, pay_date, send_at, outcome, decided_at)
SELECT new_id(), organization_id, employer_id, sandbox, id, employee_id, %s, %s, %s, %s, %s, %s, %s
  FROM autopilot_enrollments WHERE id = %s
"""
_RESUME = """
UPDATE autopilot_enrollments
   SET status = 'active', pause_reason = NULL, failure_count = 0, next_start = %s, next_end = %s, next_pay_date = %s,
       generate_at = %s, updated_at = %s WHERE id = %s
"""
_EVENT = """
INSERT INTO autopilot_events (id, organization_id, employer_id, sandbox, enrollment_id, employee_id, event, at,
                              actor_kind, source, details)
SELECT new_id(), organization_id, employer_id, sandbox, id, employee_id, 'resume', %s, 'system', 'system', %s
  FROM autopilot_enrollments WHERE id = %s
"""
_ERRAND = """
INSERT INTO autopilot_errands (id, organization_id, employer_id, sandbox, enrollment_id, kind, details, due_at)
SELECT new_id(), organization_id, employer_id, sandbox, id, 'resumed', %s, %s FROM autopilot_enrollments WHERE id = %s
"""

_DAY: Final = datetime.timedelta(days=1)
_EASTERN: Final = ZoneInfo("America/New_York")
_CLOSED: Final = {
    datetime.date.fromisoformat(day)
    for day in (
        *("2026-10-12", "2026-11-11", "2026-11-26", "2026-12-25"),
        *("2027-01-01", "2027-01-18", "2027-02-15", "2027-05-31", "2027-07-05"),
        *("2027-09-06", "2027-10-11", "2027-11-11", "2027-11-25"),
        *("2028-01-17", "2028-02-21", "2028-05-29", "2028-06-19", "2028-07-04"),
        *("2028-09-04", "2028-10-09", "2028-11-23", "2028-12-25"),
    )
}
"""When the Federal Reserve Banks are closed on a weekday (frbservices.org, Holiday Schedules)."""


def upgrade() -> None:
    """Add the column, and resume whom nothing but unpublished law had paused."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(ENROLLMENTS)
        cursor.execute("SELECT now()")
        [(now,)] = cursor.fetchall()
        cursor.execute(_PAUSED)
        for enrollment_id, next_start, skip_through in cursor.fetchall():
            _resume(cursor, now, enrollment_id, next_start, skip_through)
    finally:
        cursor.close()


def _resume(
    cursor: Any,
    now: datetime.datetime,
    enrollment_id: Any,
    start: datetime.date,
    skip_through: datetime.date | None,
) -> None:
    """Go on with the first period that can still be sent; as after any pause, those in between are not paid."""
    cursor.execute(_VERSIONS, (enrollment_id,))
    versions = cursor.fetchall()
    not_paid: list[dict[str, str]] = []
    while True:
        number, _, frequency, days_after = max(
            (each for each in versions if each[1] <= start), key=lambda each: (each[1], each[0])
        )
        end = _last_day(frequency, start)
        pay_date = _open_day_by(end + days_after * _DAY)
        send_at = _send_at(pay_date)
        if send_at > now:
            break
        outcome = "skipped" if skip_through is not None and start <= skip_through else "paused"
        period = (number, start, end, pay_date, send_at, outcome, now, enrollment_id)
        cursor.execute(_PERIOD, period)
        not_paid.append({"start": start.isoformat(), "end": end.isoformat()})
        start = end + _DAY
    following = {"start": start.isoformat(), "end": end.isoformat(), "pay_date": pay_date.isoformat()}
    details = {"why": "tax_year_not_final", "next_period": following, "not_paid": not_paid}
    generate_at = send_at - 3 * _DAY
    cursor.execute(_RESUME, (start, end, pay_date, generate_at, now, enrollment_id))
    cursor.execute(_EVENT, (now, json.dumps(details), enrollment_id))
    cursor.execute(_ERRAND, (json.dumps(details), now, enrollment_id))


def _last_day(frequency: str, start: datetime.date) -> datetime.date:
    if frequency in ("weekly", "biweekly"):
        return start + (6 if frequency == "weekly" else 13) * _DAY
    if frequency == "semimonthly" and start.day == 1:
        return start.replace(day=15)
    return (start.replace(day=28) + 4 * _DAY).replace(day=1) - _DAY


def _open_day_by(day: datetime.date) -> datetime.date:
    while day.weekday() > 4 or day in _CLOSED:
        day -= _DAY
    return day


def _send_at(pay_date: datetime.date) -> datetime.datetime:
    """Return 15:00 Eastern of the fifth banking day before."""
    day = pay_date
    for _ in range(5):
        day = _open_day_by(day - _DAY)
    return datetime.datetime.combine(day, datetime.time(15), _EASTERN).astimezone(datetime.UTC)
