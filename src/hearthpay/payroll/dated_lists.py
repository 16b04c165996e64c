"""Which payrolls of all households of an organization have a pay date in a range, newest first.

Lists are in the order of ids, so no index holds a page of a range. The newest payrolls are looked at first, since
most ranges end today. What they don't answer is found day by day: the newest payroll of each payday tells which
paydays can be on the page, and of these as many are read as a page has. Neither reads more where households are many.
"""

import datetime
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.session import Tenant, in_index_order
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import Query, fetch_all, query
from hearthpay.payroll.commands import PayrollQuery

LOOKED_AT: Final = 125
"""How many of the newest payrolls are looked at before paydays are: more than the largest page."""

_NEWEST_ID: Final = UUID(int=2**128 - 1)


class _Newest(NamedTuple):
    id: UUID
    pay_date: datetime.date


class _Found(NamedTuple):
    id: UUID


def _newest(status: Fragment) -> Query[_Newest]:
    return query(
        _Newest,
        "SELECT p.id, p.pay_date FROM payrolls p WHERE p.organization_id = :organization AND p.sandbox = :sandbox "
        "{status}AND p.id < :before ORDER BY p.id DESC LIMIT :looked_at",
        status=status,
    )


def _by_payday(status: Fragment) -> Query[_Found]:
    """Return the statement for the payrolls of a page, payday by payday.

    `paydays` ends with a null; `newest` are the paydays with the newest payrolls. If these are as many as the page,
    the oldest of their newest payrolls is the oldest that can be on it.
    """
    return query(
        _Found,
        "WITH RECURSIVE paydays (pay_date) AS ((SELECT p.pay_date FROM payrolls p "
        "WHERE p.organization_id = :organization AND p.sandbox = :sandbox {status}"
        "AND p.pay_date BETWEEN :since AND :until ORDER BY p.pay_date DESC LIMIT 1) "
        "UNION ALL SELECT (SELECT p.pay_date FROM payrolls p "
        "WHERE p.organization_id = :organization AND p.sandbox = :sandbox {status}"
        "AND p.pay_date >= :since AND p.pay_date < d.pay_date ORDER BY p.pay_date DESC LIMIT 1) "
        "FROM paydays d WHERE d.pay_date IS NOT NULL), "
        "newest AS MATERIALIZED (SELECT n.id, d.pay_date FROM paydays d CROSS JOIN LATERAL "
        "(SELECT p.id FROM payrolls p WHERE p.organization_id = :organization AND p.sandbox = :sandbox {status}"
        "AND p.pay_date = d.pay_date AND p.id < :before ORDER BY p.id DESC LIMIT 1) n "
        "ORDER BY n.id DESC LIMIT :page), "
        "oldest AS MATERIALIZED (SELECT coalesce((SELECT n.id FROM newest n ORDER BY n.id DESC OFFSET :page - 1), "
        "'00000000-0000-0000-0000-000000000000') AS id) "
        "SELECT f.id FROM newest d CROSS JOIN LATERAL (SELECT p.id FROM payrolls p "
        "WHERE p.organization_id = :organization AND p.sandbox = :sandbox {status}"
        "AND p.pay_date = d.pay_date AND p.id < :before AND p.id >= (SELECT o.id FROM oldest o) "
        "ORDER BY p.id DESC LIMIT :page) f ORDER BY f.id DESC LIMIT :page",
        status=status,
    )


_ANY: Final = Fragment("")
_COMPLETED: Final = Fragment(
    "AND p.status = 'completed' "
)  # nearly all: those of a payday are not searched for it
# As the index `payrolls_of_status_and_day_idx` has it.
_ONE: Final = Fragment("AND p.status = :status AND p.status NOT IN ('completed', 'firing') ")

_NEWEST_OF_ANY: Final = _newest(_ANY)
_NEWEST_COMPLETED: Final = _newest(_COMPLETED)
_NEWEST_OF_STATUS: Final = _newest(_ONE)
_OF_ANY: Final = _by_payday(_ANY)
_OF_COMPLETED: Final = _by_payday(_COMPLETED)
_OF_STATUS: Final = _by_payday(_ONE)


def is_of_all_households(actor: Actor, requested: PayrollQuery) -> bool:
    """Return whether payrolls of a range are requested of every household of the organization.

    Lists of some households are found by household, those of some metadata by it. Payrolls are `firing` for moments
    only, so these are few.
    """
    return (
        (requested.since is not None or requested.until is not None)
        and requested.employer_id is None
        and requested.employee_id is None
        and requested.method is None
        and not requested.metadata
        and requested.status != "firing"
        and actor.employer_id is None
        and actor.employer_sandbox is None
        and actor.households is None
    )


async def newest_of_days(session: AsyncSession, tenant: Tenant, requested: PayrollQuery) -> Sequence[UUID]:
    """Return the ids of a page of the organization's payrolls, newest first, and one more if there are more.

    The caller has checked that all of them may be read.
    """
    values: dict[str, object] = {
        "organization": tenant.organization_id,
        "sandbox": tenant.sandbox,
        "before": requested.cursor or _NEWEST_ID,
    }
    newest, by_payday = _NEWEST_OF_ANY, _OF_ANY
    if requested.status == "completed":
        newest, by_payday = _NEWEST_COMPLETED, _OF_COMPLETED
    elif requested.status is not None:
        newest, by_payday = _NEWEST_OF_STATUS, _OF_STATUS
        values["status"] = requested.status
    since = requested.since or datetime.date.min
    until = requested.until or datetime.date.max
    page = requested.limit + 1
    async with in_index_order(session):
        looked_at = await fetch_all(session, newest, values | {"looked_at": LOOKED_AT})
        found = [row.id for row in looked_at if since <= row.pay_date <= until]
        if len(found) >= page or len(looked_at) < LOOKED_AT:
            return found[:page]
        days = {"since": since, "until": until, "page": page}
        return [row.id for row in await fetch_all(session, by_payday, values | days)]
