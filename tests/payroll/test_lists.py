"""Lists of payrolls find their rows by an index, however many payrolls others have."""

from itertools import product
from uuid import UUID

import psycopg
import pytest
from benchmarks.payroll_lists import Filled, actor_of, fill, nodes_of, pages, plans_of

from hearthpay.database.session import Database
from hearthpay.payroll.dated_lists import LOOKED_AT
from hearthpay.payroll.schemas import PayrollsQuery
from hearthpay.payroll.service import list_payrolls
from hearthpay.wire.paging import decode_cursor

PAYROLLS = 4_000


@pytest.fixture
def filled(empty_tables: None, owner_connection: psycopg.Connection) -> Filled:
    return fill(owner_connection, PAYROLLS)


async def test_no_page_is_found_by_reading_the_rows_of_others(database: Database, filled: Filled):
    for name, (organization, values) in pages(filled).items():
        if (
            name == "newest"
        ):  # a full page of nearly all rows: how it is found best depends on how many there are
            continue
        actor = actor_of(organization)
        async with database.transaction(actor.tenant) as session:
            plans = await plans_of(session, actor, PayrollsQuery.model_validate(values).to_command())
        nodes = [node for plan in plans for node in nodes_of(plan["Plan"]) if node["Actual Loops"]]
        scans = [node for node in nodes if node.get("Relation Name") == "payrolls"]
        # What asks whether an employee is looking plans for that too, and never does it here.
        assert not {node["Node Type"] for node in nodes} & {"Seq Scan", "Parallel Seq Scan"}, name
        # No more is read than is shown, and a page's end is known by one row more. Of a range, the newest are looked
        # at first, and some more are read of each payday.
        read = sum(
            node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
            for node in scans
        )
        assert read <= (LOOKED_AT + 60 if "from" in values else 60), (name, read)


RANGES = (
    ("2024-03-01", "2024-03-31"),
    ("2024-03-09", "2024-03-09"),
    ("2024-03-01", None),
    (None, "2024-03-12"),
    ("2025-01-01", None),
    ("2024-03-31", "2024-03-01"),
)
STATUSES = (None, "completed", "voided", "processing", "failed", "firing")


async def _pages(database: Database, organization: UUID, limit: int, **query: str | None) -> list[UUID]:
    """The ids of all pages, one page after another."""
    actor, found, cursor = actor_of(organization), list[UUID](), None
    while True:
        values = {name.rstrip("_"): value for name, value in query.items() if value is not None}
        asked = PayrollsQuery.model_validate(values | {"limit": limit, "cursor": cursor})
        async with database.transaction(actor.tenant) as session:
            shown, cursor = await list_payrolls(session, actor, asked.to_command())
        found += [payroll.id for payroll, _ in shown]
        if cursor is None:
            return found
        assert len(shown) == limit
        assert decode_cursor(cursor) == shown[-1][0].id


async def _read_ranges(
    database: Database, owner: psycopg.Connection, organization: UUID, days: int, limits: tuple[int, ...]
) -> None:
    """Read the pages of each status and range, with paydays on so many days in no order of the ids.

    A third of the payrolls are of one day. There are a few payrolls of each status, and of most statuses as many as are
    looked at. There are more days than rows on the shortest page.
    """
    assert days > min(limits)
    owner.execute(
        f"UPDATE payrolls SET pay_date = CASE abs(hashtext(id::text)) % 3 WHEN 0 THEN date '2024-03-09' "
        f"ELSE date '2024-03-01' + abs(hashtext(id::text)) / 3 % {days} END, "
        "period_start = '2024-02-01', period_end = '2024-02-07', tax_year = 2024"
    )
    owner.execute(
        "UPDATE payrolls SET status = CASE WHEN failure IS NOT NULL THEN status WHEN n % 5 = 0 THEN 'voided' "
        "WHEN n % 7 = 0 THEN 'processing' ELSE 'completed' END "
        "FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM payrolls) numbered "
        "WHERE numbered.id = payrolls.id"
    )
    owner.execute("ANALYZE payrolls")
    for status, (first, last) in product(STATUSES, RANGES):
        expected = [
            id_
            for (id_,) in owner.execute(
                "SELECT id FROM payrolls WHERE organization_id = %s AND pay_date >= coalesce(%s, pay_date) "
                "AND pay_date <= coalesce(%s, pay_date) AND status = coalesce(%s, status) ORDER BY id DESC",
                (organization, first, last, status),
            ).fetchall()
        ]
        if (first, last, status) == ("2024-03-01", None, None):
            assert len(expected) > 4 * LOOKED_AT
        if (first, last, status) == ("2024-03-09", "2024-03-09", None):
            assert len(expected) > max(limits)
        if (first, last) == ("2024-03-01", None) and status in ("completed", "voided", "processing"):
            assert len(expected) > LOOKED_AT
        for limit in limits:
            found = await _pages(database, organization, limit, from_=first, to=last, status=status)
            assert found == expected, (status, first, last, limit)


async def test_pages_of_a_range_have_each_payroll_once_newest_first(
    database: Database, owner_connection: psycopg.Connection
):
    filled = fill(owner_connection, 1_400)
    await _read_ranges(database, owner_connection, filled.large, 31, (25, 100))


@pytest.mark.long
async def test_pages_of_a_range_have_each_of_many_payrolls_once_newest_first(
    database: Database, owner_connection: psycopg.Connection, filled: Filled
):
    await _read_ranges(database, owner_connection, filled.large, 28, (7, 100))
