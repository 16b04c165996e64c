"""The outbox: mail is queued in the transaction of the event it reports, and erased once it has been sent.

Queued mail is encrypted with the vault's key, because it contains a link to the portal. A sender takes a lease first:
of two processes one sends, and another process resends what a killed one was sending when its lease ends. SMTP has no
transaction with our database, so a crash between the server's 250 and our record repeats a mail, under the same
Message-ID, and never loses one.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, cast
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.clock import Clock
from hearthpay.database import audit
from hearthpay.database.relations import ORGANIZATIONS
from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.statements import Fragment, statement
from hearthpay.database.turns import Turns
from hearthpay.database.typed_rows import Query, fetch_all, fetch_one, fetch_optional, query
from hearthpay.mail.bounces import hash_of_address
from hearthpay.mail.limits import MailLimits
from hearthpay.mail.mailer import PATIENCE_SECONDS, Delivery, Mail
from hearthpay.security.content_seal import SealedContent, mail_place, open_content, seal_content
from hearthpay.security.key_ring import KeyRing

LEASE: Final = datetime.timedelta(seconds=6 * PATIENCE_SECONDS)
"""How long one process may send a mail: longer than waiting for a turn, sending it and recording it takes."""
LONGEST_PAUSE: Final = datetime.timedelta(hours=6)
"""The first pause between two attempts is a minute, and each later one is twice as long, up to this."""

MailStatus = Literal["queued", "sent", "failed", "withdrawn", "withheld"]

NO_MAIL_SERVER: Final = "no_mail_server"
"""Why a mail written without a mail server isn't sent; while it is queued, it is for the folder."""
KEPT_IN_FOLDER: Final = "kept_in_folder"

_DAILY_LIMIT: Final = "daily_limit_of_"
_FIRST_PAUSE: Final = datetime.timedelta(minutes=1)
_MOST_DOUBLINGS: Final = 20

# Counted under a lock of the organization, so that simultaneous requests don't all find room.
_COUNT_ALONE: Final = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('hearthpay mail ' || :organization_id, 0))"
)


class _CountRow(NamedTuple):
    of_organization: int
    of_household: int
    of_employee: int


_COUNT: Final = query(
    _CountRow,
    "SELECT of_organization, of_household, of_employee FROM mails_since(:employer_id, :employee_id, :since)",
)


class _MailedRow(NamedTuple):
    to_mailbox: int
    mailboxes: int


_MAILED: Final = query(_MailedRow, "SELECT to_mailbox, mailboxes FROM invitations_mailed(:mailbox, :since)")
_IS_YOUNG: Final = statement(
    "SELECT EXISTS (SELECT FROM {organizations} o WHERE o.id = :organization AND o.created_at > :since)",
    organizations=ORGANIZATIONS,
)
_YOUNG: Final = datetime.timedelta(days=7)
_INSERT: Final = text(
    "INSERT INTO mail_outbox (id, organization_id, employer_id, sandbox, employee_id, kind, status, reason, content, "
    "nonce, key_id, created_at, expires_at, due_at, finished_at, address_hash) VALUES (:id, :organization_id, "
    ":employer_id, :sandbox, :employee_id, :kind, :status, :reason, :content, :nonce, :key_id, :now, :expires_at, "
    ":now, :finished_at, :address_hash)"
)
# What has been sent, or never will be, is erased.
_WITHDRAW: Final = text(
    "UPDATE mail_outbox SET status = 'withdrawn', reason = :reason, finished_at = :now, content = NULL, nonce = NULL, "
    "key_id = NULL, leased_until = NULL WHERE id = :id AND status = 'queued'"
)


class _StateRow(NamedTuple):
    status: str
    reason: str | None
    in_hand: bool | None


_STATE: Final = query(
    _StateRow, "SELECT status, reason, leased_until > :now AS in_hand FROM mail_outbox WHERE id = :id"
)


# Mail to people, which belongs to no organization, takes turns by its sort: what strangers request is one of them.
_WHOSE: Final = Fragment("coalesce(CAST(organization_id AS text), counted_as, recipient)")


class _ClaimedRow(NamedTuple):
    id: UUID
    organization_id: UUID | None
    employer_id: UUID | None
    sandbox: bool
    created_at: datetime.datetime
    expires_at: datetime.datetime
    attempts: int
    content: bytes
    nonce: bytes
    key_id: str


_CLAIM_ONE: Final = query(
    _ClaimedRow,
    "UPDATE mail_outbox SET leased_until = :until, attempts = attempts + 1 WHERE id = :id "
    "AND status = 'queued' AND due_at <= :now AND (leased_until IS NULL OR leased_until <= :now) "
    "RETURNING id, organization_id, employer_id, sandbox, created_at, expires_at, attempts, content, nonce, key_id",
)


class _DueRow(NamedTuple):
    id: UUID
    organization_id: UUID | None
    employer_id: UUID | None
    sandbox: bool
    created_at: datetime.datetime
    expires_at: datetime.datetime
    attempts: int
    content: bytes
    nonce: bytes
    key_id: str
    whose: str


def _claim(which: Fragment) -> Query[_DueRow]:
    # A subquery that locks and skips may run again for every row of a join, each time with other rows: it is
    # evaluated once.
    return query(
        _DueRow,
        "WITH due AS MATERIALIZED (SELECT id FROM mail_outbox "
        "WHERE status = 'queued' {which} AND due_at <= :now AND (leased_until IS NULL OR leased_until <= :now) "
        "AND {whose} <> ALL(CAST(:resting AS text[])) "
        "ORDER BY due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED) "
        "UPDATE mail_outbox m SET leased_until = :until, attempts = m.attempts + 1 FROM due WHERE m.id = due.id "
        "RETURNING m.id, m.organization_id, m.employer_id, m.sandbox, m.created_at, m.expires_at, m.attempts, "
        "m.content, m.nonce, m.key_id, {whose} AS whose",
        which=which,
        whose=_WHOSE,
    )


_CLAIM_DUE: Final = _claim(Fragment(""))
_CLAIM_FOR_FOLDER: Final = _claim(Fragment("AND reason IN ('no_mail_server', 'folder_not_writable')"))
_KEPT: Final = text(
    "UPDATE mail_outbox SET status = 'withheld', reason = :reason, finished_at = :now, content = NULL, nonce = NULL, "
    "key_id = NULL, leased_until = NULL WHERE id = :id AND status = 'queued' RETURNING true"
)
_DUE: Final = text(
    "SELECT count(*) FROM (SELECT FROM mail_outbox WHERE status = 'queued' AND due_at <= :now "
    "AND (leased_until IS NULL OR leased_until <= :now) LIMIT 1000) AS due"
)


class _GiveUpRow(NamedTuple):
    id: UUID
    organization_id: UUID | None
    employer_id: UUID | None
    sandbox: bool
    attempts: int
    reason: str | None


_GIVE_UP: Final = query(
    _GiveUpRow,
    "UPDATE mail_outbox SET status = 'failed', reason = coalesce(reason, 'not_taken_in_time'), finished_at = :now, "
    "content = NULL, nonce = NULL, key_id = NULL, leased_until = NULL WHERE id IN (SELECT id FROM mail_outbox "
    "WHERE status = 'queued' AND expires_at <= :now AND (leased_until IS NULL OR leased_until <= :now) "
    "ORDER BY id FOR UPDATE SKIP LOCKED) RETURNING id, organization_id, employer_id, sandbox, attempts, reason",
)
# Accepted is accepted, even if another process holds the lease by then; only the holder knows other outcomes.
_SENT: Final = text(
    "UPDATE mail_outbox SET status = 'sent', reason = NULL, finished_at = :now, content = NULL, nonce = NULL, "
    "key_id = NULL, leased_until = NULL WHERE id = :id AND status = 'queued' RETURNING true"
)
_FAILED: Final = text(
    "UPDATE mail_outbox SET status = 'failed', reason = :reason, finished_at = :now, content = NULL, nonce = NULL, "
    "key_id = NULL, leased_until = NULL WHERE id = :id AND status = 'queued' AND attempts = :attempts RETURNING true"
)
_POSTPONED: Final = text(
    "UPDATE mail_outbox SET reason = :reason, due_at = :due_at, leased_until = NULL "
    "WHERE id = :id AND status = 'queued' AND attempts = :attempts"
)


@dataclass(frozen=True, slots=True)
class Addressee:
    """The employee whom a mail is about, and the household and organization on whose behalf it is sent."""

    organization_id: UUID
    employer_id: UUID
    sandbox: bool
    employee_id: UUID


@dataclass(frozen=True, slots=True)
class MailState:
    """The status of a mail; `reason` says why it isn't sent (yet). `in_hand`: a process is sending it now."""

    status: MailStatus
    reason: str | None = None
    in_hand: bool = False

    @property
    def untried(self) -> bool:
        """Whether it is queued and no attempt to send it has ended yet."""
        return self.status == "queued" and self.reason is None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A mail that this process may send, once and until its lease ends."""

    id: UUID
    organization_id: UUID | None
    employer_id: UUID | None
    sandbox: bool
    created_at: datetime.datetime
    expires_at: datetime.datetime
    attempt: int
    sealed: SealedContent


async def queue_mail(
    session: AsyncSession,
    ring: KeyRing,
    limits: MailLimits,
    clock: Clock,
    addressee: Addressee,
    kind: str,
    mail: Mail,
    expires_at: datetime.datetime,
) -> tuple[UUID, MailState]:
    """Put the mail into the outbox, to be sent until `expires_at` once the transaction has committed.

    A sandbox household's mail is withheld and its content isn't stored; neither is the content of one beyond the
    daily limits, which fails at once. Call it after all rows are locked: it locks the organization's mail. Raises
    what `key_for_writing` raises.
    """
    now = clock.now()
    state = await _admitted(session, limits, addressee, mail.to, now)
    mail_id = uuid7()
    sealed: SealedContent | None = None
    if state.status == "queued":
        key = await key_for_writing(session, ring)
        sealed = seal_content(key, mail_place(mail_id), orjson.dumps(mail))
    await session.execute(
        _INSERT,
        {
            "id": mail_id,
            "organization_id": addressee.organization_id,
            "employer_id": addressee.employer_id,
            "sandbox": addressee.sandbox,
            "employee_id": addressee.employee_id,
            "kind": kind,
            "status": state.status,
            "reason": state.reason,
            "content": None if sealed is None else sealed.ciphertext,
            "nonce": None if sealed is None else sealed.nonce,
            "key_id": None if sealed is None else sealed.key_id,
            "now": now,
            "expires_at": expires_at,
            "finished_at": None if state.status == "queued" else now,
            "address_hash": hash_of_address(mail.to),
        },
    )
    return mail_id, state


async def _admitted(
    session: AsyncSession, limits: MailLimits, addressee: Addressee, to: str, now: datetime.datetime
) -> MailState:
    if addressee.sandbox:
        return MailState("withheld", "sandbox")
    await session.execute(_COUNT_ALONE, {"organization_id": str(addressee.organization_id)})
    midnight = datetime.datetime.combine(now.astimezone(datetime.UTC).date(), datetime.time(), datetime.UTC)
    places = {"employer_id": addressee.employer_id, "employee_id": addressee.employee_id, "since": midnight}
    counted = await fetch_one(session, _COUNT, places)
    whose = limits.exceeded_by(
        employee=counted.of_employee,
        household=counted.of_household,
        organization=counted.of_organization,
    )
    if whose is None:
        whose = await _strangers_limit(session, limits, addressee, to, now, midnight)
    return MailState("queued") if whose is None else MailState("failed", f"{_DAILY_LIMIT}{whose}")


async def _strangers_limit(
    session: AsyncSession,
    limits: MailLimits,
    addressee: Addressee,
    to: str,
    now: datetime.datetime,
    midnight: datetime.datetime,
) -> str | None:
    """Return whose limit leaves no room for an invitation to this mailbox: the mailbox's, or a new organization's."""
    values = {"mailbox": hash_of_address(to), "since": midnight}
    mailed = await fetch_one(session, _MAILED, values)
    if mailed.to_mailbox >= limits.mailbox:
        return "mailbox"
    since = {"organization": addressee.organization_id, "since": now - _YOUNG}
    if mailed.mailboxes >= limits.young and await session.scalar(_IS_YOUNG, since):
        return "young_organization"
    return None


async def withdraw_mail(session: AsyncSession, clock: Clock, mail_id: UUID, reason: str) -> None:
    """Withdraw the mail if it hasn't been sent: its content no longer applies."""
    await session.execute(_WITHDRAW, {"id": mail_id, "reason": reason, "now": clock.now()})


async def state_of_mail(session: AsyncSession, clock: Clock, mail_id: UUID) -> MailState | None:
    """Return the status of the mail; None for one that the session doesn't see."""
    row = await fetch_optional(session, _STATE, {"id": mail_id, "now": clock.now()})
    return None if row is None else MailState(cast(MailStatus, row.status), row.reason, bool(row.in_hand))


async def claim_mail(session: AsyncSession, clock: Clock, mail_id: UUID) -> Claimed | None:
    """Claim the mail to send it now; None if it isn't due, has been sent, or is claimed by another process."""
    row = await fetch_optional(session, _CLAIM_ONE, {"id": mail_id, **_lease(clock)})
    return None if row is None else _claimed(row)


async def claim_due_mails(
    session: AsyncSession, clock: Clock, limit: int, turns: Turns[str]
) -> list[Claimed]:
    """Claim up to `limit` mails that are due, of any tenant, in turn by organization: the session is the worker's."""
    return await _claim_in_turn(session, clock, limit, turns, _CLAIM_DUE)


async def claim_mails_for_folder(
    session: AsyncSession, clock: Clock, limit: int, turns: Turns[str]
) -> list[Claimed]:
    """Claim up to `limit` mails that were written without a mail server; the session is the worker's."""
    return await _claim_in_turn(session, clock, limit, turns, _CLAIM_FOR_FOLDER)


async def note_kept(session: AsyncSession, clock: Clock, claimed: Claimed) -> None:
    """Record that the mail is in the folder; its content is erased here."""
    values = {"id": claimed.id, "reason": KEPT_IN_FOLDER, "now": clock.now()}
    if await session.scalar(_KEPT, values):
        await _leave_trace(session, claimed, "mail.kept", claimed.attempt, KEPT_IN_FOLDER)


async def count_due_mails(session: AsyncSession, clock: Clock) -> int:
    """Return how many mails are due and unclaimed; at most a thousand."""
    return await session.scalar(_DUE, {"now": clock.now()}) or 0


def open_mail(ring: KeyRing, claimed: Claimed) -> Mail:
    """Return the mail itself. Raises UnknownKeyError and UnreadableSecretError."""
    return Mail(**orjson.loads(open_content(ring, mail_place(claimed.id), claimed.sealed)))


async def note_delivery(session: AsyncSession, clock: Clock, claimed: Claimed, delivery: Delivery) -> None:
    """Record the outcome of the attempt: the content is erased once the mail is sent or given up."""
    now = clock.now()
    values = {"id": claimed.id, "attempts": claimed.attempt, "reason": delivery.problem, "now": now}
    if delivery.taken:
        if await session.scalar(_SENT, values):
            await _leave_trace(session, claimed, "mail.sent", claimed.attempt)
        return
    due_at = now + pause_after(claimed.attempt)
    if delivery.for_good or due_at >= claimed.expires_at:
        if await session.scalar(_FAILED, values):
            await _leave_trace(session, claimed, "mail.failed", claimed.attempt, delivery.problem)
        return
    await session.execute(_POSTPONED, values | {"due_at": due_at})


async def give_up_expired(session: AsyncSession, clock: Clock) -> int:
    """Give up the mails that couldn't be sent before they expired; return how many."""
    rows = await fetch_all(session, _GIVE_UP, {"now": clock.now()})
    for row in rows:
        await _leave_trace(session, row, "mail.failed", row.attempts, row.reason)
    return len(rows)


def pause_after(attempts: int) -> datetime.timedelta:
    """Return how long a mail waits after that many attempts: a minute, then twice as long each time, up to
    LONGEST_PAUSE.
    """
    factor: int = 2 ** min(attempts - 1, _MOST_DOUBLINGS)
    return min(_FIRST_PAUSE * factor, LONGEST_PAUSE)


async def _claim_in_turn(
    session: AsyncSession, clock: Clock, limit: int, turns: Turns[str], which: Query[_DueRow]
) -> list[Claimed]:
    async def claim(resting: list[str]) -> Sequence[_DueRow]:
        return await fetch_all(session, which, {"limit": limit, "resting": resting, **_lease(clock)})

    return [_claimed(row) for row in await turns.take(limit, claim, lambda row: row.whose)]


def _lease(clock: Clock) -> dict[str, datetime.datetime]:
    now = clock.now()
    return {"now": now, "until": now + LEASE}


def _claimed(row: _ClaimedRow | _DueRow) -> Claimed:
    return Claimed(
        row.id,
        row.organization_id,
        row.employer_id,
        row.sandbox,
        row.created_at,
        row.expires_at,
        row.attempts,
        SealedContent(row.content, row.nonce, row.key_id),
    )


async def _leave_trace(
    session: AsyncSession,
    mail: Claimed | _GiveUpRow,
    action: str,
    attempts: int,
    reason: str | None = None,
) -> None:
    if mail.organization_id is None:  # the operator's own, of no tenant: it is in the log
        return
    details: dict[str, object] = {"attempts": attempts}
    if reason is not None:
        details["reason"] = reason
    await audit.record(
        session,
        actor_kind="system",
        actor_id=None,
        organization_id=mail.organization_id,
        employer_id=mail.employer_id,
        sandbox=mail.sandbox,
        action=action,
        subject_id=mail.id,
        request_id=None,
        details=details,
    )
