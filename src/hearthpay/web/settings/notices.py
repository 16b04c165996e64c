"""Which notices are emailed, what the plan allows, and for operators the mail that wasn't sent."""

from dataclasses import dataclass, replace
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import READ_PLAN
from hearthpay.access.plans import FEATURES, Feature, Limits
from hearthpay.accounts.plan_use import PlanUse, plan_use
from hearthpay.http.envelope import request_id_of
from hearthpay.languages.catalogue import mark
from hearthpay.people.notice_choices import choose_notices, notice_choices
from hearthpay.people.operators import mails_not_sent
from hearthpay.people.recipients import TOPICS, Topic
from hearthpay.web.framework import page_of, show
from hearthpay.web.settings.mail_words import unsent_heading, unsent_lines
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_TOPICS: Final[dict[Topic, tuple[str, str]]] = {
    "payday": (mark("Paydays"), mark("That a payroll was paid; for employees, that there is a pay stub.")),
    "duties": (
        mark("Deadlines"),
        mark("What a household must file or pay, two weeks and three days before."),
    ),
    "documents": (mark("Documents"), mark("For employees, that a Form W-2 is ready.")),
}
_ALWAYS: Final = (
    (
        mark("Account security"),
        mark("New sign-ins, changed passwords and addresses: you would not notice a thief otherwise."),
    ),
    (
        mark("Payment problems"),
        mark("A payroll failed, or a payment was returned or is on hold. Wages are late unless you act."),
    ),
    (
        mark("Debits and bank changes"),
        mark("A debit that comes, another bank account: you must be able to stop what is not right."),
    ),
)
FEATURE_NAMES: Final[dict[Feature, str]] = {
    "calculator": mark("Calculator"),
    "payroll": mark("Payroll"),
    "employees": mark("Employees"),
    "documents": mark("Documents"),
    "state_registrations": mark("State registrations"),
    "multi_employer": mark("Several households"),
    "ach": mark("Direct deposit"),
    "autopilot": mark("Autopilot"),
    "test_keys": mark("Test mode"),
}


@dataclass(frozen=True, slots=True)
class LimitLine:
    """A limit of the plan: what it counts, the maximum (None: any number), and the current use."""

    name: str
    limit: int | None
    used: int | None


@page_of(router, "GET", "/settings/notifications", "signed_in")
async def notifications(visitor: Visitor) -> Response:
    """Show which notices are emailed."""
    return await _notifications(visitor)


@page_of(router, "POST", "/settings/notifications", "signed_in")
async def choose(visitor: Visitor) -> Response:
    """Save which notices are emailed."""
    requested = [topic for topic in TOPICS if visitor.form.get(f"topic_{topic}")]
    await choose_notices(
        visitor.people_context,
        visitor.signed_in,
        requested,
        visitor.visit,
        weekly_summary=bool(visitor.form.get("weekly_summary")),
    )
    return await _notifications(visitor, notice=mark("Saved."))


@page_of(router, "GET", "/settings/plan", "member", permission=READ_PLAN)
async def plan(visitor: Visitor) -> Response:
    """Show the organization's plan, and how much of it is used."""
    here = visitor.signed_in.here
    assert here is not None
    uses = []
    for sandbox in (False, True):
        actor = replace(visitor.signed_in, sandbox=sandbox).actor(request_id_of(visitor.request))
        async with visitor.people_context.database.transaction(actor.tenant) as session:
            uses.append(await plan_use(session, actor))
    facts = {
        "plan": here.terms.plan,
        "features": [(FEATURE_NAMES[each], each in here.terms.features) for each in FEATURES],
        "limits": limit_lines(here.terms.limits, *uses),
    }
    return show(visitor, "plan.html", facts)


@page_of(router, "GET", "/operator/mail", "signed_in")
async def mail_not_sent(visitor: Visitor) -> Response:
    """Show operators the mail that was refused, given up, or put into the folder."""
    found = await mails_not_sent(visitor.people_context, visitor.signed_in)
    facts = {
        "heading": unsent_heading(visitor.say, found),
        "mails": unsent_lines(visitor.say, found),
        "sends_mail": visitor.people_context.sends_mail,
    }
    return show(visitor, "mail_not_sent.html", facts)


def limit_lines(limits: Limits, live: PlanUse, sandbox: PlanUse) -> list[LimitLine]:
    """Return the limits with their use; for requests, which are counted by key, only the limit."""
    most = max(live.most_employees, sandbox.most_employees)
    return [
        LimitLine(mark("Households"), limits.households, live.households),
        LimitLine(mark("Employees in the household that has most"), limits.employees_per_household, most),
        LimitLine(mark("API keys"), limits.keys, live.keys),
        LimitLine(mark("Test households"), limits.sandbox_households, sandbox.households),
        LimitLine(mark("Requests of one API key in a day"), limits.requests_per_day, None),
    ]


async def _notifications(visitor: Visitor, notice: str | None = None) -> Response:
    chosen = await notice_choices(visitor.people_context, visitor.signed_in)
    facts = {
        "topics": [(topic, *words, topic in chosen.requested) for topic, words in _TOPICS.items()],
        "weekly_summary": chosen.weekly_summary if visitor.signed_in.here is not None else None,
        "always": _ALWAYS,
        "bounced_at": chosen.bounced_at,
        "sends_mail": visitor.people_context.sends_mail,
        "notice": notice,
    }
    return show(visitor, "notifications.html", facts)
