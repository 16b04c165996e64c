"""What a household says of its calendar of duties: what is done, how often it files, what is closed, and the feed."""

from __future__ import annotations

from alembic import op

from hearthpay.database.migrations.tenancy import guard_of_household

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

# Nothing is deleted: what is taken back stays with nothing in it. The worker has nothing to do with any of it.
SAID = """
CREATE TABLE duty_marks (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    item_key text NOT NULL CHECK (item_key ~ '^[A-Z]{2}/[a-z0-9-]+/[A-Za-z0-9-]+(/[0-9a-f-]{36})?$'
                                  AND length(item_key) <= 120),
    done_on date,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (employer_id, item_key),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN duty_marks.item_key IS 'The key of an item of the calendar, which names it for good';
COMMENT ON COLUMN duty_marks.done_on IS 'When the household did it, by its word; null: taken back';

CREATE TABLE filing_choices (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    jurisdiction char(2) NOT NULL CHECK (jurisdiction ~ '^[A-Z]{2}$'),
    account text NOT NULL CHECK (account ~ '^[a-z]+(-[a-z]+)*$' AND length(account) <= 32),
    since_year smallint NOT NULL CHECK (since_year BETWEEN 2000 AND 2200),
    frequency text CHECK (frequency ~ '^[a-z]+(_[a-z]+)*$' AND length(frequency) <= 32),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (employer_id, jurisdiction, account, since_year),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN filing_choices.frequency IS 'How often it files from that year on; null: taken back';

CREATE TABLE closed_accounts (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    jurisdiction char(2) NOT NULL CHECK (jurisdiction ~ '^[A-Z]{2}$'),
    account text NOT NULL CHECK (account ~ '^[a-z]+(-[a-z]+)*$' AND length(account) <= 32),
    closed_on date,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (employer_id, jurisdiction, account),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
COMMENT ON COLUMN closed_accounts.closed_on IS 'The last day for which the agency wants reports; null: open again';

GRANT SELECT, INSERT, UPDATE (done_on, updated_at) ON duty_marks TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (frequency, updated_at) ON filing_choices TO hearthpay_service;
GRANT SELECT, INSERT, UPDATE (closed_on, updated_at) ON closed_accounts TO hearthpay_service;
"""

# The hash of a link's token is written, and compared by the function below alone: nobody reads it.
LINKS = """
CREATE TABLE calendar_links (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    employer_id uuid NOT NULL,
    sandbox boolean NOT NULL,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz CHECK (revoked_at >= created_at),
    FOREIGN KEY (employer_id, organization_id, sandbox)
        REFERENCES employers (id, organization_id, sandbox) ON DELETE CASCADE
);
CREATE UNIQUE INDEX calendar_links_one_live_key ON calendar_links (employer_id) WHERE revoked_at IS NULL;
CREATE INDEX calendar_links_employer_id_idx ON calendar_links (employer_id, id);

GRANT SELECT (id, organization_id, employer_id, sandbox, created_at, revoked_at),
      INSERT (id, organization_id, employer_id, sandbox, token_hash, created_at),
      UPDATE (revoked_at) ON calendar_links TO hearthpay_service;
"""

# Runs as its owner, since the tenant is only known once the link is. The caller must hold the token to know its hash.
FIND = """
CREATE FUNCTION find_calendar_link(token_hash bytea)
    RETURNS TABLE (link_id uuid, organization_id uuid, employer_id uuid, sandbox boolean)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
    AS $$
        SELECT l.id, l.organization_id, l.employer_id, l.sandbox FROM public.calendar_links l
         WHERE l.token_hash = find_calendar_link.token_hash AND l.revoked_at IS NULL
    $$;
REVOKE ALL ON FUNCTION find_calendar_link(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_calendar_link(bytea) TO hearthpay_service;
"""

_TABLES = ("duty_marks", "filing_choices", "closed_accounts", "calendar_links")


def upgrade() -> None:
    """Create the tables, bound to their household, and the function that opens a feed."""
    cursor = op.get_bind().connection.cursor()
    try:
        cursor.execute(SAID)
        cursor.execute(LINKS)
        for table in _TABLES:
            cursor.execute(guard_of_household(table))
        cursor.execute(FIND)
    finally:
        cursor.close()
