"""Every service function × every kind of actor × what it reaches: no rule can be passed by another door.

Whether a kind of actor may is asked before the first statement, so it is tried without a database. Whose household it
may be about is tried with one, whose every transaction is undone.
"""

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, cast
from uuid import UUID, uuid4

import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

import hearthpay
from hearthpay.access.actor import Actor, Role
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import Terms, terms_of
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.commands import ListHouseholds
from hearthpay.employers.service import list_employers
from hearthpay.http.statuses import status_of
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.service import list_payrolls
from tests.access.service_calls import (
    BELOW,
    CLOCK,
    HERSELF,
    OPERATORS_OWN,
    PERSONS_OWN,
    SERVICE_CALLS,
    Deed,
    NotThere,
    Target,
    Touched,
    Untouched,
)
from tests.banking.families import add_family
from tests.cases import every_case
from tests.database.household import add_organization

_ALL_OF_IT: Final = terms_of(
    "professional", {"households": None, "sandbox_households": None, "employees_per_household": None}
)
_FREE: Final = terms_of("free", {})
_NO_TEST_KEYS: Final = terms_of("plus", {})
_NO_ACCESS: Final = frozenset({"not_found", "household_forbidden", "key_mode_mismatch"})
_SOURCE: Final = Path(hearthpay.__file__).parent
_BELOW_SERVICES: Final = ("http", "access", "wire", "mail", "taxes", "database", "cli")

Make = Callable[[Target, Deed], Actor]


def _session(
    role: Role,
    terms: Terms = _ALL_OF_IT,
    households: frozenset[UUID] | None = None,
    sandbox: bool | None = None,
) -> Make:
    def make(target: Target, _: Deed) -> Actor:
        chosen = target.sandbox if sandbox is None else sandbox
        return Actor.session(
            uuid4(),
            target.organization_id,
            role,
            sandbox=chosen,
            request_id="r",
            terms=terms,
            households=households,
        )

    return make


def _key(terms: Terms = _ALL_OF_IT, *, without: bool = False, sandbox: bool | None = None) -> Make:
    def make(target: Target, call: Deed) -> Actor:
        scopes = frozenset(SCOPES) - ({call.scope} if without else set())
        mode = "test" if (target.sandbox if sandbox is None else sandbox) else "live"
        return Actor.key(uuid4(), target.organization_id, mode, scopes, request_id="r", terms=terms)

    return make


def _token(
    terms: Terms = _ALL_OF_IT, *, without: bool = False, households: frozenset[UUID] | None = None
) -> Make:
    def make(target: Target, call: Deed) -> Actor:
        scopes = frozenset(SCOPES) - ({call.scope} if without else set())
        return Actor.token(
            uuid4(),
            target.organization_id,
            scopes,
            sandbox=target.sandbox,
            request_id="r",
            terms=terms,
            households=households,
        )

    return make


def _operator(target: Target, _: Deed) -> Actor:
    return Actor.operator(target.organization_id, sandbox=target.sandbox, request_id="r", terms=_ALL_OF_IT)


def _worker(terms: Terms) -> Make:
    def make(target: Target, _: Deed) -> Actor:
        return Actor.system(
            target.organization_id,
            sandbox=target.sandbox,
            request_id="r",
            terms=terms,
            household=target.employer_id,
        )

    return make


def _employee(target: Target, _: Deed) -> Actor:
    return Actor.employee(
        target.employee_id,
        target.organization_id,
        target.employer_id,
        sandbox=target.sandbox,
        request_id="r",
    )


#: By the names that the table of deeds uses, and what they are refused with where it does not name them.
ACTORS: Final[dict[str, tuple[Make, str]]] = {
    "operator": (_operator, ""),
    "owner": (_session("owner"), "scope_required"),
    "admin": (_session("admin"), "scope_required"),
    "viewer": (_session("viewer"), "scope_required"),
    "key": (_key(), "scope_required"),
    "token": (_token(), "scope_required"),
    "worker": (_worker(_ALL_OF_IT), "scope_required"),
    "employee": (_employee, ""),
    "key without the scope": (_key(without=True), "scope_required"),
    "token without the scope": (_token(without=True), "scope_required"),
    "owner on a plan without it": (_session("owner", _FREE), "subscription_required"),
    "key on a plan without it": (_key(_FREE), "subscription_required"),
    "worker on a plan without it": (_worker(_FREE), "subscription_required"),
    "test key on a plan without the sandbox": (_key(_NO_TEST_KEYS, sandbox=True), "subscription_required"),
    "session in the sandbox on a plan without it": (
        _session("owner", _NO_TEST_KEYS, sandbox=True),
        "subscription_required",
    ),
}


@cache
def _functions() -> tuple[tuple[str, frozenset[str], bool], ...]:
    """Every public asynchronous function of the services that takes a session: its name, what kinds of things it takes,
    and whether it writes to the audit log without an actor.
    """
    return tuple(_read_functions())


def _read_functions() -> Iterator[tuple[str, frozenset[str], bool]]:
    for path in sorted(_SOURCE.rglob("*.py")):
        place = path.relative_to(_SOURCE)
        if place.parts[0] in _BELOW_SERVICES or len(place.parts) == 1:
            continue
        source = path.read_text("utf-8")
        if "AsyncSession" not in source:
            continue
        lines = source.splitlines()
        module = ".".join(("hearthpay", *place.with_suffix("").parts))
        functions = [node for node in ast.parse(source).body if isinstance(node, ast.AsyncFunctionDef)]
        said = {node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in functions}
        writing = {"audit.record", *(name for name in said if "audit.record(" in said[name])}
        for node in functions:
            taken = _annotations(node)
            if not node.name.startswith("_") and "AsyncSession" in taken:
                written = any(f" {each}(" in said[node.name] for each in writing - {node.name})
                yield f"{module}.{node.name}", frozenset(taken), written


def _annotations(node: ast.AsyncFunctionDef) -> set[str]:
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return {ast.unparse(each.annotation) for each in arguments if each.annotation is not None}


@pytest.mark.completeness
def test_every_service_that_acts_for_somebody_has_a_row() -> None:
    acting = {name for name, taken, _ in _functions() if "Actor" in taken}
    missing, idle = (
        sorted(acting - SERVICE_CALLS.keys() - BELOW),
        sorted((SERVICE_CALLS.keys() | BELOW) - acting),
    )
    assert not missing, (
        f"no row for {', '.join(missing)}: add to tests/access/service_calls.py one function each, that does it to the "
        "household it is given, with who may do it"
    )
    assert not idle, f"tests/access/service_calls.py has rows for no service: {', '.join(idle)}"


def test_nobody_else_writes_in_a_persons_name() -> None:
    """What leaves an audit row without being told who acts is the operator's alone, or the person's own."""
    nameless = {name for name, taken, written in _functions() if written and not taken & {"Actor", "Reader"}}
    assert nameless == OPERATORS_OWN | PERSONS_OWN


def test_actors_are_made_by_their_constructors() -> None:
    by_hand = [
        str(path.relative_to(_SOURCE))
        for path in _SOURCE.rglob("*.py")
        if "Actor(" in (source := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Actor"
    ]
    assert by_hand == []


def _anywhere(*, sandbox: bool) -> Target:
    return Target(uuid4(), sandbox, uuid4(), uuid4(), uuid4())


async def _stopped(call: Deed, actor: Actor, target: Target) -> Refusal | None:
    """The refusal before the first statement; None for who is let pass to it."""
    try:
        await call.call(cast(AsyncSession, Untouched()), actor, target)
    except Touched:
        return None
    except Refusal as refusal:
        return refusal
    raise AssertionError("a deed of a service turns to the database")


async def test_who_may() -> None:
    with every_case() as case:
        for name, call in SERVICE_CALLS.items():
            for who in ACTORS:
                with case(name, who):
                    await _check_whether_one_may(call, who)


async def _check_whether_one_may(call: Deed, who: str) -> None:
    target = _anywhere(sandbox=call.sandbox_only)
    make, code = ACTORS[who]
    stopped = await _stopped(call, make(target, call), target)
    if who in call.who or (call.any_plan and who == "owner on a plan without it"):
        assert stopped is None
    else:
        # An employee has no plan; whether that is said first, or that he may not, makes no difference.
        expected = {code} if code and not call.any_plan else {"scope_required", "subscription_required"}
        assert stopped is not None
        assert stopped.code in expected
        assert status_of(stopped) == 403


async def test_a_person_makes_the_households_of_any_plan_that_pays() -> None:
    """A key or token needs the plan's `multi_employer`, however many households the plan allows."""
    call = SERVICE_CALLS["hearthpay.employers.service.create_employer"]
    target = _anywhere(sandbox=False)
    with every_case() as case:
        for plan in ("starter", "plus"):
            terms = terms_of(plan, {})
            for who, make, code in (
                ("owner", _session("owner", terms), None),
                ("admin", _session("admin", terms), None),
                ("viewer", _session("viewer", terms), "scope_required"),
                ("key", _key(terms), "subscription_required"),
                ("token", _token(terms), "subscription_required"),
            ):
                with case(plan, who):
                    stopped = await _stopped(call, make(target, call), target)
                    assert (stopped and stopped.code) == code


async def test_an_employee_enters_no_numbers_but_his_own() -> None:
    target = _anywhere(sandbox=False)
    colleague = Actor.employee(
        uuid4(), target.organization_id, target.employer_id, sandbox=False, request_id="r"
    )
    with every_case() as case:
        for name, call in SERVICE_CALLS.items():
            if "employee" in call.who:
                with case(name), pytest.raises(Refusal, match="only their own"):
                    await call.call(cast(AsyncSession, Untouched()), colleague, target)


class _Undone(Exception):  # noqa: N818 - not a failure
    """Ends a transaction of which nothing shall stay."""


async def _outcome(database: Database, call: Deed, actor: Actor, target: Target) -> str | None:
    """The code of the refusal; None where the deed was done, and is undone again."""
    try:
        async with database.transaction(actor.tenant) as session:
            await call.call(session, actor, target)
            raise _Undone
    except Refusal as refusal:
        return refusal.code
    except NotThere:
        return "not_found"
    except _Undone:
        return None


@pytest.fixture
def households(owner: psycopg.Connection) -> dict[tuple[str, bool], Target]:
    """Three households of one organization and one of another, all of them real and in the sandbox."""
    ours, theirs = add_organization(owner, "Quillmoor"), add_organization(owner, "Harrowgate")
    made = {}
    for sandbox in (False, True):
        for name, organization in (("own", ours), ("third", ours), ("sibling", ours), ("foreign", theirs)):
            family = add_family(owner, organization, sandbox=sandbox, last_name=name.title())
            made[name, sandbox] = Target(
                organization, sandbox, family.employer_id, family.employee_ids[0], family.payroll_id
            )
    return made


async def test_whom_it_may_be_about(
    database: Database,
    clock: FixedClock,
    households: dict[tuple[str, bool], Target],
) -> None:
    with every_case() as case:
        for name, call in SERVICE_CALLS.items():
            if not call.names_household or call.who in (frozenset({"operator"}), HERSELF):
                continue
            mode = call.sandbox_only
            own, third, sibling = (households[each, mode] for each in ("own", "third", "sibling"))
            one = frozenset({own.employer_id})
            several = frozenset({own.employer_id, third.employer_id})
            everything: Any = None
            for reached, target, within in (
                (one, own, True),
                (several, third, True),
                (everything, sibling, True),
                (one, sibling, False),
                (several, sibling, False),
                (frozenset[UUID](), own, False),
                (several, households["own", not mode], False),
                (everything, households["own", not mode], False),
                (everything, households["foreign", mode], False),
            ):
                make = (
                    _token(households=reached)
                    if "token" in call.who
                    else _session("owner", households=reached)
                )
                actor = make(own, call)
                with case(name, "reached", reached and len(reached), "about", target.employer_id):
                    outcome = await _outcome(database, call, actor, target)
                    if within:
                        assert outcome == call.ends
                    else:
                        assert outcome in _NO_ACCESS


async def test_an_employee_reaches_her_own_record_alone(
    database: Database, households: dict[tuple[str, bool], Target]
) -> None:
    with every_case() as case:
        for name, call in SERVICE_CALLS.items():
            if call.who != HERSELF:
                continue
            for mode in (False, True):
                own = households["own", mode]
                others = [each for each in households.values() if each != own]
                for target in (own, *others):
                    with case(name, "about", target.employer_id):
                        outcome = await _outcome(database, call, _employee(own, call), target)
                        assert outcome == call.ends if target == own else outcome in _NO_ACCESS


async def test_lists_show_what_is_reached(
    database: Database, households: dict[tuple[str, bool], Target]
) -> None:
    own, third, sibling = (households[each, False] for each in ("own", "third", "sibling"))
    call = SERVICE_CALLS["hearthpay.employers.service.list_employers"]
    for reached in ((own,), (own, third), ()):
        ids = frozenset(each.employer_id for each in reached)
        actor = _token(households=ids)(own, call)
        async with database.transaction(actor.tenant) as session:
            employers, _ = await list_employers(session, actor, CLOCK, ListHouseholds())
            assert {each.id for each in employers} == ids
        # A token of one household falls back on it; of several, the list is of all that it reaches.
        async with database.transaction(actor.tenant) as session:
            payrolls, _ = await list_payrolls(session, actor, PayrollQuery())
            assert {payroll.employer_id for payroll, _ in payrolls} == ids
    actor = _token()(own, call)
    async with database.transaction(actor.tenant) as session:
        employers, _ = await list_employers(session, actor, CLOCK, ListHouseholds())
    assert {each.id for each in employers} == {each.employer_id for each in (own, third, sibling)}


async def test_who_is_confined_creates_no_household(
    database: Database, households: dict[tuple[str, bool], Target]
) -> None:
    own, third = households["own", False], households["third", False]
    call = SERVICE_CALLS["hearthpay.employers.service.create_employer"]
    assert await _outcome(database, call, _token()(own, call), own) is None
    for reached in (frozenset({own.employer_id}), frozenset({own.employer_id, third.employer_id})):
        actor = _token(households=reached)(own, call)
        assert await _outcome(database, call, actor, own) == "household_forbidden"
