"""Whatever an integrator does between two advances of a household's clock, the books are right afterwards."""

from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.access.refusal import Refusal
from hearthpay.database.session import Database
from tests.autopilot.proving import proved
from tests.http.api import data
from tests.sandbox.households import Lab
from tests.worlds.households import payroll_of

WORKED = date(2026, 11, 16)
"""The Monday of the first week; it was paid by check before anything else happens."""

_AT_RANDOM = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}

advances = st.tuples(st.just("advance"), st.sampled_from([0, 1, 3, 6, 12, 30]))
households_accounts = st.tuples(
    st.just("account"),
    st.sampled_from(
        ["verified", "verification_pending", "debit_returned_r01", "debit_returned_r10", "disconnected"]
    ),
)
employees_accounts = st.tuples(
    st.just("deposits"), st.sampled_from(["verified", "credit_returned_r03", "corrected_c01", "disconnected"])
)
payrolls = st.tuples(st.just("pay"), st.sampled_from(["check", "direct_deposit"]))
others = st.tuples(
    st.sampled_from(["enroll", "pause", "resume", "disable", "void", "leave", "return"]), st.none()
)
sequences = st.lists(
    st.one_of(advances, advances, payrolls, payrolls, others, households_accounts, employees_accounts),
    min_size=3,
    max_size=9,
)


class Household:
    """One household of the sandbox, and what an integrator does with it; refusals change nothing and are taken."""

    def __init__(self, lab: Lab, employer_id: str, employee_id: str) -> None:
        self.lab, self.employer_id, self.employee_id = lab, employer_id, employee_id
        self.whose = {"employer_id": employer_id, "employee_id": employee_id}
        self.paid = list[str]()
        self.week = WORKED

    async def today(self) -> date:
        return date.fromisoformat((await self.lab.now(self.employer_id))["today"])

    async def do(self, what: str, how: Any) -> None:
        if what == "advance":
            to = await self.today() + timedelta(days=how)
            asked = await self.lab.caller.post(
                f"/sandbox/employers/{self.employer_id}/advance", {"to": to.isoformat()}
            )
            assert asked.status_code in (202, 400), asked.text
            await self.lab.work()
        elif what in ("account", "deposits"):
            of = f"employers/{self.employer_id}" if what == "account" else f"employees/{self.employee_id}"
            await self._send(f"/sandbox/{of}/bank-account", {"magic": how})
        elif what == "pay":
            await self._pay(how)
        elif what == "enroll":
            await self._enroll()
        elif what == "void":
            if self.paid:
                await self._send(f"/payroll/{self.paid[-1]}/void", {"reason": "a slip"})
        elif what == "leave":
            await self._send(f"/employees/{self.employee_id}/terminate", {})
        elif what == "return":
            await self._send(f"/employees/{self.employee_id}/reinstate", {})
        else:
            await self._send(f"/autopilot/{what}", self.whose)

    async def _pay(self, method: str) -> None:
        monday = self.week
        self.week += timedelta(days=7)
        body = payroll_of(
            self.employer_id,
            self.employee_id,
            pay_period_start=monday.isoformat(),
            pay_period_end=(monday + timedelta(days=6)).isoformat(),
            confirm_ach_debit=True,
        )
        del body["pay_date"]
        body["employees"][0]["payment_method"] = method
        ran = await self._send("/payroll/run", body)
        if ran is not None:
            self.paid.append(ran["payroll_id"])

    async def _enroll(self) -> None:
        monday = await self.today()
        monday -= timedelta(days=monday.weekday())
        try:
            await self.lab.enroll(self.employer_id, self.employee_id, monday.isoformat())
        except Refusal:
            return

    async def _send(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        answered = await self.lab.caller.post(path, body)
        assert answered.status_code < 500, answered.text
        return data(answered, answered.status_code) if answered.is_success else None


async def _live(
    steps: list[tuple[str, Any]], lab: Lab, owner: Database, connection: psycopg.Connection
) -> None:
    employer_id = await lab.household()
    employee_id = await lab.employee(employer_id)
    household = Household(lab, employer_id, employee_id)
    await household.do("pay", "check")
    for what, how in steps:
        before = await household.today()
        await household.do(what, how)
        now = await lab.now(employer_id)
        assert now["status"] == "ready"
        assert date.fromisoformat(now["today"]) >= before
    await household.do("advance", 30)
    # Wages of somebody whose account is gone wait for what a person decides.
    await proved(owner, lab.clock, whole=True, settled=False)
    pending = connection.execute(
        "SELECT count(*) FROM payrolls WHERE employer_id = %s AND pay_date < %s "
        "AND status NOT IN ('completed', 'failed', 'voided')",
        (employer_id, await household.today() - timedelta(days=10)),
    ).fetchone()
    assert pending == (0,)


@settings(max_examples=2, **_AT_RANDOM)
@given(steps=sequences)
async def test_the_books_are_right_after_any_sequence(
    steps: list[tuple[str, Any]], lab: Lab, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await _live(steps, lab, owner_database, owner_connection)


@pytest.mark.long
@pytest.mark.timeout(3_000)
@settings(max_examples=150, **_AT_RANDOM)
@given(steps=sequences)
async def test_the_books_are_right_after_any_sequence_for_long(
    steps: list[tuple[str, Any]], lab: Lab, owner_database: Database, owner_connection: psycopg.Connection
) -> None:
    await _live(steps, lab, owner_database, owner_connection)
