"""Laws of what Autopilot will do: terms, skips and next periods follow from what was agreed, and the history is
complete.

Like those of `checks`; what depends on the bank calendar, which no query knows, is a proof.
"""

import datetime
from collections import defaultdict
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.autopilot.generation import TRY_AGAIN
from hearthpay.autopilot.schedule import AutopilotPeriod, Schedule, Stage, stage_of
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.difference import Difference
from hearthpay.employees.commands import PayFrequency
from hearthpay.security.key_ring import KeyRing


class _VersionsRow(NamedTuple):
    enrollment_id: UUID
    from_period: datetime.date
    frequency: PayFrequency
    anchor: datetime.date
    pay_days_after: int


_VERSIONS: Final = query(
    _VersionsRow,
    "SELECT enrollment_id, from_period, frequency, anchor, pay_days_after FROM autopilot_versions "
    "ORDER BY enrollment_id, number",
)


class _EnrollmentsRow(NamedTuple):
    id: UUID
    status: str
    next_start: datetime.date
    next_end: datetime.date
    next_pay_date: datetime.date
    generate_at: datetime.datetime | None
    mend_by: datetime.datetime | None
    updated_at: datetime.datetime


_ENROLLMENTS: Final = query(
    _EnrollmentsRow,
    "SELECT id, status, next_start, next_end, next_pay_date, generate_at, mend_by, updated_at "
    "FROM autopilot_enrollments ORDER BY id",
)


def autopilot_terms() -> str:
    """Terms from a period on are those that somebody enrolled or confirmed: hours, schedule, expected net pay."""
    return """
        WITH said AS MATERIALIZED (
            SELECT DISTINCT ON (enrollment_id, version) * FROM (
                SELECT id, subject_id AS enrollment_id, CAST(details #>> '{given,version}' AS int) AS version,
                       CAST(details #>> '{given,expected_net}' AS bigint) AS expected_net,
                       CAST(details ->> 'standard_hours' AS numeric) AS standard_hours,
                       details ->> 'frequency' AS frequency,
                       CAST(coalesce(details ->> 'from_period', details #>> '{first_period,start}') AS date)
                       AS from_period
                  FROM audit_log WHERE action IN ('autopilot.enroll', 'autopilot.change', 'autopilot.confirm')
                   AND details #>> '{given,version}' IS NOT NULL
                UNION ALL
                SELECT id, subject_id, CAST(details ->> 'version' AS int),
                       CAST(details ->> 'expected_net' AS bigint), CAST(details ->> 'standard_hours' AS numeric),
                       details ->> 'frequency', CAST(details ->> 'from_period' AS date)
                  FROM audit_log WHERE action = 'rights.as_of_upgrade' AND details ->> 'right' = 'enrolled') a
             ORDER BY enrollment_id, version, id DESC),
        stands AS (
            SELECT e.id, coalesce(v.number, s.version) AS version, v.number, s.version AS said,
                   concat_ws(', ', v.expected_net || ' cents', v.standard_hours + 0.000 || ' hours', v.frequency,
                             'from ' || v.from_period) AS recorded,
                   concat_ws(', ', s.expected_net || ' cents',
                             coalesce(s.standard_hours, v.standard_hours) + 0.000 || ' hours',
                             coalesce(s.frequency, v.frequency), 'from ' || coalesce(s.from_period, v.from_period))
                   AS expected
              FROM autopilot_versions v
              FULL JOIN said s ON s.enrollment_id = v.enrollment_id AND s.version = v.number
              JOIN autopilot_enrollments e ON e.id = coalesce(v.enrollment_id, s.enrollment_id))
        SELECT 'autopilot' AS subject, id, 'version ' || version AS what,
               CASE WHEN number IS NULL THEN 'none' ELSE recorded END AS recorded,
               CASE WHEN said IS NULL THEN 'nothing was enrolled' ELSE expected END AS expected
          FROM stands WHERE recorded <> expected OR number IS NULL OR said IS NULL
    """


def autopilot_skips() -> str:
    """An enrollment skips through the day that was last asked for, and through none that nobody asked for."""
    return """
        WITH asked AS MATERIALIZED (
            SELECT enrollment_id, array_agg(details ->> 'through') AS days,
                   (array_agg(details ORDER BY id DESC))[1] AS last
              FROM autopilot_events WHERE event = 'skip' AND source <> 'system' AND jsonb_exists(details, 'through')
             GROUP BY enrollment_id)
        SELECT 'autopilot' AS subject, e.id, 'skips through' AS what,
               coalesce(e.skip_through::text, 'nothing') AS recorded,
               CASE WHEN a.enrollment_id IS NULL THEN 'no day was asked for'
                    WHEN jsonb_exists(a.last, 'skip_through') THEN coalesce(a.last ->> 'skip_through', 'no day')
                    ELSE 'one of ' || array_to_string(a.days, ', ') END AS expected
          FROM autopilot_enrollments e LEFT JOIN asked a ON a.enrollment_id = e.id
         WHERE CASE WHEN a.enrollment_id IS NULL THEN e.skip_through IS NOT NULL
                    WHEN jsonb_exists(a.last, 'skip_through')
                    THEN e.skip_through::text IS DISTINCT FROM a.last ->> 'skip_through'
                    ELSE e.skip_through IS NOT NULL AND e.skip_through::text <> ALL (a.days) END
    """


def autopilot_events_kept() -> str:
    """Every action on Autopilot is in its history as it is in the audit log, and the other way; no line is empty."""
    return """
        WITH done AS MATERIALIZED (
            SELECT subject_id AS enrollment_id, action, at,
                   details - ARRAY['employee_id', 'given', 'before', 'after'] AS details,
                   CASE WHEN action IN ('autopilot.change', 'autopilot.authorize', 'autopilot.confirm') THEN 'enroll'
                        ELSE substring(action FROM 11) END AS event
              FROM audit_log
             WHERE action IN ('autopilot.enroll', 'autopilot.change', 'autopilot.authorize', 'autopilot.confirm',
                              'autopilot.skip', 'autopilot.pause', 'autopilot.resume', 'autopilot.disable'))
        SELECT 'autopilot' AS subject, e.id, 'line of the history for ' || d.action || ' at ' || d.at AS what,
               'none that says so' AS recorded, d.details::text AS expected
          FROM done d JOIN autopilot_enrollments e ON e.id = d.enrollment_id
          LEFT JOIN autopilot_events h ON h.enrollment_id = d.enrollment_id AND h.event = d.event
               AND h.details = d.details
         WHERE h.id IS NULL
        UNION ALL
        SELECT 'autopilot', enrollment_id, 'line of the history: ' || event || ' at ' || at, 'empty', 'what happened'
          FROM autopilot_events WHERE details = '{}'
        UNION ALL
        SELECT 'autopilot', h.enrollment_id, 'line of the history: ' || h.event || ' at ' || h.at,
               'by ' || h.actor_kind, 'a row in the audit log'
          FROM autopilot_events h
         WHERE h.event IN ('enroll', 'skip', 'pause', 'resume', 'disable') AND h.actor_kind <> 'system'
           AND NOT EXISTS (SELECT FROM done d WHERE d.enrollment_id = h.enrollment_id AND d.event = h.event
                              AND d.details = h.details)
    """


async def autopilot_ahead(session: AsyncSession, _ring: KeyRing | None) -> list[Difference]:
    """The next period of an enrollment ends, is paid and decided when its schedule says, unless it is being retried."""
    stages: dict[UUID, list[Stage]] = defaultdict(list)
    for version in await fetch_all(session, _VERSIONS):
        schedule = Schedule(version.frequency, version.anchor, version.pay_days_after)
        stages[version.enrollment_id].append(Stage(version.from_period, schedule))
    found = []
    for row in await fetch_all(session, _ENROLLMENTS):
        expected = _next_period(stages[row.id], row.next_start)
        if expected is None:
            difference = ("next period", f"from {row.next_start}", "a period of its schedule")
            found.append(Difference("autopilot", row.id, *difference))
            continue
        pairs: list[tuple[str, Any, Any]] = [
            ("next period ends", row.next_end, expected.end),
            ("next pay date", row.next_pay_date, expected.pay_date),
        ]
        # One that is active has a moment, and no other.
        if row.generate_at is not None and row.mend_by is None:
            pairs.append(("decided at", _utc(row.generate_at), _utc(expected.generate_at)))
        elif row.generate_at is not None and row.generate_at > row.updated_at + TRY_AGAIN:
            latest = f"by {_utc(row.updated_at + TRY_AGAIN)}"
            pairs.append(("tried again at", _utc(row.generate_at), latest))
        found += [
            Difference("autopilot", row.id, what, str(recorded), str(proved))
            for what, recorded, proved in pairs
            if recorded != proved
        ]
    return found


def _next_period(stages: list[Stage], start: datetime.date) -> AutopilotPeriod | None:
    try:
        return stages[stage_of(stages, start)].schedule.period(start)
    except ValueError:
        return None


def _utc(at: datetime.datetime) -> datetime.datetime:
    return at.astimezone(datetime.UTC)
