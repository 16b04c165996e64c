"""Laws of Autopilot: its periods are consecutive, each was decided once, and the history explains every one.

Like those of `checks`: a docstring is a law, its query returns one row for each difference. Laws that depend on the
bank calendar, which no query knows, are proofs.
"""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.calendar import banking_day_on_or_before, send_at
from hearthpay.database.household_clocks import time_of
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.doctor.difference import Difference
from hearthpay.security.key_ring import KeyRing

_IN_FORCE: Final = """
    (SELECT v.number FROM autopilot_versions v WHERE v.enrollment_id = {enrollment} AND v.from_period <= {start}
      ORDER BY v.from_period DESC, v.number DESC LIMIT 1)
"""
_LAST_DAY: Final = """
    CASE v.frequency WHEN 'weekly' THEN {start} + 6 WHEN 'biweekly' THEN {start} + 13
         WHEN 'semimonthly' THEN CASE extract(day FROM {start}) WHEN 1 THEN {start} + 14 ELSE
              (date_trunc('month', {start}) + interval '1 month' - interval '1 day')::date END
         ELSE (date_trunc('month', {start}) + interval '1 month' - interval '1 day')::date END
"""
_BEGINS: Final = """
    CASE v.frequency WHEN 'weekly' THEN ({start} - v.anchor) % 7 = 0 WHEN 'biweekly' THEN ({start} - v.anchor) % 14 = 0
         WHEN 'semimonthly' THEN extract(day FROM {start}) IN (1, 16) ELSE extract(day FROM {start}) = 1 END
"""


def autopilot_periods() -> str:
    """The periods of an enrollment follow each other, from its first to its next, without a gap or an overlap."""
    return """
        SELECT 'autopilot' AS subject, id, 'a period begins' AS what, start::text AS recorded, expected::text
          FROM (SELECT g.enrollment_id AS id, g.period_start AS start,
                       coalesce(lag(g.period_end) OVER w + 1, e.first_start) AS expected
                  FROM autopilot_periods g JOIN autopilot_enrollments e ON e.id = g.enrollment_id
                WINDOW w AS (PARTITION BY g.enrollment_id ORDER BY g.period_start)
                UNION ALL
                SELECT e.id, e.next_start, coalesce(max(g.period_end) + 1, e.first_start)
                  FROM autopilot_enrollments e LEFT JOIN autopilot_periods g ON g.enrollment_id = e.id
                 GROUP BY e.id) d
         WHERE start <> expected
    """


def autopilot_schedules() -> str:
    """Every period, including the next one, belongs to the schedule that is enrolled for it."""
    every = f"""
        SELECT enrollment_id, period_start AS start, period_end AS until, version FROM autopilot_periods
        UNION ALL SELECT e.id, e.next_start, e.next_end, {_IN_FORCE.format(enrollment="e.id", start="e.next_start")}
          FROM autopilot_enrollments e
    """
    return f"""
        SELECT 'autopilot' AS subject, g.enrollment_id AS id, 'the period from ' || g.start AS what,
               'until ' || g.until || ', version ' || g.version AS recorded,
               'until ' || {_LAST_DAY.format(start="g.start")} || ', version '
               || {_IN_FORCE.format(enrollment="g.enrollment_id", start="g.start")}
               || CASE WHEN {_BEGINS.format(start="g.start")} THEN '' ELSE ', beginning on another day' END AS expected
          FROM ({every}) g
          JOIN autopilot_versions v ON v.enrollment_id = g.enrollment_id AND v.number = g.version
         WHERE g.until <> {_LAST_DAY.format(start="g.start")} OR NOT {_BEGINS.format(start="g.start")}
            OR g.version <> {_IN_FORCE.format(enrollment="g.enrollment_id", start="g.start")}
    """


def autopilot_payrolls() -> str:
    """An Autopilot payroll pays its employee the enrolled hours of its period, and its status agrees with the
    period's.
    """
    return """
        SELECT 'payroll' AS subject, g.payroll_id AS id, 'of Autopilot, for ' || g.period_start AS what,
               concat_ws(', ', g.outcome, n.entries || ' entries', n.employees, n.periods, n.hours, n.methods,
                         p.pay_date) AS recorded,
               concat_ws(', ', s.outcome, '1 entries', g.employee_id,
                         daterange(g.period_start, g.period_end, '[]'), v.standard_hours, 'direct_deposit',
                         g.pay_date) AS expected
          FROM autopilot_periods g JOIN payrolls p ON p.id = g.payroll_id
          JOIN autopilot_versions v ON v.enrollment_id = g.enrollment_id AND v.number = g.version
         CROSS JOIN LATERAL (SELECT CASE WHEN p.status IN ('firing', 'pending_funding', 'processing') THEN 'fired'
                                         WHEN p.status = 'completed' THEN 'paid' ELSE p.status END AS outcome) s
         CROSS JOIN LATERAL (
               SELECT count(*) AS entries, string_agg(e.employee_id::text, ' ') AS employees,
                      string_agg(e.period::text, ' ') AS periods, sum(e.regular_hours) AS hours,
                      string_agg(e.payment_method, ' ') AS methods, sum(e.overtime_hours + e.bonus + e.other_earnings)
                      AS more FROM payroll_entries e WHERE e.payroll_id = g.payroll_id) n
         WHERE g.outcome <> s.outcome OR n.entries <> 1 OR n.employees <> g.employee_id::text OR n.more <> 0
            OR n.periods <> daterange(g.period_start, g.period_end, '[]')::text OR n.hours <> v.standard_hours
            OR n.methods <> 'direct_deposit' OR g.pay_date NOT IN (p.pay_date, coalesce(p.pay_date_asked, p.pay_date))
            OR p.created_by_kind <> 'system'
    """


def autopilot_by_hand() -> str:
    """Autopilot passed over a period only if another payroll had paid hours of it."""
    return """
        SELECT 'autopilot' AS subject, g.enrollment_id AS id, 'the period from ' || g.period_start AS what,
               'stepped over for ' || h AS recorded, 'hours or a salary that were paid' AS expected
          FROM autopilot_periods g CROSS JOIN LATERAL unnest(g.by_hand) h
         WHERE NOT EXISTS (SELECT FROM payroll_entries e WHERE e.payroll_id = h AND e.employee_id = g.employee_id
                              AND (e.regular_hours + e.overtime_hours > 0 OR e.salary IS NOT NULL)
                              AND e.period && daterange(g.period_start, g.period_end, '[]'))
    """


def autopilot_history() -> str:
    """The history has one line for each payroll that was generated, sent or failed, and one that explains each gap."""
    return """
        SELECT 'autopilot' AS subject, d.enrollment_id AS id,
               'lines that explain ' || d.outcome || ' from ' || d.period_start AS what, d.lines AS recorded,
               d.expected AS expected
          FROM (SELECT g.enrollment_id, g.outcome, g.period_start,
                       concat_ws(', ', 'made ' || l.made, 'sent ' || l.sent, 'failed ' || l.failed,
                                 'explained ' || (l.why > 0)) AS lines,
                       concat_ws(', ', 'made ' || (g.payroll_id IS NOT NULL)::int, 'sent ' || t.sent,
                                 'failed ' || t.failed,
                                 'explained ' || (g.outcome IN ('skipped', 'paused', 'by_hand', 'ineligible',
                                                                'voided'))) AS expected
                  FROM autopilot_periods g
                 CROSS JOIN LATERAL (
                       SELECT count(*) FILTER (WHERE h.event = 'generate'
                                               AND h.details ->> 'payroll_id' = g.payroll_id::text) AS made,
                              count(*) FILTER (WHERE h.event = 'fire'
                                               AND h.details ->> 'payroll_id' = g.payroll_id::text) AS sent,
                              count(*) FILTER (WHERE h.event = 'fail'
                                               AND h.details ->> 'payroll_id' = g.payroll_id::text) AS failed,
                              count(*) FILTER (WHERE CASE g.outcome
                                  WHEN 'voided' THEN h.event IN ('skip', 'disable')
                                       AND h.details -> 'voided' @> to_jsonb(ARRAY[g.payroll_id::text])
                                  WHEN 'paused' THEN h.event = 'resume' AND h.details -> 'not_paid'
                                       @> jsonb_build_array(jsonb_build_object('start', g.period_start::text))
                                  WHEN 'skipped' THEN h.event = 'skip' AND h.details ->> 'period_start'
                                       = g.period_start::text OR h.event = 'resume' AND h.details -> 'not_paid'
                                       @> jsonb_build_array(jsonb_build_object('start', g.period_start::text))
                                  WHEN 'by_hand' THEN h.event = 'skip'
                                       AND h.details ->> 'period_start' = g.period_start::text
                                  WHEN 'ineligible' THEN h.event = 'fail'
                                       AND h.details ->> 'period_start' = g.period_start::text
                                  ELSE false END) AS why
                         FROM autopilot_events h WHERE h.enrollment_id = g.enrollment_id) l
                 CROSS JOIN LATERAL (
                       SELECT count(*) FILTER (WHERE s.to_status = 'pending_funding') AS sent,
                              count(*) FILTER (WHERE s.to_status = 'failed') AS failed
                         FROM payroll_transitions s WHERE s.payroll_id = g.payroll_id) t) d
         WHERE d.lines <> d.expected
    """


def autopilot_gaps() -> str:
    """A period is skipped only if somebody had asked for it by then, and paused only if the enrollment was paused."""
    return """
        SELECT 'autopilot' AS subject, g.enrollment_id AS id, 'the period from ' || g.period_start AS what,
               g.outcome AS recorded, 'asked for by ' || g.decided_at AS expected
          FROM autopilot_periods g
         WHERE g.outcome = 'skipped' AND NOT EXISTS (
                   SELECT FROM autopilot_events h WHERE h.enrollment_id = g.enrollment_id AND h.event = 'skip'
                      AND h.source <> 'system' AND h.at <= g.decided_at
                      AND CAST(h.details ->> 'through' AS date) >= g.period_start)
            OR g.outcome = 'paused' AND 'pause' IS DISTINCT FROM (
                   SELECT h.event FROM autopilot_events h WHERE h.enrollment_id = g.enrollment_id
                      AND h.event IN ('pause', 'resume') AND h.at <= g.decided_at
                      AND h.id < (SELECT r.id FROM autopilot_events r WHERE r.enrollment_id = g.enrollment_id
                                     AND r.event = 'resume' AND r.at = g.decided_at ORDER BY r.id LIMIT 1)
                    ORDER BY h.id DESC LIMIT 1)
    """


def autopilot_told() -> str:
    """The household is notified of every Autopilot debit: its notice is written, or queued for the worker."""
    return """
        SELECT 'payroll' AS subject, g.payroll_id AS id, 'notice of the debit' AS what, 'none' AS recorded,
               'written by ' || s.at AS expected
          FROM autopilot_periods g
          JOIN payroll_transitions s ON s.payroll_id = g.payroll_id AND s.to_status = 'pending_funding'
         WHERE NOT EXISTS (SELECT FROM mail_outbox m
                            WHERE m.payroll_id = g.payroll_id AND m.kind = 'notice.autopilot_debit_tomorrow')
           AND NOT EXISTS (SELECT FROM autopilot_errands x WHERE x.enrollment_id = g.enrollment_id
                              AND x.payroll_id = g.payroll_id AND x.kind = 'debit_tomorrow')
    """


def autopilot_standing() -> str:
    """An enrollment's state is that of the last line of its history; once ended, it has no pending payroll and no
    authorization in force.
    """
    return """
        SELECT 'autopilot' AS subject, d.id, 'standing' AS what, d.recorded, d.expected
          FROM (SELECT e.id, e.status || ', ' || a.in_force || ' authorizations, '
                       || CASE WHEN e.status = 'disabled' THEN w.waiting ELSE 0 END || ' payrolls waiting' AS recorded,
                       CASE h.event WHEN 'pause' THEN 'paused' WHEN 'disable' THEN 'disabled' ELSE 'active' END
                       || ', ' || CASE h.event WHEN 'disable' THEN 0 ELSE 1 END
                       || ' authorizations, 0 payrolls waiting' AS expected
                  FROM autopilot_enrollments e
                  LEFT JOIN LATERAL (SELECT event FROM autopilot_events v WHERE v.enrollment_id = e.id
                                        AND v.event IN ('pause', 'resume', 'disable')
                                      ORDER BY v.id DESC LIMIT 1) h ON true
                 CROSS JOIN LATERAL (SELECT count(*) AS in_force FROM autopilot_authorizations z
                                      WHERE z.enrollment_id = e.id AND (z.ended_at IS NULL
                                            OR e.status <> 'disabled' AND z.revoked_at IS NOT NULL AND NOT EXISTS (
                                               SELECT FROM autopilot_authorizations l WHERE l.enrollment_id = e.id
                                                  AND l.id > z.id))) a
                 CROSS JOIN LATERAL (SELECT count(*) AS waiting FROM autopilot_periods g
                                      WHERE g.enrollment_id = e.id AND g.outcome = 'scheduled') w) d
         WHERE d.recorded <> d.expected
    """


def autopilot_overdue() -> str:
    """No enrollment waits more than an hour after its time to be decided, and no notice after its own."""
    now = time_of(Fragment("d.employer_id"), Fragment("CAST(:now AS timestamptz)"))
    return f"""
        SELECT 'autopilot' AS subject, d.id, d.what, d.due::text AS recorded,
               'done by ' || {now} AS expected
          FROM (SELECT employer_id, id, 'the period from ' || next_start AS what, generate_at AS due
                  FROM autopilot_enrollments WHERE status = 'active'
                UNION ALL SELECT employer_id, enrollment_id, 'told of: ' || kind, due_at FROM autopilot_errands) d
         WHERE d.due < {now} - interval '1 hour'
    """


class _DaysRow(NamedTuple):
    id: UUID
    period_start: datetime.date
    pay_date: datetime.date
    send_at: datetime.datetime


_DAYS: Final = query(
    _DaysRow,
    "SELECT enrollment_id AS id, period_start, pay_date, send_at FROM autopilot_periods ORDER BY enrollment_id, 2",
)


async def autopilot_pay_days(session: AsyncSession, _ring: KeyRing | None) -> list[Difference]:
    """Autopilot pays on business days, and sends the money at 15:00 Eastern five of them earlier."""
    found = []
    for row in await fetch_all(session, _DAYS):
        day = banking_day_on_or_before(row.pay_date)
        expected = (day, send_at(day))
        if (row.pay_date, row.send_at) != expected:
            recorded = f"{row.pay_date}, sent {row.send_at}"
            what = f"the period from {row.period_start}"
            found.append(
                Difference("autopilot", row.id, what, recorded, f"{expected[0]}, sent {expected[1]}")
            )
    return found
