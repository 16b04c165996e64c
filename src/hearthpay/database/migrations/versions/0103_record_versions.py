"""Versions of records: what a payroll or a right depends on is kept as it was written, for the doctor to compare.

A version belongs to the transaction that wrote it, and so does the entry of the audit log, or of the account's
history, that says who did it: both have the transaction's time. A change that was made directly in the database has no
such entry.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from alembic import op

revision = "0103"
down_revision = "0102"
branch_labels = None
depends_on = None

# Whatever is deleted but the last is missed, and the last is what the record must equal.
VERSIONS: Final = """
CREATE TABLE record_versions (
    id uuid PRIMARY KEY,
    record text NOT NULL CHECK (record <> ''),
    record_id uuid NOT NULL,
    organization_id uuid,
    employer_id uuid,
    person_id uuid,
    fields jsonb,
    before uuid,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    at timestamptz NOT NULL DEFAULT now(),
    CHECK (num_nonnulls(organization_id, person_id) = 1)
);
CREATE INDEX record_versions_record_idx ON record_versions (record, record_id, id);
CREATE INDEX record_versions_employer_id_idx ON record_versions (employer_id) WHERE employer_id IS NOT NULL;
COMMENT ON TABLE record_versions IS 'Records that payrolls and rights depend on, as they were written';
COMMENT ON COLUMN record_versions.record IS 'The table of the record';
COMMENT ON COLUMN record_versions.fields IS 'Its values; of personal ones and secrets the digest. Null: deleted';
COMMENT ON COLUMN record_versions.before IS 'The version before this one; null: the first, or all were deleted';
COMMENT ON COLUMN record_versions.at IS 'The transaction''s time, as that of its entry in the audit log';

CREATE FUNCTION recorded_fields(entry anyelement, names text[], hidden text[]) RETURNS jsonb
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET timezone = 'UTC'
    AS $$
        SELECT jsonb_object_agg(n.name, CASE
                   WHEN n.name = ANY(hidden) AND e.said ->> n.name IS NOT NULL
                   THEN jsonb_build_object('sha256',
                            encode(sha256(convert_to(e.said ->> n.name, 'UTF8')), 'hex'))
                   ELSE e.said -> n.name END)
          FROM (SELECT to_jsonb(entry) AS said) e, unnest(names) AS n (name)
    $$;
CREATE FUNCTION record_version_digest(entry record_versions) RETURNS bytea
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT sha256(convert_to(jsonb_build_array(entry.id, entry.record, entry.record_id, entry.organization_id,
            entry.employer_id, entry.person_id, entry.fields, entry.before,
            (extract(epoch FROM entry.at) * 1000000)::bigint)::text, 'UTF8'))
    $$;
CREATE FUNCTION chain_record_version() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $$
        BEGIN
            NEW.before := (SELECT v.id FROM public.record_versions v
                            WHERE v.record = NEW.record AND v.record_id = NEW.record_id ORDER BY v.id DESC LIMIT 1);
            NEW.digest := public.record_version_digest(NEW);
            RETURN NEW;
        END
    $$;
CREATE FUNCTION keep_record_version() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        DECLARE
            key_name text := TG_ARGV[0];
            owner_kind text := TG_ARGV[1];
            names text[] := TG_ARGV[2];
            hidden text[] := TG_ARGV[3];
            entry jsonb := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
            written jsonb;
        BEGIN
            IF TG_OP = 'DELETE' THEN
                DELETE FROM public.record_versions v
                 WHERE v.record = TG_TABLE_NAME AND v.record_id = CAST(entry ->> key_name AS uuid)
                    OR TG_TABLE_NAME = 'employers' AND v.employer_id = CAST(entry ->> 'id' AS uuid);
                IF TG_TABLE_NAME = 'employers' THEN
                    RETURN NULL;
                END IF;
            ELSE
                written := public.recorded_fields(NEW, names, hidden);
                IF TG_OP = 'UPDATE' AND written = public.recorded_fields(OLD, names, hidden) THEN
                    RETURN NULL;
                END IF;
            END IF;
            INSERT INTO public.record_versions (id, record, record_id, organization_id, employer_id, person_id, fields)
            VALUES (public.new_id(), TG_TABLE_NAME, CAST(entry ->> key_name AS uuid),
                    CASE WHEN owner_kind <> 'person' THEN CAST(entry ->>
                        CASE TG_TABLE_NAME WHEN 'organizations' THEN 'id' ELSE 'organization_id' END AS uuid) END,
                    CASE WHEN owner_kind = 'household' THEN CAST(entry ->>
                        CASE TG_TABLE_NAME WHEN 'employers' THEN 'id' ELSE 'employer_id' END AS uuid) END,
                    CASE WHEN owner_kind = 'person' THEN CAST(entry ->>
                        CASE TG_TABLE_NAME WHEN 'people' THEN 'id' ELSE 'person_id' END AS uuid) END,
                    written);
            RETURN NULL;
        END
    $$;
REVOKE ALL ON FUNCTION recorded_fields(anyelement, text[], text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION record_version_digest(record_versions) FROM PUBLIC;
REVOKE ALL ON FUNCTION chain_record_version() FROM PUBLIC;
REVOKE ALL ON FUNCTION keep_record_version() FROM PUBLIC;
CREATE TRIGGER chained BEFORE INSERT ON record_versions
    FOR EACH ROW WHEN (NEW.digest IS NULL) EXECUTE FUNCTION chain_record_version();

ALTER TABLE record_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON record_versions TO CURRENT_USER USING (true) WITH CHECK (true);
"""


class _Record(NamedTuple):
    """A table whose rows are kept: what its rows belong to, the columns, and those of which only a digest is kept."""

    table: str
    owner: str
    columns: str
    hidden: str = ""
    key: str = "id"


RECORDS: Final = (
    _Record(
        "organizations", "organization", "plan lifted_limits frozen_until unfrozen_at created_at", "name"
    ),
    _Record(
        "api_keys",
        "organization",
        "organization_id employer_id mode scopes expires_at confined revoked_at made_by "
        "forgot_sandbox created_at",
        "key_hash",
    ),
    _Record(
        "memberships",
        "organization",
        "organization_id person_id role joined_at ended_at role_since leaving_asked_at leaving_asked_by kept_at",
    ),
    _Record(
        "member_invitations",
        "organization",
        "organization_id role status invited_by expires_at",
        "email token_hash",
    ),
    _Record(
        "employers",
        "household",
        "organization_id sandbox state time_zone is_primary ein_status threshold_bases frozen_until "
        "unfrozen_at created_at",
        "first_name last_name email address phone metadata",
    ),
    _Record(
        "employees",
        "household",
        "organization_id employer_id sandbox status work_state residence_state localities language pay_type "
        "pay_rate_cents salary_cents salary_per usual_weekly_hours working_days overtime_rate_cents pay_frequency "
        "start_date end_date payment_method relationship birth_year lives_in federal_withholding state_withholding "
        "person_id earlier_employments left_states setup_question created_at",
        "first_name last_name email city address metadata",
    ),
    _Record(
        "signed_certificates",
        "household",
        "employer_id employee_id jurisdiction form law_year rulebook_version wording language entries signed_on "
        "signed_at person_id invitation_id ended_at",
        "asked answered signed_name address",
    ),
    _Record(
        "pay_changes",
        "household",
        "employer_id employee_id changed_at former_pay_type former_pay_rate_cents former_salary_cents "
        "former_salary_per pay_type pay_rate_cents salary_cents salary_per",
    ),
    _Record(
        "prior_wages",
        "household",
        "employer_id employee_id tax_year source as_of gross_pay net_pay employee_taxes employer_taxes codes "
        "subject_wages taxable_wages amounts replaced_by",
        "lines",
    ),
    _Record("escrow_accounts", "household", "employer_id rule_rate rule_amount", key="employee_id"),
    _Record(
        "set_aside_requests", "household", "employer_id employee_id status rate amount asked_at decided_by"
    ),
    _Record(
        "invitations", "household", "employer_id employee_id type status created_at expires_at", "token_hash"
    ),
    _Record(
        "employee_links",
        "household",
        "employer_id employee_id person_id invitation_id linked_at ended_at awaits_household",
    ),
    _Record(
        "account_changes",
        "household",
        "employer_id employee_id status account_type replaces bank_account_id asked_at effective_at needs_word "
        "stopped_at word_given_at word_given_by",
        "last_four",
    ),
    _Record(
        "agent_grants",
        "household",
        "employer_id sandbox person_id client_id client_name returns_to tools demands_preview resource "
        "created_at expires_at ended_at ended_because",
    ),
    _Record("calendar_links", "household", "employer_id revoked_at", "token_hash"),
    _Record("state_registrations", "household", "employer_id state applied_on", "number_id"),
    _Record(
        "documents",
        "household",
        "employer_id kind subject_id employee_id payroll_id tax_year variant version file_name content_hash created_at "
        "superseded_by",
    ),
    _Record(
        "paper_signatures",
        "household",
        "employer_id employee_id document_id party signed_at person_id",
        "signed_name",
    ),
    _Record(
        "people",
        "person",
        "language muted_notices weekly_summary created_at operator_since frozen_until disputed_at "
        "strangers_from strangers_until",
        "email name disputed_address",
    ),
    _Record(
        "credentials",
        "person",
        "person_id kind created_at confirmed_at ended_at doubted_at",
        "password_hash passkey_id public_key code_hash",
    ),
    _Record(
        "person_sessions",
        "person",
        "person_id stage method authenticated_at expires_at ended_at",
        "token_hash",
    ),
)


def _owner_columns(record: _Record) -> str:
    """Return the select list for the three owners of a record `r`."""
    own = {
        "organization": "r.id, NULL::uuid, NULL::uuid"
        if record.table == "organizations"
        else "r.organization_id, NULL::uuid, NULL::uuid",
        "household": f"r.organization_id, r.{'id' if record.table == 'employers' else 'employer_id'}, NULL::uuid",
        "person": f"NULL::uuid, NULL::uuid, r.{'id' if record.table == 'people' else 'person_id'}",
    }
    return own[record.owner]


def keep_versions(record: _Record) -> str:
    """Return the statements that keep a table's rows from now on, and first those that are there."""
    names = [*record.columns.split(), *record.hidden.split()]
    listed, hidden = "{" + ",".join(names) + "}", "{" + ",".join(record.hidden.split()) + "}"
    arguments = f"'{record.key}', '{record.owner}', '{listed}', '{hidden}'"
    fields = f"recorded_fields(r, '{listed}'::text[], '{hidden}'::text[])"
    noted = (
        f"""
        INSERT INTO person_events (id, person_id, action, details)
        SELECT new_id(), v.person_id, 'rights.as_of_upgrade',
               jsonb_build_object('record', v.record, 'record_id', v.record_id)
          FROM record_versions v WHERE v.record = '{record.table}' ORDER BY v.record_id
        """
        if record.owner == "person"
        else f"""
        INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, action, subject_id, details)
        SELECT new_id(), v.organization_id, v.employer_id, {"NULL" if record.owner == "organization" else "r.sandbox"},
               'system', 'rights.as_of_upgrade', v.record_id,
               jsonb_build_object('right', 'record', 'record', v.record)
          FROM record_versions v JOIN {record.table} r ON r.{record.key} = v.record_id
         WHERE v.record = '{record.table}' ORDER BY v.record_id
        """
    )
    # The triggers first: they lock the table, so that no change comes between.
    return f"""
        CREATE TRIGGER keep_version AFTER INSERT OR DELETE ON {record.table}
            FOR EACH ROW EXECUTE FUNCTION keep_record_version({arguments});
        CREATE TRIGGER keep_version_changed AFTER UPDATE OF {", ".join(names)} ON {record.table}
            FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION keep_record_version({arguments});
        INSERT INTO record_versions (id, record, record_id, organization_id, employer_id, person_id, fields)
        SELECT new_id(), '{record.table}', r.{record.key}, {_owner_columns(record)}, {fields}
          FROM {record.table} r ORDER BY r.{record.key};
        {noted};
    """


def upgrade() -> None:
    """Keep each record as it stands, with an entry that says so, and each version from here on."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(VERSIONS)
        for record in RECORDS:
            cursor.execute(keep_versions(record))
    finally:
        cursor.close()
