"""A payday: thousands of households with one scheduled direct deposit each, all due at the same cut-off.

A few model households are made through the service, one for each profile of state and wage. The others are their
copies, made by the database: every row of a model again with new ids, table by table, so that they are what the
service writes, whatever that becomes. Only the bank accounts' numbers are each household's own, encrypted for it.
"""

import asyncio
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from typing import Final, Literal
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import SCOPES
from hearthpay.access.plans import LIMITS, terms_of
from hearthpay.accounts import service as accounts
from hearthpay.banking.accounts import AccountDetails, connect_employee_account, connect_household_account
from hearthpay.banking.calendar import CUT_OFF, LEAD_DAYS, add_banking_days
from hearthpay.clock import BUSINESS_TIME, FixedClock
from hearthpay.database.address import psycopg_url
from hearthpay.database.migrations import read
from hearthpay.database.session import Database
from hearthpay.doctor.record_checks import HIDDEN
from hearthpay.employees.commands import AddEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.service import create_employee
from hearthpay.employers.commands import CreateEmployer
from hearthpay.employers.models import Employer
from hearthpay.employers.service import create_employer
from hearthpay.payroll.commands import Confirmations, EmployeePay, Order, SetAsideChoice
from hearthpay.payroll.service import run_payroll
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import OwnerKind, SecretOwner, seal
from hearthpay.security.vault_numbers import NumberKind, parse_number

PAYDAY: Final = datetime.date(2026, 9, 15)
"""A Tuesday with no holiday near: the day at whose cut-off the payrolls are due."""

MOST_HISTORY: Final = 52
"""Weeks before the pay period of the payday: a whole year."""

ROUTING: Final = "021000021"

#: State and hourly wage of the models, and what the employee sets aside on the payday, in dollars.
_PROFILES: Final = (("TX", "18.50", 0), ("CA", "27.25", 0), ("NY", "32.00", 40), ("IL", "22.75", 0))
_NO_LIMITS: Final[Mapping[str, int | None]] = dict.fromkeys(LIMITS)
_PERIOD: Final = datetime.date(2026, 9, 7)
_WEEK: Final = datetime.timedelta(days=7)
_HIRED: Final = datetime.date(2025, 6, 2)

#: Parents before their children. The vault is not among them: its rows are bound to their owners' ids.
_TABLES: Final = (
    "employers",
    "employees",
    "bank_accounts",
    "ach_authorizations",
    "payrolls",
    "payroll_transitions",
    "payroll_entries",
    "payroll_estimates",
    "paychecks",
    "year_balances",
    "month_balances",
    "household_words",
    "metadata_entries",
)
#: Ids that a household and its copy share.
_SHARED: Final = frozenset({"organization_id", "created_by", "actor_id", "authorized_by"})
#: A digest is bound to its row's id: a copy's is computed anew.
_COLUMNS: Final = (
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' "
    "AND table_name = %s AND is_generated = 'NEVER' AND column_name NOT IN ('digest', 'row_digest', 'figures_digest')"
)
#: Triggers are off while models are copied: the next one to hold the chain seals these.
_TRACES: Final = (
    "WITH written AS (INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, "
    "subject_id, details) SELECT new_id(), organization_id, employer_id, sandbox, created_by_kind, created_by, "
    "'payroll.run', id, '{}' FROM payrolls p WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.subject_id = p.id) "
    "UNION ALL SELECT new_id(), organization_id, employer_id, sandbox, authorized_by_kind, authorized_by, "
    "'ach.authorize', id, jsonb_build_object('bank_account_id', bank_account_id, 'text_version', text_version, "
    "'authorized_at', authorized_at, 'expires_at', expires_at) FROM ach_authorizations z "
    "WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.subject_id = z.id) "
    "UNION ALL SELECT new_id(), organization_id, employer_id, sandbox, 'operator', NULL, 'rights.as_of_upgrade', id, "
    "jsonb_build_object('right', 'account', 'account_type', account_type, 'status', status) "
    "FROM bank_accounts b WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.subject_id = b.id) "
    "RETURNING id, organization_id) INSERT INTO audit_unsealed SELECT id, organization_id FROM written"
)
_VERSIONS: Final = """
    INSERT INTO record_versions (id, record, record_id, organization_id, employer_id, fields)
    SELECT new_id(), '{table}', r.id, r.organization_id, r.{household}, recorded_fields(r, m.names, %(hidden)s)
      FROM {table} r CROSS JOIN (SELECT ARRAY(SELECT jsonb_object_keys(v.fields)) AS names
                                   FROM record_versions v WHERE v.record = '{table}' LIMIT 1) m
     WHERE NOT EXISTS (SELECT FROM record_versions v WHERE v.record = '{table}' AND v.record_id = r.id)
"""
_ROW_DIGESTS: Final = import_module("hearthpay.database.migrations.versions.0101_row_digests")
_WRITTEN_BY_TRIGGERS: Final = (
    *(
        f"UPDATE {table} t SET digest = {table}_digest(t) WHERE digest IS NULL"
        for table in _TABLES
        if table in _ROW_DIGESTS.DIGESTED
    ),
    "UPDATE payrolls t SET figures_digest = payroll_figures_digest(t) WHERE figures_digest IS NULL",
    "UPDATE paychecks t SET row_digest = paychecks_digest(t) WHERE row_digest IS NULL",
    _ROW_DIGESTS.PAYCHECKS,
    (
        "INSERT INTO household_dues (employer_id, organization_id, sandbox) SELECT id, organization_id, sandbox "
        "FROM employers e WHERE NOT EXISTS (SELECT FROM household_dues d WHERE d.employer_id = e.id)"
    ),
)
_VAULT_COPY: Final = (
    "COPY vault (id, organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, "
    "key_id, last_four) FROM STDIN"
)
_LAST_FOUR: Final = (
    "UPDATE bank_accounts b SET last_four = v.last_four FROM vault v WHERE v.kind = 'bank_account' "
    "AND v.owner_kind = CASE WHEN b.employee_id IS NULL THEN 'employer' ELSE 'employee' END "
    "AND v.owner_id = coalesce(b.employee_id, b.employer_id)"
)


@dataclass(frozen=True, slots=True)
class PaydayHousehold:
    """A household, whom it employs, the payroll that is due, and the numbers of both bank accounts."""

    employer_id: UUID
    employee_id: UUID
    payroll_id: UUID
    own_account: str
    employee_account: str


@dataclass(frozen=True, slots=True)
class Payday:
    """Everything that is due, and an API key of the organization to which all households belong."""

    organization_id: UUID
    key: str
    due_at: datetime.datetime
    pay_date: datetime.date
    households: tuple[PaydayHousehold, ...]


async def make_payday(
    owner_url: str, service_url: str, ring: KeyRing, *, households: int, history: int = 0
) -> Payday:
    """Fill a database with a payday of so many households, each with `history` earlier weekly paychecks by check.

    Takes the schema's owner as a superuser, as the embedded server's is. Raises ValueError for more history than the
    year has weeks.
    """
    if not 0 <= history <= MOST_HISTORY:
        raise ValueError(f"history must be 0 to {MOST_HISTORY}")
    due_at = datetime.datetime.combine(PAYDAY, CUT_OFF, BUSINESS_TIME).astimezone(datetime.UTC)
    clock = FixedClock(due_at - _WEEK)
    known = read(owner_url)
    owner = Database(owner_url, role=known.owner, pool_size=1)
    service = Database(service_url, role=known.roles.service, seal=known.seal, pool_size=1)
    try:
        async with owner.transaction(None) as session:
            organization = await accounts.create_organization(session, clock, "Payday")
            await accounts.lift_limits(session, organization, _NO_LIMITS)
            key = await accounts.create_key(session, clock, organization, mode="live", scopes=SCOPES)
        actor = Actor(
            "key",
            key.id,
            organization.id,
            "live",
            frozenset(SCOPES),
            str(uuid7()),
            terms=terms_of(organization.plan, organization.lifted_limits),
        )
        maker = _Maker(service, ring, actor, clock, history)
        models = [await maker.make(number) for number in range(min(len(_PROFILES), households))]
    finally:
        await owner.dispose()
        await service.dispose()
    made = [_household(models, number) for number in range(households)]
    await asyncio.to_thread(_copy_models, owner_url, ring, organization.id, models, made)
    return Payday(organization.id, key.text, due_at, add_banking_days(PAYDAY, LEAD_DAYS), tuple(made))


class _Vouching:
    """An instant verification that knows every account, so that none waits for its prenote."""

    async def verify(self, details: AccountDetails) -> bool:  # noqa: ARG002 - the protocol's
        return True


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the model households, as the service does."""

    database: Database
    ring: KeyRing
    actor: Actor
    clock: FixedClock
    history: int

    async def make(self, number: int) -> PaydayHousehold:
        state, wage, set_aside = _PROFILES[number]
        async with self.database.transaction(self.actor.tenant) as session:
            employer = await create_employer(
                session,
                self.actor,
                self.clock,
                CreateEmployer(first_name="Maria", last_name="Lopez", email="maria@example.com", state=state),
            )
            noted = await create_employee(
                session,
                self.actor,
                self.clock,
                AddEmployee(
                    employer_id=employer.id,
                    first_name="Rosa",
                    last_name="Diaz",
                    pay_rate=Decimal(wage),
                    pay_frequency="weekly",
                    start_date=_HIRED,
                ),
            )
            employee = noted.employee
            own, theirs = _account_numbers(number)
            await self._connect(session, employer, None, own)
            await self._connect(session, employer, employee, theirs)
        for week in range(self.history, 0, -1):
            await self._run(employer.id, employee.id, _PERIOD - week * _WEEK)
        payroll_id = await self._schedule(employer.id, employee.id, set_aside)
        return PaydayHousehold(employer.id, employee.id, payroll_id, own, theirs)

    async def _connect(
        self, session: AsyncSession, employer: Employer, employee: Employee | None, account: str
    ) -> None:
        details = AccountDetails(
            parse_number("bank_routing", ROUTING), parse_number("bank_account", account), "checking"
        )
        operator = Actor.operator(self.actor.organization_id, sandbox=False, request_id=str(uuid7()))
        now, vouching = self.clock.now(), _Vouching()
        if employee is None:
            await connect_household_account(
                session, self.ring, operator, employer, details, now, verification=vouching
            )
        else:
            await connect_employee_account(
                session, self.ring, operator, employee, details, now, verification=vouching
            )

    async def _run(self, employer_id: UUID, employee_id: UUID, period: datetime.date) -> None:
        order = _order(employer_id, employee_id, period, "check", period + _WEEK)
        async with self.database.transaction(self.actor.tenant) as session:
            await run_payroll(session, self.actor, self.clock, order, direct_deposit_enabled=True)

    async def _schedule(self, employer_id: UUID, employee_id: UUID, set_aside: int) -> UUID:
        pay_date = add_banking_days(PAYDAY, LEAD_DAYS)
        confirmed = Confirmations(confirm_ach_debit=True)
        order = _order(employer_id, employee_id, _PERIOD, "direct_deposit", pay_date, Decimal(set_aside))
        async with self.database.transaction(self.actor.tenant) as session:
            stored = await run_payroll(
                session, self.actor, self.clock, order, confirmed, direct_deposit_enabled=True
            )
        if stored.status != "scheduled":
            raise RuntimeError(f"the payroll of the payday is {stored.status}, not scheduled")
        return stored.id


def _order(
    employer_id: UUID,
    employee_id: UUID,
    period: datetime.date,
    method: Literal["check", "direct_deposit"],
    pay_date: datetime.date,
    set_aside: Decimal = Decimal(0),
) -> Order:
    wish = SetAsideChoice(amount=set_aside) if set_aside else None
    return Order(
        employer_id=employer_id,
        pay_period_start=period,
        pay_period_end=period + _WEEK - datetime.timedelta(days=1),
        pay_date=pay_date,
        pay_frequency="weekly",
        employees=(
            EmployeePay(
                employee_id=employee_id,
                regular_hours=Decimal(40),
                payment_method=method,
                voluntary_set_aside=wish,
            ),
        ),
    )


def _household(models: Sequence[PaydayHousehold], number: int) -> PaydayHousehold:
    """The household of this number: a model itself, or the copy of one."""
    if number < len(models):
        return models[number]
    model = models[number % len(models)]
    own, theirs = _account_numbers(number)
    return PaydayHousehold(
        _copied(model.employer_id, number),
        _copied(model.employee_id, number),
        _copied(model.payroll_id, number),
        own,
        theirs,
    )


def _account_numbers(number: int) -> tuple[str, str]:
    """The household's account number and its employee's; nobody else has either."""
    return f"61{number:08}", f"72{number:08}"


def _copied(model_id: UUID, number: int) -> UUID:
    """The id in the copy of that number: the last 32 bits, random in the model, are the number.

    The others hold the time and its order, so ids follow each other in the copy as they do in the model.
    """
    return UUID(f"{model_id.hex[:24]}{number:08x}")


def _copy_models(
    owner_url: str,
    ring: KeyRing,
    organization_id: UUID,
    models: Sequence[PaydayHousehold],
    made: Sequence[PaydayHousehold],
) -> None:
    url = psycopg_url(owner_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as connection:
        # Copies refer to copies: checking that again, row by row, would take most of the time.
        connection.execute("SET LOCAL session_replication_role = 'replica'")
        for table in _TABLES:
            columns: dict[str, str] = dict(connection.execute(_COLUMNS, (table,)).fetchall())
            for position, model in enumerate(models):
                statement = _copy_statement(table, columns)
                first = position + len(models)
                connection.execute(
                    statement,
                    {
                        "employer": model.employer_id,
                        "employee": str(model.employee_id),
                        "first": first,
                        "last": len(made) - 1,
                        "step": len(models),
                    },
                )
        with connection.cursor().copy(_VAULT_COPY) as copy:
            for household in made[len(models) :]:
                for row in _vault_rows(ring, organization_id, household):
                    copy.write_row(row)
        connection.execute(_LAST_FOUR)
        connection.execute(_TRACES)
        for statement in _WRITTEN_BY_TRIGGERS:
            connection.execute(statement.encode())
        connection.execute(
            "SET LOCAL session_replication_role = 'origin'"
        )  # a version is chained by a trigger
        for table, household in (("employers", "id"), ("employees", "employer_id")):
            versions = _VERSIONS.format(table=table, household=household).encode()
            connection.execute(versions, {"hidden": list(HIDDEN)})
        connection.commit()
        connection.autocommit = True
        connection.execute("ANALYZE")


def _copy_statement(table: str, columns: dict[str, str]) -> sql.Composed:
    """The statement that copies a model's rows of one table to every household of the model's kind.

    Row by row of the model, each for all households: so the rows of a week lie together, as a service that has lived
    through the year would have written them. The numbers depend on the model's row, so that the planner can't make
    them the outer side of the join, which would put all rows of a household together.
    """
    values = [
        _copied_value(name, kind) if name not in _SHARED else sql.Identifier("s", name)
        for name, kind in columns.items()
    ]
    return sql.SQL(
        "INSERT INTO {table} ({names}) SELECT {values} "
        "FROM (SELECT * FROM {table} WHERE {owner} = %(employer)s ORDER BY {order} OFFSET 0) s "
        "CROSS JOIN LATERAL (SELECT n FROM generate_series(%(first)s::int, %(last)s::int, %(step)s::int) AS n "
        "WHERE s.organization_id IS NOT NULL OFFSET 0) AS numbers"
    ).format(
        table=sql.Identifier(table),
        names=sql.SQL(", ").join(map(sql.Identifier, columns)),
        values=sql.SQL(", ").join(values),
        owner=sql.Identifier("id" if table == "employers" else "employer_id"),
        order=sql.Identifier(
            next(
                name
                for name in ("id", "paycheck_id", "payroll_id", "employee_id", "owner_id", "object_id")
                if name in columns
            )
        ),
    )


def _copied_value(name: str, kind: str) -> sql.Composable:
    column = sql.Identifier("s", name)
    renamed = sql.SQL("overlay({}::text PLACING lpad(to_hex(n), 8, '0') FROM 29)")
    if name == "is_primary":
        return sql.SQL("false")  # an organization has one primary household
    if kind == "uuid":
        return sql.SQL("({})::uuid").format(renamed.format(column))
    if kind == "jsonb":  # what was estimated names the employee
        return sql.SQL("replace({}::text, %(employee)s::text, {})::jsonb").format(
            column, renamed.format(sql.SQL("%(employee)s"))
        )
    return column


def _vault_rows(
    ring: KeyRing, organization_id: UUID, household: PaydayHousehold
) -> Iterator[tuple[object, ...]]:
    owners: tuple[tuple[OwnerKind, UUID, str], ...] = (
        ("employer", household.employer_id, household.own_account),
        ("employee", household.employee_id, household.employee_account),
    )
    for owner_kind, owner_id, account in owners:
        owner = SecretOwner(organization_id, household.employer_id, False, owner_kind, owner_id)
        numbers: tuple[tuple[NumberKind, str], ...] = (("bank_routing", ROUTING), ("bank_account", account))
        for kind, digits in numbers:
            number = parse_number(kind, digits)
            sealed = seal(ring.newest, owner, number)
            yield (
                uuid7(),
                organization_id,
                household.employer_id,
                False,
                owner_kind,
                owner_id,
                kind,
                sealed.ciphertext,
                sealed.nonce,
                sealed.key_id,
                number.last_four,
            )
