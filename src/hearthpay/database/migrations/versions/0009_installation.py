"""The installation knows itself: its roles and the seal of its tenants; ids come from the program, rights are cut."""

from __future__ import annotations

import secrets

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# The two pads are the secret's, as HMAC (RFC 2104) wants them for SHA-256: so the check is two plain digests.
INSTALLATION = """
CREATE TABLE installation (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    database_name text NOT NULL,
    service_role text NOT NULL,
    worker_role text NOT NULL,
    tenant_secret bytea NOT NULL CHECK (octet_length(tenant_secret) = 32),
    inner_pad bytea NOT NULL CHECK (octet_length(inner_pad) = 64),
    outer_pad bytea NOT NULL CHECK (octet_length(outer_pad) = 64)
);
COMMENT ON TABLE installation IS 'Names the roles of this database and holds the secret by which tenants are signed';
ALTER TABLE installation ENABLE ROW LEVEL SECURITY;
ALTER TABLE installation FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON installation TO CURRENT_USER USING (true) WITH CHECK (true);
GRANT SELECT ON alembic_version TO hearthpay_service, hearthpay_worker;
"""

NAMED = (
    "INSERT INTO installation (database_name, service_role, worker_role, tenant_secret, inner_pad, outer_pad) "
    "VALUES (current_database(), 'hearthpay_service', 'hearthpay_worker', %s, %s, %s)"
)

# Runs as its owner, who alone may read the secret. Without the setting there is no tenant and nothing is visible; one
# that was not signed by the program ends the statement.
TENANT = """
CREATE FUNCTION current_tenant(OUT organization_id uuid, OUT sandbox boolean, OUT employer_id uuid)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            claim text := current_setting('hearthpay.tenant', true);
            part text[];
            pads record;
        BEGIN
            IF coalesce(claim, '') = '' THEN
                RETURN;
            END IF;
            part := string_to_array(claim, ' ');
            SELECT i.inner_pad, i.outer_pad INTO STRICT pads FROM public.installation i;
            IF cardinality(part) <> 4 OR part[4] <> encode(sha256(pads.outer_pad || sha256(pads.inner_pad ||
                    convert_to(part[1] || ' ' || part[2] || ' ' || part[3], 'UTF8'))), 'hex') THEN
                RAISE EXCEPTION 'the tenant of this transaction is not signed' USING ERRCODE = '42501';
            END IF;
            organization_id := part[1]::uuid;
            sandbox := part[2]::boolean;
            employer_id := nullif(part[3], '')::uuid;
        END
    $$;
COMMENT ON FUNCTION current_tenant() IS 'Whose rows this transaction may see, as the program has signed it';
REVOKE ALL ON FUNCTION current_tenant() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION current_tenant() TO hearthpay_service;
"""

# Each sub-select is evaluated once per statement instead of once per row. A row of no household belongs to the
# organization as a whole, and is seen only by a transaction that is not bound to one household.
_OWN = "(organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)"
_ORGANIZATION = "(SELECT t.organization_id FROM current_tenant() t)"
_MODE = "(SELECT t.sandbox FROM current_tenant() t)"
_CHOSEN = "(SELECT t.employer_id FROM current_tenant() t)"
_HOUSEHOLD = f"employer_id IS NOT DISTINCT FROM coalesce({_CHOSEN}, employer_id)"
_ANY_MODE = f"organization_id = {_ORGANIZATION} AND coalesce(sandbox, {_MODE}) = {_MODE}"
_HOUSEHOLD_TABLES = (
    "assigned_rates",
    "employees",
    "payrolls",
    "paychecks",
    "paycheck_lines",
    "vault",
    "invitations",
    "payroll_entries",
    "payroll_estimates",
    "year_balances",
    "escrow_accounts",
    "escrow_movements",
    "payroll_transitions",
    "bank_accounts",
    "ach_authorizations",
    "bank_entries",
)

VISIBLE = {
    "organizations": f"id = {_ORGANIZATION}",
    "api_keys": f"organization_id = {_ORGANIZATION} AND {_HOUSEHOLD}",
    "employers": f"{_OWN} AND id = coalesce({_CHOSEN}, id)",
    "idempotency_keys": _OWN,
    "audit_log": f"{_ANY_MODE} AND {_HOUSEHOLD}",
} | dict.fromkeys(_HOUSEHOLD_TABLES, f"{_OWN} AND {_HOUSEHOLD}")
# A transaction bound to one household may still note what it did to the organization as a whole.
WRITABLE = VISIBLE | {"audit_log": f"{_ANY_MODE} AND (employer_id IS NULL OR {_HOUSEHOLD})"}

# As before, but the tenant is the signed one.
CLEAR = """
CREATE OR REPLACE FUNCTION clear_sandbox_household(household uuid, keep_household boolean)
    RETURNS TABLE (employees_removed bigint, payrolls_removed bigint)
    LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            tenant record;
        BEGIN
            SELECT * INTO tenant FROM public.current_tenant();
            IF tenant.sandbox IS NOT TRUE OR tenant.employer_id <> household THEN
                RETURN;
            END IF;
            PERFORM FROM public.employers e
              WHERE e.id = household AND e.organization_id = tenant.organization_id AND e.sandbox
                FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                RETURN;
            END IF;
            PERFORM FROM public.payrolls p WHERE p.employer_id = household ORDER BY p.id FOR UPDATE;
            PERFORM FROM public.employees e WHERE e.employer_id = household ORDER BY e.id FOR UPDATE;

            DELETE FROM public.bank_entries b WHERE b.employer_id = household;
            DELETE FROM public.escrow_movements m WHERE m.employer_id = household;
            DELETE FROM public.paycheck_lines l
             USING public.paychecks c, public.payrolls p
             WHERE l.paycheck_id = c.id AND c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.paychecks c
             USING public.payrolls p WHERE c.payroll_id = p.id AND p.employer_id = household;
            DELETE FROM public.payrolls p WHERE p.employer_id = household;
            GET DIAGNOSTICS payrolls_removed = ROW_COUNT;
            DELETE FROM public.employees e WHERE e.employer_id = household;
            GET DIAGNOSTICS employees_removed = ROW_COUNT;

            IF NOT keep_household THEN
                DELETE FROM public.assigned_rates r WHERE r.employer_id = household;
                UPDATE public.api_keys k SET employer_id = NULL, forgot_sandbox = k.mode = 'live'
                 WHERE k.employer_id = household;
                DELETE FROM public.employers e WHERE e.id = household;
            END IF;
            RETURN NEXT;
        END
    $$;
"""

# Ids are made by the program (UUID version 7). Only what one statement writes for a number of rows that the program
# does not know takes them here; before PostgreSQL 18 from a clock that no two calls of a session see standing still.
IDS = """
DO $$
DECLARE
    column_name record;
BEGIN
    FOR column_name IN
        SELECT a.attrelid::regclass AS relation, a.attname
          FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
          JOIN pg_class c ON c.oid = d.adrelid
         WHERE c.relnamespace = 'public'::regnamespace
           AND pg_get_expr(d.adbin, d.adrelid) IN ('uuidv7()', 'gen_random_uuid()')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I DROP DEFAULT', column_name.relation, column_name.attname);
    END LOOP;
    IF current_setting('server_version_num')::int >= 180000 THEN
        CREATE FUNCTION new_id() RETURNS uuid LANGUAGE sql VOLATILE RETURN pg_catalog.uuidv7();
    ELSE
        CREATE FUNCTION new_id() RETURNS uuid LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
            AS $body$
                DECLARE
                    last bigint := coalesce(nullif(current_setting('hearthpay.last_id', true), ''), '0');
                    micros bigint;
                    bits bytea := uuid_send(gen_random_uuid());
                BEGIN
                    micros := greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, last + 1);
                    PERFORM set_config('hearthpay.last_id', micros::text, false);
                    bits := overlay(bits PLACING substring(int8send(micros / 1000) FROM 3) FROM 1 FOR 6);
                    -- Version 7, and the thousandths of the millisecond in the twelve bits that follow it.
                    bits := overlay(bits PLACING substring(
                        int4send((28672 + (micros % 1000) * 4096 / 1000)::int) FROM 3) FROM 7 FOR 2);
                    RETURN encode(bits, 'hex')::uuid;
                END
            $body$;
    END IF;
    COMMENT ON FUNCTION new_id() IS 'A UUID of version 7, later than every one this session has had';
END
$$;
REVOKE ALL ON FUNCTION new_id() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION new_id() TO hearthpay_service, hearthpay_worker;
"""

# Only a superuser may take from PUBLIC what PostgreSQL gives it; elsewhere large objects stay possible, and harmless:
# nothing of ours reads them.
LARGE_OBJECTS = """
DO $$
DECLARE
    function regprocedure;
BEGIN
    IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        FOR function IN
            SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND (proname ~ '^lo_' OR proname IN
                ('loread', 'lowrite'))
        LOOP
            EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', function);
        END LOOP;
    END IF;
END
$$;
"""


def upgrade() -> None:
    """Name the installation, sign its tenants, and let ids come from the program."""
    secret = secrets.token_bytes(32)
    inner, outer = (bytes(byte ^ pad for byte in secret.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(INSTALLATION)
        cursor.execute(NAMED, (secret, inner, outer))
        for statements in (TENANT, CLEAR, IDS, LARGE_OBJECTS):
            cursor.execute(statements)
        for table, visible in VISIBLE.items():
            cursor.execute(f"ALTER POLICY tenant ON {table} USING ({visible}) WITH CHECK ({WRITABLE[table]})")
    finally:
        cursor.close()
