"""Where each chain of the audit log ends, which rows stay for good, and how what households say stood at the upgrade.

The chain itself can't tell that its newest seal is gone together with its rows: so its end is kept in a table of its
own, in the transaction that seals. Alerts and the keys of payrolls are registered as mails are.
"""

from __future__ import annotations

from typing import Final

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_worker

revision = "0102"
down_revision = "0101"
branch_labels = None
depends_on = None

ENDS: Final = """
CREATE TABLE audit_ends (
    organization_id uuid PRIMARY KEY,
    number bigint NOT NULL CHECK (number > 0),
    seal bytea NOT NULL CHECK (octet_length(seal) = 32)
);
COMMENT ON TABLE audit_ends IS 'The newest seal of each organization''s audit log, so that one that is gone is missed';
INSERT INTO audit_ends (organization_id, number, seal)
SELECT DISTINCT ON (organization_id) organization_id, number, seal FROM audit_seals
 ORDER BY organization_id, number DESC;

CREATE OR REPLACE FUNCTION seal_audit_log(organization uuid, written uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            waiting uuid[];
            before record;
        BEGIN
            IF NOT pg_try_advisory_xact_lock(hashtextextended('hearthpay.audit ' || organization, 0)) THEN
                INSERT INTO public.audit_unsealed SELECT w.id, organization FROM unnest(written) AS w(id);
                RETURN;
            END IF;
            WITH next AS (
                SELECT u.audit_id FROM public.audit_unsealed u WHERE u.organization_id = organization LIMIT 1000
            ), taken AS (
                DELETE FROM public.audit_unsealed u USING next n WHERE u.audit_id = n.audit_id RETURNING u.audit_id
            ) SELECT coalesce(array_agg(t.audit_id), '{}') INTO waiting FROM taken t;
            IF cardinality(written || waiting) = 0 THEN
                RETURN;
            END IF;
            SELECT s.number, s.seal INTO before FROM public.audit_seals s
              WHERE s.organization_id = organization ORDER BY s.number DESC LIMIT 1;
            WITH sealed AS (
                INSERT INTO public.audit_seals
                    SELECT organization, coalesce(before.number, 0) + 1,
                           (SELECT array_agg(w.id ORDER BY w.id) FROM unnest(written || waiting) AS w(id)),
                           sha256(coalesce(before.seal, '')
                                  || coalesce(string_agg(public.audit_digest(a), '' ORDER BY a.id), ''))
                      FROM public.audit_log a WHERE a.id = ANY(written || waiting)
                RETURNING organization_id, number, seal
            ) INSERT INTO public.audit_ends AS e (organization_id, number, seal)
              SELECT organization_id, number, seal FROM sealed
              ON CONFLICT ON CONSTRAINT audit_ends_pkey DO UPDATE SET number = excluded.number, seal = excluded.seal
                WHERE e.number = excluded.number - 1;
        END
    $$;
"""

REGISTER: Final = """
CREATE TABLE row_register (
    source text NOT NULL CHECK (source IN ('security_alerts', 'idempotency_keys')),
    row_key text NOT NULL,
    organization_id uuid NOT NULL,
    PRIMARY KEY (source, row_key)
);
COMMENT ON TABLE row_register IS 'Rows that stay for good, so that one that is gone is missed';
CREATE FUNCTION register_alert() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            INSERT INTO public.row_register (source, row_key, organization_id)
            VALUES ('security_alerts', NEW.id, NEW.organization_id) ON CONFLICT DO NOTHING;
            RETURN NULL;
        END
    $$;
CREATE FUNCTION register_answer() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            INSERT INTO public.row_register (source, row_key, organization_id)
            VALUES ('idempotency_keys', concat_ws(' ', NEW.organization_id, NEW.sandbox, NEW.confined_to, NEW.key),
                    NEW.organization_id) ON CONFLICT DO NOTHING;
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION register_alert() FROM PUBLIC;
REVOKE ALL ON FUNCTION register_answer() FROM PUBLIC;
"""

# Keys of payrolls are kept for good; others expire.
REGISTERED: Final = """
CREATE TRIGGER registered AFTER INSERT ON security_alerts FOR EACH ROW EXECUTE FUNCTION register_alert();
CREATE TRIGGER registered AFTER INSERT ON idempotency_keys
    FOR EACH ROW WHEN (NEW.path LIKE '%/payroll/run') EXECUTE FUNCTION register_answer();
INSERT INTO row_register (source, row_key, organization_id)
SELECT 'security_alerts', id, organization_id FROM security_alerts;
INSERT INTO row_register (source, row_key, organization_id)
SELECT 'idempotency_keys', concat_ws(' ', organization_id, sandbox, confined_to, key), organization_id
  FROM idempotency_keys WHERE path LIKE '%/payroll/run';
"""


def _noted(entry: str, details: str, source: str, unless: str) -> str:
    """Return the statement that notes each row of the source `r` as it stands, unless the audit log tells of it."""
    return f"""
        INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details)
        SELECT new_id(), r.organization_id, r.employer_id, r.sandbox, 'system', 'rights.as_of_upgrade', {entry},
               jsonb_build_object({details}) FROM {source}
         AND NOT EXISTS (SELECT FROM audit_log a WHERE a.organization_id = r.organization_id AND {unless})
    """


ENTRIES: Final = (
    _noted(
        "r.employer_id",
        "'right', 'rate', 'state', r.state, 'tax_year', r.tax_year, 'sui_rate', r.sui_rate, 'notice_on', r.notice_on",
        "assigned_rates r WHERE true",
        "a.action = 'employer.assign_sui_rate' AND a.subject_id = r.employer_id "
        "AND a.details ->> 'state' = r.state AND a.details ->> 'tax_year' = r.tax_year::text",
    ),
    _noted(
        "r.id",
        "'right', 'mark', 'key', r.item_key, 'after', r.done_on",
        "duty_marks r WHERE r.done_on IS NOT NULL",
        "a.action = 'duty.mark' AND a.subject_id = r.id",
    ),
    _noted(
        "r.id",
        "'right', 'filing', 'jurisdiction', r.jurisdiction, 'account', r.account, 'since_year', r.since_year, "
        "'after', r.frequency",
        "filing_choices r WHERE r.frequency IS NOT NULL",
        "a.action = 'duty.filing' AND a.subject_id = r.id",
    ),
    _noted(
        "r.id",
        "'right', 'closing', 'jurisdiction', r.jurisdiction, 'account', r.account, 'after', r.closed_on",
        "closed_accounts r WHERE r.closed_on IS NOT NULL",
        "a.action = 'duty.account' AND a.subject_id = r.id",
    ),
    _noted(
        "r.id",
        "'right', 'policy', 'state', r.state, 'kind', r.kind, 'carrier', r.carrier, 'starts_on', r.starts_on, "
        "'ends_on', r.ends_on",
        "insurance_policies r WHERE r.carrier IS NOT NULL",
        "a.action = 'insurance.policy' AND a.subject_id = r.id AND jsonb_exists(a.details, 'ends_on')",
    ),
    _noted(
        "r.employee_id",
        "'right', 'set_aside', 'rate', r.rule_rate, 'cents', r.rule_amount",
        "escrow_accounts r WHERE coalesce(r.rule_rate, r.rule_amount) IS NOT NULL",
        "a.action = 'escrow.set_rule' AND a.subject_id = r.employee_id",
    ),
    _noted(
        "r.id",
        "'right', 'account', 'status', r.status, 'account_type', r.account_type",
        "bank_accounts r WHERE true",
        "a.action = 'bank_account.connect' AND a.subject_id = r.id "
        "AND NOT EXISTS (SELECT FROM audit_log c WHERE c.subject_id = r.id AND c.action = 'bank_account.correct')",
    ),
    _noted(
        "r.id",
        "'right', 'return', 'code', coalesce(r.return_code, 'without a code')",
        "bank_entries r WHERE (r.status = 'returned' OR r.return_code IS NOT NULL)",
        "a.action = 'bank_entry.return' AND a.subject_id = r.id",
    ),
)
"""Of what the audit log doesn't tell in full; a correction by the bank named no account type so far."""


def upgrade() -> None:
    """Note the ends of the chains, register what stays, and note what no action tells of."""
    cursor = op.get_bind().connection.cursor()
    try:
        # As it stands: SQLAlchemy's own path would look for parameters in the statements.
        cursor.execute(ENDS)
        cursor.execute(guard_of_worker("audit_ends"))
        cursor.execute(REGISTER)
        cursor.execute(guard_of_worker("row_register"))
        cursor.execute(REGISTERED)
        for statement in ENTRIES:
            cursor.execute(statement)
    finally:
        cursor.close()
