"""What an actor reaches, and what of that the database is told."""

import subprocess
import sys
from uuid import UUID, uuid4

from hearthpay.access.actor import Actor
from hearthpay.access.plans import terms_of
from hearthpay.database.session import Tenant

ORGANIZATION, HOUSEHOLD, OTHER = uuid4(), uuid4(), uuid4()


def _key(employer_id: UUID | None, *, confined: bool) -> Actor:
    return Actor.key(
        uuid4(),
        ORGANIZATION,
        "live",
        frozenset(),
        request_id="r",
        terms=terms_of("free", {}),
        employer_id=employer_id,
        employer_sandbox=None if employer_id is None else False,
        confined=confined,
    )


def _token(*households: UUID) -> Actor:
    return Actor.token(
        uuid4(),
        ORGANIZATION,
        frozenset(),
        sandbox=True,
        request_id="r",
        terms=terms_of("free", {}),
        households=households,
    )


def test_a_remembered_household_is_no_limit_and_a_limit_is_signed() -> None:
    remembering, confined = _key(HOUSEHOLD, confined=False), _key(HOUSEHOLD, confined=True)
    assert remembering.reaches(OTHER)
    assert remembering.tenant == Tenant(ORGANIZATION, False)
    assert not confined.reaches(OTHER)
    assert confined.tenant == Tenant(ORGANIZATION, False, HOUSEHOLD)


def test_a_confined_key_without_a_household_is_bound_to_none() -> None:
    nobodys = _key(None, confined=True)
    assert not nobodys.reaches(HOUSEHOLD)
    assert nobodys.tenant.employer_id == UUID(int=0)


def test_a_token_of_one_household_falls_back_on_it() -> None:
    one, two = _token(HOUSEHOLD), _token(HOUSEHOLD, OTHER)
    assert one.employer_id == HOUSEHOLD
    assert one.tenant == Tenant(ORGANIZATION, True, HOUSEHOLD)
    assert two.employer_id is None
    assert two.tenant == Tenant(ORGANIZATION, True)


def test_what_a_request_falls_back_on_tells_apart_whose_answers_may_differ() -> None:
    """Stored answers are found by it: the words for keys stay as they were."""
    assert _key(None, confined=False).falls_back_on == ""
    assert _key(HOUSEHOLD, confined=False).falls_back_on == str(HOUSEHOLD)
    assert _key(HOUSEHOLD, confined=True).falls_back_on == f"only {HOUSEHOLD}"
    assert _token(HOUSEHOLD, OTHER).falls_back_on == _token(OTHER, HOUSEHOLD).falls_back_on
    assert len({_token(*each).falls_back_on for each in ((HOUSEHOLD,), (OTHER,), (HOUSEHOLD, OTHER))}) == 3


def test_services_load_no_web_framework() -> None:
    modules = ("hearthpay.payroll.service", "hearthpay.banking.accounts", "hearthpay.employees.invitations")
    found = "sorted({'fastapi', 'starlette', 'uvicorn'} & sys.modules.keys())"
    code = "\n".join(("import sys", *(f"import {each}; print('{each}', {found})" for each in modules)))
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.splitlines() == [f"{each} []" for each in modules]
