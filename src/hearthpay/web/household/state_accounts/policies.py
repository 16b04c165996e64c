"""The household's insurance policies: what the law requires, and the carrier and number that the household enters."""

import datetime
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import KEEP_REGISTRATIONS
from hearthpay.access.refusal import Refusal
from hearthpay.employers.service import find_employer
from hearthpay.insurance.requirements import PolicyRule, rules_of
from hearthpay.insurance.service import PolicyDetails, keep_policy, policies_of_household
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.framework import problems_of
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.form_values import day_field, field_errors
from hearthpay.web.household.state_accounts.words import POLICY_WORDS

router: Final = APIRouter(include_in_schema=False)

_AT: Final = "/state-accounts/{state}/policy/{policy}"
_NOT_THERE: Final = mark("Nothing found with this name.")


@household_page(router, "GET", _AT, permission=KEEP_REGISTRATIONS)
async def policy_form(at: HouseholdContext) -> Response:
    """Show the form with what is on record."""
    return await _form(at)


@household_page(router, "POST", _AT, permission=KEEP_REGISTRATIONS)
async def save_policy(at: HouseholdContext) -> Response:
    """Store the policy, or remove it."""
    rule = _rule(at)
    try:
        details = PolicyDetails(state=rule.state, kind=rule.kind, carrier=None)
        if at.form.get("none") != "on":
            details = PolicyDetails(
                state=rule.state,
                kind=rule.kind,
                carrier=at.form.get("carrier", "").strip(),
                policy_number=at.form.get("policy_number", "").strip() or None,
                starts_on=day_field(at.form, "starts_on"),
                ends_on=_optional_day(at, "ends_on"),
            )
        async with at.transaction() as session:
            employer = await find_employer(session, at.actor, at.id)
            await keep_policy(session, at.actor, at.clock, employer, details)
    except Refusal as error:
        return await _form(at, field_errors(problems_of(error)))
    return at.go("/state-accounts")


def _optional_day(at: HouseholdContext, field: str) -> datetime.date | None:
    return day_field(at.form, field) if at.form.get(field, "").strip() else None


def _rule(at: HouseholdContext) -> PolicyRule:
    """Return the rule named in the path. Raises `not_found` if the state has no such policy."""
    params = at.visitor.request.path_params
    if params["state"] in STATES:
        for rule in rules_of(params["state"]):
            if rule.kind == params["policy"]:
                return rule
    raise Refusal("not_found", _NOT_THERE)


async def _form(at: HouseholdContext, problems: dict[str, str] | None = None) -> Response:
    rule = _rule(at)
    async with at.transaction() as session:
        employer = await find_employer(session, at.actor, at.id)
        policies = await policies_of_household(session, at.actor, at.clock, employer)
    details = next(
        (each.entered for each in policies if (each.state, each.kind) == (rule.state, rule.kind)), None
    )
    facts = {
        "rule": rule,
        "state_name": STATES[rule.state],
        "policy_words": POLICY_WORDS,
        "policy": details,
        "problems": problems or {},
        "form_values": dict(at.form) if problems else {},
    }
    return at.show("state_accounts/policy.html", facts, status=400 if problems else 200)
