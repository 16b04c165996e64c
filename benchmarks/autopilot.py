"""Autopilot: many enrolled, some of them due; and a sweep in which nothing is due.

The baseline of the first is the same rows, sent to the same tables by COPY as fast as one connection can. Run by
itself, since it makes many rows: `python -m benchmarks.autopilot --enrolled 50000 --due 5000`.
"""

import argparse
import asyncio
import datetime
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from benchmarks.event_loop import new_event_loop
from benchmarks.payday import stored_columns
from benchmarks.report import Aim, Row, print_table
from hearthpay.autopilot.generation import generate_due
from hearthpay.clock import FixedClock
from hearthpay.database.startup import Addresses, OpenedDatabase, open_database

NOW: Final = datetime.datetime(2026, 9, 7, 15, tzinfo=datetime.UTC)
SWEEP: Final = Aim(5.0, at_least=False)

#: What generation writes, in the order in which it can be put back.
_WRITTEN: Final = (
    "payrolls",
    "payroll_transitions",
    "payroll_entries",
    "payroll_estimates",
    "autopilot_periods",
    "autopilot_events",
    "autopilot_errands",
)

#: Households of one employee each, paid once, with ready accounts; all written at once, since none of it is measured.
_CROWD: Final = """
CREATE TEMP TABLE crowd AS SELECT gen_random_uuid() AS h, gen_random_uuid() AS e, gen_random_uuid() AS p,
       gen_random_uuid() AS n, gen_random_uuid() AS a, gen_random_uuid() AS b, gen_random_uuid() AS c, i
  FROM generate_series(1, {enrolled}) i;
INSERT INTO organizations (id, name, plan) SELECT '00000000-0000-7000-8000-000000000001', 'Crowd', 'professional';
INSERT INTO employers (id, organization_id, sandbox, first_name, last_name, email, state)
SELECT h, '00000000-0000-7000-8000-000000000001', true, 'Maria', 'Lopez', 'm@example.com', 'TX' FROM crowd;
INSERT INTO employees (id, organization_id, employer_id, sandbox, first_name, last_name, work_state, residence_state,
       pay_rate_cents, overtime_rate_cents, pay_frequency, start_date)
SELECT e, '00000000-0000-7000-8000-000000000001', h, true, 'Rosa', 'Diaz', 'TX', 'TX', 2000, 3000, 'weekly',
       '2026-01-05' FROM crowd;
INSERT INTO bank_accounts (id, organization_id, employer_id, sandbox, employee_id, account_type, last_four, status,
       verification, created_at, updated_at)
SELECT x.id, '00000000-0000-7000-8000-000000000001', h, true, x.of, 'checking', '6789', 'active', 'instant',
       '2026-01-05', '2026-01-05' FROM crowd CROSS JOIN LATERAL (VALUES (a, NULL), (b, e)) AS x(id, of);
INSERT INTO payrolls (id, organization_id, employer_id, sandbox, status, period_start, period_end, pay_date,
       pay_date_defaulted, pay_frequency, kind, rulebook_version, tax_year, gross_pay, total_deductions, net_pay,
       employer_taxes, total_cost, created_by_kind)
SELECT p, '00000000-0000-7000-8000-000000000001', h, true, 'completed', '2026-01-05', '2026-01-11', '2026-01-16', false,
       'weekly', 'regular', '2026.1', 2026, 80000, 6120, 73880, 6120, 86120, 'key' FROM crowd;
INSERT INTO paychecks (id, organization_id, employer_id, sandbox, payroll_id, employee_id, position, tax_year, period,
       payment_method, regular_hours, regular_pay, overtime_hours, overtime_pay, bonus, other_earnings, gross_pay,
       employee_taxes, employer_taxes, set_aside, set_aside_source, set_aside_balance, net_pay, total_cost,
       ytd_gross_pay, ytd_net_pay, ytd_employee_taxes, ytd_employer_taxes, employee_name, work_state, residence_state,
       warnings)
SELECT c, '00000000-0000-7000-8000-000000000001', h, true, p, e, 0, 2026, '[2026-01-05,2026-01-11]', 'check', 40, 80000,
       0, 0, 0, 0, 80000, 6120, 6120, 0, 'none', 0, 73880, 86120, 80000, 73880, 6120, 6120, 'Rosa Diaz', 'TX', 'TX',
       '[]' FROM crowd;
INSERT INTO autopilot_enrollments (id, organization_id, employer_id, sandbox, employee_id, status, first_start,
       next_start, next_end, next_pay_date, generate_at, enrolled_by_kind, enrolled_at, updated_at)
SELECT n, '00000000-0000-7000-8000-000000000001', h, true, e, 'active', d, d, d + 6, d + 11,
       CASE WHEN i <= {due} THEN '2026-09-07 14:00+00'::timestamptz ELSE '2026-10-05 14:00+00' END, 'operator',
       '2026-09-01', '2026-09-01'
  FROM crowd CROSS JOIN LATERAL (SELECT CASE WHEN i <= {due} THEN date '2026-09-07' ELSE '2026-10-05' END AS d) x;
INSERT INTO autopilot_versions (id, organization_id, employer_id, sandbox, enrollment_id, number, from_period,
       frequency, anchor, pay_days_after, standard_hours, expected_net, made_by_kind, made_at)
SELECT new_id(), organization_id, employer_id, sandbox, id, 1, first_start, 'weekly', first_start, 11, 40, 73880,
       'operator', '2026-09-01' FROM autopilot_enrollments;
INSERT INTO autopilot_authorizations (id, organization_id, employer_id, sandbox, enrollment_id, bank_account_id,
       text_version, agreed_text, authorized_by_kind, authorized_at)
SELECT new_id(), '00000000-0000-7000-8000-000000000001', h, true, n, a, '1', 'Yes.', 'operator', '2026-09-01'
  FROM crowd;
ANALYZE;
"""


async def measure(enrolled: int, due: int) -> list[Row]:
    """Make the crowd in a database of its own, and measure."""
    directory = Path(tempfile.mkdtemp(prefix="hearthpay-autopilot-"))
    try:
        async with open_database(directory, Addresses(None, None, None)) as opened:
            return await _measure(opened, enrolled, due)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


async def _measure(opened: OpenedDatabase, enrolled: int, due: int) -> list[Row]:
    clock = FixedClock(NOW)
    url = opened.owner_url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(_CROWD.format(enrolled=enrolled, due=due))
        async with opened.as_worker(2) as worker:
            began = time.monotonic()
            report = await generate_due(worker, clock, direct_deposit_enabled=True)
            seconds = time.monotonic() - began
            if report.scheduled != due:
                raise SystemExit(f"{report} instead of {due} scheduled")
            sweeps = []
            for _ in range(50):
                began = time.monotonic()
                await generate_due(worker, clock, direct_deposit_enabled=True)
                sweeps.append(1000 * (time.monotonic() - began))
        bare = _put_back(owner)
    rate, most = due / seconds, due / bare
    sweep = statistics.median(sweeps)
    return [
        Row(
            f"Autopilot: payrolls made, {due:,} due of {enrolled:,}",
            f"{rate:,.0f}/s",
            f"{most:,.0f}/s, the same rows by COPY",
            rate / most,
        ),
        Row(f"A sweep with nothing due, {enrolled:,} enrolled", f"{sweep:.2f} ms", aim=SWEEP, judged=sweep),
    ]


def _put_back(owner: psycopg.Connection) -> float:
    """Take out what was written and put it back bare; return the seconds of the latter."""
    kept = {}
    columns = {
        table: sql.SQL(", ").join(map(sql.Identifier, stored_columns(owner, table))) for table in _WRITTEN
    }
    for table in _WRITTEN:
        made = "created_by_kind = 'system'" if table == "payrolls" else "true"
        with owner.cursor().copy(
            sql.SQL("COPY (SELECT {} FROM {} WHERE {}) TO STDOUT").format(
                columns[table], sql.Identifier(table), sql.SQL(made)
            )
        ) as out:
            kept[table] = b"".join(bytes(block) for block in out)
    for table in reversed(_WRITTEN):
        made = "created_by_kind = 'system'" if table == "payrolls" else "true"
        owner.execute(sql.SQL("DELETE FROM {} WHERE {}").format(sql.Identifier(table), sql.SQL(made)))
    began = time.monotonic()
    with owner.transaction():
        for table in _WRITTEN:
            into_table = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns[table])
            with owner.cursor().copy(into_table) as into:
                into.write(kept[table])
    return time.monotonic() - began


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--enrolled", type=int, default=50_000)
    parser.add_argument("--due", type=int, default=5_000)
    requested = parser.parse_args()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        print_table(runner.run(measure(requested.enrolled, requested.due)))


if __name__ == "__main__":
    main()
