"""The audit trail of agents: one row for each tool call and each resource read, with the program's name and the
result. What is refused as too much (the day's requests, or too many at once) gets no row, so that the trail can't
grow without end.

The action itself, such as a run, has its own row in its own transaction; the request's id joins the two. No argument
is stored: hours and wages are stored where they belong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.deferred_audit import DeferredAudit
from hearthpay.database.session import Database
from hearthpay.mcp.resource_results import Reading
from hearthpay.mcp.tool_results import ToolAnswer
from hearthpay.mcp.tools.toolbox import BY_NAME
from hearthpay.wire.secrecy import holds_a_secret

CALLED: Final = "agent.call"
READ: Final = "agent.read"

_BROKEN_OFF: Final = "broken_off"
_UNKNOWN: Final = "unknown"
_TOO_MANY: Final = "rate_limited"
_LONGEST_NAME: Final = 100


async def record_tool_call(
    database: Database,
    deferred: DeferredAudit,
    actor: Actor,
    client: str | None,
    tool: str,
    answer: ToolAnswer | None,
) -> None:
    """Write the row of a call; `answer` is None if it was cut off, and may have been carried out.

    The row of a successful call of a tool that uses no account is `deferred`.
    """
    if answer is not None and answer.code == _TOO_MANY:
        return
    details: dict[str, object] = {
        "tool": tool if tool in BY_NAME else _UNKNOWN,
        "client": plain_name(client),
        "outcome": _BROKEN_OFF if answer is None else answer.code,
    }
    plain = answer is not None and not answer.refused and not BY_NAME[tool].uses_account
    if plain and deferred.add(actor, CALLED, details):
        return
    household = _household_of(actor, answer)
    payroll = None if answer is None else _id_in(answer.structured, "payroll_id")
    async with database.transaction(actor.tenant) as session:
        await record_audit(session, actor, CALLED, employer_id=household, subject_id=payroll, details=details)


async def record_resource_read(
    database: Database, actor: Actor, client: str | None, reading: Reading | None
) -> None:
    """Write the row of a resource that was read or refused; None if the reading was cut off."""
    if reading is not None and reading.code == _TOO_MANY:
        return
    details: dict[str, object] = {
        "resource": _UNKNOWN if reading is None or reading.item is None else reading.item.name,
        "client": plain_name(client),
        "outcome": _BROKEN_OFF if reading is None else reading.code,
    }
    payroll = None if reading is None else reading.payroll_id
    async with database.transaction(actor.tenant) as session:
        await record_audit(
            session, actor, READ, employer_id=actor.tenant.employer_id, subject_id=payroll, details=details
        )


def plain_name(client: str | None) -> str | None:
    """Return a program's name as it can be stored: one printable line, and nothing that looks like a tax number."""
    if client is None:
        return None
    plain = "".join(each if each.isprintable() else " " for each in client[:_LONGEST_NAME]).strip()
    return "(withheld)" if holds_a_secret(plain) else plain or None


def _household_of(actor: Actor, answer: ToolAnswer | None) -> UUID | None:
    """Return the household that the answer is about: an id that was only requested could be anybody's."""
    if actor.tenant.employer_id is not None:
        return actor.tenant.employer_id
    return None if answer is None else _id_in(answer.structured, "employer_id")


def _id_in(structured: Mapping[str, Any], name: str) -> UUID | None:
    data = structured.get("data")
    value = data.get(name) if isinstance(data, Mapping) else None
    return UUID(value) if isinstance(value, str) else None
