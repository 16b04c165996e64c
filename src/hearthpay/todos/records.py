"""The to-dos that are found in records alone: payrolls, bank accounts, rates, and what employees have to enter.

One statement finds them for all requested households, however many there are.
"""

import datetime
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import (
    ASSIGNED_RATES,
    AUTOPILOT_ENROLLMENTS,
    AUTOPILOT_PERIODS,
    BANK_ACCOUNTS,
    EMPLOYEE_LINKS,
    EMPLOYEES,
    EMPLOYERS,
    INVITATIONS,
    PAYCHECKS,
    PAYROLLS,
    STANDING_AUTHORIZATIONS,
    STATE_REGISTRATIONS,
    VAULT_ENDINGS,
    WAITING_ACCOUNTS,
)
from hearthpay.database.session import planned_once
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.todos.to_do import SubjectType, ToDo, ToDoKind

_HANDED_OVER_WITHIN: Final = 31
"""Days before its payday from which a check is listed."""

_RATES: Final = Path(__file__).with_name("assigned_rates.toml")

_PAGES: Final[Mapping[ToDoKind, str]] = {
    "authorize_autopilot": "/autopilot/{place}/agree",
    "enter_rate": "/state-accounts/{place}/rate",
    "account_failed": "/bank",
    "ein_missing": "/state-accounts",
    "pay_rate_missing": "/employees/{employee}",
    "account_needs_word": "/employees/{employee}/account",
    "account_to_confirm": "/employees/{employee}/invitations",
    "new_link_asked": "/employees/{employee}/invitations",
    "tax_info_missing": "/employees/{employee}/invitations",
    "tax_info_asked": "/employees/{employee}/invitations",
    "bank_account_asked": "/employees/{employee}/invitations",
}
"""The page for it, relative to the household's own address; the others are about a payroll."""

_BAD: Final[ToDoKind] = "payroll_held"
"""Late once its day has passed. A check whose payday has passed is taken as handed over."""

_ASKED: Final = Fragment("= ANY(CAST(:households AS uuid[]))")


class _FindRow(NamedTuple):
    employer_id: UUID
    kind: ToDoKind
    name: str | None
    day: datetime.date | None
    due_on: datetime.date | None
    amount: int | None
    payroll_id: UUID | None
    employee_id: UUID | None
    place: str | None
    """A state or an enrollment's id, where the page needs it."""


# A reference to a table brings its policies along, which cost more than its few rows: each table that several to-dos
# need is read once, at the top.
_FIND: Final = query(
    _FindRow,
    """
    WITH workers AS MATERIALIZED (
        SELECT w.id, w.employer_id, w.first_name || ' ' || w.last_name AS name, w.status, w.work_state,
               w.relationship, coalesce(w.pay_rate_cents, w.salary_cents) AS pay
          FROM {employees} w
         WHERE w.employer_id {asked}),
    invited AS MATERIALIZED (
        SELECT w.employer_id, w.id AS employee_id, w.name, i.type, i.status, i.created_at, i.expires_at,
               i.tax_number_at, i.new_link_requested_at
          FROM workers w JOIN {invitations} i ON i.employee_id = w.id),
    accounts AS MATERIALIZED (
        SELECT b.id, b.employer_id, b.status
          FROM {bank_accounts} b
         WHERE b.employer_id {asked} AND b.employee_id IS NULL AND b.status <> 'replaced'),
    held AS MATERIALIZED (
        SELECT a.payroll_id, a.send_at
          FROM {autopilot_periods} a
         WHERE a.employer_id {asked} AND a.outcome = 'scheduled' AND a.held <> '{}' AND a.confirmed_at IS NULL),
    latest AS MATERIALIZED (
        SELECT p.id, p.employer_id, p.status, p.pay_date, p.net_pay, p.handed_over_at
          FROM {payrolls} p
         WHERE p.employer_id {asked}
           AND (p.pay_date >= CAST(:today AS date) OR p.id = ANY(ARRAY(SELECT payroll_id FROM held)))),
    rates AS MATERIALIZED (
        SELECT r.employer_id, r.state, r.tax_year
          FROM {assigned_rates} r
         WHERE r.employer_id {asked} AND r.tax_year <= :year)
    SELECT p.employer_id, 'payroll_held' AS kind, CAST(NULL AS text) AS name, p.pay_date AS day,
           (a.send_at AT TIME ZONE 'America/New_York')::date AS due_on, p.net_pay AS amount, p.id AS payroll_id,
           CAST(NULL AS uuid) AS employee_id, CAST(NULL AS text) AS place
      FROM held a JOIN latest p ON p.id = a.payroll_id
    UNION ALL
    SELECT p.employer_id, 'check_to_hand_over', w.name, p.pay_date, p.pay_date, c.net_pay, p.id, w.id, NULL
      FROM latest p
      JOIN {paychecks} c ON c.payroll_id = p.id
      JOIN workers w ON w.id = c.employee_id
     WHERE p.status = 'completed' AND p.pay_date >= CAST(:today AS date)
       AND p.handed_over_at IS NULL
       AND p.pay_date < CAST(:today AS date) + CAST(:handed_over_within AS int)
       AND c.payment_method IN ('check', 'cash') AND c.net_pay > 0
       AND c.reverses IS NULL AND NOT EXISTS (SELECT FROM {paychecks} r WHERE r.reverses = c.id)
    UNION ALL
    SELECT w.employer_id, 'authorize_autopilot', w.name, t.next_pay_date, NULL, NULL, NULL, w.id, CAST(t.id AS text)
      FROM {enrollments} t JOIN workers w ON w.id = t.employee_id
     WHERE t.employer_id {asked} AND t.status = 'active'
       AND EXISTS (SELECT FROM accounts b WHERE b.employer_id = t.employer_id)
       AND NOT EXISTS (SELECT FROM {standing_authorizations} z JOIN accounts b ON b.id = z.bank_account_id
                        WHERE z.enrollment_id = t.id AND z.ended_at IS NULL)
    UNION ALL
    SELECT b.employer_id, 'account_failed', NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM accounts b
     WHERE b.status = 'failed'
    UNION ALL
    SELECT w.employer_id, 'account_needs_word', w.name, NULL, NULL, NULL, NULL, w.id, NULL
      FROM workers w JOIN {waiting_accounts} c ON c.employee_id = w.id
    UNION ALL
    SELECT w.employer_id, 'account_to_confirm', w.name, NULL, NULL, NULL, NULL, w.id, NULL
      FROM workers w JOIN {employee_links} l ON l.employee_id = w.id
     WHERE l.awaits_household AND l.ended_at IS NULL
    UNION ALL
    SELECT i.employer_id, 'new_link_asked', i.name,
           (max(i.new_link_requested_at) AT TIME ZONE 'America/New_York')::date, NULL, NULL, NULL, i.employee_id, NULL
      FROM invited i
     WHERE i.new_link_requested_at > CAST(:now AS timestamptz) - interval '30 days'
       AND NOT EXISTS (SELECT FROM invited n WHERE n.employee_id = i.employee_id AND n.type = i.type
                          AND n.created_at > i.new_link_requested_at)
     GROUP BY i.employer_id, i.name, i.employee_id
    UNION ALL
    SELECT w.employer_id, 'pay_rate_missing', w.name, NULL, NULL, NULL, NULL, w.id, NULL
      FROM workers w
     WHERE w.status = 'active' AND w.pay IS NULL
    UNION ALL
    SELECT w.employer_id, 'tax_info_missing', w.name, NULL, NULL, NULL, NULL, w.id, NULL
      FROM workers w
     WHERE w.status = 'active'
       AND NOT EXISTS (SELECT FROM {vault_endings} v
                        WHERE v.owner_kind = 'employee' AND v.owner_id = w.id AND v.kind IN ('ssn', 'itin'))
       AND NOT EXISTS (SELECT FROM invited i WHERE i.employee_id = w.id AND i.type = 'tax_info'
                          AND i.status = 'pending' AND i.expires_at > :now)
    UNION ALL
    SELECT i.employer_id, i.type || '_asked', i.name,
           (i.created_at AT TIME ZONE 'America/New_York')::date, NULL, NULL, NULL, i.employee_id, NULL
      FROM invited i
     WHERE i.status = 'pending' AND i.expires_at > :now AND i.tax_number_at IS NULL
    UNION ALL
    SELECT w.employer_id, 'enter_rate', NULL, NULL, CAST(:rate_by AS date), NULL, NULL, NULL, w.work_state
      FROM (SELECT DISTINCT employer_id, work_state FROM workers
             WHERE status = 'active' AND relationship = 'none') w
     WHERE NOT EXISTS (SELECT FROM rates r WHERE r.employer_id = w.employer_id
                          AND r.state = w.work_state AND r.tax_year = :year)
       AND (EXISTS (SELECT FROM rates r WHERE r.employer_id = w.employer_id
                       AND r.state = w.work_state AND r.tax_year < :year)
            OR EXISTS (SELECT FROM {state_registrations} g
                         JOIN {vault_endings} v ON v.owner_kind = 'registration' AND v.owner_id = g.id
                        WHERE g.employer_id = w.employer_id AND g.state = w.work_state)
           AND EXISTS (SELECT FROM {payrolls} p WHERE p.employer_id = w.employer_id AND p.status = 'completed'
                          AND p.pay_date < make_date(:year - :new_employer_years + 1, 1, 1)))
    UNION ALL
    SELECT h.id, 'ein_missing', NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM {employers} h CROSS JOIN LATERAL (SELECT FROM {payrolls} p WHERE p.employer_id = h.id LIMIT 1) p
     WHERE h.id {asked} AND h.ein_status = 'none'
    """,
    payrolls=PAYROLLS,
    asked=_ASKED,
    autopilot_periods=AUTOPILOT_PERIODS,
    bank_accounts=BANK_ACCOUNTS,
    waiting_accounts=WAITING_ACCOUNTS,
    employees=EMPLOYEES,
    employee_links=EMPLOYEE_LINKS,
    vault_endings=VAULT_ENDINGS,
    invitations=INVITATIONS,
    employers=EMPLOYERS,
    paychecks=PAYCHECKS,
    enrollments=AUTOPILOT_ENROLLMENTS,
    standing_authorizations=STANDING_AUTHORIZATIONS,
    state_registrations=STATE_REGISTRATIONS,
    assigned_rates=ASSIGNED_RATES,
)


class _RateTerms(NamedTuple):
    years: int
    month: int
    day: int


@functools.cache
def _rate_terms() -> _RateTerms:
    """Return when a household is asked for its assigned rate, from the file, which has the source."""
    table = RuleTable.load(_RATES)
    years, (month, day) = table.integer("years"), table.integers("rate_by")
    table.sources()
    table.confidence()
    table.close()
    return _RateTerms(years, month, day)


async def find_recorded_to_dos(
    session: AsyncSession, households: Sequence[UUID], now: datetime.datetime, today: datetime.date
) -> list[ToDo]:
    """Return the to-dos of these households that records show; the caller has checked that they may be shown."""
    rates = _rate_terms()
    values = {
        "households": list(households),
        "now": now,
        "today": today,
        "handed_over_within": _HANDED_OVER_WITHIN,
        "year": today.year,
        "rate_by": today.replace(month=rates.month, day=rates.day),
        "new_employer_years": rates.years,
    }
    async with planned_once(session):
        rows = await fetch_all(session, _FIND, values)
    return [_to_do(row, today) for row in rows]


def _to_do(row: _FindRow, today: datetime.date) -> ToDo:
    subject: SubjectType = "employer"
    subject_id = row.employer_id
    if row.payroll_id is not None:
        subject, subject_id = "payroll", row.payroll_id
    elif row.employee_id is not None:
        subject, subject_id = "employee", row.employee_id
    page = _PAGES.get(row.kind, "/payrolls/{payroll}")
    parts = [row.kind, *(str(each) for each in (row.payroll_id, row.employee_id) if each)]
    if row.kind == "enter_rate":
        parts += [row.place or "", str(today.year)]
    return ToDo(
        employer_id=row.employer_id,
        kind=row.kind,
        key="/".join(parts),
        subject_type=subject,
        subject_id=str(subject_id),
        path=page.format(payroll=row.payroll_id, employee=row.employee_id, place=row.place),
        due_on=row.due_on,
        overdue=row.kind == _BAD and row.due_on is not None and row.due_on < today,
        amount=row.amount,
        name=row.name,
        day=row.day,
        state=row.place if row.kind == "enter_rate" else None,
        period=str(today.year) if row.kind == "enter_rate" else None,
    )
