"""A bank that sends back whatever a test tells it to, and a look at all that is open afterwards."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import psycopg

from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.returns import AccountCorrection, Change, Rejection, build_returns
from hearthpay.database.session import Database
from hearthpay.doctor.examination import examine
from hearthpay.doctor.exposure import open_cases
from hearthpay.doctor.reconciliation import reconcile
from tests.worlds.town import Town, rows

_SENT = (
    "SELECT e.trace_number, f.name FROM bank_entries e JOIN bank_files f ON f.id = e.file_id "
    "WHERE e.payroll_id = %s AND e.kind = %s AND e.status IN ('sent', 'settled') AND (%s::uuid IS NULL "
    "OR e.employee_id = %s::uuid) ORDER BY e.attempt DESC, e.id LIMIT 1"
)


def send_back(
    town: Town,
    owner: psycopg.Connection,
    payroll_id: str,
    kind: str,
    code: str,
    employee_id: str | None = None,
    *,
    account: str = "1234500077",
) -> None:
    """Leave a file at the bank that returns the payroll's latest entry of this kind, or corrects its account."""
    [(trace, name)] = rows(owner, _SENT, payroll_id, kind, employee_id, employee_id)
    answer_entry(town, trace, name, code, account=account)


def send_back_payout(town: Town, owner: psycopg.Connection, employee_id: str, code: str) -> None:
    """Leave a file at the bank that returns the payout of an employee's set-aside."""
    query = (
        "SELECT e.trace_number, f.name FROM bank_entries e JOIN bank_files f ON f.id = e.file_id "
        "WHERE e.kind = 'payout' AND e.employee_id = %s"
    )
    [(trace, name)] = rows(owner, query, employee_id)
    answer_entry(town, trace, name, code)


def answer_entry(town: Town, trace: str, name: str, code: str, *, account: str = "1234500077") -> None:
    sent = parse_nacha((town.outbox / "outbox" / name).read_bytes())
    answer: Rejection | Change = Rejection(trace, code)
    if code.startswith("C"):
        answer = Change(trace, code, AccountCorrection(routing=None, account=account, account_type=None))
    content = build_returns(sent, [answer], created_at=town.clock.now())
    (town.outbox / "inbox" / f"{code}-of-{trace}-{town.clock.now():%m%d%H%M}.ach").write_bytes(content)


def money_of(owner: psycopg.Connection, payroll_id: str) -> list[str]:
    """What became of a payroll's money, in the order in which it was set on its way."""
    query = "SELECT kind || ' ' || status FROM bank_entries WHERE payroll_id = %s ORDER BY created_at, id"
    return [each for (each,) in rows(owner, query, payroll_id)]


async def open_kinds(owner: Database, town: Town, payroll_id: str | None = None) -> Counter[str]:
    """The cases of the register, after holding doctor and reconciliation against it: both know exactly these."""
    async with owner.transaction(None) as session:
        cases = await open_cases(session, town.clock.now())
        found = await examine(session, town.clock.now(), lambda *_: None)
        reconciled = await reconcile(session, town.ring, town.clock.now())
    assert all(case.amount > 0 and case.state and case.next_step for case in cases)
    expected = Counter((case.kind, case.id) for case in cases)
    told = {result.name: result for result in found if result.found}
    assert set(told) <= {"open_money"}, {name: result.differences for name, result in told.items()}
    by_doctor = told["open_money"].differences if cases else ()
    assert Counter((each.what.split()[0], each.id) for each in by_doctor) == expected
    assert reconciled.wrong == ()
    assert Counter((each.check, each.subject_id) for each in reconciled.findings) == expected
    mine = [case for case in cases if payroll_id is None or case.payroll_id in (None, UUID(payroll_id))]
    return Counter(case.kind for case in mine)


def possible(detail: dict[str, Any]) -> list[str]:
    """What the answer says can be done: actions of the payroll, remedies of its paychecks."""
    remedies = {remedy for employee in detail["employees"] for remedy in employee.get("remedies", ())}
    return sorted({*detail["actions"], *remedies})
