"""A household with addresses, numbers and payrolls in the database, made by its own calls."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx

from hearthpay.access.actor import Actor
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.database.vault_store import store_secret
from hearthpay.employers.ein import keep_ein
from hearthpay.employers.models import Employer
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import SecretOwner
from hearthpay.security.vault_numbers import NumberKind, parse_number
from tests.http.api import ROSA, Caller, data
from tests.worlds.households import payroll_of

HOME = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}
ROOM = {"line1": "18 Valencia St", "line2": "Apt 4", "city": "San Francisco", "state": "CA", "zip": "94103"}
EIN = "12-3456789"
SSN = "123-45-6789"


@dataclass(frozen=True, slots=True)
class Family:
    """A household and the one it employs, as a caller sees them."""

    caller: Caller
    employer_id: str
    employee_id: str

    async def pay(self, **changes: Any) -> str:
        """Run a payroll by check; its id."""
        body = payroll_of(self.employer_id, self.employee_id, **changes)
        return data(await self.caller.post("/payroll/run", body))["payroll_id"]

    async def ask(self, paper: str, **body: Any) -> httpx.Response:
        return await self.caller.post(f"/documents/{paper}", {"employer_id": self.employer_id} | body)

    async def papers(self, **query: Any) -> list[dict[str, Any]]:
        return data(await self.caller.get("/documents", employer_id=self.employer_id, **query))


async def patched(caller: Caller, path: str, **changes: Any) -> dict[str, Any]:
    answer = await caller.client.patch(f"/api/v1{path}", json=changes, headers=caller.headers())
    return data(answer)


async def add_family(caller: Caller, employer_id: str, *, addresses: bool = True) -> Family:
    """The household's one employee; with addresses of both."""
    new = ROSA | {"employer_id": employer_id, "federal_withholding": {"elected": True}}
    if addresses:
        new["address"] = ROOM
        await patched(caller, f"/employers/{employer_id}", address=HOME)
    employee_id = data(await caller.post("/employees", new), 201)["id"]
    return Family(caller, employer_id, employee_id)


async def tell_numbers(
    owner: Database, ring: KeyRing, family: Family, *, ssn: str | None = SSN, kind: NumberKind = "ssn"
) -> None:
    """Enter the EIN as the operator does, and the employee's number as the portal does."""
    async with owner.transaction(None) as session:
        employer = await session.get_one(Employer, UUID(family.employer_id))
        actor = Actor.operator(employer.organization_id, sandbox=employer.sandbox, request_id="req_numbers")
        await keep_ein(session, ring, actor, employer, EIN)
        if ssn is not None:
            whose = SecretOwner(
                employer.organization_id, employer.id, employer.sandbox, "employee", UUID(family.employee_id)
            )
            await store_secret(session, ring, actor, whose, parse_number(kind, ssn))


def advance_to(clock: FixedClock, year: int, month: int, day: int) -> None:
    """Move the clock to noon in New York of a day."""
    import datetime

    there = datetime.datetime(year, month, day, 17, tzinfo=datetime.UTC)
    clock.advance(there - clock.now())
