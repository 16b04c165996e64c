"""Setting up in five questions: each answer is stored at once, what is open is asked again, and mistakes are linked."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import httpx
import psycopg
import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.employees.missing_localities import unchosen_place
from hearthpay.employees.models import Employee
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.people.sessions import SignedIn
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.setup.estimate import usual_paycheck
from hearthpay.web.household.setup.pay_question import pay_law
from hearthpay.web.household.setup.person_question import asks_for_place
from tests.web.one_household import signed_in_once
from tests.web.people_browser import Browser, typed_in
from tests.web.rows.setting_up import NEW_HOUSEHOLD
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import app, people, people_context
from tests.worlds.snapshots import MadeOnce

__all__ = ["app", "people", "people_context"]

TODAY = date(2026, 11, 20)
ANA = {"first_name": "Ana", "last_name": "López", "start_date": "2026-11-02"}
NAMES = (
    "first_name, status, work_state, pay_type, pay_rate_cents, salary_cents, salary_per, usual_weekly_hours, "
    "overtime_rate_cents, pay_frequency, payment_method, setup_question"
)


@pytest.fixture
async def owner(app: FastAPI, people: dict[str, SignedIn], clock: FixedClock, made_once: MadeOnce) -> Browser:
    return await signed_in_once(app, "owner", clock, made_once, "people, browser of the owner")


async def answer(browser: Browser, path: str, **answers: str) -> str:
    """Send a question's form as it is shown, with these answers; return where it leads."""
    shown = typed_in(await browser.look(path)) | answers
    sent = await browser.send(path, page=path, **shown)
    assert sent.status_code == 303, sent.text
    return str(sent.headers["location"])


def mistakes(page: httpx.Response) -> list[tuple[str | None, str]]:
    """Return the links of the summary of errors: the anchor, and the text."""
    links = parsed(page).findall(".//section[@class='errors']//a")
    return [(each.get("href"), "".join(each.itertext()).strip()) for each in links]


def controls(page: httpx.Response) -> set[str]:
    """Return the names of the fields that the form asks for."""
    form = next(each for each in parsed(page).iter("form") if each.get("id") == "question")
    fields = [each for kind in ("input", "select", "textarea") for each in form.iter(kind)]
    return {each.get("name", "") for each in fields if each.get("type") != "hidden"}


def main_link(page: httpx.Response) -> str | None:
    """Return where the page's main button leads."""
    link = parsed(page).find(".//a[@class='btn main']")
    return None if link is None else link.get("href")


def stored(connection: psycopg.Connection) -> tuple[object, ...]:
    row = connection.execute(f"SELECT {NAMES} FROM employees").fetchone()  # type: ignore[arg-type]
    assert row is not None
    return row


async def test_five_questions_lead_to_the_first_payroll(
    owner: Browser, owner_connection: psycopg.Connection
) -> None:
    """At most twenty fields in all, and each answer is in the books when its page is left."""
    assert (await owner.look("/home")).headers["location"] == "/app/start"
    path, asked = "/app/start", []
    for answers, row in (
        (NEW_HOUSEHOLD, None),
        (ANA, ("Ana", "active", "CA", "hourly", None, None, None, None, None, "biweekly", "check", 3)),
        (
            {"paid_by": "hourly", "pay": "28.50", "usual_weekly_hours": "20"},
            ("Ana", "active", "CA", "hourly", 2850, None, None, 20, 4275, "biweekly", "check", 4),
        ),
        (
            {"pay_frequency": "weekly"},
            ("Ana", "active", "CA", "hourly", 2850, None, None, 20, 4275, "weekly", "check", 5),
        ),
        (
            {"payment_method": "cash"},
            ("Ana", "active", "CA", "hourly", 2850, None, None, 20, 4275, "weekly", "cash", None),
        ),
    ):
        asked += sorted(controls(await owner.look(path)))
        path = await answer(owner, path, **answers)
        if row is not None:
            assert stored(owner_connection) == row
    assert path.endswith("/payrolls/new")
    assert len(asked) <= 20, asked


async def test_what_was_answered_is_kept_and_setup_continues_with_the_next_question(
    owner: Browser, owner_connection: psycopg.Connection
) -> None:
    root = (await answer(owner, "/app/start", leave="1", **NEW_HOUSEHOLD)).removesuffix("/setup")
    home = await owner.look(root)
    assert "4 questions to your first payroll" in home.text
    assert main_link(home) == f"{root}/setup/person"
    here = (await answer(owner, f"{root}/setup/person", **ANA)).removesuffix("/pay")
    assert (await owner.look(f"{root}/setup/person")).headers["location"] == f"{here}/person", "not twice"
    left = await answer(owner, f"{here}/pay", paid_by="hourly", pay="30", usual_weekly_hours="20", leave="1")
    assert left == f"{root}/setup"
    again = await owner.look(root)
    assert "Ana López" in again.text
    assert "$30.00 an hour" in again.text
    assert main_link(again) == f"{here}/frequency"
    # Nothing is answered before it is: no frequency and no method is chosen yet.
    assert typed_in(await owner.look(f"{here}/frequency")).get("pay_frequency") is None
    # Going back to an earlier question corrects it, and the next one stays the next.
    assert await answer(owner, f"{here}/person", last_name="Ruiz") == f"{here}/pay"
    assert await answer(owner, f"{here}/pay", pay="31") == f"{here}/frequency"
    await answer(owner, f"{here}/frequency", pay_frequency="monthly")
    assert (await answer(owner, f"{here}/method", payment_method="direct_deposit")) == f"{root}/setup"
    assert owner_connection.execute(
        "SELECT last_name, pay_rate_cents, pay_frequency, payment_method, setup_question FROM employees"
    ).fetchone() == ("Ruiz", 3100, "monthly", "direct_deposit", None)
    assert "questions to your first payroll" not in (await owner.look(root)).text, "home is home"
    written = owner_connection.execute(
        "SELECT count(*) FROM audit_log WHERE action = 'employee.update' AND details -> 'after' ? 'setup_question'"
    ).fetchone()
    assert written == (3,), "each answer moves setup on, in somebody's name"


_TOO_LOW = {
    "en": "$9.00 an hour is below the minimum wage on Nov 20, 2026: $17.34 by the law of Oakland",
    "es": "$9.00 por hora está por debajo del salario mínimo el 20 nov 2026: $17.34 según la ley de Oakland",
}


@pytest.mark.parametrize("language", ["en", "es"])
async def test_pay_below_the_minimum_wage_is_warned_of_and_not_refused(owner: Browser, language: str) -> None:
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD)
    here = (await answer(owner, start, **ANA)).removesuffix("/pay")
    low = await answer(owner, f"{here}/pay", paid_by="hourly", pay="9", usual_weekly_hours="20")
    assert low == f"{here}/frequency"
    await owner.send("/settings/profile", page="/settings/profile", name="Maria", language=language)
    employee = here.replace("/setup/", "/employees/")
    for path in (f"{here}/frequency", f"{here}/method", employee):
        page = parsed(await owner.look(path))
        told = ["".join(each.itertext()) for each in page.findall(".//p[@class='notice wrong']")]
        assert [each for each in told if each.startswith(_TOO_LOW[language])] != [], (path, told)
    await answer(owner, f"{here}/pay", pay="17.34")
    for path in (f"{here}/frequency", f"{here}/method", employee):
        assert "$9.00" not in (await owner.look(path)).text, path
        assert 'class="notice wrong"' not in (await owner.look(path)).text, path


async def test_a_salary_of_a_payday_is_compared_once_the_frequency_is_known(owner: Browser) -> None:
    """$300 every week for 20 hours is $15.00 an hour; every two weeks it would be $7.50."""
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD)
    here = (await answer(owner, start, **ANA)).removesuffix("/pay")
    await answer(owner, f"{here}/pay", paid_by="period", pay="300", usual_weekly_hours="20")
    assert 'class="notice wrong"' not in (await owner.look(f"{here}/frequency")).text
    await answer(owner, f"{here}/frequency", pay_frequency="weekly")
    assert "The salary equals $15.00 an hour." in (await owner.look(f"{here}/method")).text


@pytest.mark.parametrize(
    ("paid_by", "pay", "stored_as"),
    [
        # 600 a week by 20 hours; 52,000 by 52 weeks and 20 hours; and one and a half times that.
        ("period", "600", ("salary", None, 60000, "period", 4500)),
        ("year", "52,000", ("salary", None, 5200000, "year", 7500)),
    ],
)
async def test_a_salary_is_for_each_payday_or_a_year(
    owner: Browser,
    owner_connection: psycopg.Connection,
    paid_by: str,
    pay: str,
    stored_as: tuple[object, ...],
) -> None:
    """The regular rate, of which overtime is one and a half times, follows how often is paid."""
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD)
    here = (await answer(owner, start, **ANA)).removesuffix("/pay")
    await answer(owner, f"{here}/pay", paid_by=paid_by, pay=pay, usual_weekly_hours="20")
    await answer(owner, f"{here}/frequency", pay_frequency="weekly")
    found = owner_connection.execute(
        "SELECT pay_type, pay_rate_cents, salary_cents, salary_per, overtime_rate_cents FROM employees"
    ).fetchone()
    assert found == stored_as


async def test_mistakes_are_listed_with_links_to_their_fields(owner: Browser) -> None:
    empty = await owner.send("/app/start", page="/app/start", first_name="Maria", address_zip="9461")
    assert empty.status_code == 400
    assert "<title>Error: Who are you, and in which state? · Hearthpay</title>" in empty.text
    summary = parsed(empty).find(".//section[@class='errors']")
    assert summary is not None
    assert summary.get("autofocus") is not None
    assert summary.get("tabindex") == "-1"
    assert mistakes(empty) == [
        ("#last_name", "Enter a last name."),
        ("#address_line1", "Enter the street address."),
        ("#address_city", "Enter the city."),
        ("#address_zip", "Enter a ZIP code, like 94110."),
        ("#address_state", "Choose a state."),
    ]
    for anchor, _ in mistakes(empty):
        assert parsed(empty).find(f".//main//*[@id='{str(anchor)[1:]}']") is not None
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD)
    here = (await answer(owner, start, **ANA)).removesuffix("/pay")
    shown = typed_in(await owner.look(f"{here}/pay"))
    for pay, text in (
        ("", "Enter the pay in dollars, like 28.50."),
        ("a lot", "Enter an amount, like 28.50."),
        ("10000", "Enter hourly pay above $0, up to $9,999.99."),
        ("28.505", "Use at most 2 decimals."),
    ):
        wrong = await owner.send(
            f"{here}/pay", page=f"{here}/pay", **shown | {"pay": pay, "usual_weekly_hours": "20"}
        )
        assert mistakes(wrong) == [("#pay", text)]
        assert typed_in(wrong)["pay"] == pay, "what was typed is still there"
    for part, field, first in (
        ("frequency", "Choose how often you pay.", "pay_frequency-weekly"),
        ("method", "Choose how you pay.", "payment_method-check"),
    ):
        wrong = await owner.send(f"{here}/{part}", page=f"{here}/{part}")
        assert mistakes(wrong) == [(f"#{first}", field)]


async def test_an_agency_adds_a_household_by_the_same_questions(
    owner: Browser, owner_connection: psycopg.Connection
) -> None:
    """Its names aren't the account's, and its email address is asked for."""
    owner_connection.execute("UPDATE organizations SET plan = 'professional'")
    first = typed_in(await owner.look("/app/start"))
    assert first["first_name"] == "Maria"
    assert "email" not in controls(await owner.look("/app/start"))
    without_email = {name: text for name, text in NEW_HOUSEHOLD.items() if name != "email"}
    await answer(owner, "/app/start", **without_email)
    second = await owner.look("/app/start")
    assert typed_in(second)["first_name"] == ""
    assert "email" in controls(second)
    refused = await owner.send("/app/start", page="/app/start", email="", **without_email)
    assert mistakes(refused) == [("#email", "Enter an email address, like ana@example.com.")]
    await answer(owner, "/app/start", **without_email | {"email": "lee@example.com"})
    found = owner_connection.execute("SELECT email FROM employers ORDER BY id").fetchall()
    assert found == [("maria@example.com",), ("lee@example.com",)]


@pytest.mark.parametrize("state", sorted(STATES))
def test_a_place_is_asked_for_where_a_paycheck_would_assume_one(state: str) -> None:
    employee = _employee(state)
    assert asks_for_place(state, TODAY) == (unchosen_place(employee, (), TODAY) is not None)
    assert not asks_for_place(state, TODAY) or jurisdiction_on(state, TODAY).localities
    law = pay_law(employee, TODAY, None)
    assert law.minimum >= 725
    assert (law.where, law.outdated) == (STATES[state], False)
    assert law.weekly_hours is not None, "an employee who lives out has overtime everywhere"
    paycheck = usual_paycheck(employee, TODAY)
    assert paycheck is not None
    assert paycheck.net + paycheck.withheld == paycheck.gross == 114000
    assert paycheck.employer_taxes > 0


@pytest.mark.parametrize(
    ("city", "language", "hint"),
    [
        ("Oakland", "en", "Oakland (California): at least $17.34 an hour."),
        ("Oakland", "es", "Oakland (California): al menos $17.34 por hora."),
        ("Fresno", "en", "California: at least $16.90 an hour."),
    ],
)
async def test_the_question_of_pay_shows_the_minimum_wage_of_the_home(
    owner: Browser, city: str, language: str, hint: str
) -> None:
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD | {"address_city": city})
    asked = await answer(owner, start, **ANA)
    await owner.send("/settings/profile", page="/settings/profile", name="Maria", language=language)
    shown = " ".join("".join(parsed(await owner.look(asked)).itertext()).split())
    assert hint in shown
    assert "Some cities" not in shown


def test_without_an_address_it_says_that_places_have_more() -> None:
    law = pay_law(_employee("CA"), TODAY, None)
    assert (law.where, law.minimum) == ("California", 1690)
    assert law.higher_places > 30
    assert pay_law(_employee("TX"), TODAY, None).higher_places == 0
    assert pay_law(_employee("AZ"), date(2027, 1, 4), None).outdated


def _employee(state: str) -> Employee:
    return Employee(
        pay_frequency="biweekly",
        work_state=state,
        residence_state=state,
        localities=[],
        federal_withholding={},
        state_withholding={},
        pay_type="hourly",
        pay_rate=Decimal("28.50"),
        salary=None,
        salary_per=None,
        usual_weekly_hours=Decimal(20),
        relationship="none",
        lives_in=False,
    )


@pytest.mark.parametrize("state", [each for each in sorted(STATES) if asks_for_place(each, TODAY)])
async def test_each_states_places_can_be_chosen(
    state: str, owner: Browser, owner_connection: psycopg.Connection
) -> None:
    """And at most twenty fields are asked for there, too."""
    start = await answer(owner, "/app/start", **NEW_HOUSEHOLD | {"address_state": state})
    page = await owner.look(start)
    assert "locality" in controls(page)
    unanswered = await owner.send(start, page=start, **ANA)
    assert mistakes(unanswered) == [("#locality", "Choose a place, or “None of these”.")]
    first, *_ = [each.get("value") for each in parsed(page).findall(".//select[@name='locality']/option")[1:]]
    here = (await answer(owner, start, **ANA, locality=str(first))).removesuffix("/pay")
    assert typed_in(await owner.look(f"{here}/person"))["locality"] == first
    [(localities,)] = owner_connection.execute("SELECT localities FROM employees").fetchall()
    assert localities == [first]
    assert await answer(owner, f"{here}/person", locality="none") == f"{here}/pay"
    assert owner_connection.execute("SELECT localities FROM employees").fetchone() == ([],)
