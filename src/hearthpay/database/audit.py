"""The audit log: one row for every write by a person or a key, in the transaction of the change.

The database seals each row into its organization's chain as it is written. A row written while another transaction
holds the chain is sealed by the next one, or by the worker.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict
from uuid import UUID

from psycopg.types.json import Jsonb
from sqlalchemy import Boolean, Column, DateTime, Table, Text, Uuid, bindparam, column, select, table, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.base import Base
from hearthpay.database.sensitive_actions import is_delicate
from hearthpay.database.typed_rows import fetch_all, query

if TYPE_CHECKING:
    from hearthpay.database.session import Database

ActorKind = Literal["user", "key", "mcp", "employee", "system", "operator"]
"""Who acts: a person, an API key, an agent over MCP, an employee in the portal, the clock, or the operator."""


class AuditRow(TypedDict):
    """The columns of a row that is to be written."""

    id: UUID
    organization_id: UUID
    employer_id: UUID | None
    sandbox: bool | None
    actor_kind: ActorKind
    actor_id: UUID | None
    action: str
    subject_id: UUID | None
    request_id: str | None
    details: dict[str, Any]


# `at` is set by the database: evidence has the server's real time, even when a sandbox's clock is moved.
audit_log = Table(
    "audit_log",
    Base.metadata,
    Column("id", Uuid, primary_key=True),
    Column("organization_id", Uuid, nullable=False),
    Column("employer_id", Uuid),
    Column("sandbox", Boolean),
    Column("actor_kind", Text, nullable=False),
    Column("actor_id", Uuid),
    Column("action", Text, nullable=False),
    Column("subject_id", Uuid),
    Column("request_id", Text),
    Column("details", JSONB, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)


_INSERT: Final = text(
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, subject_id, "
    "request_id, details) VALUES (:id, :organization_id, :employer_id, :sandbox, :actor_kind, :actor_id, :action, "
    ":subject_id, :request_id, :details)"
)

_INSERT_ALL: Final = text(
    "INSERT INTO audit_log (id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, subject_id, "
    "request_id, details) "
    "SELECT id, organization_id, employer_id, sandbox, actor_kind, actor_id, action, subject_id, request_id, details "
    "FROM jsonb_to_recordset(:rows) AS r(id uuid, organization_id uuid, employer_id uuid, sandbox boolean, "
    "actor_kind text, actor_id uuid, action text, subject_id uuid, request_id text, details jsonb)"
).bindparams(bindparam("rows", type_=JSONB))

_ALERT: Final = text("SELECT leave_security_alert(:id)")
COUNTED_UP_TO: Final = 10_000
"""The highest count of unsealed rows; counting stops there."""
_SEAL_WAITING: Final = text("SELECT seal_waiting_audit_log()")


class _LastOfAgentsRow(NamedTuple):
    actor_id: UUID
    at: datetime.datetime


_LAST_OF_AGENTS: Final = query(
    _LastOfAgentsRow,
    "SELECT actor_id, max(at) AS at FROM audit_log WHERE actor_kind = 'mcp' AND actor_id = ANY(:agents) GROUP BY 1",
)


class _OfAgentRow(NamedTuple):
    at: datetime.datetime
    action: str
    details: dict[str, Any]


_OF_AGENT: Final = query(
    _OfAgentRow,
    "SELECT at, action, details FROM audit_log WHERE actor_kind = 'mcp' AND actor_id = :agent "
    "ORDER BY id DESC LIMIT :limit",
)
_organizations = table("organizations", column("id", Uuid), column("name", Text))


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One row of the log, with the name of its organization."""

    id: UUID
    at: datetime.datetime
    organization_id: UUID
    organization: str
    employer_id: UUID | None
    sandbox: bool | None
    actor_kind: ActorKind
    actor_id: UUID | None
    action: str
    subject_id: UUID | None
    request_id: str | None
    details: Mapping[str, Any]


async def record(
    session: AsyncSession,
    *,
    actor_kind: ActorKind,
    actor_id: UUID | None,
    organization_id: UUID,
    employer_id: UUID | None,
    sandbox: bool | None,
    action: str,
    subject_id: UUID | None,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Write one audit row within the session's transaction.

    `action` is `subject.verb` (`employee.create`); `details` holds JSON values (a Decimal is stored as a string) and
    never a secret. `sandbox` is None if the action concerns the whole organization. The worker reports a sensitive
    action to those who could object, except in the sandbox.
    """
    row = new_row(
        actor_kind=actor_kind,
        actor_id=actor_id,
        organization_id=organization_id,
        employer_id=employer_id,
        sandbox=sandbox,
        action=action,
        subject_id=subject_id,
        request_id=request_id,
        details=details,
    )
    await session.execute(_INSERT, {**row, "details": Jsonb(row["details"])})
    if sandbox is not True and is_delicate(action, details):
        await session.execute(_ALERT, {"id": row["id"]})


def new_row(
    *,
    actor_kind: ActorKind,
    actor_id: UUID | None,
    organization_id: UUID,
    employer_id: UUID | None,
    sandbox: bool | None,
    action: str,
    subject_id: UUID | None,
    request_id: str | None,
    details: Mapping[str, Any],
) -> AuditRow:
    """Return a row with a new id; the arguments are those of `record`."""
    return {
        "id": uuid7(),
        "organization_id": organization_id,
        "employer_id": employer_id,
        "sandbox": sandbox,
        "actor_kind": actor_kind,
        "actor_id": actor_id,
        "action": action,
        "subject_id": subject_id,
        "request_id": request_id,
        "details": dict(details),
    }


async def record_all(session: AsyncSession, rows: Sequence[AuditRow]) -> None:
    """Write rows of one tenant by one statement, so that they get one seal; none of them may be a sensitive action.

    Raises ValueError for a sensitive action.
    """
    if any(is_delicate(row["action"], row["details"]) for row in rows):
        raise ValueError("a sensitive action is recorded in its own transaction, with its alert")
    await session.execute(_INSERT_ALL, {"rows": list(rows)})


async def seal_pending(database: Database) -> int:
    """Seal some of the unsealed rows; return how many are left, up to COUNTED_UP_TO.

    `database` acts as the worker.
    """
    async with database.transaction(None) as session:
        return int(await session.scalar(_SEAL_WAITING) or 0)


async def entries(
    session: AsyncSession,
    *,
    organization_id: UUID | None = None,
    employer_id: UUID | None = None,
    action: str | None = None,
    subject_id: UUID | None = None,
    since: datetime.datetime | None = None,
    older_than: UUID | None = None,
    limit: int,
) -> list[AuditEntry]:
    """Return the newest rows that the session may see and that match all arguments, newest first, at most `limit`.
    `older_than` is the id of a row: those written before it.
    """
    log = audit_log.c
    statement = (
        select(
            log.id,
            log.at,
            log.organization_id,
            _organizations.c.name.label("organization"),
            log.employer_id,
            log.sandbox,
            log.actor_kind,
            log.actor_id,
            log.action,
            log.subject_id,
            log.request_id,
            log.details,
        )
        .join_from(audit_log, _organizations, _organizations.c.id == log.organization_id)
        .order_by(log.at.desc(), log.id.desc())
        .limit(limit)
    )
    if organization_id is not None:
        statement = statement.where(log.organization_id == organization_id)
    if employer_id is not None:
        statement = statement.where(log.employer_id == employer_id)
    if action is not None:
        statement = statement.where(log.action == action)
    if subject_id is not None:
        statement = statement.where(log.subject_id == subject_id)
    if since is not None:
        statement = statement.where(log.at >= since)
    if older_than is not None:
        statement = statement.where(log.id < older_than)
    return [AuditEntry(**row) for row in (await session.execute(statement)).mappings()]


async def last_agent_activity(session: AsyncSession, agents: Sequence[UUID]) -> dict[UUID, datetime.datetime]:
    """Return when each of these agents last acted; those that have never acted are left out."""
    rows = await fetch_all(session, _LAST_OF_AGENTS, {"agents": list(agents)})
    return {row.actor_id: row.at for row in rows}


async def agent_audit_entries(
    session: AsyncSession, agent: UUID, *, limit: int
) -> list[tuple[datetime.datetime, str, dict[str, Any]]]:
    """Return an agent's last actions, newest first: when, the action, its details."""
    rows = await fetch_all(session, _OF_AGENT, {"agent": agent, "limit": limit})
    return [(row.at, row.action, row.details) for row in rows]
