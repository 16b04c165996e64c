"""Row-level security of a tenant's table, for migrations: who sees which rows, in the one form that all tables have.

Landed migrations depend on these functions, so their results are as frozen as the migrations: a table that needs
other policies gets another function.
"""

from __future__ import annotations

from typing import Final

_OF_ORGANIZATION: Final = (
    "(organization_id, sandbox) = (SELECT t.organization_id, t.sandbox FROM current_tenant() t)"
)
_HOUSEHOLD: Final = "employer_id = coalesce((SELECT t.employer_id FROM current_tenant() t), employer_id)"
_CLOSED: Final = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY operator ON {table} TO CURRENT_USER USING (true) WITH CHECK (true);
"""
_TENANT: Final = """
CREATE POLICY tenant ON {table} TO hearthpay_service USING ({visible}) WITH CHECK ({visible});
"""
_WORKER: Final = """
CREATE POLICY worker ON {table} TO hearthpay_worker USING (true) WITH CHECK (true);
"""

ACTS_AS_OWNER: Final = (
    "current_user = (SELECT pg_get_userbyid(o.relowner) FROM pg_catalog.pg_class o "
    "WHERE o.oid = 'public.installation'::regclass)"
)
"""The condition by which a restrictive policy excludes the owner, who may have inherited its role.

It is written last, so that it is evaluated only if everything else hides the row, and its subselect once per
statement.
"""


def guard_of_household(table: str) -> str:
    """Return the statements that bind a table's rows to their household.

    The table has `organization_id`, `sandbox` and `employer_id`. The service sees the rows of the transaction's
    tenant, or of one household if confined to it; the worker and the owner see all; nobody else anything. Rights on
    the visible rows are granted separately.
    """
    return (_CLOSED + _TENANT + _WORKER).format(table=table, visible=f"{_OF_ORGANIZATION} AND {_HOUSEHOLD}")


def guard_of_organization(table: str) -> str:
    """Return the statements that bind a table's rows to their organization and mode: it has no `employer_id`."""
    return (_CLOSED + _TENANT + _WORKER).format(table=table, visible=_OF_ORGANIZATION)


def guard_of_worker(table: str) -> str:
    """Return the statements that restrict a table without tenants to the owner and the worker."""
    return (_CLOSED + _WORKER).format(table=table)
