"""The form of a payroll proposes hours: those of the last payroll of as long a period, else the usual weekly ones."""

from datetime import date
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.banking.models import BankAccount
from hearthpay.clock import FixedClock
from hearthpay.employees.commands import ChangeEmployee, PayFrequency
from hearthpay.employees.models import Employee
from hearthpay.employees.service import update_employee
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.next_payroll import LastPay
from hearthpay.people.sessions import SignedIn
from hearthpay.web.household.payrolls.payment_words import deposit_hint
from hearthpay.web.household.payrolls.usual_hours import proposed_hours
from tests.database.damage import without_triggers
from tests.web.people_browser import Browser
from tests.web.rows.world import World
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import _browser, app, people, people_context

__all__ = ["app", "people", "people_context"]


async def overtime_hint(browser: Browser, world: World) -> str:
    tree = parsed(await browser.look(f"/app/{world.household_id}/payrolls/new"))
    hint = tree.find(f".//*[@id='overtime_{world.employee_id}-hint']")
    assert hint is not None
    return "".join(hint.itertext())


async def form_of(browser: Browser, world: World) -> tuple[str | None, str | None, str]:
    """The hours and the overtime hours in the form, and what is said of the hours."""
    tree = parsed(await browser.look(f"/app/{world.household_id}/payrolls/new"))

    def found(name: str) -> Any:
        return tree.find(f".//*[@id='{name}_{world.employee_id}']")

    regular, overtime = found("regular"), found("overtime")
    hint = tree.find(f".//*[@id='regular_{world.employee_id}-hint']")
    assert hint is not None
    return regular.get("value"), overtime.get("value"), "".join(hint.itertext())


async def change(world: World, **changes: Any) -> None:
    async with world.people_context.database.transaction(world.actor.tenant) as session:
        await update_employee(
            session, world.actor, world.people_context.clock, world.employee_id, ChangeEmployee(**changes)
        )


async def test_usual_hours_are_proposed_until_a_payroll_of_as_long_a_period_was_run(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    browser = await _browser(app, "owner", clock)
    assert await form_of(browser, world) == ("", "", "At $28.50 an hour.")
    await change(world, usual_weekly_hours=Decimal(30))
    assert await form_of(browser, world) == ("30", "", "At $28.50 an hour. Usual hours: 30 a week.")
    await world.pay(hours=38)
    assert await form_of(browser, world) == ("38", "", "At $28.50 an hour. Hours of the last payroll.")
    await change(world, pay_frequency="biweekly")
    assert await form_of(browser, world) == ("60", "", "At $28.50 an hour. Usual hours: 30 a week.")
    owner_connection.execute("UPDATE people SET language = 'es'")
    spanish = await form_of(await _browser(app, "owner", clock), world)
    assert spanish[2].endswith("Horas habituales: 30 por semana.")


@pytest.mark.parametrize(
    ("frequency", "hours"),
    [("weekly", "32.5"), ("biweekly", "65"), ("semimonthly", "70.42"), ("monthly", "140.83")],
)
def test_usual_hours_are_a_years_hours_by_its_periods(frequency: PayFrequency, hours: str) -> None:
    hourly = cast(Employee, SimpleNamespace(pay_type="hourly", usual_weekly_hours=Decimal("32.50")))
    found = proposed_hours(hourly, frequency, None)
    assert found is not None
    assert dict(found.form_values()) == {"regular": hours}
    assert found.source(say_in("en")) == "Usual hours: 32.5 a week."


async def test_overtime_of_the_last_payroll_is_told_and_left_empty(
    app: FastAPI, people: dict[str, SignedIn], owner_connection: psycopg.Connection, clock: FixedClock
) -> None:
    world = await World.make(app.state.people_context, owner_connection, people["owner"])
    browser = await _browser(app, "owner", clock)
    payroll = await world.pay(hours=40)
    assert await overtime_hint(browser, world) == "At $42.75 an hour."
    for hours, told in (("4", "4 overtime hours"), ("2.5", "2.5 overtime hours"), ("1", "1 overtime hour")):
        with without_triggers(owner_connection):
            owner_connection.execute(
                "UPDATE payroll_entries SET overtime_hours = %s WHERE payroll_id = %s", (hours, payroll)
            )
        assert await form_of(browser, world) == ("40", "", "At $28.50 an hour. Hours of the last payroll.")
        assert await overtime_hint(browser, world) == f"Last time: {told}. At $42.75 an hour."
    owner_connection.execute("UPDATE people SET language = 'es'")
    spanish = await overtime_hint(await _browser(app, "owner", clock), world)
    assert spanish.startswith("La última vez: 1 hora extra.")


def test_overtime_of_the_last_payroll_is_not_proposed_and_nothing_for_a_salary() -> None:
    last = LastPay(uuid4(), "weekly", "check", Decimal("40.00"), Decimal("2.50"), "hourly")
    hourly = cast(Employee, SimpleNamespace(pay_type="hourly", usual_weekly_hours=None))
    found = proposed_hours(hourly, "weekly", last)
    assert found is not None
    assert dict(found.form_values()) == {"regular": "40"}
    assert proposed_hours(hourly, "biweekly", last) is None
    assert proposed_hours(hourly, "weekly", last._replace(regular_hours=Decimal(0))) is None
    salaried = cast(Employee, SimpleNamespace(pay_type="salary", usual_weekly_hours=Decimal(40)))
    assert proposed_hours(salaried, "weekly", last) is None


def test_the_account_of_a_deposit_and_the_last_day_of_approval_are_said() -> None:
    account = BankAccount(bank_name="First Sierra Bank", last_four="4471")
    said = deposit_hint(say_in("en"), "en", account, date(2026, 12, 18), date(2026, 12, 1))
    assert said.replace("\N{NO-BREAK SPACE}", " ") == (
        "Direct deposit: First Sierra Bank, account ending 4471. Approve by Fri, Dec 11."
    )
    late = deposit_hint(say_in("es"), "es", account, date(2026, 12, 18), date(2026, 12, 14))
    assert late.startswith("Depósito directo: First Sierra Bank")
    assert "Apruebe" not in late
    assert deposit_hint(say_in("en"), "en", None, date(2026, 12, 18), date(2026, 12, 1)) == ""
