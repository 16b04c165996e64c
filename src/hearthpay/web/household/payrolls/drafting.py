"""Running a payroll: it is typed into a draft, looked at line by line, confirmed, and run once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response
from uuid_utils.compat import uuid7

from hearthpay.access.permissions import READ_PAYROLLS, RUN_PAYROLL
from hearthpay.access.refusal import Refusal, from_tax_engine
from hearthpay.banking.accounts import current_household_account
from hearthpay.banking.models import BankAccount
from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee
from hearthpay.employees.service import list_employees
from hearthpay.insurance.service import HouseholdPolicy, read_policies
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.commands import Confirmations, Order, PayrollQuery
from hearthpay.payroll.drafts import (
    CONFIRM_BESIDE,
    Draft,
    DraftApproval,
    DraftReview,
    drop_draft,
    find_draft,
    review_draft,
    run_draft,
    save_draft,
)
from hearthpay.payroll.ledger.preview_tokens import FIELD
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.payroll.next_payday import NextPayday, read_next_paydays, read_unpaid_periods
from hearthpay.payroll.next_payroll import read_last_pay
from hearthpay.payroll.pay_periods import PeriodOfPay
from hearthpay.payroll.service import preview_payroll, query_payrolls
from hearthpay.taxes import TaxInputError
from hearthpay.web.framework import go, id_in_path, problems_of
from hearthpay.web.household.bank.authorization_words import authorization_words
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.payrolls.explanation import why_of
from hearthpay.web.household.payrolls.names import method_names
from hearthpay.web.household.payrolls.page_messages import problem_text, refusal_text
from hearthpay.web.household.payrolls.payment_words import deposit_hint
from hearthpay.web.household.payrolls.review import obstacles_of, preview_facts
from hearthpay.web.household.payrolls.usual_hours import last_overtime_text, proposed_hours
from hearthpay.web.household.payrolls.wage_form import (
    FREQUENCIES,
    KINDS,
    RunKind,
    begins_far_ahead,
    field_of,
    form_problems,
    form_values_of,
    kind_of,
    proposed_dates,
    read_order,
)
from hearthpay.web.household.state_accounts.words import POLICY_WORDS
from hearthpay.web.message_text import LABOR_LAW, message_text
from hearthpay.wire.paging import Page

router: Final = APIRouter(include_in_schema=False)

MOST_PEOPLE: Final = 50
"""The most employees in one form: a form has at most a few hundred fields."""

KIND_NAMES: Final[Mapping[RunKind, str]] = {
    "hours": mark("Hours"),
    "bonus": mark("Bonus only"),
    "catch-up": mark("Record past pay"),
    "fica-refund": mark("Refund FICA"),
}
FREQUENCY_NAMES: Final[Mapping[str, str]] = {
    "weekly": mark("Every week"),
    "biweekly": mark("Every two weeks"),
    "semimonthly": mark("Twice a month"),
    "monthly": mark("Every month"),
}
_CONFIRM: Final = mark("Check this box to continue.")


@household_page(router, "GET", "/payrolls/new", permission=RUN_PAYROLL)
async def new(at: HouseholdContext) -> Response:
    """An empty form, with the next period and the next day of payment in it."""
    asked = at.visitor.request.query_params.get("kind", "hours")
    kind: RunKind = next((each for each in KINDS if each == asked), "hours")
    async with at.transaction() as session:
        people = await _people(session, at)
        last = (await session.execute(await _last_period(session, at))).one_or_none()
        policies = await read_policies(session, at.id, at.clock.today()) if last is None else ()
        due = await _due(session, at) if kind == "hours" else None
        last_pay = await read_last_pay(session, [at.id]) if kind == "hours" else {}
        unpaid = await read_unpaid_periods(session, at.id, at.today) if kind == "catch-up" else {}
        account = await _account(session, at, people)
    oldest = min((periods[0] for periods in unpaid.values()), default=None)
    dates = proposed_dates(
        None if last is None else (last[0], last[1]),
        people,
        kind,
        at.today,
        at.clock.now(),
        due=due,
        unpaid=oldest,
    )
    form_values = {
        "start": dates.start.isoformat(),
        "end": dates.end.isoformat(),
        "pay_date": dates.pay_date.isoformat(),
        "frequency": dates.frequency,
    }
    hours_from: dict[UUID, str] = {}
    for each in people:
        form_values[field_of("method", each.id)] = _usual_method(each, kind)
        if not _is_proposed(each, kind, dates.frequency, due, unpaid, oldest):
            continue
        form_values[field_of("pay", each.id)] = "on"
        hours = proposed_hours(each, dates.frequency, last_pay.get(each.id)) if kind == "hours" else None
        if hours is not None:
            hours_from[each.id] = hours.source(at.say)
            form_values |= {field_of(part, each.id): text for part, text in hours.form_values()}
    without_payroll = len({period for periods in unpaid.values() for period in periods})
    return _form(
        at,
        uuid7(),
        kind,
        people,
        form_values,
        policies=policies,
        without_payroll=without_payroll,
        hours_from=hours_from,
        last_overtime={each.id: last_overtime_text(at.say, last_pay.get(each.id)) for each in people},
        deposit=deposit_hint(at.say, at.visitor.language, account, dates.pay_date, at.today),
    )


@household_page(router, "GET", "/payrolls/drafts/{draft_id}/change", permission=RUN_PAYROLL)
async def change(at: HouseholdContext) -> Response:
    """Show the form with the entries of the draft."""
    async with at.transaction() as session:
        draft = await find_draft(session, at.actor, id_in_path(at.visitor, "draft_id"))
        people = await _people(session, at)
    if not draft.open:
        return _expired(at, draft)
    form_values = form_values_of(draft.order)
    for each in people:
        form_values.setdefault(field_of("method", each.id), each.payment_method)
    return _form(at, draft.id, kind_of(draft.order), people, form_values)


@household_page(router, "POST", "/payrolls/drafts/{draft_id}", permission=RUN_PAYROLL)
async def save(at: HouseholdContext) -> Response:
    """Save the entries, and show the resulting amounts."""
    draft_id, asked = id_in_path(at.visitor, "draft_id"), at.form.get("kind", "hours")
    kind: RunKind = next((each for each in KINDS if each == asked), "hours")
    async with at.transaction() as session:
        people = await _people(session, at)
    try:
        order = read_order(at.form, people, kind, at.id)
    except Refusal as error:
        return _form(at, draft_id, kind, people, at.form, problems_of(error))
    problems = await _problems_of(at, order)
    if problems:
        return _form(at, draft_id, kind, people, at.form, problems)
    async with at.transaction() as session:
        draft = await save_draft(session, at.actor, at.clock, draft_id, order)
    return _expired(at, draft) if not draft.open else at.go(f"/payrolls/drafts/{draft_id}")


@household_page(router, "GET", "/payrolls/drafts/{draft_id}", permission=READ_PAYROLLS)
async def look(at: HouseholdContext) -> Response:
    """Show the draft's amounts, line by line, and what has to be confirmed."""
    draft_id = id_in_path(at.visitor, "draft_id")
    async with at.transaction() as session:
        review = await review_draft(
            session, at.actor, at.clock, draft_id, direct_deposit_enabled=at.runtime.direct_deposit
        )
    return await _review_page(at, review) if review.draft.open else _expired(at, review.draft)


@household_page(router, "POST", "/payrolls/drafts/{draft_id}/run", permission=RUN_PAYROLL)
async def run(at: HouseholdContext) -> Response:
    """Run what was reviewed, once: the same form again leads to the same payroll."""
    draft_id = id_in_path(at.visitor, "draft_id")
    try:
        async with _as_refusals(), at.transaction() as session:
            review = await run_draft(
                session,
                at.actor,
                at.clock,
                draft_id,
                _approval(at),
                direct_deposit_enabled=at.runtime.direct_deposit,
            )
    except Refusal as refusal:
        async with at.transaction() as session:
            review = DraftReview(await find_draft(session, at.actor, draft_id), refusal=refusal)
    if not review.draft.open:
        return _expired(at, review.draft)
    if review.needs_identity:
        return go(f"/sign-in/again?next={at.root}/payrolls/drafts/{draft_id}")
    return await _review_page(at, review, status=400 if review.unconfirmed else 409)


def _approval(at: HouseholdContext) -> DraftApproval:
    """Return what the form of the review says."""
    ticked = {name for name, value in at.form.items() if value == "on"}
    return DraftApproval(
        preview_token=at.form.get(FIELD, ""),
        confirmed=Confirmations(
            confirm_large_payroll="confirm_large_payroll" in ticked,
            confirm_ach_debit="confirm_ach_debit" in ticked,
        ),
        confirm_beside=CONFIRM_BESIDE in ticked,
        identity_confirmed=_is_fresh(at),
    )


@household_page(router, "GET", "/payrolls/drafts/{draft_id}/drop", permission=RUN_PAYROLL)
async def confirm_drop(at: HouseholdContext) -> Response:
    """Ask whether to delete the draft."""
    async with at.transaction() as session:
        draft = await find_draft(session, at.actor, id_in_path(at.visitor, "draft_id"))
    return at.show("payroll_drop.html", {"draft": draft}) if draft.open else _expired(at, draft)


@household_page(router, "POST", "/payrolls/drafts/{draft_id}/drop", permission=RUN_PAYROLL)
async def drop(at: HouseholdContext) -> Response:
    """Delete the draft: nothing of it was ever paid."""
    async with at.transaction() as session:
        draft = await drop_draft(session, at.actor, at.clock, id_in_path(at.visitor, "draft_id"))
    return _expired(at, draft)


@asynccontextmanager
async def _as_refusals() -> AsyncIterator[None]:
    """Turn the tax engine's errors into refusals."""
    try:
        yield
    except TaxInputError as error:
        raise from_tax_engine(error) from None


async def _people(session: AsyncSession, at: HouseholdContext) -> Sequence[Employee]:
    found, _ = await list_employees(session, at.actor, at.id, Page(limit=100))
    return sorted(found, key=lambda each: (each.status != "active", each.first_name, each.last_name))[
        :MOST_PEOPLE
    ]


async def _account(
    session: AsyncSession, at: HouseholdContext, people: Sequence[Employee]
) -> BankAccount | None:
    """Return the account that direct deposits come from, if somebody is usually paid so."""
    if all(each.payment_method != "direct_deposit" for each in people):
        return None
    return await current_household_account(session, at.id)


async def _due(session: AsyncSession, at: HouseholdContext) -> NextPayday | None:
    """Return the next payday of the household, Autopilot's only if there is no other."""
    found = (await read_next_paydays(session, [at.id])).get(at.id, ())
    return next((each for each in found if not each.autopilot), next(iter(found), None))


def _is_proposed(
    person: Employee,
    kind: RunKind,
    frequency: PayFrequency,
    due: NextPayday | None,
    unpaid: Mapping[UUID, Sequence[PeriodOfPay]],
    oldest: PeriodOfPay | None,
) -> bool:
    """Return whether an employee is ticked: for hours, those whose payday it is, or who were never paid; for past
    pay, those who have no payroll of the oldest period.
    """
    if kind == "catch-up" and oldest is not None:
        return oldest in unpaid.get(person.id, ())
    if kind != "hours":
        return True
    if person.status != "active" or person.pay_frequency != frequency:
        return False
    return due is None or person.id in due.employees or person.start_date >= due.start


async def _last_period(session: AsyncSession, at: HouseholdContext) -> Any:
    """Return the statement for the last day and the frequency of the last standing period."""
    requested = (await query_payrolls(session, at.actor, PayrollQuery(employer_id=at.id))).subquery()
    return (
        select(requested.c.period_end, requested.c.pay_frequency)
        .where(requested.c.status.not_in(("voided", "failed")))
        .order_by(requested.c.period_end.desc(), requested.c.id.desc())
        .limit(1)
    )


def _usual_method(person: Employee, kind: RunKind) -> str:
    if kind in ("catch-up", "fica-refund") and person.payment_method == "direct_deposit":
        return "check"
    return person.payment_method


async def _problems_of(at: HouseholdContext, order: Order) -> dict[str, str]:
    """Return the services' problems with fields; other obstacles are shown next to the amounts."""
    try:
        async with _as_refusals(), at.transaction() as session:
            await preview_payroll(
                session, at.actor, at.clock, order, direct_deposit_enabled=at.runtime.direct_deposit
            )
    except Refusal as refusal:
        if refusal.code == "pay_date_past_deadline":
            return {"pay_date": refusal_text(at.say, at.visitor.language, refusal).rstrip(".")}
        found = form_problems(refusal, order) or {}
        return {name: problem_text(at.say, at.visitor.language, each) for name, each in found.items()}
    return {}


def _expired(at: HouseholdContext, draft: Draft) -> Response:
    """Redirect to what became of a draft."""
    return at.go("/payrolls" if draft.payroll_id is None else f"/payrolls/{draft.payroll_id}/receipt")


def _is_fresh(at: HouseholdContext) -> bool:
    """Return whether the person has confirmed their identity recently, as is required before a debit."""
    return at.visitor.signed_in.is_fresh(at.clock.now())


def _form(
    at: HouseholdContext,
    draft_id: UUID,
    kind: RunKind,
    people: Sequence[Employee],
    form_values: Mapping[str, str],
    problems: Mapping[str, str] | None = None,
    policies: Sequence[HouseholdPolicy] = (),
    without_payroll: int = 0,
    hours_from: Mapping[UUID, str] | None = None,
    last_overtime: Mapping[UUID, str] | None = None,
    deposit: str = "",
) -> Response:
    facts = {
        "draft_id": draft_id,
        "policies": [each for each in policies if each.missing],
        "policy_words": POLICY_WORDS,
        "kind": kind,
        "kinds": KIND_NAMES,
        "without_payroll": without_payroll,
        "hours_from": hours_from or {},
        "last_overtime": last_overtime or {},
        "deposit": deposit,
        "people": people,
        "begins": begins_far_ahead(people, at.clock.today()),
        "form_values": form_values,
        "problems": problems or {},
        "frequencies": [(each, at.say(FREQUENCY_NAMES[each])) for each in FREQUENCIES],
        "method_names": method_names(at.say),
        "flow": "broad",
    }
    return at.show("payroll_form.html", facts, status=400 if problems else 200)


async def _review_page(at: HouseholdContext, review: DraftReview, *, status: int = 200) -> Response:
    preview, refusal = review.preview, review.refusal
    facts: dict[str, Any] = {
        "draft": review.draft,
        "path_of_draft": f"{at.root}/payrolls/drafts/{review.draft.id}",
        "run_permission": RUN_PAYROLL,
        "kind": kind_of(review.draft.order),
        "kinds": KIND_NAMES,
        "problems": dict.fromkeys(review.unconfirmed, _CONFIRM),
        "form_values": at.form,
        "refused": None if refusal is None else refusal_text(at.say, at.visitor.language, refusal),
        "preview": preview,
        "changes": review.changes,
        "obstacles": [] if refusal is None else await obstacles_of(at, refusal),
        "flow": "broad",
    }
    if preview is not None:
        record = preview.record
        facts |= {
            "token_field": FIELD,
            "to_confirm": review.confirmations,
            "needs_proof": bool(record.through_the_bank) and not _is_fresh(at),
            "authorization": authorization_words(at.visitor.language)
            if "confirm_ach_debit" in preview.confirmations
            else None,
            "against_law": [_warnings(at, each, against_law=True) for each in record.paychecks],
            "warnings": [_warnings(at, each, against_law=False) for each in record.paychecks],
            "why": [
                why_of(at.say, at.visitor.language, each, record.dates.pay_date, record.pay_frequency)
                for each in record.paychecks
            ],
            "on_paper": not record.through_the_bank,
        } | await preview_facts(at, review, preview)
    return at.show("payroll_preview.html", facts, status=status)


def _warnings(at: HouseholdContext, paycheck: PaycheckRow, *, against_law: bool) -> list[str]:
    """Return a paycheck's warnings in words: those about labor law, or the others."""
    return [
        message_text(at.say, at.visitor.language, each)
        for each in paycheck.warnings
        if (each.code in LABOR_LAW) == against_law
    ]
