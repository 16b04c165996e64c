"""The law of row digests: facts of money, duties and time are as they were written.

Like those of `checks`: a docstring is a law, its query returns one row for each difference.
"""

from collections.abc import Mapping
from typing import Final

DIGESTED: Final[Mapping[str, str]] = {
    "payrolls": "id",
    "payroll_entries": "payroll_id",
    "payroll_estimates": "payroll_id",
    "payroll_transitions": "id",
    "paycheck_remedies": "id",
    "wage_settlements": "id",
    "prior_wages": "id",
    "escrow_movements": "id",
    "set_aside_requests": "id",
    "bank_accounts": "id",
    "bank_entries": "id",
    "account_changes": "id",
    "ach_authorizations": "id",
    "autopilot_authorizations": "id",
    "tax_payments": "id",
    "filings": "id",
    "duty_marks": "id",
    "filing_choices": "id",
    "closed_accounts": "id",
    "insurance_policies": "id",
    "calendar_links": "id",
    "autopilot_enrollments": "id",
    "autopilot_versions": "id",
    "autopilot_events": "id",
    "autopilot_periods": "id",
    "household_dues": "employer_id",
    "idempotency_keys": "organization_id",
}
"""Tables whose rows the database digests, and the column that names a row."""

_WHILE: Final[Mapping[str, str]] = {
    "household_dues": "computed_on IS NOT NULL",
    "idempotency_keys": "status IS NOT NULL",
}
"""When there is a digest, of those that are calculated or answered once the row is there."""


_BESIDES: Final = (
    ("paychecks", "row_digest", "paychecks"),
    ("payrolls", "figures_digest", "payroll_figures"),
)
"""Tables with a digest of another column: of what the first one doesn't say, and of what is calculated later."""


def row_digests() -> str:
    """What never changes in a row about money, duties or time is as it was written."""
    columns = [(table, "digest", table) for table in DIGESTED] + list(_BESIDES)
    return " UNION ALL ".join(
        f"""
        SELECT '{table}' AS subject, t.{DIGESTED.get(table, "id")} AS id, '{column}' AS what,
               coalesce(encode(t.{column}, 'hex'), 'none') AS recorded, encode({name}_digest(t), 'hex') AS expected
          FROM {table} t WHERE {_WHILE.get(table, "true")} AND t.{column} IS DISTINCT FROM {name}_digest(t)
        """
        for table, column, name in columns
    )
