"""Notices: mails about something that has happened, each sent once, to a household, an employee or the operator.

They wait in the outbox like any other mail. What can't be sent, because it is a sandbox's, there is no address or
there is no mail server, is recorded there anyway: for whom it was, about what, and why it wasn't sent.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Self
from uuid import UUID

import orjson
from email_validator import EmailNotValidError, validate_email
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.database.sealing_keys import key_for_writing
from hearthpay.database.statements import Fragment
from hearthpay.database.typed_rows import fetch_one, query
from hearthpay.mail.bounces import hash_of_address
from hearthpay.mail.limits import USUAL_LIMITS, MailLimits, mail_limits
from hearthpay.mail.mailer import Mail
from hearthpay.mail.outbox import NO_MAIL_SERVER
from hearthpay.mail.places import reached_at
from hearthpay.security.content_seal import SealedContent, mail_place, seal_content
from hearthpay.security.key_ring import KeyRing

PUBLIC_URL_VARIABLE: Final = "HEARTHPAY_PUBLIC_URL"
LINKS_BEGIN: Final = "http://localhost:8000"
"""The start of links if no address is configured: that of `hearthpay serve` on the local machine."""

OPERATOR_VARIABLE: Final = "HEARTHPAY_OPERATOR_EMAIL"

Recipient = Literal["employee", "household", "operator", "person"]

KEPT_FOR: Final = datetime.timedelta(days=7)
"""A notice that couldn't be sent for this long is given up, because it is no longer news."""

NEWS: Final = (
    "notice.payday",
    "notice.pay_stub",
    "notice.debit_ahead",
    "notice.duties_due",
    "notice.document_ready",
    "notice.package_ready",
    "notice.weekly_summary",
)
"""Notices of routine events, which are counted separately, and only for household and employee: an organization of
many households has many paydays in a day."""

SECURITY_ALERT: Final = Fragment("security_alert")
"""The kind of notices about sensitive actions, which neither count nor are counted."""

OPERATOR_LIMIT: Final = 100
"""Notices to the operator in a UTC day; any beyond it are still in the log and in the outbox."""

_KNOWN: Final = text("SELECT EXISTS (SELECT FROM mail_outbox WHERE notice_key = :key)")
_COUNT_ALONE: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('hearthpay notice ' || :whose, 0))")


class _CountRow(NamedTuple):
    of_organization: int
    of_household: int
    of_employee: int


_COUNT: Final = query(
    _CountRow,
    "SELECT count(*) AS of_organization, count(*) FILTER (WHERE employer_id = :employer_id) AS of_household, "
    "count(*) FILTER (WHERE employee_id = :employee_id) AS of_employee FROM mail_outbox "
    "WHERE organization_id = :organization_id AND created_at >= :since AND notice_key IS NOT NULL "
    "AND recipient <> 'operator' AND NOT sandbox AND kind <> ALL(:news) AND kind <> 'notice.{security_alert}' "
    "AND NOT starts_with(coalesce(reason, ''), 'daily_limit_of_')",
    security_alert=SECURITY_ALERT,
)
# Notices about every payday must not use up the limit for notices about problems.
_COUNT_NEWS: Final = query(
    _CountRow,
    "SELECT 0 AS of_organization, count(*) FILTER (WHERE employer_id = :employer_id) AS of_household, "
    "count(*) FILTER (WHERE employee_id = :employee_id AND recipient = 'employee') AS of_employee FROM mail_outbox "
    "WHERE organization_id = :organization_id AND created_at >= :since AND kind = ANY(:news) "
    "AND NOT starts_with(coalesce(reason, ''), 'daily_limit_of_')",
)
_COUNT_OPERATORS: Final = text(
    "SELECT count(*) FROM mail_outbox WHERE recipient = 'operator' AND created_at >= :since "
    "AND status <> 'withheld' AND NOT starts_with(coalesce(reason, ''), 'daily_limit_of_')"
)
_INSERT: Final = text(
    "INSERT INTO mail_outbox (id, organization_id, employer_id, sandbox, employee_id, payroll_id, recipient, "
    "notice_key, kind, status, reason, content, nonce, key_id, created_at, expires_at, due_at, finished_at, "
    "address_hash) VALUES "
    "(:id, :organization_id, :employer_id, :sandbox, :employee_id, :payroll_id, :recipient, :notice_key, :kind, "
    ":status, :reason, :content, :nonce, :key_id, :now, :expires_at, :now, :finished_at, :address_hash) "
    "ON CONFLICT (notice_key) DO NOTHING"
)


class OperatorAddressError(Exception):
    """The operator's address is invalid; the message names the variable."""


@dataclass(frozen=True, slots=True)
class NotificationSettings:
    """How an installation notifies: whether it has a mail server, its limits, and any address of the operator.

    Without a mail server it may store mails in a folder.
    """

    sends: bool = False
    limits: MailLimits = field(default=USUAL_LIMITS)
    operator: str | None = None
    keeps: bool = False
    links_begin: str = LINKS_BEGIN

    @classmethod
    def of(cls, environment: Mapping[str, str], *, sends: bool, keeps: bool = False) -> Self:
        """Return what these settings define. Raises OperatorAddressError and MailLimitsError."""
        address = environment.get(OPERATOR_VARIABLE, "").strip() or None
        if address is not None:
            try:
                validate_email(address, check_deliverability=False, test_environment=True)
            except EmailNotValidError:
                raise OperatorAddressError(f"{OPERATOR_VARIABLE} must be one email address") from None
        begin = environment.get(PUBLIC_URL_VARIABLE, "").strip().rstrip("/") or LINKS_BEGIN
        return cls(sends, mail_limits(environment), address, keeps and not sends, begin)


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice; `key` names its subject and reader, so that it is sent once. Without `mail` nobody has an address.

    The operator's may have no tenant, a person's no household. Not `requested`: its reader has turned it off. An
    `urgent` one is a warning, which no daily limit holds.
    """

    key: str
    kind: str
    recipient: Recipient
    mail: Mail | None
    organization_id: UUID | None = None
    employer_id: UUID | None = None
    sandbox: bool = False
    employee_id: UUID | None = None
    payroll_id: UUID | None = None
    requested: bool = True
    urgent: bool = False


async def queue_notice(
    session: AsyncSession,
    ring: KeyRing,
    notifications: NotificationSettings,
    now: datetime.datetime,
    notice: Notice,
) -> bool:
    """Put the notice into the outbox, once; return whether it is new. The session is the worker's.

    Raises what `key_for_writing` raises.
    """
    if await session.scalar(_KNOWN, {"key": notice.key}):
        return False
    status, reason = await _admitted(session, notifications, now, notice)
    mail_id = uuid7()
    sealed: SealedContent | None = None
    if status == "queued" and notice.mail is not None:
        key = await key_for_writing(session, ring)
        mail = reached_at(notice.mail, notifications.links_begin)
        sealed = seal_content(key, mail_place(mail_id), orjson.dumps(mail))
    await session.execute(
        _INSERT,
        {
            "id": mail_id,
            "organization_id": notice.organization_id,
            "employer_id": notice.employer_id,
            "sandbox": notice.sandbox,
            "employee_id": notice.employee_id,
            "payroll_id": notice.payroll_id,
            "recipient": notice.recipient,
            "notice_key": notice.key,
            "kind": f"notice.{notice.kind}",
            "status": status,
            "reason": reason,
            "content": None if sealed is None else sealed.ciphertext,
            "nonce": None if sealed is None else sealed.nonce,
            "key_id": None if sealed is None else sealed.key_id,
            "now": now,
            "expires_at": now + KEPT_FOR,
            "finished_at": None if status == "queued" else now,
            "address_hash": None if notice.mail is None else hash_of_address(notice.mail.to),
        },
    )
    return True


async def _admitted(
    session: AsyncSession, notifications: NotificationSettings, now: datetime.datetime, notice: Notice
) -> tuple[str, str | None]:
    """Return the initial status of the notice, and why it isn't sent."""
    if notice.sandbox:
        return "withheld", "sandbox"
    if notice.mail is None:
        return "withheld", "no_address"
    if not notice.requested:
        return "withheld", "not_wanted"
    if notifications.keeps:
        return "queued", NO_MAIL_SERVER
    if not notifications.sends:
        return "withheld", NO_MAIL_SERVER
    if notice.urgent:
        return "queued", None
    since = datetime.datetime.combine(now.astimezone(datetime.UTC).date(), datetime.time(), datetime.UTC)
    if notice.recipient == "operator":
        await session.execute(_COUNT_ALONE, {"whose": "operator"})
        full = (await session.scalar(_COUNT_OPERATORS, {"since": since}) or 0) >= OPERATOR_LIMIT
        return ("failed", "daily_limit_of_operator") if full else ("queued", None)
    await session.execute(_COUNT_ALONE, {"whose": str(notice.organization_id)})
    whose = {
        "organization_id": notice.organization_id,
        "employer_id": notice.employer_id,
        "employee_id": notice.employee_id,
        "since": since,
        "news": list(NEWS),
    }
    kind = f"notice.{notice.kind}"
    counted = await fetch_one(session, _COUNT_NEWS if kind in NEWS else _COUNT, whose)
    exceeded = notifications.limits.exceeded_by(
        employee=counted.of_employee if notice.recipient == "employee" else -1,
        household=counted.of_household,
        organization=counted.of_organization,
    )
    return ("queued", None) if exceeded is None else ("failed", f"daily_limit_of_{exceeded}")
