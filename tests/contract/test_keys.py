"""The contract, "Keys, plans, scopes": each test's first line is a sentence of it."""

import re
from typing import Any, get_args
from uuid import UUID

from hearthpay.access.permissions import Scope
from hearthpay.access.plans import PLANS
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.security import api_keys
from tests.http.api import MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of


async def test_a_key_is_random_has_a_checksum_and_is_stored_hashed(
    account: Account, owner_connection: Any
) -> None:
    """Live key `hp_live_…`, test key `hp_test_…`: 32 random bytes in base62 with a checksum, stored hashed, shown once."""
    assert re.fullmatch(r"hp_live_[0-9A-Za-z]{43,}", account.live.key)
    assert re.fullmatch(r"hp_test_[0-9A-Za-z]{43,}", account.test.key)
    mistyped = account.live.key[:-1] + ("a" if account.live.key[-1] != "a" else "b")
    assert api_keys.parse(account.live.key) is not None
    assert api_keys.parse(mistyped) is None
    stored = str(owner_connection.execute("SELECT api_keys::text, key_hash FROM api_keys").fetchall())
    assert account.live.key not in stored


def test_the_scopes() -> None:
    """The seven scopes, and that for addresses and bank invitations."""
    assert set(get_args(Scope)) == {
        *("calculator", "payroll", "employees", "documents", "state_registrations", "multi_employer", "ach"),
        "onboarding",
    }


def test_the_plans() -> None:
    """Free 50 requests a day, Starter 500 and 1 employee, Plus 2,000 and 5, Professional also 50 households; 5 keys each."""
    limits = {
        name: (plan.limits.requests_per_day, plan.limits.employees_per_household, plan.limits.households)
        for name, plan in PLANS.items()
    }
    assert limits == {
        "free": (50, 0, 0),
        "starter": (500, 1, 1),
        "plus": (2_000, 5, 1),
        "professional": (2_000, 5, 50),
    }
    assert {plan.limits.keys for plan in PLANS.values()} == {5}
    assert {plan.limits.sandbox_households for plan in PLANS.values()} == {3}
    assert PLANS["free"].features == {"calculator"}
    assert "autopilot" in PLANS["plus"].features - PLANS["starter"].features
    assert PLANS["professional"].features - PLANS["plus"].features == {"multi_employer", "test_keys"}
    assert PLANS["professional"].add_on == {"employees_per_household": 25}


async def test_the_operator_sets_the_plan_and_lifts_limits(new_key: NewKey, owner_database: Database) -> None:
    """A self-hosting operator sets an organization's plan, and may lift limits."""
    async with owner_database.transaction(None) as session:
        caller = await new_key("Family", plan="free")
        organization = await accounts.find_organization(session, "Family")
        assert organization is not None
        await accounts.set_plan(session, organization, "professional")
        await accounts.lift_limits(session, organization, {"households": 60})
        assert organization.lifted_limits == {"households": 60}
    assert caller.key.startswith("hp_live_")


async def test_each_kind_of_key_reaches_its_kind_of_household(account: Account, household: Any) -> None:
    """Test keys reach only sandbox households, live keys only real ones; no parameter switches."""
    sandbox = data(await account.test.post("/employers", MARIA), 201)
    assert [each["id"] for each in data(await account.live.get("/employers"))] == [household["id"]]
    assert [each["id"] for each in data(await account.test.get("/employers"))] == [sandbox["id"]]
    switch = await account.live.post("/employers", MARIA | {"sandbox": True})
    assert fields(refusal(switch, 400, "validation_error")) == ["sandbox"]


async def test_a_household_of_others_is_forbidden(account: Account, new_account: NewAccount) -> None:
    """`employer_id` not owned is 403 `household_forbidden`."""
    other = await new_account("Other family")
    theirs = await add_household(other.live)
    refusal(await account.live.post("/employees", ROSA | {"employer_id": theirs}), 403, "household_forbidden")
    refusal(await account.live.get("/payrolls", employer_id=theirs), 403, "household_forbidden")


async def test_left_out_it_is_the_keys_household_and_another_own_one_is_reached_by_name(
    account: Account, new_key: NewKey
) -> None:
    """Left out, the key's household; a second household of the account is reached by its id, in body, query and path."""
    first, second = await add_household(account.live), await add_household(account.live)
    caller = await new_key("Lopez family", employer_id=UUID(first))
    assert data(await caller.post("/employees", ROSA), 201)["employer_id"] == first
    ana = await add_employee(caller, second, first_name="Ana")
    run = data(await caller.post("/payroll/run", payroll_of(second, ana)))
    assert run["employer_id"] == second
    for path in (f"/employees/{ana}", f"/payroll/{run['payroll_id']}"):
        assert data(await caller.get(path))["employer_id"] == second
    assert data(await caller.get(f"/employers/{second}"))["id"] == second


async def test_a_live_key_made_under_a_sandbox_must_name_a_household(
    account: Account, household: Any, new_key: NewKey
) -> None:
    """A live key created while a sandbox was selected is refused without an explicit real `employer_id`."""
    sandbox = await add_household(account.test)
    caller = await new_key("Lopez family", employer_id=UUID(sandbox))
    refusal(await caller.post("/employees", ROSA), 403, "key_mode_mismatch")
    data(await caller.post("/employees", ROSA | {"employer_id": household["id"]}), 201)


async def test_a_key_without_memory_takes_the_only_household_and_guesses_among_none(
    account: Account, counts: Any
) -> None:
    """Without memory: the only household of its mode; of several, a call that writes is a 400 naming the field, listing none."""
    first = await add_household(account.live)
    await add_household(account.test)
    rosa = data(await account.live.post("/employees", ROSA), 201)
    assert rosa["employer_id"] == first
    second = await add_household(account.live)
    before = counts()
    for path, body in (
        ("/employees", ROSA | {"first_name": "Ana"}),
        ("/documents/schedule-h", {"tax_year": 2026}),
    ):
        response = await account.live.post(path, body)
        assert fields(refusal(response, 400, "validation_error")) == ["employer_id"]
        assert first not in response.text.replace(str(body), "")
        assert second not in response.text
    assert counts() == before


async def test_every_answer_about_a_households_thing_names_it(account: Account, household: Any) -> None:
    """Every answer about a household's thing carries `employer_id`."""
    caller, employer_id = account.live, household["id"]
    rosa = data(await caller.post("/employees", ROSA), 201)
    payroll = payroll_of(employer_id, rosa["id"])
    run = data(await caller.post("/payroll/run", payroll))
    week = {"pay_period_start": "2026-11-16", "pay_period_end": "2026-11-22"}
    line = {"code": "US-SS-EE", "subject_wages": 100, "taxable_wages": 100, "amount": 6.2}
    prior = {"tax_year": 2026, "source": "Old", "as_of": "2026-06-30", "gross_pay": 100, "lines": [line]}
    answers = [
        rosa,
        run,
        data(await caller.get(f"/employees/{rosa['id']}")),
        data(await caller.get(f"/payroll/{run['payroll_id']}")),
        data(await caller.post("/payroll/preview", payroll | week)),
        data(await caller.post(f"/payroll/{run['payroll_id']}/void", {})),
        data(await caller.post(f"/employees/{rosa['id']}/invite", {"type": "tax_info"})),
        data(await caller.post(f"/employees/{rosa['id']}/prior-wages", prior), 201),
        data(await caller.post(f"/employees/{rosa['id']}/terminate", {})),
        data(await caller.post(f"/employees/{rosa['id']}/reinstate", {})),
        data(await caller.get(f"/employers/{employer_id}/dd-status")),
        *data(await caller.get("/employees", employer_id=employer_id)),
        *data(await caller.get("/payrolls")),
        *data(await caller.get(f"/employees/{rosa['id']}/prior-wages")),
    ]
    assert [answer["employer_id"] for answer in answers] == [employer_id] * len(answers)


async def test_a_sandbox_has_three_households_and_no_mail(account: Account) -> None:
    """At most 3 sandbox households per account; no email leaves; the tax arithmetic is the real engine's."""
    sandbox = [await add_household(account.test) for _ in range(3)]
    refusal(await account.test.post("/employers", MARIA), 403, "plan_limit_reached")
    real = await add_household(account.live)
    paid = []
    for caller, employer_id in ((account.test, sandbox[0]), (account.live, real)):
        employee_id = await add_employee(caller, employer_id, email="rosa@example.com")
        run = data(await caller.post("/payroll/run", payroll_of(employer_id, employee_id)))
        paid.append(run["totals"])
        invited = data(await caller.post(f"/employees/{employee_id}/invite", {"type": "tax_info"}))
        assert invited["email_sent"] is False
    assert paid[0] == paid[1]


async def test_the_day_of_a_key_is_counted(new_key: NewKey, clock: FixedClock) -> None:
    """`rate_limited` 429 with `Retry-After` and the three `RateLimit` headers."""
    caller = await new_key("Family", plan="free")
    for _ in range(50):
        response = await caller.get("/threshold", state="CA", annual_wages=1)
    assert response.is_success
    beyond = await caller.get("/threshold", state="CA", annual_wages=1)
    refusal(beyond, 429, "rate_limited")
    for header in ("Retry-After", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"):
        assert beyond.headers[header].isdigit()
    refusal(await caller.get("/payrolls"), 429, "rate_limited")
