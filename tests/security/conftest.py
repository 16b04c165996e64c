"""Fixtures of the vault: two households of the embedded database, a ring of one key, and someone who asks."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest

from hearthpay.database.audit import ActorKind
from hearthpay.security.vault_cipher import SecretOwner
from tests.database.conftest import made_once
from tests.database.household import Household, add_household, add_organization
from tests.worlds.keys import ring
from tests.worlds.made_in_turn import MadeInTurn
from tests.worlds.snapshots import MadeOnce, snapshots

__all__ = ["made_once", "ring", "snapshots"]


@dataclass(frozen=True, slots=True)
class Clerk:
    """Someone who stores and reads numbers."""

    kind: ActorKind
    id: UUID | None
    request_id: str | None


@pytest.fixture
def owner(owner_connection: psycopg.Connection, empty_tables: None) -> psycopg.Connection:
    return owner_connection


@pytest.fixture
def made_in_turn(made_once: MadeOnce) -> MadeInTurn:
    return MadeInTurn(made_once, "households without numbers")


@pytest.fixture
def smiths(owner: psycopg.Connection, made_in_turn: MadeInTurn) -> Household:
    return made_in_turn.get_blocking(
        "smiths", lambda: add_empty_household(owner, add_organization(owner, "Smith"))
    )


@pytest.fixture
def joneses(owner: psycopg.Connection, made_in_turn: MadeInTurn) -> Household:
    return made_in_turn.get_blocking(
        "joneses", lambda: add_empty_household(owner, add_organization(owner, "Jones"))
    )


@pytest.fixture
def clerk() -> Clerk:
    return Clerk("user", uuid4(), "req_vault")


def add_empty_household(
    connection: psycopg.Connection, organization_id: UUID, *, sandbox: bool = False
) -> Household:
    """A household of which the vault holds nothing yet."""
    household = add_household(connection, organization_id, sandbox=sandbox)
    for table in ("vault", "documents"):
        connection.execute(f"DELETE FROM {table} WHERE employer_id = %s", (household.employer_id,))
    return household


def employee_of(household: Household) -> SecretOwner:
    return SecretOwner(
        household.organization_id,
        household.employer_id,
        household.sandbox,
        "employee",
        household.employee_id,
    )


def employer_of(household: Household) -> SecretOwner:
    return SecretOwner(
        household.organization_id,
        household.employer_id,
        household.sandbox,
        "employer",
        household.employer_id,
    )
