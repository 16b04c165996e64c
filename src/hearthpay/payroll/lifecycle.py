"""The payroll's states, the transitions between them, and who may cause them; each checks the current state.

A transition is one UPDATE that names the state it expects, with the history's row in the same statement. If two try
to change a payroll at once, the second finds its state changed and does nothing.
"""

import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.audit import ActorKind
from hearthpay.database.typed_rows import fetch_all, query

PayrollStatus = Literal[
    "draft", "scheduled", "firing", "pending_funding", "processing", "completed", "voided", "failed"
]
STATUSES: Final[tuple[PayrollStatus, ...]] = get_args(PayrollStatus)

HAS_PAY_STUBS: Final[frozenset[PayrollStatus]] = frozenset({"completed", "voided"})
"""The states in which what was paid counts, or counted and was reversed: its pay stubs may be issued."""

PEOPLE: Final[frozenset[ActorKind]] = frozenset({"user", "key", "mcp", "operator"})
"""Who approves and voids; a key and an MCP connection act for a person."""
WORKER: Final[frozenset[ActorKind]] = frozenset({"system"})
"""The worker: a scheduled time has come, or the bank has answered."""

TRANSITIONS: Final[dict[tuple[PayrollStatus | None, PayrollStatus], frozenset[ActorKind]]] = {
    (None, "draft"): PEOPLE,
    (None, "scheduled"): PEOPLE | WORKER,
    (None, "pending_funding"): PEOPLE | WORKER,
    (None, "completed"): PEOPLE | WORKER,
    ("draft", "scheduled"): PEOPLE,
    ("draft", "pending_funding"): PEOPLE,
    ("draft", "processing"): PEOPLE,
    ("draft", "completed"): PEOPLE,
    ("draft", "voided"): PEOPLE,
    ("scheduled", "firing"): WORKER,
    ("scheduled", "voided"): PEOPLE,
    ("firing", "pending_funding"): WORKER,
    ("firing", "failed"): WORKER,
    ("pending_funding", "processing"): WORKER,
    ("pending_funding", "failed"): WORKER,
    ("pending_funding", "voided"): PEOPLE,
    ("processing", "completed"): WORKER | PEOPLE,
    ("processing", "failed"): WORKER | PEOPLE,
    ("processing", "voided"): PEOPLE,
    ("completed", "failed"): WORKER,
    ("completed", "voided"): PEOPLE,
    ("failed", "voided"): PEOPLE,
}
"""From which state to which, and who may cause it; None is a payroll that doesn't exist yet.

From `pending_funding` a person may void it only while its debit waits and can't be sent, from `processing` only while
none of its direct deposits has been sent, and from `failed` what was paid by check or cash. If a deposit can't be
sent, a person may pay it by check, which may complete the payroll, or have it refunded, which makes it fail for that
employee. A payroll that can never be fired fails from `firing`. A direct deposit that its bank returns after the pay
date changes a completed payroll to `failed`: completed means that nothing was returned.
"""


class _MoveRow(NamedTuple):
    payroll_id: UUID
    to_status: str


_MOVE: Final = query(
    _MoveRow,
    "WITH moved AS (UPDATE payrolls SET status = :last WHERE id = ANY(:ids) AND status = :first "
    "RETURNING id, organization_id, employer_id, sandbox) "
    "INSERT INTO payroll_transitions (id, organization_id, employer_id, sandbox, payroll_id, from_status, to_status, "
    "actor_kind, actor_id, reason, at) "
    "SELECT new_id(), m.organization_id, m.employer_id, m.sandbox, m.id, step.leave, step.enter, :actor_kind, "
    ":actor_id, :reason, :at FROM moved m CROSS JOIN unnest(CAST(:leave AS text[]), CAST(:enter AS text[])) "
    "WITH ORDINALITY AS step(leave, enter, number) ORDER BY m.id, step.number RETURNING payroll_id, to_status",
)


class _HistoryRow(NamedTuple):
    to_status: str
    actor_kind: str
    reason: str | None
    at: datetime.datetime


_HISTORY: Final = query(
    _HistoryRow,
    "SELECT to_status, actor_kind, reason, at FROM payroll_transitions WHERE payroll_id = :id ORDER BY id",
)


@dataclass(frozen=True, slots=True)
class Cause:
    """Who changes a payroll's state, when, and why if that isn't obvious."""

    actor_kind: ActorKind
    at: datetime.datetime
    actor_id: UUID | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Transition:
    """One step of a payroll's history."""

    status: str
    actor: str
    reason: str | None
    at: datetime.datetime


class ForbiddenTransitionError(Exception):
    """A transition that the lifecycle doesn't have, or an actor who may not cause it."""


async def move(
    session: AsyncSession,
    payrolls: Sequence[UUID],
    leave: PayrollStatus,
    enter: PayrollStatus | Sequence[PayrollStatus],
    cause: Cause,
) -> list[UUID]:
    """Change those of the payrolls that are in the state `leave` to `enter`, or through several states to the last.

    Return those that were changed. Raises ForbiddenTransitionError for an invalid transition.
    """
    entered: list[PayrollStatus] = [enter] if isinstance(enter, str) else list(enter)
    left = left_for(leave, entered, cause)
    if not payrolls:
        return []
    rows = await fetch_all(
        session,
        _MOVE,
        {
            "ids": list(payrolls),
            "first": leave,
            "last": entered[-1],
            "leave": left,
            "enter": entered,
            "actor_kind": cause.actor_kind,
            "actor_id": cause.actor_id,
            "reason": cause.reason,
            "at": cause.at,
        },
    )
    return [row.payroll_id for row in rows if row.to_status == entered[-1]]


def left_for(leave: PayrollStatus, entered: Sequence[PayrollStatus], cause: Cause) -> list[PayrollStatus]:
    """Return the state that each of the steps from `leave` leaves; raises ForbiddenTransitionError as `move` does."""
    left: list[PayrollStatus] = [leave, *entered[:-1]]
    for step in zip(left, entered, strict=True):
        _require(*step, cause)
    return left


def require_initial(statuses: Collection[PayrollStatus], cause: Cause) -> None:
    """Raise ForbiddenTransitionError for a state in which this cause may not create a payroll."""
    for status in statuses:
        _require(None, status, cause)


async def history_of(session: AsyncSession, payroll: UUID) -> tuple[Transition, ...]:
    """Return the payroll's history, oldest first."""
    return tuple(Transition(*row) for row in await fetch_all(session, _HISTORY, {"id": payroll}))


def _require(leave: PayrollStatus | None, enter: PayrollStatus, cause: Cause) -> None:
    if cause.actor_kind not in TRANSITIONS.get((leave, enter), frozenset()):
        raise ForbiddenTransitionError(f"{cause.actor_kind} cannot move a payroll from {leave} to {enter}")
