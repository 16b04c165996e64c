"""Lines in arrays say what the rows before them said, and a program of the version before writes and reads them."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors
from sqlalchemy.engine import make_url

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.database.installation import roles_of
from hearthpay.database.migrations import migrate
from hearthpay.doctor.evidence_checks import paycheck_digests
from hearthpay.payroll.ledger.digests import DIGEST_IN_SQL
from hearthpay.payroll.ledger.lines import LineNames, line_set_id
from tests.conftest import plain_url
from tests.database.household import Household
from tests.database.sealing import enter

_LINES = "SELECT * FROM paycheck_lines ORDER BY paycheck_id, position"

# As 0064 has them: 300 paychecks with up to nine lines each, of five kinds, the last lines first; every tenth has none.
_PAYCHECKS = """
SET session_replication_role = 'replica';
INSERT INTO paychecks (id, organization_id, employer_id, sandbox, payroll_id, employee_id, position, reverses, tax_year,
       period, payment_method, regular_hours, regular_pay, overtime_hours, overtime_pay, bonus, other_earnings,
       gross_pay, employee_taxes, employer_taxes, net_pay, total_cost, ytd_gross_pay, ytd_net_pay, ytd_employee_taxes,
       ytd_employer_taxes, employee_name, work_state, residence_state)
SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), i % 2 = 0, gen_random_uuid(), gen_random_uuid(),
       least(sign, 0), CASE WHEN sign < 0 THEN gen_random_uuid() END, 2026, '[2026-11-09,2026-11-15]', 'check',
       0, sign * i * 10, 0, 0, 0, 0, sign * i * 10, sign * i, sign * i, sign * i * 9, sign * i * 11, 0, 0, 0, 0,
       'Ana O''Neil', 'CA', 'CA'
  FROM generate_series(1, 300) i, LATERAL (SELECT CASE WHEN i % 7 = 0 THEN -1 ELSE 1 END AS sign) s;
INSERT INTO paycheck_lines (organization_id, employer_id, sandbox, paycheck_id, employee_id, tax_year, position, code,
       name, payer, agency, category, subject_wages, taxable_wages, rate, amount, ytd_amount)
SELECT c.organization_id, c.employer_id, c.sandbox, c.id, c.employee_id, 2026, n, 'US-' || n,
       CASE WHEN abs(c.employee_taxes) % 5 = n THEN 'Größe, "' ELSE 'Tax {' END || n || '}',
       CASE WHEN n % 2 = 0 THEN 'employee' ELSE 'employer' END, 'Agency \\' || n, 'category',
       c.employee_taxes * 1000 + n, -n, CASE n WHEN 0 THEN NULL WHEN 1 THEN 0.0620 ELSE 0.0000000014500 END,
       CASE WHEN c.reverses IS NULL THEN 1 ELSE -1 END * (n + 9223372036854775000), n
  FROM paychecks c, generate_series(8, 0, -1) n WHERE abs(c.employee_taxes) % 10 <> 0
   AND n <= abs(c.employee_taxes) % 10;
"""

# What the version before this schema executes, its arrays as values.
_FORMER_INSERT = """
INSERT INTO paycheck_lines (organization_id, employer_id, sandbox, paycheck_id, employee_id, tax_year, position,
       code, name, payer, agency, category, subject_wages, taxable_wages, rate, amount, ytd_amount)
SELECT p.organization_id, p.employer_id, p.sandbox, p.id, p.employee_id, p.tax_year, l.position, t.code, t.name,
       t.payer, t.agency, t.category, l.subject_wages, l.taxable_wages, l.rate, l.amount, l.ytd_amount
  FROM (VALUES (1, 1, 2, 1000, 900, 0.0145, -14, 14), (1, 0, 1, 1000, 1000, NULL, 62, 62)) AS
       l (paycheck, position, tax, subject_wages, taxable_wages, rate, amount, ytd_amount)
  JOIN (SELECT *, 1 AS number FROM paychecks WHERE id = %s) AS p ON p.number = l.paycheck
  JOIN (VALUES (1, 'US-FIT', 'Federal income tax', 'employee', 'IRS', 'income_tax'),
               (2, 'US-MED-ER', 'Medicare', 'employer', 'IRS', 'medicare')) AS t (number, code, name, payer, agency,
       category) ON t.number = l.tax
"""
_FORMER_SET = (
    LineNames("US-FIT", "Federal income tax", "employee", "IRS", "income_tax"),
    LineNames("US-MED-ER", "Medicare", "employer", "IRS", "medicare"),
)
_WITHOUT_LINES = (
    "UPDATE paychecks SET line_set_id = NULL, line_subject_wages = NULL, line_taxable_wages = NULL, "
    "line_rates = NULL, line_amounts = NULL, line_ytd_amounts = NULL WHERE id = %s"
)


@pytest.fixture
def database_url(server: EmbeddedServer, owner_connection: psycopg.Connection) -> Iterator[str]:
    name = f"packing_{uuid4().hex[:12]}"
    owner_connection.execute(f"CREATE DATABASE {name}")
    yield make_url(server.owner_url()).set(database=name).render_as_string(hide_password=False)
    owner_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    for role in (roles_of(name).service, roles_of(name).worker):
        owner_connection.execute(f"DROP ROLE IF EXISTS {role}")


def test_the_migration_keeps_every_line_and_every_digest(database_url: str) -> None:
    migrate(database_url, revision="0064")
    with psycopg.connect(plain_url(database_url), autocommit=True) as owner:
        owner.execute(_PAYCHECKS)
        owner.execute(
            f"UPDATE paychecks SET digest = d.computed FROM (SELECT c.id, {DIGEST_IN_SQL} AS computed FROM paychecks c "
            "LEFT JOIN paycheck_lines l ON l.paycheck_id = c.id GROUP BY c.id) d WHERE d.id = paychecks.id"
        )
        before = owner.execute(_LINES).fetchall()
        assert len(before) == 1_590
    migrate(database_url, revision="0065")
    with psycopg.connect(plain_url(database_url), autocommit=True) as owner:
        after = owner.execute(_LINES).fetchall()
        assert after == before
        assert [str(row) for row in after] == [str(row) for row in before], "the rates' digits too"
        assert owner.execute(paycheck_digests()).fetchall() == []
        assert owner.execute("SELECT count(*) FROM paychecks WHERE line_set_id IS NULL").fetchone() == (30,)
        assert owner.execute("SELECT count(*) FROM unpacked_lines").fetchone() == (0,)


@pytest.mark.parametrize(
    "names",
    [(), _FORMER_SET, (LineNames("CA-SDI-EE", 'Größe "NULL" \\ {}', "employee", "", "x,y"),)],
    ids=("none", "two", "quoted"),
)
def test_a_set_has_the_same_id_here_and_in_the_database(
    owner: psycopg.Connection, names: tuple[LineNames, ...]
) -> None:
    columns = [[line[place] for line in names] for place in range(5)]
    row = owner.execute(
        "SELECT line_set_id(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])", columns
    ).fetchone()
    assert row == (line_set_id(names),)


def test_what_the_version_before_writes_is_packed_at_once(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    owner.execute("DELETE FROM unpacked_lines WHERE paycheck_id = %s", (smiths.paycheck_id,))
    owner.execute(_WITHOUT_LINES, (smiths.paycheck_id,))
    enter(service, smiths.organization_id)
    service.execute(_FORMER_INSERT, (smiths.paycheck_id,))
    shown = service.execute(
        "SELECT paycheck_id, position, code, name, payer, rate, amount FROM paycheck_lines l ORDER BY position"
    ).fetchall()
    assert shown == [
        (smiths.paycheck_id, 0, "US-FIT", "Federal income tax", "employee", None, 62),
        (smiths.paycheck_id, 1, "US-MED-ER", "Medicare", "employer", Decimal("0.0145"), -14),
    ]
    assert _stored(owner, smiths) == (line_set_id(_FORMER_SET), [1000, 1000], [1000, 900], [62, 14])
    # What another transaction left is not taken.
    assert owner.execute("SELECT paycheck_id FROM unpacked_lines").fetchall() == [(joneses.paycheck_id,)]


def test_the_lines_of_a_paycheck_are_written_once(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household
) -> None:
    owner.execute("DELETE FROM unpacked_lines")
    before = _stored(owner, smiths)
    enter(service, smiths.organization_id)
    with pytest.raises(errors.CheckViolation, match="written once"):
        service.execute(_FORMER_INSERT, (smiths.paycheck_id,))
    assert _stored(owner, smiths) == before
    assert owner.execute("SELECT count(*) FROM unpacked_lines").fetchone() == (0,)


def test_lines_cannot_be_written_for_another_tenant(
    owner: psycopg.Connection, service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    owner.execute(_WITHOUT_LINES, (joneses.paycheck_id,))
    enter(service, smiths.organization_id)
    for tenant, refusal in ((joneses, errors.InsufficientPrivilege), (smiths, errors.ForeignKeyViolation)):
        with pytest.raises(refusal):
            service.execute(
                "INSERT INTO paycheck_lines VALUES (%s, %s, false, %s, %s, 2026, 1, 'US-FIT', 'Tax', 'employee', "
                "'IRS', 'income_tax', 1, 1, NULL, 1, 1)",
                (tenant.organization_id, tenant.employer_id, joneses.paycheck_id, joneses.employee_id),
            )
    assert _stored(owner, joneses) == (None, None, None, None)


@pytest.mark.parametrize("statement", ["UPDATE paycheck_lines SET amount = 0", "DELETE FROM paycheck_lines"])
def test_not_even_the_owner_changes_lines_through_the_view(
    owner: psycopg.Connection, smiths: Household, statement: str
) -> None:
    with pytest.raises(errors.ObjectNotInPrerequisiteState):
        owner.execute(statement)


def test_the_view_shows_what_its_reader_may_see(
    service: psycopg.Connection, smiths: Household, joneses: Household
) -> None:
    seen: list[tuple[UUID]] = []
    for household in (smiths, joneses):
        enter(service, household.organization_id)
        seen += service.execute("SELECT paycheck_id FROM paycheck_lines").fetchall()
    assert seen == [(smiths.paycheck_id,), (joneses.paycheck_id,)]


def _stored(owner: psycopg.Connection, household: Household) -> tuple[object, ...] | None:
    return owner.execute(
        "SELECT line_set_id, line_subject_wages, line_taxable_wages, line_ytd_amounts FROM paychecks WHERE id = %s",
        (household.paycheck_id,),
    ).fetchone()
