"""Settles years after the rules of their tax year changed: substitute figures were replaced by published ones.

Contributions that were charged by substitute figures follow the published ones from the first paycheck of the year
on. What was charged too little or too much is recorded as owed, and the next paycheck charges or refunds it, as after
a void. Income tax stays as it was withheld: new tables apply from then on, unless an agency asks for more.
"""

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.session import Database
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.payroll.orders import read_payees
from hearthpay.payroll.years.household_year import lock_household, measure_household
from hearthpay.taxes.rulebook import rulebook_of, supported_years

CHUNK: Final = 200
"""How many years of households are settled before the worker checks what else is due."""

SETTLED: Final = "employee.year_settled"
"""The action in the audit log, whose subject is the employee."""

_IN_FORCE: Final = Fragment(
    "JOIN unnest(CAST(:years AS smallint[]), CAST(:versions AS text[])) AS v (tax_year, version) "
    "ON v.tax_year = y.tax_year AND v.version <> y.rulebook_version"
)
_VERSIONS: Final = Fragment(
    "SELECT y.rulebook_version FROM year_balances y WHERE y.tax_year = v.tax_year AND y.rulebook_version IS NOT NULL "
    "ORDER BY y.rulebook_version"
)
_ANY_OUTDATED: Final = statement(
    "SELECT coalesce(bool_or(v.version <> first.version OR v.version <> last.version), false) "
    "FROM unnest(CAST(:years AS smallint[]), CAST(:versions AS text[])) AS v (tax_year, version) "
    "CROSS JOIN LATERAL ({versions} ASC LIMIT 1) AS first (version) "
    "CROSS JOIN LATERAL ({versions} DESC LIMIT 1) AS last (version)",
    versions=_VERSIONS,
)
"""If the first and the last version of a year are the one in force, all are: two index lookups for each year."""


class _OutdatedRow(NamedTuple):
    employer_id: UUID
    tax_year: int


_OUTDATED: Final = query(
    _OutdatedRow,
    "SELECT DISTINCT y.employer_id, y.tax_year FROM year_balances y {in_force} ORDER BY 1, 2 LIMIT :limit",
    in_force=_IN_FORCE,
)
_OF_HOUSEHOLD: Final = statement(
    "SELECT y.employee_id FROM year_balances y {in_force} "
    "WHERE y.employer_id = :employer AND y.tax_year = :tax_year ORDER BY 1",
    in_force=_IN_FORCE,
)


class _MeasuredRow(NamedTuple):
    organization_id: UUID
    employer_id: UUID
    sandbox: bool


_MEASURED: Final = query(
    _MeasuredRow,
    "UPDATE year_balances SET rulebook_version = :version "
    "WHERE employee_id = ANY(:employees) AND tax_year = :tax_year RETURNING organization_id, employer_id, sandbox",
)


async def settle_rule_changes(database: Database, *, limit: int = CHUNK) -> int:
    """Settle years that were measured by rules other than those in force, each household's in its own transaction.

    The database is the worker's. Returns how many years of households were settled; fewer than ``limit`` means that
    none are left. Repeating it changes nothing, and if two workers process one household, the second finds it done.
    """
    async with database.transaction(None) as session:
        if not await session.scalar(_ANY_OUTDATED, _in_force()):
            return 0
        due = await fetch_all(session, _OUTDATED, _in_force() | {"limit": limit})
    for employer_id, tax_year in due:
        async with database.transaction(None) as session:
            await _settle(session, employer_id, tax_year)
    return len(due)


def _in_force() -> dict[str, list[object]]:
    """Return the rulebooks in force, as parameters for the statements."""
    years = supported_years()
    return {"years": list(years), "versions": [rulebook_of(year).version for year in years]}


async def _settle(session: AsyncSession, employer_id: UUID, tax_year: int) -> None:
    """Record what a household's year owes by the rules in force, and that it was measured by them."""
    which = _in_force() | {"employer": employer_id, "tax_year": tax_year}
    outdated = list(await session.scalars(_OF_HOUSEHOLD, which))
    bases = await lock_household(session, employer_id, outdated)
    # Another worker may have held the lock.
    outdated = list(await session.scalars(_OF_HOUSEHOLD, which))
    if not outdated:
        return
    payees = await read_payees(session, outdated)
    changed = await measure_household(session, employer_id, tax_year, bases, payees.values())
    version = rulebook_of(tax_year).version
    measured = await fetch_all(
        session, _MEASURED, {"version": version, "employees": outdated, "tax_year": tax_year}
    )
    assert measured, "its employees are locked"
    owner = measured[0]
    await record_worker_audit(
        session,
        SETTLED,
        [
            WorkerAuditEntry(
                owner.organization_id,
                owner.employer_id,
                owner.sandbox,
                employee,
                {"tax_year": year, "rulebook": version, "owed": dict(owed)},
            )
            for (employee, year), owed in changed.items()
        ],
    )
