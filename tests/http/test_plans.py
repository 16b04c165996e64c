"""Plans: what each lets in, what it limits, and when a change of plan holds."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from hearthpay.access import plans
from hearthpay.access.actor import Actor
from hearthpay.access.entitlements import refuse_missing_feature
from hearthpay.access.permissions import FEATURE_OF_SCOPE, SCOPES
from hearthpay.access.plans import FEATURES, LIMITS, PLANS, read_plans, required_plan, terms_of
from hearthpay.access.refusal import Refusal
from hearthpay.accounts import service as accounts
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.schemas import NewEmployer
from hearthpay.employers.service import create_employer
from hearthpay.http.docs_page import render_page
from hearthpay.http.key_lookup import REMEMBERED_FOR
from hearthpay.http.routing import Endpoint
from tests.http.api import MARIA, ROSA, Account, Caller, NewKey, data, refusal
from tests.openapi.document import Document
from tests.worlds.households import payroll_of

NAMES = ("Rosa", "Anna", "Lena", "Ines", "Olga", "Vera", "Mona", "Nora")


def _routes(app: FastAPI) -> list[Endpoint]:
    return [route for route in app.routes if isinstance(route, Endpoint)]


def _address(route: APIRoute) -> str:
    address = route.path.removeprefix("/api/v1")
    for name in route.param_convertors:
        address = address.replace(f"{{{name}}}", str(uuid4()))
    return address


async def _change(database: Database, name: str, *, plan: str | None = None, **lifted: int | None) -> None:
    async with database.transaction(None) as session:
        organization = await accounts.find_organization(session, name)
        assert organization is not None
        if plan is not None:
            await accounts.set_plan(session, organization, plan)
        await accounts.lift_limits(session, organization, lifted)


async def _by_the_operator(database: Database, clock: FixedClock, name: str) -> str:
    """A household as the operator's command makes one; returns its id."""
    async with database.transaction(None) as session:
        organization = await accounts.find_organization(session, name)
        assert organization is not None
        terms = terms_of(organization.plan, organization.lifted_limits)
        actor = Actor("operator", None, organization.id, "live", frozenset(), "request", terms=terms)
        return str((await create_employer(session, actor, clock, NewEmployer(**MARIA).to_command())).id)


async def _people(caller: Caller, employer_id: str, names: tuple[str, ...]) -> list[Any]:
    bodies = [ROSA | {"first_name": name, "employer_id": employer_id} for name in names]
    return await asyncio.gather(*(caller.post("/employees", body) for body in bodies))


@pytest.mark.parametrize("plan", PLANS)
async def test_every_route_asks_for_its_plan(
    plan: str, app: FastAPI, new_key: NewKey, owner_database: Database
) -> None:
    caller = await new_key("Family", plan=plan)
    await _change(owner_database, "Family", requests_per_day=None)
    document = Document(app.openapi())
    routes = _routes(app)
    assert len(routes) > 10
    for route in routes:
        assert route.required_feature is not None, f"{route.path} belongs to no plan"
        for method in route.methods:
            response = await caller.client.request(
                method, f"/api/v1{_address(route)}", headers=caller.headers(), content=b"{}"
            )
            if route.required_feature in PLANS[plan].features:
                error = response.json().get("error", {})
                assert error.get("code") not in ("subscription_required", "rate_limited"), route.path
            else:
                assert document.problems(response) == []
                details = refusal(response, 403, "subscription_required")["details"]
                assert details == {
                    "plan": plan,
                    "required_plan": required_plan(route.required_feature),
                    "feature": route.required_feature,
                }


async def test_the_document_names_the_smallest_plan_of_each_operation(app: FastAPI) -> None:
    document = Document(app.openapi())
    named = {
        (method, path): operation["x-required-plan"] for method, path, operation in document.operations()
    }
    assert named["post", "/api/v1/calculate"] == named["get", "/api/v1/threshold"] == "free"
    assert named["get", "/api/v1/employees"] == named["post", "/api/v1/payroll/run"] == "starter"
    assert named["post", "/api/v1/employers"] == named["get", "/api/v1/employers"] == "professional"
    assert named["delete", "/api/v1/employers/{employer_id}"] == "professional"
    assert "On the plan <code>professional</code>" in render_page(app.openapi(), document="openapi.json")


async def test_the_smallest_plan_reaches_calculator_and_threshold_only(app: FastAPI) -> None:
    smallest = next(iter(PLANS.values()))
    reached = {route.path for route in _routes(app) if route.required_feature in smallest.features}
    retired = "/api/v1/ach/transfer"  # which tells everybody so
    assert reached == {
        "/api/v1/calculate",
        "/api/v1/rules",
        "/api/v1/threshold",
        "/api/v1/autopilot/enroll",
        retired,
    }


@pytest.mark.parametrize("plan", [name for name, plan in PLANS.items() if "test_keys" not in plan.features])
async def test_a_test_key_of_a_plan_that_lost_them_is_refused_everywhere(
    plan: str, app: FastAPI, new_key: NewKey, owner_database: Database
) -> None:
    caller = await new_key("Agency", mode="test")
    await _change(owner_database, "Agency", plan=plan)
    for route in _routes(app):
        for method in route.methods:
            response = await caller.client.request(
                method, f"/api/v1{_address(route)}", headers=caller.headers()
            )
            details = refusal(response, 403, "subscription_required")["details"]
            assert details == {"plan": plan, "required_plan": "professional", "feature": "test_keys"}


@pytest.mark.parametrize("plan", PLANS)
async def test_test_keys_are_issued_where_the_plan_has_them(plan: str, new_key: NewKey) -> None:
    if "test_keys" in PLANS[plan].features:
        assert (await new_key("Family", mode="test", plan=plan)).key.startswith("hp_test_")
    else:
        with pytest.raises(Refusal) as refused:
            await new_key("Family", mode="test", plan=plan)
        assert refused.value.code == "subscription_required"


async def test_the_plan_is_asked_before_the_scope(new_key: NewKey) -> None:
    narrow = await new_key("Family", scopes=("calculator",), plan="free")
    refusal(await narrow.post("/employees", {}), 403, "subscription_required")
    narrow = await new_key("Other family", scopes=("calculator",), plan="starter")
    refusal(await narrow.post("/employees", {}), 403, "scope_required")


async def test_a_changed_plan_holds_within_five_seconds(
    new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    caller = await new_key("Family", plan="free")
    refusal(await caller.get("/payrolls"), 403, "subscription_required")
    await _change(owner_database, "Family", plan="starter")
    clock.advance(REMEMBERED_FOR - timedelta(seconds=1))
    refusal(await caller.get("/payrolls"), 403, "subscription_required")
    clock.advance(timedelta(seconds=1))
    assert data(await caller.get("/payrolls")) == []
    await _change(owner_database, "Family", plan="free")
    clock.advance(REMEMBERED_FOR)
    refusal(await caller.get("/payrolls"), 403, "subscription_required")


@pytest.mark.parametrize("plan", ["starter", "plus"])
async def test_a_small_plan_has_its_one_household_from_the_operator(
    plan: str, new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    caller = await new_key("Family", plan=plan)
    refusal(await caller.post("/employers", MARIA), 403, "subscription_required")
    made = await asyncio.gather(
        *(_by_the_operator(owner_database, clock, "Family") for _ in range(4)), return_exceptions=True
    )
    refused = [each for each in made if isinstance(each, Refusal)]
    assert len(refused) == 3
    assert {each.code for each in refused} == {"plan_limit_reached"}
    assert refused[0].details == {"plan": plan, "limit": 1, "current": 1, "limit_name": "households"}


async def test_lifted_households_are_counted_under_a_lock(new_key: NewKey, owner_database: Database) -> None:
    caller = await new_key("Agency", plan="professional")
    await _change(owner_database, "Agency", households=2)
    answers = await asyncio.gather(*(caller.post("/employers", MARIA) for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [201, 201, 403, 403, 403, 403]


@pytest.mark.parametrize(("plan", "allowed"), [("starter", 1), ("plus", 5), ("professional", 5)])
async def test_parallel_requests_cannot_add_more_employees_than_the_plan_allows(
    plan: str, allowed: int, new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    caller = await new_key("Family", plan=plan)
    employer_id = await _by_the_operator(owner_database, clock, "Family")
    answers = await _people(caller, employer_id, NAMES)
    assert sorted(answer.status_code for answer in answers) == [201] * allowed + [403] * (8 - allowed)
    refused = next(answer for answer in answers if answer.status_code == 403)
    assert refusal(refused, 403, "plan_limit_reached")["details"] == {
        "plan": plan,
        "limit": allowed,
        "current": allowed,
        "limit_name": "employees_per_household",
    }
    assert len(data(await caller.get("/employees", employer_id=employer_id))) == allowed


async def test_the_limit_is_each_households_own_and_of_active_employees(new_key: NewKey) -> None:
    caller = await new_key("Agency", plan="professional")
    for _ in range(2):
        employer_id = data(await caller.post("/employers", MARIA), 201)["id"]
        first, *_ = [data(answer, 201) for answer in await _people(caller, employer_id, NAMES[:5])]
    (sixth,) = await _people(caller, employer_id, NAMES[5:6])
    refusal(sixth, 403, "plan_limit_reached")
    data(await caller.post(f"/employees/{first['id']}/terminate", {}))
    (sixth,) = await _people(caller, employer_id, NAMES[5:6])
    data(sixth, 201)


async def test_a_lifted_limit_takes_the_place_of_the_plans_own(
    new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    caller = await new_key("Agency", plan="professional")
    employer_id = data(await caller.post("/employers", MARIA), 201)["id"]
    await _change(owner_database, "Agency", employees_per_household=7)
    clock.advance(REMEMBERED_FOR)
    answers = await _people(caller, employer_id, NAMES)
    assert sorted(answer.status_code for answer in answers) == [201] * 7 + [403]
    await _change(owner_database, "Agency", employees_per_household=None)
    clock.advance(REMEMBERED_FOR)
    (eighth,) = await _people(caller, employer_id, ("Zora",))
    data(eighth, 201)


async def test_what_a_smaller_plan_finds_too_much_of_stays(
    app: FastAPI, new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    document = Document(app.openapi())
    caller = await new_key("Family", plan="professional")
    employers = [data(await caller.post("/employers", MARIA), 201)["id"] for _ in range(2)]
    people = [data(answer, 201)["id"] for answer in await _people(caller, employers[0], NAMES[:3])]
    await _change(owner_database, "Family", plan="starter")
    clock.advance(REMEMBERED_FOR)

    assert data(await caller.get(f"/employers/{employers[1]}"))["id"] == employers[1]
    assert len(data(await caller.get("/employees", employer_id=employers[0]))) == 3
    (fourth,) = await _people(caller, employers[0], NAMES[3:4])
    assert document.problems(fourth) == []
    details = refusal(fourth, 403, "plan_limit_reached")["details"]
    assert (details["limit"], details["current"]) == (1, 3)
    with pytest.raises(Refusal, match="allows 1 household; there are 2"):
        await _by_the_operator(owner_database, clock, "Family")

    two = [{"employee_id": person, "regular_hours": 8} for person in people[:2]]
    for path in ("/payroll/preview", "/payroll/run"):
        both = payroll_of(employers[0], people[0], employees=two)
        response = await caller.post(path, both)
        assert document.problems(response) == []
        error = refusal(response, 400, "too_many_employees")
        assert error["details"] == {"plan": "starter", "limit": 1, "current": 2}
        data(await caller.post(path, payroll_of(employers[0], people[0])))


async def test_sandboxes_can_be_lifted(account: Account, owner_database: Database, clock: FixedClock) -> None:
    await _change(owner_database, "Lopez family", sandbox_households=4, households=0)
    clock.advance(REMEMBERED_FOR)
    answers = [await account.test.post("/employers", MARIA) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [201] * 4 + [403]
    refusal(await account.live.post("/employers", MARIA), 403, "plan_limit_reached")


async def test_an_unknown_plan_in_the_database_lets_nobody_in(
    account: Account, owner_connection: Any, clock: FixedClock
) -> None:
    owner_connection.execute("UPDATE organizations SET plan = 'platinum'")
    clock.advance(REMEMBERED_FOR)
    refusal(await account.live.get("/employers"), 500, "internal_error")


def test_an_actor_without_terms_may_nothing_that_plans_speak_of() -> None:
    actor = Actor("employee", None, uuid4(), "live", frozenset(SCOPES), "request")
    for feature in FEATURES:
        with pytest.raises(Refusal):
            refuse_missing_feature(actor.terms, feature)


def test_the_plans_are_as_promised() -> None:
    limits = {name: plan.limits for name, plan in PLANS.items()}
    assert list(limits) == ["free", "starter", "plus", "professional"]
    assert [plan.requests_per_day for plan in limits.values()] == [50, 500, 2_000, 2_000]
    assert [plan.employees_per_household for plan in limits.values()] == [0, 1, 5, 5]
    assert limits["professional"].households == 50
    assert PLANS["professional"].add_on == {"employees_per_household": 25}
    assert {(plan.sandbox_households, plan.keys) for plan in limits.values()} == {(3, 5)}
    assert plans.NEW_ORGANIZATIONS == "professional"
    assert set(SCOPES) - {"onboarding"} < set(FEATURES)
    assert set(FEATURE_OF_SCOPE) == set(SCOPES)
    assert set(FEATURE_OF_SCOPE.values()) < set(FEATURES)
    assert set(FEATURES) == PLANS["professional"].features
    assert required_plan("autopilot") == "plus"


def test_lifted_limits_take_the_place_of_the_plans_own() -> None:
    terms = terms_of("plus", {"keys": None, "households": 7})
    assert (terms.limits.keys, terms.limits.households) == (None, 7)
    assert terms.limits.requests_per_day == 2_000
    with pytest.raises(LookupError, match="platinum"):
        terms_of("platinum", {})
    with pytest.raises(TypeError, match="requests_per_hour"):
        terms_of("plus", {"requests_per_hour": 1})


SMALL = """
new_organizations = "small"
[plans.small]
features = ["calculator"]
limits = { requests_per_day = 50, employees_per_household = 1, households = 1, sandbox_households = 3, keys = 5 }
[plans.large]
features = ["calculator", "payroll"]
limits = { requests_per_day = 50, employees_per_household = 1, households = 1, sandbox_households = 3, keys = 5 }
"""


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"small"\n', '"tiny"\n', "new_organizations"),
        ('"calculator", "payroll"', '"payroll"', "large lacks features of small"),
        ('"calculator", "payroll"', '"calculator", "payrol"', "plans.large.features"),
        ("keys = 5 }\n[", "keys = 6 }\n[", "large has a lower limit than small"),
        ("keys = 5", "keys = '5'", "plans.small.limits.keys"),
        ("keys = 5", "keys = -5", "plans.small.limits.keys"),
        ("keys = 5", "keys = 5.0", "plans.small.limits.keys"),
        ("keys = 5", "keys = true", "plans.small.limits.keys"),
        (", keys = 5", "", "plans.small.limits.keys"),
        ("keys = 5", "keys = 5, kyes = 5", "plans.small.limits.kyes"),
        ("[plans.small]", "[plans.small]\nprice = 5", "plans.small.price"),
        ("[plans.small]", "[plans.small]\nadd_on = { price = 5 }", "plans.small.add_on"),
        ("[plans.small]", "[plans.small", "line"),
        ("new_organizations", "currency = 'USD'\nnew_organizations", "currency"),
    ],
)
def test_a_mistake_in_the_plans_is_named(right: str, wrong: str, said: str) -> None:
    assert set(read_plans(SMALL).plans) == {"small", "large"}
    assert right in SMALL
    with pytest.raises(ValueError, match=said):
        read_plans(SMALL.replace(right, wrong, 1))


@pytest.mark.completeness
def test_every_limit_of_a_plan_has_a_name_to_lift_it_by() -> None:
    assert set(plans.Limits.__dataclass_fields__) == set(LIMITS)


async def test_a_key_created_for_a_household_needs_no_scope_to_name_it(
    new_key: NewKey, owner_database: Database, clock: FixedClock
) -> None:
    """A small plan's key without `multi_employer` works with the one household it has."""
    await new_key("Family", plan="starter")
    employer_id = await _by_the_operator(owner_database, clock, "Family")
    narrow = await new_key("Family", scopes=("payroll", "employees"), employer_id=UUID(employer_id))
    rosa = data(await narrow.post("/employees", ROSA), 201)
    body = payroll_of(employer_id, rosa["id"])
    data(await narrow.post("/payroll/run", {name: body[name] for name in body if name != "employer_id"}))
