"""Drafts of payrolls: what a member typed, stored until it is sent or discarded. A draft is never a payroll.

Its id is that of the form, so the form may be sent any number of times: it is one draft, and sent once. Sending locks
the draft, runs the payroll and records it in one transaction; a simultaneous second send waits, and finds it sent.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, cast
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL, allow
from hearthpay.access.refusal import Refusal, from_tax_engine
from hearthpay.clock import Clock
from hearthpay.database.statements import Fragment, statement
from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee
from hearthpay.employers.metadata import METADATA
from hearthpay.employers.service import resolve_employer
from hearthpay.payroll.commands import NOTHING_CONFIRMED, Confirmations, EmployeePay, Order, SetAsideChoice
from hearthpay.payroll.ledger.preview_tokens import PreviewChanges
from hearthpay.payroll.ledger.rows import PayrollRecord, Preview
from hearthpay.payroll.models import PayrollDraft
from hearthpay.payroll.service import changes_since, prepare_payroll, preview_payroll, record_payroll
from hearthpay.taxes import TaxInputError

_NUMBERS: Final = ("regular_hours", "overtime_hours", "bonus", "other_earnings", "unpaid_days")
CONFIRM_BESIDE: Final = "confirm_beside"
_BESIDE: Final = frozenset({"period_paid_already", "paid_beside", "paid_beside_as_supplemental"})
"""Codes of warnings that somebody is paid for these days already."""

DRAFT_DIGEST: Final = Fragment(
    "encode(sha256(convert_to(jsonb_build_array(employer_id, period_start, period_end, pay_date, pay_frequency, notes, "
    "employees, metadata)::text, 'UTF8')), 'hex')"
)
"""SQL for the digest of what a draft says; the audit log names it, so that `doctor` finds a draft changed later."""

_DIGEST_OF: Final = statement("SELECT {digest} FROM payroll_drafts WHERE id = :id", digest=DRAFT_DIGEST)
_UNKNOWN_CHANGES: Final = PreviewChanges(request_changed=False, paychecks=())
_NOT_THERE: Final = "There is no such draft."


@dataclass(frozen=True, slots=True)
class Draft:
    """A payroll as entered. `payroll_id` is the payroll that it was sent as; `dropped`: it was discarded."""

    id: UUID
    order: Order
    updated_at: datetime.datetime
    payroll_id: UUID | None
    dropped: bool

    @property
    def open(self) -> bool:
        """Whether it may still be changed, sent or discarded."""
        return self.payroll_id is None and not self.dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftApproval:
    """With what somebody approves a draft that was reviewed."""

    preview_token: str
    """That of the preview that was reviewed: nothing else is run."""

    confirmed: Confirmations = NOTHING_CONFIRMED
    confirm_beside: bool = False
    """Whether it may be paid in addition to another payroll of the period."""

    identity_confirmed: bool = False
    """Whether the person has confirmed their identity recently, as is required before the account is debited."""

    @property
    def given(self) -> tuple[str, ...]:
        """The names of what was confirmed."""
        return (*self.confirmed.given, *((CONFIRM_BESIDE,) if self.confirm_beside else ()))


@dataclass(frozen=True, slots=True)
class DraftReview:
    """A draft as it would run now: its amounts, or why it cannot run; of one that is not open, the draft alone."""

    draft: Draft
    preview: Preview | None = None
    refusal: Refusal | None = None
    changes: PreviewChanges | None = None
    """What is not as it was reviewed; without paychecks where it is not known what was."""

    unconfirmed: tuple[str, ...] = ()
    """What was not confirmed and has to be."""

    needs_identity: bool = False
    """Whether the person has to confirm first who they are."""

    @property
    def confirmations(self) -> tuple[str, ...]:
        """Everything that has to be confirmed."""
        return (
            () if self.preview is None else confirmations_of(self.preview.record, self.preview.confirmations)
        )


async def save_draft(
    session: AsyncSession, actor: Actor, clock: Clock, draft_id: UUID, order: Order
) -> Draft:
    """Store the entries of a form under its id: as a new draft, or as the new contents of an open one.

    A draft that was sent or discarded stays as it was and is returned. Raises `not_found` for another household's id,
    `employee_not_in_household`, and what `resolve_employer` raises.
    """
    allow(actor, RUN_PAYROLL)
    employer = await resolve_employer(session, actor, order.employer_id)
    ids = {each.employee_id for each in order.employees}
    of_household = select(func.count()).where(Employee.employer_id == employer.id, Employee.id.in_(ids))
    if await session.scalar(of_household) != len(ids):
        raise Refusal("employee_not_in_household", "Somebody in it is not an employee of this household.")
    now = clock.now()
    typed = _typed(order) | {"updated_at": now}
    owner = {
        "organization_id": employer.organization_id,
        "employer_id": employer.id,
        "sandbox": employer.sandbox,
    }
    # That of a correction, which no form has: it stays when the draft is saved again.
    kept = {METADATA: dict(order.metadata)}
    new = insert(PayrollDraft).values(id=draft_id, created_at=now, **owner, **typed, **kept)
    made = await session.scalar(new.on_conflict_do_nothing().returning(PayrollDraft.id))
    if made is None:
        draft = await _locked(session, actor, draft_id)
        if not draft.open:
            return draft
        await session.execute(update(PayrollDraft).where(PayrollDraft.id == draft_id).values(**typed))
    digest = await session.scalar(_DIGEST_OF, {"id": draft_id})
    await record_audit(
        session,
        actor,
        "payroll.draft",
        employer_id=employer.id,
        subject_id=draft_id,
        details={"content_sha256": digest},
    )
    return await find_draft(session, actor, draft_id)


async def find_draft(session: AsyncSession, actor: Actor, draft_id: UUID) -> Draft:
    """Return a draft, even one that was sent or discarded. Raises what `allow` raises, and `not_found`."""
    allow(actor, READ_PAYROLLS)
    return _in_reach(actor, await session.get(PayrollDraft, draft_id, populate_existing=True))


async def list_drafts(session: AsyncSession, actor: Actor, employer_id: UUID) -> Sequence[Draft]:
    """Return a household's open drafts, the newest first. Raises what `allow` and `resolve_employer` raise."""
    allow(actor, READ_PAYROLLS)
    employer = await resolve_employer(session, actor, employer_id)
    requested = (
        select(PayrollDraft)
        .where(
            PayrollDraft.employer_id == employer.id,
            PayrollDraft.payroll_id.is_(None),
            PayrollDraft.dropped_at.is_(None),
        )
        .order_by(PayrollDraft.id.desc())
    )
    return [_draft(row) for row in await session.scalars(requested)]


async def list_drafts_between(
    session: AsyncSession, actor: Actor, first: UUID, last: UUID, limit: int
) -> Sequence[Draft]:
    """Return the drafts in reach with these ids and those between, sent and discarded ones too, in their order.

    Raises what `allow` raises.
    """
    allow(actor, READ_PAYROLLS)
    requested = (
        select(PayrollDraft)
        .where(PayrollDraft.id >= first, PayrollDraft.id <= last)
        .order_by(PayrollDraft.id)
        .limit(limit)
    )
    return [_draft(row) for row in await session.scalars(requested) if actor.reaches(row.employer_id)]


async def drop_draft(session: AsyncSession, actor: Actor, clock: Clock, draft_id: UUID) -> Draft:
    """Discard a draft; one that was sent or discarded stays as it is. Raises what `allow` raises, and `not_found`."""
    allow(actor, RUN_PAYROLL)
    draft = await _locked(session, actor, draft_id)
    if draft.open:
        dropped = update(PayrollDraft).where(PayrollDraft.id == draft_id).values(dropped_at=clock.now())
        await session.execute(dropped)
        await record_audit(
            session, actor, "payroll.draft_drop", employer_id=draft.order.employer_id, subject_id=draft_id
        )
    return await find_draft(session, actor, draft_id)


async def review_draft(
    session: AsyncSession, actor: Actor, clock: Clock, draft_id: UUID, *, direct_deposit_enabled: bool
) -> DraftReview:
    """Return the amounts of a draft if it were run now, with how each line came about; nothing is created.

    If it cannot be run, the review has the refusal that says why. Raises what `allow` raises, and `not_found`.
    """
    draft = await find_draft(session, actor, draft_id)
    if not draft.open:
        return DraftReview(draft)
    try:
        preview = await preview_payroll(
            session, actor, clock, draft.order, direct_deposit_enabled=direct_deposit_enabled, explain=True
        )
    except TaxInputError as error:
        return DraftReview(draft, refusal=from_tax_engine(error))
    except Refusal as refusal:
        return DraftReview(draft, refusal=refusal)
    return DraftReview(draft, preview)


async def run_draft(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    draft_id: UUID,
    approval: DraftApproval,
    *,
    direct_deposit_enabled: bool,
) -> DraftReview:
    """Run a draft, once, if it is what was reviewed and everything is confirmed; return the draft as it is now.

    One that ran names its payroll, also one that ran before. Where identity or a confirmation is missing, or something
    is not as it was reviewed, nothing is run, and the review says which. Raises `not_found`, and what `run_payroll`
    raises for a payroll that cannot be run.
    """
    allow(actor, RUN_PAYROLL)
    draft = await _locked(session, actor, draft_id)
    if not draft.open:
        return DraftReview(draft)
    try:
        prepared = await prepare_payroll(
            session,
            actor,
            clock,
            draft.order,
            direct_deposit_enabled=direct_deposit_enabled,
            preview_token=approval.preview_token,
        )
    except Refusal as refusal:
        if refusal.code != "amounts_changed":
            raise
        review = await review_draft(  # what was reviewed is paid already, as another draft's payroll or over the API
            session, actor, clock, draft_id, direct_deposit_enabled=direct_deposit_enabled
        )
        return replace(review, changes=_UNKNOWN_CHANGES)
    if prepared.record.through_the_bank and not approval.identity_confirmed:
        return DraftReview(draft, needs_identity=True)
    needed = confirmations_of(prepared.record, prepared.confirmations)
    unconfirmed = tuple(each for each in needed if each not in approval.given)
    changes: PreviewChanges | None = None
    if not unconfirmed:
        try:
            changes = await changes_since(session, actor, clock, prepared, approval.preview_token)
        except Refusal:  # the token has ended or is none: nobody knows what was shown
            changes = _UNKNOWN_CHANGES
    if unconfirmed or changes is not None:
        review = await review_draft(
            session, actor, clock, draft_id, direct_deposit_enabled=direct_deposit_enabled
        )
        return replace(review, unconfirmed=unconfirmed, changes=changes)
    ran = await record_payroll(
        session, actor, clock, prepared, approval.confirmed, preview_token=approval.preview_token
    )
    await session.execute(update(PayrollDraft).where(PayrollDraft.id == draft_id).values(payroll_id=ran.id))
    return DraftReview(replace(draft, payroll_id=ran.id))


def confirmations_of(record: PayrollRecord, confirmations: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a person must confirm: what a run needs, and that it is paid in addition to another payroll."""
    beside = any(warning.code in _BESIDE for paycheck in record.paychecks for warning in paycheck.warnings)
    return (*confirmations, *((CONFIRM_BESIDE,) if beside else ()))


async def _locked(session: AsyncSession, actor: Actor, draft_id: UUID) -> Draft:
    requested = select(PayrollDraft).where(PayrollDraft.id == draft_id).with_for_update()
    return _in_reach(actor, await session.scalar(requested.execution_options(populate_existing=True)))


def _in_reach(actor: Actor, row: PayrollDraft | None) -> Draft:
    if row is None or not actor.reaches(row.employer_id):
        raise Refusal("not_found", _NOT_THERE)
    return _draft(row)


def _typed(order: Order) -> dict[str, Any]:
    return {
        "period_start": order.pay_period_start,
        "period_end": order.pay_period_end,
        "pay_date": order.pay_date,
        "pay_frequency": order.pay_frequency,
        "notes": order.notes,
        "employees": [_typed_pay(each) for each in order.employees],
    }


def _typed_pay(pay: EmployeePay) -> dict[str, Any]:
    wish = pay.voluntary_set_aside
    typed: dict[str, Any] = {"employee_id": str(pay.employee_id), "payment_method": pay.payment_method}
    typed |= {name: f"{getattr(pay, name):f}" for name in _NUMBERS}
    typed["pay_salary"] = pay.pay_salary
    if wish is not None:
        typed["set_aside"] = "0" if wish.skip or wish.amount is None else f"{wish.amount:f}"
    return typed


def _draft(row: PayrollDraft) -> Draft:
    order = Order(
        employer_id=row.employer_id,
        pay_period_start=row.period_start,
        pay_period_end=row.period_end,
        pay_date=row.pay_date,
        pay_frequency=cast(PayFrequency, row.pay_frequency),
        notes=row.notes,
        employees=tuple(_pay(each) for each in row.employees),
        metadata=row.metadata_,
    )
    return Draft(row.id, order, row.updated_at, row.payroll_id, row.dropped_at is not None)


def _pay(typed: dict[str, Any]) -> EmployeePay:
    def number(name: str) -> Decimal:
        return Decimal(typed.get(name, "0"))

    wish = typed.get("set_aside")
    asked = None
    if wish is not None:
        amount = Decimal(wish)
        asked = SetAsideChoice(amount=amount) if amount else SetAsideChoice(skip=True)
    return EmployeePay(
        employee_id=UUID(typed["employee_id"]),
        payment_method=typed["payment_method"],
        voluntary_set_aside=asked,
        # A draft from before there were salaries has neither.
        pay_salary=bool(typed.get("pay_salary", True)),
        regular_hours=number("regular_hours"),
        overtime_hours=number("overtime_hours"),
        bonus=number("bonus"),
        other_earnings=number("other_earnings"),
        unpaid_days=number("unpaid_days"),
    )
