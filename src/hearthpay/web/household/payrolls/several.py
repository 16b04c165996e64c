"""This week's payrolls of several households on one page: reviewed together, run one by one.

A payroll is the draft of its household, whose id follows from the form's and the household's: so a form may be sent any
number of times, and its id finds its drafts. Each one runs in its own transaction with the token of its preview.
What needs more than a look at the amounts is run on the page of its draft: authorizing a debit, a large amount, or a
second payroll of a period.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_CALENDAR, READ_PAYROLLS, RUN_PAYROLL, allow, may
from hearthpay.access.refusal import Refusal, from_tax_engine, invalid
from hearthpay.database.session import Tenant
from hearthpay.duties.dues_lists import read_dues
from hearthpay.employers.list_queries import ListedHousehold, lines_of
from hearthpay.employers.service import find_employer
from hearthpay.http.runtime import runtime_of
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.drafts import (
    Draft,
    DraftApproval,
    DraftReview,
    list_drafts_between,
    review_draft,
    run_draft,
    save_draft,
)
from hearthpay.payroll.next_payroll import read_last_pay, read_next_payrolls
from hearthpay.taxes import TaxInputError
from hearthpay.time_zones import day_there
from hearthpay.web.framework import go, id_in_path, page_of, show
from hearthpay.web.household.payrolls.page_messages import refusal_text
from hearthpay.web.household.payrolls.usual_hours import last_overtime_text
from hearthpay.web.visitor import FORM_ID, Visitor

router: Final = APIRouter(include_in_schema=False)

PATH: Final = "/households/payrolls"
MOST_AT_ONCE: Final = 25
"""The most payrolls on one page."""

CHOSEN: Final = "household_"
"""How the names of the fields begin that select a household; its id follows."""

_PAY: Final = "pay_"
_TOKEN: Final = "token_"  # noqa: S105 - the name of a field
_NONE_CHOSEN: Final = mark("Select at least one household.")
_NOTHING_TO_RUN: Final = mark("The selected households have no payroll to run this week.")
_WITHOUT_ID: Final = mark("This form is out of date. Check it and send it again.")


@dataclass(frozen=True, slots=True)
class OnePayroll:
    """A household's payroll on the page. `why` tells why it didn't or can't run; `alone`: it needs its own page."""

    household: ListedHousehold
    review: DraftReview
    why: str | None = None

    @property
    def payroll_id(self) -> UUID | None:
        """The payroll that it was run as."""
        return self.review.draft.payroll_id

    @property
    def alone(self) -> bool:
        """Whether more than the amounts must be confirmed."""
        return bool(self.review.confirmations)

    @property
    def ready(self) -> bool:
        """Whether it can be run from this page."""
        return self.review.draft.open and self.review.preview is not None and not self.alone

    @property
    def through_the_bank(self) -> bool:
        """Whether money is debited for it."""
        return self.review.preview is not None and bool(self.review.preview.record.through_the_bank)


@page_of(router, "POST", PATH, "member", permission=RUN_PAYROLL)
async def select(visitor: Visitor) -> Response:
    """Draft this week's payroll of each selected household, with the regular hours of the last one, and review them."""
    try:
        form_id = UUID(visitor.form.get(FORM_ID, ""))
    except ValueError:
        raise invalid("", _WITHOUT_ID) from None
    chosen = _ids(visitor.form, CHOSEN)[:MOST_AT_ONCE]
    if not chosen:
        raise invalid("", _NONE_CHOSEN)
    actor, context = visitor.actor(), visitor.people_context
    today = context.clock.today()
    drafted = False
    async with context.database.transaction(actor.tenant) as session:
        kept = await read_dues(session, chosen, today)
        reached = [each for each in chosen if each in kept and _reaches(actor, each)]
        planned = await read_next_payrolls(session, reached, today)
    for household, payroll in planned.items():
        if kept[household].own_clock:
            continue
        async with context.database.transaction(_tenant(actor, household)) as session:
            employer = await find_employer(session, actor, household)
            own_day = day_there(employer.zone, context.clock.now())
            await save_draft(
                session, actor, context.clock, _draft_id(form_id, household), payroll.order(own_day)
            )
        drafted = True
    if not drafted:
        raise invalid("", _NOTHING_TO_RUN)
    return go(f"{PATH}/{form_id}")


@page_of(router, "GET", f"{PATH}/{{form_id}}", "member", permission=READ_PAYROLLS)
async def review(visitor: Visitor) -> Response:
    """Show each payroll with its amounts, or what became of it."""
    actor = visitor.actor()
    return await _page(
        visitor, [await _reviewed(visitor, actor, each) for each in await _drafts(visitor, actor)]
    )


@page_of(router, "POST", f"{PATH}/{{form_id}}", "member", permission=RUN_PAYROLL)
async def run(visitor: Visitor) -> Response:
    """Run the selected payrolls one by one; one that doesn't run stops no other."""
    actor = visitor.actor()
    drafts = await _drafts(visitor, actor)
    chosen = {*_ids(visitor.form, _PAY)} & {each.id for each in drafts}
    if not chosen:
        raise invalid("", _NONE_CHOSEN)
    refused: dict[UUID, str] = {}
    for each in drafts:
        why = await _run_one(visitor, actor, each) if each.id in chosen else None
        if why is not None:
            refused[each.id] = why
    if not refused:
        return go(visitor.request.url.path)
    shown = [await _reviewed(visitor, actor, each, refused.get(each.id)) for each in drafts]
    return await _page(visitor, shown, status=409)


async def _run_one(visitor: Visitor, actor: Actor, draft: Draft) -> str | None:
    """Run one payroll as it was reviewed; return why it didn't run, None if it did."""
    say, context = visitor.say, visitor.people_context
    try:
        async with context.database.transaction(_tenant(actor, _household_of(draft))) as session:
            ran = await run_draft(
                session,
                actor,
                context.clock,
                draft.id,
                DraftApproval(
                    preview_token=visitor.form.get(f"{_TOKEN}{draft.id}", ""),
                    identity_confirmed=visitor.signed_in.is_fresh(context.clock.now()),
                ),
                direct_deposit_enabled=runtime_of(visitor.request).direct_deposit,
            )
    except TaxInputError as error:
        return refusal_text(say, visitor.language, from_tax_engine(error))
    except Refusal as refusal:
        return refusal_text(say, visitor.language, refusal)
    if not ran.draft.open:
        return None
    if ran.needs_identity:
        return say(mark("Confirm it's you before we debit an account."))
    if ran.changes is not None:
        return say(mark("The amounts changed after your review. Nothing was paid. Check them again."))
    return say(mark("This payroll has to be confirmed on its own page."))


async def _reviewed(visitor: Visitor, actor: Actor, draft: Draft, why: str | None = None) -> OnePayroll:
    context, household = visitor.people_context, _household_of(draft)
    today = context.clock.today()
    async with context.database.transaction(_tenant(actor, household)) as session:
        lines = await lines_of(session, [household], today, today)
        found = await review_draft(
            session,
            actor,
            context.clock,
            draft.id,
            direct_deposit_enabled=runtime_of(visitor.request).direct_deposit,
        )
    if why is None and found.refusal is not None:
        why = refusal_text(visitor.say, visitor.language, found.refusal)
    return OnePayroll(lines[household], found, why)


async def _drafts(visitor: Visitor, actor: Actor) -> Sequence[Draft]:
    """Return the drafts of the form that the address names. Raises `not_found` where there are none in reach."""
    form_id = id_in_path(visitor, "form_id")
    first, last = (UUID(bytes=form_id.bytes[:8] + 8 * end) for end in (b"\0", b"\xff"))
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        found = await list_drafts_between(session, actor, first, last, 2 * MOST_AT_ONCE)
    drafts = [each for each in found if each.id == _draft_id(form_id, _household_of(each))]
    if not drafts:
        raise Refusal("not_found", "Page not found. Check the address.")
    return drafts


def _household_of(draft: Draft) -> UUID:
    assert draft.order.employer_id is not None, "a draft is one household's"
    return draft.order.employer_id


async def _page(visitor: Visitor, payrolls: Sequence[OnePayroll], *, status: int = 200) -> Response:
    ready = [each for each in payrolls if each.ready]
    actor = visitor.actor()
    async with visitor.people_context.database.transaction(actor.tenant) as session:
        last_pay = await read_last_pay(
            session, [each.household.id for each in payrolls if each.review.draft.open]
        )
    fresh = visitor.signed_in.is_fresh(visitor.people_context.clock.now())
    previews = [each.review.preview for each in ready if each.review.preview is not None]
    facts = {
        "flow": "broad",
        "payrolls": payrolls,
        "ready": ready,
        "ran": [each for each in payrolls if each.payroll_id is not None],
        "net_pay": sum(each.record.totals.net_pay for each in previews),
        "last_overtime": {each: last_overtime_text(visitor.say, last) for each, last in last_pay.items()},
        "may_run": may(actor, RUN_PAYROLL),
        "needs_proof": not fresh and any(each.through_the_bank for each in ready),
        "pay": _PAY,
        "token_of": _TOKEN,
        "here": visitor.request.url.path,
    }
    return show(visitor, "several_payrolls.html", facts, status=status, folder="household")


def _ids(form: Mapping[str, str], prefix: str) -> list[UUID]:
    """Return the ids of the fields that are ticked and whose names begin with the prefix."""
    found = []
    for name, value in form.items():
        if name.startswith(prefix) and value == "on":
            try:
                found.append(UUID(name.removeprefix(prefix)))
            except ValueError:
                continue
    return found


def _draft_id(form_id: UUID, household: UUID) -> UUID:
    """Return the id of a household's draft from one form: the same again, and in the order of time."""
    digest = hashlib.sha256(form_id.bytes + household.bytes).digest()
    return UUID(bytes=form_id.bytes[:8] + bytes([digest[8] & 0x3F | 0x80]) + digest[9:16])


def _tenant(actor: Actor, household: UUID) -> Tenant:
    return Tenant(actor.organization_id, actor.sandbox, household)


def _reaches(actor: Actor, household: UUID) -> bool:
    try:
        allow(actor, RUN_PAYROLL, household)
        allow(actor, READ_CALENDAR, household)
    except Refusal:
        return False
    return True
