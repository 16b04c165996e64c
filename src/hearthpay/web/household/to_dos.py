"""The to-dos of households: missing numbers and rates, payrolls on hold, money that is stuck.

One statement finds them for all requested households, however many there are; amounts aren't queried.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import (
    AUTOPILOT_PERIODS,
    BANK_ACCOUNTS,
    BANK_ENTRIES,
    EMPLOYEE_LINKS,
    EMPLOYEES,
    EMPLOYERS,
    INVITATIONS,
    PAYROLLS,
    VAULT_ENDINGS,
    WAITING_ACCOUNTS,
)
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark

WaitingKind = Literal[
    "money_stuck",
    "payroll_failed",
    "payroll_held",
    "account_failed",
    "account_needs_word",
    "account_to_confirm",
    "new_link_asked",
    "pay_rate_missing",
    "tax_info_missing",
    "tax_info_asked",
    "bank_account_asked",
    "ein_missing",
]

SENTENCES: Final[Mapping[WaitingKind, str]] = {
    "money_stuck": mark("A deposit for {day} is on hold. Choose what to do."),
    "payroll_failed": mark("The {day} payroll failed. Choose what to do next."),
    "payroll_held": mark("Approve the {day} payroll"),
    "account_failed": mark("Your bank rejected the account. Connect another one."),
    "account_needs_word": mark("{name} entered a new bank account. An owner has to agree to it."),
    "account_to_confirm": mark("{name} made an account. Confirm that it was {name}."),
    "new_link_asked": mark("{name} asks for a new link"),
    "pay_rate_missing": mark("{name} has no pay rate or salary yet."),
    "tax_info_missing": mark("Ask {name} for a Social Security number"),
    "tax_info_asked": mark("Waiting for {name}'s Social Security number, requested {day}"),
    "bank_account_asked": mark("Waiting for {name}'s bank account, requested {day}"),
    "ein_missing": mark("Add your EIN"),
}
"""The sentence for each, most urgent first."""

_PARTS: Final[Mapping[WaitingKind, str]] = {"pay_rate_missing": "", "account_needs_word": "/account"}
"""The page for it, relative to the employee's own address."""

_ORDER: Final = tuple(SENTENCES)
_FAILED_FOR: Final = 60
"""Days after its pay date for which a failed payroll is listed."""

_ASKED: Final = Fragment("= ANY(CAST(:households AS uuid[]))")


class _FindRow(NamedTuple):
    employer_id: UUID
    kind: WaitingKind
    name: str | None
    day: datetime.date | None
    payroll_id: UUID | None
    employee_id: UUID | None


_FIND: Final = query(
    _FindRow,
    """
    SELECT p.employer_id, 'money_stuck' AS kind, CAST(NULL AS text) AS name, p.pay_date AS day, p.id AS payroll_id,
           CAST(NULL AS uuid) AS employee_id
      FROM {payrolls} p
     WHERE p.employer_id {asked}
       AND EXISTS (SELECT FROM {bank_entries} e
                    WHERE e.payroll_id = p.id AND e.status = 'pending' AND e.held_reason IS NOT NULL)
    UNION ALL
    SELECT p.employer_id, 'payroll_failed', NULL, p.pay_date, p.id, NULL
      FROM {payrolls} p
     WHERE p.employer_id {asked} AND p.status = 'failed'
       AND p.pay_date > CAST(:today AS date) - CAST(:failed_for AS int)
    UNION ALL
    SELECT p.employer_id, 'payroll_held', NULL, p.pay_date, p.id, NULL
      FROM {autopilot_periods} a JOIN {payrolls} p ON p.id = a.payroll_id
     WHERE p.employer_id {asked} AND a.outcome = 'scheduled' AND a.held <> '{}' AND a.confirmed_at IS NULL
    UNION ALL
    SELECT b.employer_id, 'account_failed', NULL, NULL, NULL, NULL
      FROM {bank_accounts} b
     WHERE b.employer_id {asked} AND b.employee_id IS NULL AND b.status = 'failed'
    UNION ALL
    SELECT w.employer_id, 'account_needs_word', w.first_name || ' ' || w.last_name, NULL, NULL, w.id
      FROM {waiting_accounts} c JOIN {employees} w ON w.id = c.employee_id
     WHERE w.employer_id {asked}
    UNION ALL
    SELECT w.employer_id, 'account_to_confirm', w.first_name || ' ' || w.last_name, NULL, NULL, w.id
      FROM {employee_links} l JOIN {employees} w ON w.id = l.employee_id
     WHERE w.employer_id {asked} AND l.awaits_household AND l.ended_at IS NULL
    UNION ALL
    SELECT w.employer_id, 'new_link_asked', w.first_name || ' ' || w.last_name,
           (max(i.new_link_requested_at) AT TIME ZONE 'America/New_York')::date, NULL, w.id
      FROM {invitations} i JOIN {employees} w ON w.id = i.employee_id
     WHERE w.employer_id {asked} AND i.new_link_requested_at > CAST(:now AS timestamptz) - interval '30 days'
       AND NOT EXISTS (SELECT FROM {invitations} n WHERE n.employee_id = i.employee_id AND n.type = i.type
                          AND n.created_at > i.new_link_requested_at)
     GROUP BY w.employer_id, w.first_name, w.last_name, w.id
    UNION ALL
    SELECT w.employer_id, 'pay_rate_missing', w.first_name || ' ' || w.last_name, NULL, NULL, w.id
      FROM {employees} w
     WHERE w.employer_id {asked} AND w.status = 'active' AND coalesce(w.pay_rate_cents, w.salary_cents) IS NULL
    UNION ALL
    SELECT w.employer_id, 'tax_info_missing', w.first_name || ' ' || w.last_name, NULL, NULL, w.id
      FROM {employees} w
     WHERE w.employer_id {asked} AND w.status = 'active'
       AND NOT EXISTS (SELECT FROM {vault_endings} v
                        WHERE v.owner_kind = 'employee' AND v.owner_id = w.id AND v.kind IN ('ssn', 'itin'))
       AND NOT EXISTS (SELECT FROM {invitations} i WHERE i.employee_id = w.id AND i.type = 'tax_info'
                          AND i.status = 'pending' AND i.expires_at > :now)
    UNION ALL
    SELECT w.employer_id, i.type || '_asked', w.first_name || ' ' || w.last_name,
           (i.created_at AT TIME ZONE 'America/New_York')::date, NULL, w.id
      FROM {invitations} i JOIN {employees} w ON w.id = i.employee_id
     WHERE w.employer_id {asked} AND i.status = 'pending' AND i.expires_at > :now AND i.tax_number_at IS NULL
    UNION ALL
    SELECT h.id, 'ein_missing', NULL, NULL, NULL, NULL
      FROM {employers} h
     WHERE h.id {asked} AND h.ein_status = 'none' AND EXISTS (SELECT FROM {payrolls} p WHERE p.employer_id = h.id)
    """,
    payrolls=PAYROLLS,
    asked=_ASKED,
    bank_entries=BANK_ENTRIES,
    autopilot_periods=AUTOPILOT_PERIODS,
    bank_accounts=BANK_ACCOUNTS,
    waiting_accounts=WAITING_ACCOUNTS,
    employees=EMPLOYEES,
    employee_links=EMPLOYEE_LINKS,
    vault_endings=VAULT_ENDINGS,
    invitations=INVITATIONS,
    employers=EMPLOYERS,
)


@dataclass(frozen=True, slots=True)
class ToDo:
    """One to-do; `name`, `day` and the ids are set if its kind has them."""

    employer_id: UUID
    kind: WaitingKind
    name: str | None
    day: datetime.date | None
    payroll_id: UUID | None
    employee_id: UUID | None

    @property
    def way(self) -> str:
        """The page for it, relative to the household's own address."""
        if self.payroll_id is not None:
            return f"/payrolls/{self.payroll_id}"
        if self.employee_id is not None:
            part = _PARTS.get(self.kind, "/invitations")
            return f"/employees/{self.employee_id}{part}"
        return "/bank" if self.kind == "account_failed" else "/state-accounts"

    @property
    def tone(self) -> str:
        """Its appearance: `bad` if something went wrong, otherwise `waits`."""
        return "bad" if self.kind in ("money_stuck", "payroll_failed", "account_failed") else "waits"


async def find_to_dos(
    session: AsyncSession, households: Sequence[UUID], now: datetime.datetime, today: datetime.date
) -> list[ToDo]:
    """Return the to-dos of these households, most urgent first."""
    asked = {"households": list(households), "now": now, "today": today, "failed_for": _FAILED_FOR}
    rows = await fetch_all(session, _FIND, asked)
    found = [ToDo(*row) for row in rows]
    return sorted(
        found, key=lambda each: (_ORDER.index(each.kind), each.day or datetime.date.min, each.name or "")
    )
