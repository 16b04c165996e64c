"""No request about a household, and no page of a list, reads more because the organization has other households."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from tests.http.api import account, client, counts, data, new_account, new_key
from tests.scale.blocks import Blocks, blocks_of, grown, within
from tests.scale.crowd import add_copies
from tests.scale.test_blocks_of_the_api import FEW, MANY, WEEKS, _paid, _requests
from tests.worlds.keys import ring
from tests.worlds.town import Family, Town, app, family, town

__all__ = ["account", "app", "client", "counts", "family", "new_account", "new_key", "ring", "town"]

OF_SOME_DAYS = {"from": "2026-07-01", "to": "2026-07-31"}
"""Before the first payday: what is read is what there is on these days, not what was paid since."""

SOME = 60
"""Households with more payrolls than a list looks at before it goes from payday to payday."""


async def test_no_request_reads_more_where_the_organization_has_many_households(
    family: Family, town: Town, owner_connection: psycopg.Connection, subtests: pytest.Subtests
) -> None:
    requests = _requests(family, await _paid(family, WEEKS)) | {
        "payrolls of days on which nobody was paid": lambda: family.caller.get("/payrolls", **OF_SOME_DAYS),
    }
    alone: dict[str, Blocks] = {}
    add_copies(owner_connection, UUID(family.employer_id), 1, SOME, same_organization=True)
    for name, ask in requests.items():
        with blocks_of(town.database) as alone[name]:
            await ask()
    add_copies(owner_connection, UUID(family.employer_id), SOME + 1, MANY, same_organization=True)
    for name, ask in requests.items():
        with subtests.test(name):
            with blocks_of(town.database) as found:
                await ask()
            assert found.total <= within(alone[name]), grown(alone[name], found)


async def test_no_sorted_page_and_no_search_reads_more_where_the_organization_has_many_households(
    family: Family, town: Town, owner_connection: psycopg.Connection, subtests: pytest.Subtests
) -> None:
    data(await family.caller.post("/payroll/run", family.order("2026-12-11")))  # sent later, so it is planned
    [(name,)] = owner_connection.execute(
        "SELECT last_name FROM employers WHERE id = %s", (family.employer_id,)
    ).fetchall()
    lists: dict[str, dict[str, str]] = {
        "by payday": {"sort": "payday"},
        "by name": {"sort": "name"},
        "found": {"search": "quintana"},
        "found, by payday": {"search": "quintana", "sort": "payday"},
        "found, by name": {"search": "quintana", "sort": "name"},
        "of its metadata": {"metadata[only]": "us"},
        "of its metadata, by payday": {"metadata[only]": "us", "sort": "payday"},
        "of its metadata, by name": {"metadata[only]": "us", "sort": "name"},
    }

    def rename(last_name: str) -> None:
        """Copies have the household's name and metadata; it alone has others while it is searched for."""
        metadata = "{}" if last_name == name else '{"only": "us"}'
        owner_connection.execute(
            "UPDATE employers SET last_name = %s, metadata = %s WHERE id = %s",
            (last_name, metadata, family.employer_id),
        )

    alone: dict[str, Blocks] = {}
    add_copies(owner_connection, UUID(family.employer_id), 1, FEW, same_organization=True)
    rename("Quintana")
    for each, query in lists.items():
        with blocks_of(town.database) as alone[each]:
            await family.caller.get("/households", limit=10, **query)
    rename(name)
    add_copies(owner_connection, UUID(family.employer_id), FEW + 1, MANY, same_organization=True)
    rename("Quintana")
    for each, query in lists.items():
        with subtests.test(each):
            with blocks_of(town.database) as found:
                shown = data(await family.caller.get("/households", limit=10, **query))
            assert len(shown) == (10 if query.keys() <= {"sort"} else 1)
            assert found.total <= within(alone[each]), grown(alone[each], found)
