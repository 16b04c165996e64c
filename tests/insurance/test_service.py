"""A household's policies in the database: kept, replaced, taken back, and seen by the calendar."""

from dataclasses import replace
from datetime import date
from typing import Any
from uuid import UUID

import pytest

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.employers.models import Employer
from hearthpay.insurance.service import HouseholdPolicy, PolicyDetails, keep_policy, policies_of_household
from tests.http.api import Account, data
from tests.worlds.households import add_employee

POLICY = PolicyDetails(
    state="CA",
    kind="workers_compensation",
    carrier="State Fund",
    policy_number="77-1",
    starts_on=date(2026, 1, 1),
    ends_on=date(2026, 12, 31),
)


class Policies:
    """Says and reads policies of a household, as the operator."""

    def __init__(self, database: Database, clock: FixedClock, household: UUID) -> None:
        self.database, self.clock, self.household = database, clock, household

    async def keep(self, told: PolicyDetails) -> None:
        async with self.database.transaction(None) as session:
            employer = await session.get_one(Employer, self.household)
            await keep_policy(session, self.actor(employer), self.clock, employer, told)

    async def read(self) -> tuple[HouseholdPolicy, ...]:
        async with self.database.transaction(None) as session:
            employer = await session.get_one(Employer, self.household)
            return await policies_of_household(session, self.actor(employer), self.clock, employer)

    def actor(self, employer: Employer) -> Actor:
        return Actor.operator(employer.organization_id, sandbox=False, request_id="req_policy")


@pytest.fixture
def policies(owner_database: Database, clock: FixedClock, household: dict[str, Any]) -> Policies:
    return Policies(owner_database, clock, UUID(household["id"]))


async def renewals(account: Account) -> dict[str, str | None]:
    answer = await account.live.get("/tax-calendar", **{"from": "2026-01-01", "to": "2027-12-31"})
    return {
        item["key"]: item["done_on"]
        for item in data(answer)["items"]
        if item["key"].startswith("CA/workers-compensation/")
    }


async def test_a_policy_is_kept_replaced_and_taken_back(
    account: Account, household: dict[str, Any], policies: Policies
) -> None:
    await add_employee(account.live, household["id"], start_date="2026-03-02")
    (missing,) = await policies.read()
    assert (missing.state, missing.missing, missing.entered) == ("CA", True, None)
    await policies.keep(POLICY)
    (kept,) = await policies.read()
    assert (kept.missing, kept.entered) == (False, POLICY)
    assert await renewals(account) == {
        "CA/workers-compensation/policy": "2026-01-01",
        "CA/workers-compensation/renewal-2026-12-31": None,
    }
    await policies.keep(PolicyDetails(state="CA", kind="workers_compensation", carrier=None))
    (gone,) = await policies.read()
    assert (gone.missing, gone.entered) == (True, None)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"state": "XX"}, "kind"),
        ({"kind": "disability"}, "kind"),
        ({"carrier": ""}, "carrier"),
        ({"policy_number": "x" * 81}, "policy_number"),
        ({"starts_on": None}, "starts_on"),
        ({"ends_on": date(2025, 12, 31)}, "ends_on"),
    ],
)
async def test_what_is_no_policy_is_refused(policies: Policies, changed: dict[str, Any], field: str) -> None:
    with pytest.raises(Refusal) as refused:
        await policies.keep(replace(POLICY, **changed))
    assert [problem.field for problem in refused.value.details] == [field]
    assert all(each.entered is None for each in await policies.read())
