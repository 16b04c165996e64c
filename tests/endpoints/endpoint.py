"""What the tests know of one endpoint: one row, from which every test of all endpoints draws.

A row says how the endpoint is asked rightly; the tests send that with right and with wrong keys, in random
conversations, to a service without its WHERE clauses, and hold each answer against the OpenAPI document.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import IntEnum
from functools import cache
from typing import Any, Final, Literal
from uuid import UUID

import httpx

from tests.boundary.worlds import World, ids_in
from tests.http.api import Caller

NOBODY: Final = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
"""An id that no row has."""

_TABLES: Final = {
    "employer_id": "employers",
    "employee_id": "employees",
    "payroll_id": "payrolls",
    "document_id": "documents",
    "package_id": "document_packages",
    "tax_payment_id": "tax_payments",
    "filing_id": "filings",
}
"""Whose id a parameter of a path is; a new one goes into `World.objects` as well."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request without the path's ids and without `employer_id`. No body: none is sent."""

    body: dict[str, Any] | None = None
    path: dict[str, str] = field(default_factory=dict)
    """What the path names that belongs to nobody, such as a state, or another object than the world's usual one."""
    query: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One request to come. `household` and `thing` tell whose household, and whose other object, is named."""

    action: str
    speaker: int
    household: int | None
    thing: int
    which: int = -1
    variant: int = 0
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One request, and the worlds whose rows it is about."""

    method: str
    path: str
    about: frozenset[int] = frozenset()
    body: dict[str, Any] | None = None
    query: dict[str, Any] | None = None


Action = Callable[[Step, list[World]], Request]


class Turn(IntEnum):
    """When an endpoint is called where each is called once: nothing takes away what a later one needs."""

    READ = 0
    """It changes no row."""
    CHANGE = 1
    """It changes rows that are there, or adds some that no other endpoint is about."""
    PAY = 2
    """It runs payrolls or voids them."""
    TEST_VALUE = 3
    """It puts a test value in the place of a number."""
    ADD = 4
    """It adds an employee: what looks for one then finds two."""
    ADD_HOUSEHOLD = 5
    END = 6
    """It ends what there is, or moves its time."""
    DELETE = 7
    """It deletes a household."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One endpoint. Method, path and scope are written down here, not taken from the route."""

    id: str
    """The `operationId`."""
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    """Below `/api/v1`."""
    scope: str | None
    """What a key needs to have; None: any key will do."""
    request: Callable[[World], Asked]
    """The request that succeeds in a world, without the path's ids and without `employer_id`."""
    turn: Turn
    household: Literal["body", "query"] | None = None
    """Where `employer_id` stands, if not in the path."""
    by_thing: Callable[[World], Asked] | None = None
    """A right request that names a thing of its household beside `employer_id`, where `request` need not."""
    step: Action | None = None
    """How a step of a random conversation becomes a request, where variants of the right one are worth it."""
    stateless: bool = False
    """Whether it neither reads nor changes a row: there is nothing to keep apart."""
    test_keys_only: bool = False
    refuses_live_keys_first: bool = False
    """Whether it refuses every live key before it looks at the request."""
    retired: str = ""
    """The code by which it tells everybody who has a key that it is no more."""
    leaves_audit_row: bool = False
    """Whether it leaves a row in the audit trail, although it only reads."""
    tells_mode: bool = False
    """Whether it tells of the account's own household in its path that the key is of the other mode."""
    id_in_text: bool = False
    """Whether the id in its right request is only part of a text, and so leads to no household."""
    finds_one: bool = False
    """Whether it must find one row among several, and so fails in a service without conditions on ids."""
    lacks: str = ""
    """The code that ends it in a household that has neither an EIN nor anybody enrolled in Autopilot."""
    contradiction: str = "employee_not_in_household"
    """The code that refuses an `employer_id` which is not the household of what else is named."""

    @property
    def takes_idempotency_key(self) -> bool:
        """Whether the same request again under the same key does nothing again."""
        return self.method in ("POST", "PATCH") and not self.retired

    @property
    def changes(self) -> bool:
        """Whether it changes rows of its own world, beside the audit trail."""
        return self.turn is not Turn.READ

    @property
    def names_a_thing(self) -> bool:
        """Whether a right request names, beside `employer_id`, a thing that leads to its household."""
        asked = self.request(_marked())
        return self.household is not None and (
            self.by_thing is not None or (not self.id_in_text and bool(ids_in(f"{asked.body} {asked.query}")))
        )

    def action(self, step: Step, worlds: list[World]) -> Request:
        """Return the request of a step: the row's own, or the right one with the ids that the step names."""
        return (self.step or self._named)(step, worlds)

    def _named(self, step: Step, worlds: list[World]) -> Request:
        named = worlds[step.thing]
        asked = self.request(
            replace(
                worlds[step.speaker],
                employer_id=named.employer_id,
                employee_id=named.employee_id,
                payroll_id=named.payroll_id,
                paid_id=named.paid_id,
                document_id=named.document_id,
                package_id=named.package_id,
            )
        )
        path, body, query = self.path, asked.body, asked.query
        for name in re.findall(r"{(\w+)}", path):
            value = asked.path.get(name) or id_of(step, worlds, _TABLES[name], step.thing)
            path = path.replace(f"{{{name}}}", value)
        about = {step.thing} if "_id}" in self.path or ids_in(f"{body} {query}") else set()
        if self.household is not None:
            household, households = household_of(step, worlds)
            about |= households
            if self.household == "body":
                body = {**(body or {}), **household}
            else:
                query = {**query, **household}
        return Request(self.method, path, frozenset(about), body, query or None)


@cache
def _marked() -> World:
    """A world of which every id is `NOBODY`, to see which requests name one."""
    ids = dict.fromkeys(
        ("employer_id", "employee_id", "payroll_id", "paid_id", "document_id", "package_id"), NOBODY
    )
    nobody = Caller(httpx.AsyncClient(), "", UUID(NOBODY))
    return World("Nobody", nobody, UUID(NOBODY), False, Decimal(0), Decimal(0), **ids)


def id_of(step: Step, worlds: list[World], table: str, of: int) -> str:
    """Return the id of the row that a step names, of the world `of`."""
    ids = worlds[of].ids.get(table, [])
    return ids[step.which % len(ids)] if ids else NOBODY


def household_of(step: Step, worlds: list[World]) -> tuple[dict[str, str], frozenset[int]]:
    """Return the field `employer_id`, or nothing where the step names no household; and whose it is."""
    if step.household is None:
        return {}, frozenset()
    return {"employer_id": id_of(step, worlds, "employers", step.household)}, frozenset({step.household})
