"""Ways in which a schema comes to differ from what the migrations make, and what has to be told of each.

Each damage is SQL of the owner, who is a superuser in tests; `{service}`, `{worker}` and `{owner}` are its roles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SchemaDamage:
    """Statements, the difference that they make (code, kind and name), and whether it is looser."""

    sql: str
    told: tuple[str, str, str]
    looser: bool
    mended: bool = True
    """Whether the remedy that is told puts it right."""


LOOSER: Final = {
    "row security off": SchemaDamage(
        "ALTER TABLE paychecks DISABLE ROW LEVEL SECURITY",
        ("row_security_off", "table", "paychecks"),
        looser=True,
    ),
    "row security not forced": SchemaDamage(
        "ALTER TABLE vault NO FORCE ROW LEVEL SECURITY",
        ("row_security_not_forced", "table", "vault"),
        looser=True,
    ),
    "a policy opened": SchemaDamage(
        "ALTER POLICY tenant ON invitations USING (true)",
        ("changed", "policy", "tenant on invitations"),
        looser=True,
    ),
    "a policy for another role": SchemaDamage(
        "ALTER POLICY operator ON vault TO PUBLIC", ("changed", "policy", "operator on vault"), looser=True
    ),
    "a policy for writing only": SchemaDamage(
        "DROP POLICY tenant ON employees; "
        "CREATE POLICY tenant ON employees FOR SELECT TO {service} USING (sandbox)",
        ("changed", "policy", "tenant on employees"),
        looser=True,
    ),
    "a policy added": SchemaDamage(
        "CREATE POLICY support ON employees TO {service} USING (true)",
        ("additional", "policy", "support on employees"),
        looser=True,
    ),
    "a restrictive policy dropped": SchemaDamage(
        "DROP POLICY confirmed_by_household ON employee_links",
        ("missing", "policy", "confirmed_by_household on employee_links"),
        looser=True,
    ),
    "a role that bypasses the policies": SchemaDamage(
        "ALTER ROLE {worker} BYPASSRLS", ("role_attributes", "role", "<worker>"), looser=True
    ),
    "a superuser": SchemaDamage(
        "ALTER ROLE {service} SUPERUSER", ("role_attributes", "role", "<service>"), looser=True
    ),
    "a role that makes roles": SchemaDamage(
        "ALTER ROLE {service} CREATEROLE", ("role_attributes", "role", "<service>"), looser=True
    ),
    "a role that reads the log of all changes": SchemaDamage(
        "ALTER ROLE {worker} REPLICATION", ("role_attributes", "role", "<worker>"), looser=True
    ),
    "a member of the owner": SchemaDamage(
        "GRANT {owner} TO {service}", ("additional", "membership", "<service> in <owner>"), looser=True
    ),
    "a member of who reads all": SchemaDamage(
        "GRANT pg_read_all_data TO {worker}",
        ("additional", "membership", "<worker> in <pg_read_all_data>"),
        looser=True,
    ),
    "DELETE for the service": SchemaDamage(
        "GRANT DELETE ON paychecks TO {service}",
        ("right_additional", "right", "table paychecks to <service>"),
        looser=True,
    ),
    "a column of the worker": SchemaDamage(
        "GRANT UPDATE (net_pay) ON paychecks TO {worker}",
        ("right_additional", "right", "column paychecks.net_pay to <worker>"),
        looser=True,
    ),
    "the vault for PUBLIC": SchemaDamage(
        "GRANT SELECT ON vault TO PUBLIC", ("right_additional", "right", "table vault to PUBLIC"), looser=True
    ),
    "the switch that turns triggers off": SchemaDamage(
        "GRANT SET ON PARAMETER session_replication_role TO {service}",
        ("right_additional", "right", "parameter session_replication_role to <service>"),
        looser=True,
    ),
    "the secret of the tenants": SchemaDamage(
        "GRANT SELECT ON installation TO {service}",
        ("right_additional", "right", "table installation to <service>"),
        looser=True,
    ),
    "new tables in the schema": SchemaDamage(
        "GRANT CREATE ON SCHEMA public TO PUBLIC",
        ("right_additional", "right", "schema public to PUBLIC"),
        looser=True,
    ),
    "temporary tables": SchemaDamage(
        "GRANT TEMPORARY ON DATABASE {database} TO {service}",
        ("right_additional", "right", "database to <service>"),
        looser=True,
        mended=False,
    ),
    "a function for PUBLIC": SchemaDamage(
        "GRANT EXECUTE ON FUNCTION clear_sandbox_household(uuid, boolean) TO PUBLIC",
        ("right_additional", "right", "function clear_sandbox_household(uuid,boolean) to PUBLIC"),
        looser=True,
    ),
    "tables of the future": SchemaDamage(
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {service}",
        ("right_additional", "right", "future tables of <owner> to <service>"),
        looser=True,
        mended=False,
    ),
    "passwords of the server": SchemaDamage(
        "GRANT SELECT ON pg_catalog.pg_authid TO {service}",
        ("right_additional", "right", "table pg_authid to <service>"),
        looser=True,
    ),
    "a function replaced": SchemaDamage(
        "CREATE OR REPLACE FUNCTION current_person() RETURNS uuid LANGUAGE sql STABLE SECURITY DEFINER "
        "SET search_path = pg_catalog, pg_temp AS $$ SELECT id FROM public.people LIMIT 1 $$",
        ("changed", "function", "current_person()"),
        looser=True,
        mended=False,
    ),
    "a function without its path": SchemaDamage(
        "ALTER FUNCTION current_tenant() RESET search_path",
        ("changed", "function", "current_tenant()"),
        looser=True,
        mended=False,
    ),
    "a function that leaks": SchemaDamage(
        "ALTER FUNCTION uuid_as_inet(uuid) LEAKPROOF",
        ("changed", "function", "uuid_as_inet(uuid)"),
        looser=True,
        mended=False,
    ),
    "a table of another owner": SchemaDamage(
        "ALTER TABLE payrolls OWNER TO {worker}", ("owner_changed", "table", "payrolls"), looser=True
    ),
    "a guard off": SchemaDamage(
        "ALTER TABLE agent_grants DISABLE TRIGGER ended_for_good",
        ("trigger_off", "trigger", "ended_for_good on agent_grants"),
        looser=True,
    ),
    "a guard dropped": SchemaDamage(
        "DROP TRIGGER current_key_only ON vault",
        ("missing", "trigger", "current_key_only on vault"),
        looser=True,
    ),
    "a view that its owner reads": SchemaDamage(
        "ALTER VIEW paycheck_lines RESET (security_invoker)",
        ("changed", "view", "paycheck_lines"),
        looser=True,
        mended=False,
    ),
    "a view of everything": SchemaDamage(
        "CREATE VIEW report AS SELECT * FROM vault; GRANT SELECT ON report TO PUBLIC",
        ("right_additional", "right", "table report to PUBLIC"),
        looser=True,
    ),
}
"""What `serve` refuses."""

WRONG: Final = {
    "a policy dropped": SchemaDamage(
        "DROP POLICY tenant ON payrolls", ("missing", "policy", "tenant on payrolls"), looser=False
    ),
    "a right gone": SchemaDamage(
        "REVOKE SELECT ON employees FROM {service}",
        ("right_missing", "right", "table employees to <service>"),
        looser=False,
    ),
    "a trigger off": SchemaDamage(
        "ALTER TABLE audit_log DISABLE TRIGGER seal_written",
        ("trigger_off", "trigger", "seal_written on audit_log"),
        looser=False,
    ),
    "triggers of references off": SchemaDamage(
        "ALTER TABLE paychecks DISABLE TRIGGER ALL",
        ("constraint_not_enforced", "constraint", "{reference} on paychecks"),
        looser=False,
    ),
    "a constraint dropped": SchemaDamage(
        "ALTER TABLE payroll_entries DROP CONSTRAINT payroll_entries_no_overlap",
        ("missing", "constraint", "payroll_entries_no_overlap on payroll_entries"),
        looser=False,
    ),
    "a constraint not validated": SchemaDamage(
        "UPDATE pg_constraint SET convalidated = false WHERE conname = '{check}'",
        ("constraint_not_validated", "constraint", "{check} on paychecks"),
        looser=False,
    ),
    "an index dropped": SchemaDamage(
        "DROP INDEX household_dues_rules_idx",
        ("missing", "index", "household_dues_rules_idx on household_dues"),
        looser=False,
    ),
    "an index invalid": SchemaDamage(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'failed_attempts_forgiven_at_idx'::regclass",
        ("index_invalid", "index", "failed_attempts_forgiven_at_idx on failed_attempts"),
        looser=False,
        mended=False,  # CONCURRENTLY takes no transaction
    ),
    "a column's type": SchemaDamage(
        "ALTER TABLE household_dues ALTER COLUMN week_count TYPE bigint",
        ("changed", "column", "household_dues.week_count"),
        looser=False,
        mended=False,
    ),
    "a column's default": SchemaDamage(
        "ALTER TABLE household_dues ALTER COLUMN overdue_cents SET DEFAULT 7",
        ("changed", "column", "household_dues.overdue_cents"),
        looser=False,
        mended=False,
    ),
    "a column that may be empty": SchemaDamage(
        "ALTER TABLE payrolls ALTER COLUMN pay_date DROP NOT NULL",
        ("changed", "column", "payrolls.pay_date"),
        looser=False,
        mended=False,
    ),
    "a column dropped": SchemaDamage(
        "ALTER TABLE employees DROP COLUMN setup_question CASCADE",
        ("missing", "column", "employees.setup_question"),
        looser=False,
        mended=False,
    ),
    "a table dropped": SchemaDamage(
        "DROP TABLE outdated_dues", ("missing", "table", "outdated_dues"), looser=False, mended=False
    ),
    "a trigger added": SchemaDamage(
        "CREATE TRIGGER mine AFTER INSERT ON paychecks FOR EACH ROW EXECUTE FUNCTION outdate_dues()",
        ("additional", "trigger", "mine on paychecks"),
        looser=False,
    ),
    "a rule added": SchemaDamage(
        "CREATE RULE mine AS ON DELETE TO vault DO INSTEAD NOTHING",
        ("additional", "rule", "mine on vault"),
        looser=False,
    ),
    "a table on no disk": SchemaDamage(
        "ALTER TABLE household_words SET UNLOGGED",
        ("changed", "table", "household_words"),
        looser=False,
        mended=False,
    ),
}
"""What is told as wrong, and keeps nobody from serving."""

ADDED: Final = {
    "an index": SchemaDamage(
        "CREATE INDEX mine ON payrolls (created_at)",
        ("additional", "index", "mine on payrolls"),
        looser=False,
    ),
    "a table": SchemaDamage(
        "CREATE TABLE notes (id int PRIMARY KEY)", ("additional", "table", "notes"), looser=False
    ),
    "a function": SchemaDamage(
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        ("additional", "function", "mine()"),
        looser=False,
    ),
    "a monitor's right": SchemaDamage(
        "GRANT SELECT ON payrolls TO pg_monitor",
        ("right_additional", "right", "table payrolls to <pg_monitor>"),
        looser=False,
    ),
    "a column": SchemaDamage(
        "ALTER TABLE payrolls ADD COLUMN note text", ("additional", "column", "payrolls.note"), looser=False
    ),
}
"""An administrator's own additions."""
