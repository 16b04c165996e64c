"""The household's authorization to debit its account: what it agreed to, when, and how long it holds.

Debiting a person's account requires one, and a record of it must be kept (Nacha Operating Rules, 2.3.2).
"""

import datetime
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal
from hearthpay.banking.models import Authorization, BankAccount
from hearthpay.database.relations import AUTOPILOT_PERIODS, AUTOPILOT_VERSIONS, PAYCHECKS, PAYROLLS
from hearthpay.database.statements import Fragment, compose, identifier, statement
from hearthpay.employers.models import Employer

AUTHORIZATION_DAYS: Final = 30
"""How long an authorization covers the payrolls approved under it, in days."""

AUTHORIZATION_TEXT_VERSION: Final = "2026-11-20"
"""The version of `authorization.md`; changing the text makes a new version."""

HIGHEST_PERCENT: Final = 120
"""An Autopilot net pay above this percentage of the enrolled one is debited only after approval."""

LARGE_NET_PAY: Final = 300_000
"""Cents: a payroll with a larger single direct deposit must be confirmed."""

AuthorizationStatus = Literal["none", "active", "expired", "revoked"]

_NOW: Final = Fragment("CAST(:now AS timestamptz)")

# For the account in use now; one for an earlier account says nothing about this one.
_LATEST: Final = (
    select(Authorization)
    .join(BankAccount, BankAccount.id == Authorization.bank_account_id)
    .where(BankAccount.employee_id.is_(None), BankAccount.status != "replaced")
    .order_by(Authorization.authorized_at.desc(), Authorization.id.desc())
    .limit(1)
    .execution_options(populate_existing=True)
)


def _replaces_covered_payroll(account: Fragment, payroll: Fragment) -> Fragment:
    """Return the condition of a payroll that takes the place of one of Autopilot, for the same employee and period,
    whose year had passed.

    Only such a payroll stores an `approved_at`: the moment at which Autopilot created the one it replaces. A net pay
    that Autopilot would have asked about is not covered, unless it is no higher than the one that was let go.
    """
    return compose(
        "{payroll}.approved_at IS NOT NULL AND EXISTS (SELECT FROM {payrolls} o "
        "JOIN {autopilot_periods} g ON g.payroll_id = o.id "
        "JOIN {autopilot_versions} v ON v.enrollment_id = g.enrollment_id AND v.number = g.version "
        "JOIN autopilot_authorizations s ON s.enrollment_id = g.enrollment_id "
        "WHERE o.employer_id = {payroll}.employer_id AND o.id <> {payroll}.id "
        "AND o.created_at = {payroll}.approved_at AND o.period_start = {payroll}.period_start "
        "AND o.period_end = {payroll}.period_end AND s.bank_account_id = {account}.id AND s.revoked_at IS NULL "
        "AND (s.ended_at IS NULL OR {payroll}.approved_at BETWEEN s.authorized_at AND s.ended_at) "
        "AND {payroll}.net_pay "
        "<= greatest(o.net_pay, least(v.expected_net * {highest_percent} / 100, {large_net_pay})) "
        "AND (SELECT bool_and(c.employee_id = g.employee_id) FROM {paychecks} c WHERE c.payroll_id = {payroll}.id))",
        account=account,
        payroll=payroll,
        payrolls=PAYROLLS,
        autopilot_periods=AUTOPILOT_PERIODS,
        autopilot_versions=AUTOPILOT_VERSIONS,
        paychecks=PAYCHECKS,
        highest_percent=HIGHEST_PERCENT,
        large_net_pay=LARGE_NET_PAY,
    )


def covers(*, account: str, payroll: str, now: Fragment = _NOW) -> Fragment:
    """Return the SQL condition that the household has authorized debits of an account for a payroll, both named by
    aliases.

    It applies to that very account alone. ``now`` is SQL for the time at the household; by default the parameter
    ``now``. A payroll is covered by the authorization
    it was approved under, or by a later one while that holds; one that Autopilot made, or that pays the same work in
    a new year, and no other, also by the standing authorization of its enrollment.
    """
    return compose(
        "(EXISTS (SELECT FROM ach_authorizations z WHERE z.employer_id = {account}.employer_id "
        "AND z.bank_account_id = {account}.id AND z.revoked_at IS NULL "
        "AND (coalesce({payroll}.approved_at, {payroll}.created_at) BETWEEN z.authorized_at AND z.expires_at "
        "OR z.authorized_at > {payroll}.created_at AND {now} <= z.expires_at)) "
        "OR EXISTS (SELECT FROM {autopilot_periods} g JOIN autopilot_authorizations s "
        "ON s.enrollment_id = g.enrollment_id WHERE g.payroll_id = {payroll}.id AND s.bank_account_id = {account}.id "
        "AND s.revoked_at IS NULL "
        "AND (s.ended_at IS NULL OR {payroll}.created_at BETWEEN s.authorized_at AND s.ended_at)) "
        "OR {replaces_covered_payroll})",
        account=identifier(account),
        payroll=identifier(payroll),
        now=now,
        autopilot_periods=AUTOPILOT_PERIODS,
        replaces_covered_payroll=_replaces_covered_payroll(identifier(account), identifier(payroll)),
    )


_AUTHORIZED: Final = statement(
    "SELECT p.id FROM {payrolls} p JOIN bank_accounts a ON a.employer_id = p.employer_id AND a.employee_id IS NULL "
    "AND a.status <> 'replaced' WHERE p.id = ANY(:payrolls) AND {covers}",
    payrolls=PAYROLLS,
    covers=covers(account="a", payroll="p"),
)
_WAKE: Final = text(
    "UPDATE payrolls SET next_attempt_at = :now WHERE employer_id = :employer AND status = 'scheduled' "
    "AND next_attempt_at > :now"
)
_REVOKE: Final = text(
    "UPDATE ach_authorizations SET revoked_at = :now WHERE bank_account_id = ANY(:accounts) AND revoked_at IS NULL"
)
_REVOKE_STANDING: Final = text(
    "UPDATE autopilot_authorizations SET ended_at = coalesce(ended_at, :now), revoked_at = :now "
    "WHERE bank_account_id = ANY(:accounts) AND revoked_at IS NULL"
)


@dataclass(frozen=True, slots=True)
class AuthorizationState:
    """Whether the household's account may be debited for payrolls approved now, and until when."""

    status: AuthorizationStatus
    expires_at: datetime.datetime | None


@cache
def authorization_text() -> str:
    """Return the text of the authorization, in Markdown."""
    return files("hearthpay.banking").joinpath("authorization.md").read_text(encoding="utf-8")


async def needs_authorization(session: AsyncSession, employer_id: UUID, now: datetime.datetime) -> bool:
    """Return whether the household must authorize before its account is debited: it never did, revoked it, or did so
    long ago.
    """
    return (await authorization_of(session, employer_id, now)).status != "active"


async def authorization_of(
    session: AsyncSession, employer_id: UUID, now: datetime.datetime
) -> AuthorizationState:
    """Return the state of the authorization for the household's current account."""
    latest = await session.scalar(_LATEST.where(Authorization.employer_id == employer_id))
    if latest is None:
        return AuthorizationState("none", None)
    if latest.revoked_at is not None:
        return AuthorizationState("revoked", latest.expires_at)
    return AuthorizationState("active" if now <= latest.expires_at else "expired", latest.expires_at)


async def authorized_payrolls(
    session: AsyncSession, payroll_ids: Collection[UUID], now: datetime.datetime
) -> set[UUID]:
    """Return those of the payrolls for which the household's current account may be debited."""
    return set(await session.scalars(_AUTHORIZED, {"payrolls": list(payroll_ids), "now": now}))


async def authorize(
    session: AsyncSession, actor: Actor, employer: Employer, now: datetime.datetime
) -> Authorization:
    """Record that the household agreed to the current text, for its current account, from now on.

    Scheduled payrolls that were postponed, perhaps for lack of it, are tried again at once. Raises
    `direct_deposit_unavailable` if no account is connected, and what `allow` raises.
    """
    allow(actor, RUN_PAYROLL, employer.id)
    account_id = await session.scalar(
        select(BankAccount.id).where(
            BankAccount.employer_id == employer.id,
            BankAccount.employee_id.is_(None),
            BankAccount.status != "replaced",
        )
    )
    if account_id is None:
        raise Refusal(
            "direct_deposit_unavailable",
            "The household has not connected a bank account that could be debited.",
            details={"employer_id": employer.id},
        )
    authorization = Authorization(
        id=uuid7(),
        organization_id=employer.organization_id,
        employer_id=employer.id,
        sandbox=employer.sandbox,
        bank_account_id=account_id,
        authorized_by_kind=actor.kind,
        authorized_by=actor.id,
        request_id=actor.request_id,
        text_version=AUTHORIZATION_TEXT_VERSION,
        authorized_at=now,
        expires_at=now + datetime.timedelta(days=AUTHORIZATION_DAYS),
    )
    session.add(authorization)
    await session.flush()
    await session.execute(_WAKE, {"employer": employer.id, "now": now})
    await record_audit(
        session,
        actor,
        "ach.authorize",
        employer_id=employer.id,
        subject_id=authorization.id,
        details={
            "bank_account_id": account_id,
            "text_version": AUTHORIZATION_TEXT_VERSION,
            "authorized_at": now,
            "expires_at": authorization.expires_at,
        },
    )
    return authorization


async def revoke(session: AsyncSession, now: datetime.datetime, account_ids: Collection[UUID]) -> None:
    """End the authorizations to debit these accounts, standing ones included."""
    revoked = {"now": now, "accounts": list(account_ids)}
    await session.execute(_REVOKE, revoked)
    await session.execute(_REVOKE_STANDING, revoked)
