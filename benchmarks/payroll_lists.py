"""Pages of payrolls where a table holds many: each kind of page by its median, with the index that found it.

Run by itself: `python -m benchmarks.payroll_lists [--payrolls 100000]`. A large organization has all but thirty of the
payrolls; those thirty are the oldest of the table, and another organization's. Three payrolls have failed.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any, Final
from uuid import UUID

import psycopg
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from benchmarks.event_loop import new_event_loop
from benchmarks.installation import installation
from benchmarks.report import Aim, Row, print_table
from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import terms_of
from hearthpay.database.session import Database
from hearthpay.payroll.commands import PayrollQuery
from hearthpay.payroll.schemas import PayrollsQuery
from hearthpay.payroll.service import list_payrolls

PAYROLLS: Final = 100_000
SMALL: Final = 30
AIM: Final = Aim(5, at_least=False)
_TIMES: Final = 15

_ORGANIZATIONS: Final = (
    "INSERT INTO organizations (id, name, plan, created_at) VALUES (%(id)s, %(name)s, 'professional', now())"
)
_HOUSEHOLDS: Final = (
    "INSERT INTO employers (id, organization_id, sandbox, first_name, last_name, state, email, is_primary, created_at) "
    "SELECT new_id(), %(organization)s, false, 'Ada', 'Household', 'TX', 'ada@example.com', n = 1, now() "
    "FROM generate_series(1, %(number)s) n"
)
# Ids grow with the pay date, as they do where payrolls are run week by week.
_PAYROLLS: Final = (
    "INSERT INTO payrolls (id, organization_id, employer_id, sandbox, status, period_start, period_end, pay_date, "
    "pay_date_defaulted, pay_frequency, kind, rulebook_version, tax_year, gross_pay, total_deductions, net_pay, "
    "employer_taxes, total_cost, direct_deposit, failure, failure_told, created_by_kind, created_at) "
    "SELECT new_id(), %(organization)s, h.id, false, "
    "CASE WHEN n IN (5, 6, 7) AND %(number)s > 1000 THEN 'failed' ELSE 'completed' END, "
    "d.day - 7, d.day - 1, d.day, false, 'weekly', 'regular', '2026', extract(year FROM d.day), 100000, "
    "7650, 92350, 7650, 107650, false, CASE WHEN n IN (5, 6, 7) AND %(number)s > 1000 "
    'THEN \'{"code": "R01", "message": "", "what_to_do": ""}\'::jsonb END, \'told\', \'key\', now() '
    "FROM generate_series(1, %(number)s) n JOIN LATERAL (SELECT date '2021-01-01' + (n * 2100 / %(number)s)::int "
    "AS day) d ON true JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS number "
    "FROM employers WHERE organization_id = %(organization)s) h ON h.place = n %% h.number ORDER BY n"
)


@dataclass(frozen=True, slots=True)
class Filled:
    """The organizations whose payrolls fill the table."""

    small: UUID
    large: UUID


def fill(owner: psycopg.Connection[Any], payrolls: int) -> Filled:
    """Write so many payrolls of two organizations, the small one's first; `owner` sees every row."""
    filled = Filled(uuid7(), uuid7())
    for organization, households, number in ((filled.small, 1, SMALL), (filled.large, 50, payrolls - SMALL)):
        owner.execute(_ORGANIZATIONS, {"id": organization, "name": str(organization)})
        owner.execute(_HOUSEHOLDS, {"organization": organization, "number": households})
        owner.execute(_PAYROLLS, {"organization": organization, "number": number})
    owner.execute("ANALYZE payrolls")
    return filled


def pages(filled: Filled, cursor: UUID | None = None) -> dict[str, tuple[UUID, dict[str, object]]]:
    """The pages that are asked for: whose, and the query."""
    return {
        "newest": (filled.large, {}),
        "status=failed": (filled.large, {"status": "failed"}),
        "status=voided (none)": (filled.large, {"status": "voided"}),
        "an empty date range": (filled.large, {"from": "2031-01-01", "to": "2031-12-31"}),
        "a day long ago": (filled.large, {"from": "2022-03-01", "to": "2022-03-01"}),
        "a small organization's last page": (filled.small, {} if cursor is None else {"cursor": cursor}),
        "a small organization's failed": (filled.small, {"status": "failed"}),
    }


def actor_of(organization: UUID) -> Actor:
    """Whoever may list the organization's payrolls."""
    terms = terms_of("professional", {})
    return Actor("key", None, organization, "live", frozenset(SCOPES), "benchmark", terms=terms)


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    """What is sent to any database in the meantime."""
    sent: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, ___: object, ____: object) -> None:
        sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def plans_of(session: AsyncSession, actor: Actor, requested: PayrollQuery) -> list[dict[str, Any]]:
    """The plans of the statements that find the page, as PostgreSQL tells them; executed."""
    with statements() as sent:
        await list_payrolls(session, actor, requested)
    connection = await session.connection()
    plans = []
    for statement, parameters in sent:
        if "FROM payrolls" in statement:
            explained = await connection.exec_driver_sql(
                f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters
            )
            told = explained.scalar_one()
            plans += json.loads(told) if isinstance(told, str) else told
    return plans


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plan's nodes, from the top."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes_of(child)


def found_by(plans: list[dict[str, Any]]) -> str:
    """By which indexes the payrolls were found."""
    nodes = [node for plan in plans for node in nodes_of(plan["Plan"])]
    names = [
        str(node.get("Index Name", node["Node Type"]))
        for node in nodes
        if node.get("Relation Name") == "payrolls"
    ]
    return ", ".join(dict.fromkeys(names))


async def measure(database: Database, filled: Filled) -> list[Row]:
    """Ask for each page a number of times."""
    rows = []
    for name, (organization, values) in pages(filled).items():
        actor = actor_of(organization)
        query = PayrollsQuery.model_validate(values).to_command()
        took = []
        for _ in range(_TIMES):
            async with database.transaction(actor.tenant) as session:
                began = time.perf_counter()
                await list_payrolls(session, actor, query)
                took.append((time.perf_counter() - began) * 1000)
        plans = []
        for _ in range(_TIMES):
            async with database.transaction(actor.tenant) as session:
                plans.append(await plans_of(session, actor, query))
        server = median(
            sum(plan["Planning Time"] + plan["Execution Time"] for plan in of_page) for of_page in plans
        )
        told = f"{server:.1f} ms in the database, {median(took):.1f} ms in all"
        rows.append(Row(name, told, found_by(plans[0]), None, AIM, server))
    return rows


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payrolls", type=int, default=PAYROLLS)
    payrolls = parser.parse_args().payrolls
    async with installation() as installed:
        print(f"Writing {payrolls:,} payrolls …", flush=True)
        url = installed.owner_url.replace("postgresql+psycopg://", "postgresql://")
        with psycopg.connect(url, autocommit=True) as owner:
            filled = fill(owner, payrolls)
        print_table(await measure(installed.database, filled))


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
