"""What a payroll is for, by kind and not by its notes; wages that are still to be taxed, apart from taxes owed."""

from __future__ import annotations

from typing import Final

from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

# The trigger is for a program of the version before that may still be running: it writes only the notes.
KINDS: Final = r"""
ALTER TABLE payrolls ADD COLUMN kind text NOT NULL DEFAULT 'regular'
    CHECK (kind IN ('regular', 'catch_up', 'fica_refund'));
ALTER TABLE payrolls ALTER COLUMN kind DROP DEFAULT;
UPDATE payrolls SET kind = replace(lower(btrim(notes, E' \t\n\r\f\v')), '-', '_')
    WHERE lower(btrim(notes, E' \t\n\r\f\v')) IN ('catch-up', 'fica-refund');
COMMENT ON COLUMN payrolls.kind IS
    'regular pays wages, catch_up records past pay and moves no money, fica_refund repays Social Security and Medicare';

CREATE FUNCTION payroll_kind_from_notes() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
    NEW.kind := CASE lower(btrim(NEW.notes, E' \t\n\r\f\v'))
        WHEN 'catch-up' THEN 'catch_up' WHEN 'fica-refund' THEN 'fica_refund' ELSE 'regular' END;
    RETURN NEW;
END $$;
CREATE TRIGGER payroll_kind_from_notes BEFORE INSERT ON payrolls
    FOR EACH ROW WHEN (NEW.kind IS NULL) EXECUTE FUNCTION payroll_kind_from_notes();
"""

# They stood among the taxes that are owed, by keys such as "NY-MCTMT wages"; the version before still writes them so.
OWED_WAGES: Final = """
ALTER TABLE year_balances ADD COLUMN owed_wages jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(owed_wages) = 'object');
UPDATE year_balances SET
    owed_wages = (SELECT coalesce(jsonb_object_agg(left(o.key, -6), o.value), '{}') FROM jsonb_each(owed) AS o
                   WHERE right(o.key, 6) = ' wages'),
    owed = (SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(owed) AS o
             WHERE right(o.key, 6) <> ' wages')
    WHERE owed <> '{}';
COMMENT ON COLUMN year_balances.owed_wages IS
    'Wages that lines which follow another have still to tax, or taxed too much: cents by line code';
GRANT UPDATE (owed_wages) ON year_balances TO hearthpay_service, hearthpay_worker;

CREATE FUNCTION owed_wages_apart() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
    NEW.owed_wages := (SELECT coalesce(jsonb_object_agg(left(o.key, -6), o.value), '{}') FROM jsonb_each(NEW.owed) AS o
                        WHERE right(o.key, 6) = ' wages');
    NEW.owed := (SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(NEW.owed) AS o
                  WHERE right(o.key, 6) <> ' wages');
    RETURN NEW;
END $$;
CREATE TRIGGER owed_wages_apart BEFORE INSERT OR UPDATE OF owed ON year_balances
    FOR EACH ROW WHEN (NEW.owed <> '{}' AND NEW.owed::text LIKE '% wages"%') EXECUTE FUNCTION owed_wages_apart();
"""


def upgrade() -> None:
    """Add the kind of a payroll and the wages still to be taxed, and give what there is theirs."""
    op.execute(KINDS)
    op.execute(OWED_WAGES)
