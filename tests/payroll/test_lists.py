"""Lists of payrolls find their rows by an index, however many payrolls others have."""

import psycopg
import pytest
from benchmarks.payroll_lists import Filled, actor_of, fill, nodes_of, pages, plan_of

from hearthpay.database.session import Database
from hearthpay.payroll.schemas import PayrollsQuery

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
            told = await plan_of(session, actor, PayrollsQuery.model_validate(values).to_command())
        scans = [node for node in nodes_of(told["Plan"]) if node.get("Relation Name") == "payrolls"]
        # What asks whether an employee is looking plans for that too, and never does it here.
        kinds = {node["Node Type"] for node in nodes_of(told["Plan"]) if node["Actual Loops"]}
        assert not kinds & {"Seq Scan", "Parallel Seq Scan"}, name
        # No more is read than is shown, and a page's end is known by one row more.
        read = sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans)
        assert read <= 60, (name, read)
