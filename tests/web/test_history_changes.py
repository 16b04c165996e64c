"""The history tells what changed with the value before and the value after, in words, never in codes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.database.audit import AuditEntry
from hearthpay.database.session import Database
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.service import update_employee
from hearthpay.employers.assigned_rates import assign_sui_rate
from hearthpay.employers.service import find_employer
from hearthpay.insurance.service import PolicyDetails, keep_policy
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.commands import EnterPriorWages
from hearthpay.payroll.years.prior_wages import enter_prior_wages
from hearthpay.people.sessions import SignedIn
from hearthpay.web.settings.history_changes import changes_of
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


def _entry(action: str, **details: Any) -> AuditEntry:
    return AuditEntry(
        uuid4(),
        datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC),
        uuid4(),
        "Lopez",
        None,
        None,
        "user",
        None,
        action,
        None,
        None,
        details,
    )


def _told(entry: AuditEntry, language: str = "en", whose: str | None = "Ana Diaz") -> list[str]:
    return [each.sentence for each in changes_of(say_in(language), language, entry, "Maria", whose)]


_SIDES: list[tuple[AuditEntry, list[str]]] = [
    (
        _entry("employee.update", before={}, after={}, metadata={"set": ["crm_id"], "removed": []}),
        ["Maria changed Ana Diaz's metadata"],
    ),
    (
        _entry("employee.update", before={"pay_rate": "25.00"}, after={"pay_rate": "27.00"}),
        ["Maria changed Ana Diaz's hourly pay from $25.00 to $27.00"],
    ),
    (
        _entry(
            "employee.update",
            before={"payment_method": "check", "pay_frequency": "weekly"},
            after={"payment_method": "direct_deposit", "pay_frequency": "biweekly"},
        ),
        [
            "Maria changed Ana Diaz's pay frequency from every week to every two weeks",
            "Maria changed Ana Diaz's payment method from check to direct deposit",
        ],
    ),
    (
        _entry("employee.update", before={"overtime_rate": None}, after={"overtime_rate": "40"}),
        ["Maria set Ana Diaz's overtime pay rate to $40.00"],
    ),
    (
        _entry("employee.update", before={"end_date": "2026-12-01"}, after={"end_date": None}),
        ["Maria removed Ana Diaz's last day, which was Dec 1, 2026"],
    ),
    (
        _entry("employee.update", before={"address": {"city": "A"}}, after={"address": {"city": "B"}}),
        ["Maria changed Ana Diaz's mailing address"],
    ),
    (_entry("employee.update", before={"setup_question": 2}, after={"setup_question": 3}), []),
    (
        _entry(
            "employee.update",
            before={"federal_withholding": {"filing_status": "single", "step_2": True}},
            after={"federal_withholding": {"filing_status": "head_of_household", "step_2": True}},
        ),
        [
            "Maria changed Ana Diaz's filing status from single, or married filing separately to head of household"
        ],
    ),
    (
        _entry(
            "certificate.sign",
            jurisdiction="US",
            before={"filing_status": "single"},
            after={"filing_status": "married"},
        ),
        [
            (
                "Maria changed Ana Diaz's filing status from single, or married filing separately to married filing "
                "jointly, or surviving spouse"
            )
        ],
    ),
    (
        _entry("certificate.sign", jurisdiction="US", before={"step_3": "1"}, after={"step_3": "2"}),
        ["Maria changed Ana Diaz's Form W-4"],
    ),
    (
        _entry("escrow.set_rule", before=None, after={"rate": "0.05"}),
        ["Maria set Ana Diaz's share to set aside to 5%"],
    ),
    (
        _entry("payroll.move_pay_date", pay_date={"before": "2026-12-31", "after": "2027-01-04"}),
        ["Maria changed Ana Diaz's payday from Dec 31, 2026 to Jan 4, 2027"],
    ),
    (
        _entry("payroll.void", status={"before": "scheduled", "after": "voided"}),
        ["Maria changed Ana Diaz's status from scheduled to voided"],
    ),
    (
        _entry(
            "employer.update",
            threshold_basis={"before": "assume_crossed", "after": "as_paid", "since": 2027},
        ),
        ["Maria changed Ana Diaz's start of taxes with a threshold from the first dollar to the threshold"],
    ),
    (
        _entry("duty.filing", account="income_tax", before=None, after="monthly_early"),
        ["Maria set Ana Diaz's filing frequency to every month, by the 20th"],
    ),
    (_entry("payroll.run"), []),
]


@pytest.mark.parametrize(("entry", "sentences"), _SIDES, ids=[entry.action for entry, _ in _SIDES])
def test_both_sides_of_a_change_are_told_in_words(entry: AuditEntry, sentences: list[str]) -> None:
    assert _told(entry) == sentences


def test_a_change_of_no_persons_setting_and_in_spanish() -> None:
    change = _entry("employer.assign_sui_rate", before={"sui_rate": "0.0270"}, after={"sui_rate": "0.034"})
    assert _told(change, whose=None) == ["Maria changed the unemployment tax rate from 2.7% to 3.4%"]
    assert _told(change, "es", None) == [
        "Maria cambió “tasa del impuesto de desempleo”: antes 2.7%, ahora 3.4%"
    ]


async def test_frequent_changes_store_both_sides_and_the_history_tells_them(
    app: FastAPI,
    people: dict[str, SignedIn],
    owner_database: Database,
    owner_connection: psycopg.Connection,
    clock: FixedClock,
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    household, employee = world.household_id, world.employee_id
    for rate in ("0.027", "0.034"):
        async with owner_database.transaction(None) as session:
            await assign_sui_rate(session, household, tax_year=2026, state="CA", rate=Decimal(rate))
    for carrier, ends_on in (("Oak Mutual", "2026-12-31"), ("Elm Mutual", "2027-12-31")):
        policy = PolicyDetails(
            state="CA",
            kind="workers_compensation",
            carrier=carrier,
            policy_number="P-1234",
            starts_on=datetime.date(2026, 1, 1),
            ends_on=datetime.date.fromisoformat(ends_on),
        )
        async with world.people_context.database.transaction(world.actor.tenant) as session:
            employer = await find_employer(session, world.actor, household)
            await keep_policy(session, world.actor, clock, employer, policy)
    for gross in (120_000, 150_000):
        earlier = EnterPriorWages(
            tax_year=2026, source="other", as_of=datetime.date(2026, 3, 31), gross_pay=gross, lines=()
        )
        async with world.people_context.database.transaction(world.actor.tenant) as session:
            await enter_prior_wages(session, world.actor, clock, employee, earlier)
    change = ChangeEmployee(payment_method="cash", usual_weekly_hours=Decimal(30))
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(session, world.actor, clock, employee, change)

    page = await (await _browser(app, "owner", clock)).look("/settings/audit")
    told = [" ".join("".join(each.itertext()).split()) for each in parsed(page).iter("p")]
    for sentence in (
        "set Maria Lopez's unemployment tax rate to 2.7%",
        "changed Maria Lopez's unemployment tax rate from 2.7% to 3.4%",
        "set the insurance company to Oak Mutual",
        "changed the insurance company from Oak Mutual to Elm Mutual",
        "changed the last day of the policy from Dec 31, 2026 to Dec 31, 2027",
        "set Rosa Diaz's earlier pay this year to $1,200.00",
        "changed Rosa Diaz's earlier pay this year from $1,200.00 to $1,500.00",
        "changed Rosa Diaz's payment method from check to cash",
        "set Rosa Diaz's usual hours of a week to 30 hours",
    ):
        assert any(each.endswith(sentence) for each in told), (sentence, told)
    assert "P-1234" not in page.text
    assert owner_connection.execute(
        "SELECT count(*) FROM audit_log WHERE details::text LIKE '%P-1234%'"
    ).fetchone() == (0,)
