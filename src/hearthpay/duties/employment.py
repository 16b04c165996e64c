"""What is due when an employee is hired and when an employment ends: contracts, notices, policies, the last wages.

Pure, like `calendar`: from plain facts, the items of a household, each under a permanent key.
"""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID, uuid5

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.employment_rules import LAST_WAGES, HireDuty, LastWages, employment_rules
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.office_days import add_office_days
from hearthpay.insurance.requirements import POLICY_KINDS, NeededPolicy, PolicyKind, PolicyRule
from hearthpay.languages.catalogue import mark
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

_DAYS_OF_PERIOD: Final = {"weekly": 7, "biweekly": 14, "semimonthly": 16, "monthly": 31}
_W4: Final = "w4"
_EMPLOYEE: Final = "The employee"
_INSURER: Final = mark("An insurer")
_PAY_LAST_WAGES: Final = mark("Pay the last wages")
LAST_WAGES_NOTE: Final = mark("This is the day for an employment that you ended. For who leaves: {rule}.")
"""What the calendar says of the last wages; `rule` is when they are due if the employee quits."""

POLICY_IDS: Final[Mapping[PolicyKind, str]] = {
    "workers_compensation": "workers-compensation",
    "disability": "disability-policy",
}
_GET_POLICY: Final[Mapping[PolicyKind, str]] = {
    "workers_compensation": mark("Get a workers' compensation policy before the first day of work"),
    "disability": mark("Get a disability and paid family leave policy before the first day of work"),
}
_RENEW_POLICY: Final[Mapping[PolicyKind, str]] = {
    "workers_compensation": mark("Renew the workers' compensation policy"),
    "disability": mark("Renew the disability and paid family leave policy"),
}


@dataclass(frozen=True, slots=True)
class Engagement:
    """An employment in a state: its first and last day, and the facts that contracts and notices depend on."""

    person_id: UUID
    name: str
    number: int
    """Which of the person's employments it is, starting at 1."""

    state: str
    places: frozenset[str]
    since: datetime.date
    until: datetime.date | None
    weekly_hours: Decimal | None
    pay_frequency: str
    withholds: bool = False
    """Whether federal income tax is withheld, which requires Form W-4."""

    w4_on: datetime.date | None = None
    """When the employee signed Form W-4 here; None if not signed here."""


@dataclass(frozen=True, slots=True)
class PolicyStatus:
    """A policy that is needed, or on record, and what is known about it."""

    needed: NeededPolicy | None
    state: str
    kind: PolicyKind
    starts_on: datetime.date | None = None
    ends_on: datetime.date | None = None
    carrier: str | None = None


@dataclass(frozen=True, slots=True)
class _Occasion:
    key: str
    jurisdiction: str
    what: str
    agency: str
    day: datetime.date
    """The day on which it happens."""

    due: datetime.date
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence
    done_on: datetime.date | None = None
    engagement: Engagement | None = None


def occasional_duties() -> tuple[str, ...]:
    """Return the jurisdiction and id, such as ``NJ/written-contract``, of every duty that can occur here."""
    rules = employment_rules()
    hires = [f"{duty.state}/{duty.id}" for duty in rules.at_hire]
    ends = [f"{state}/{LAST_WAGES}" for state in rules.last_wages]
    policies = [f"{state}/{POLICY_IDS[kind]}" for state in STATES for kind in POLICY_KINDS]
    return (f"{FEDERAL}/{_W4}", *hires, *ends, *policies)


def employment_items(
    household_id: UUID,
    engagements: Sequence[Engagement],
    policies: Sequence[PolicyStatus],
    done: Mapping[str, datetime.date],
) -> tuple[CalendarItem, ...]:
    """Return the items of these employments and policies, unordered; ``done`` has those marked as done, by key."""
    found = [occasion for each in engagements for occasion in (*_at_hire(each), *_at_end(each))] + [
        occasion for policy in policies for occasion in _of_policy(policy)
    ]
    return tuple(_item(household_id, occasion, done) for occasion in found)


def _at_hire(each: Engagement) -> Iterator[_Occasion]:
    if each.withholds:
        w4 = employment_rules().w4
        yield _Occasion(
            key=f"{FEDERAL}/{_W4}/hire-{each.number}/{each.person_id}",
            jurisdiction=FEDERAL,
            what=w4.what,
            agency="Kept by the household",
            day=each.since,
            due=each.since,
            note=w4.note,
            sources=w4.sources,
            confidence=w4.confidence,
            done_on=each.w4_on,
            engagement=each,
        )
    for duty in employment_rules().at_hire:
        if duty.state == each.state and _holds(duty, each):
            yield _Occasion(
                key=f"{duty.state}/{duty.id}/hire-{each.number}/{each.person_id}",
                jurisdiction=duty.state,
                what=duty.what,
                agency=_EMPLOYEE,
                day=each.since,
                due=each.since,
                note=duty.note,
                sources=duty.sources,
                confidence=duty.confidence,
                engagement=each,
            )


def _holds(duty: HireDuty, each: Engagement) -> bool:
    """Return whether a contract or notice is due; unknown hours count as enough."""
    if duty.effective_from is not None and each.until is not None and each.until < duty.effective_from:
        return False
    if duty.effective_from is not None and each.since < duty.effective_from:
        return False
    if duty.places and not duty.places & each.places:
        return False
    return duty.weekly_hours is None or each.weekly_hours is None or each.weekly_hours >= duty.weekly_hours


def _at_end(each: Engagement) -> Iterator[_Occasion]:
    rule = employment_rules().last_wages.get(each.state)
    if rule is None or each.until is None:
        return
    yield _Occasion(
        key=f"{each.state}/{LAST_WAGES}/hire-{each.number}/{each.person_id}",
        jurisdiction=each.state,
        what=_PAY_LAST_WAGES,
        agency=_EMPLOYEE,
        day=each.until,
        due=last_wages_due(rule, each.until, each.pay_frequency),
        note=LAST_WAGES_NOTE.format(rule=rule.quit),
        sources=rule.sources,
        confidence=rule.confidence,
        engagement=each,
    )


def last_wages_due(rule: LastWages, last_day: datetime.date, pay_frequency: str) -> datetime.date:
    """Return when the last wages are due after a discharge; a payday is at most one pay period away."""
    found = []
    if rule.office_days is not None:
        found.append(add_office_days(last_day, rule.office_days, "federal"))
    if rule.days is not None:
        found.append(last_day + datetime.timedelta(days=rule.days))
    if rule.payday:
        found.append(last_day + datetime.timedelta(days=_DAYS_OF_PERIOD.get(pay_frequency, 14)))
    return max(found) if rule.whichever == "last" else min(found)


def _of_policy(policy: PolicyStatus) -> Iterator[_Occasion]:
    base = f"{policy.state}/{POLICY_IDS[policy.kind]}"
    if policy.needed is not None and policy.needed.need == "required":
        rule = policy.needed.rule
        yield _Occasion(
            key=f"{base}/policy",
            jurisdiction=policy.state,
            what=_GET_POLICY[policy.kind],
            agency=rule.fund or _INSURER,
            day=policy.needed.since,
            due=policy.needed.since,
            note=policy_note(rule),
            sources=rule.sources,
            confidence=rule.confidence,
            done_on=policy.starts_on,
        )
    if policy.ends_on is not None:
        yield _Occasion(
            key=f"{base}/renewal-{policy.ends_on}",
            jurisdiction=policy.state,
            what=_RENEW_POLICY[policy.kind],
            agency=policy.carrier or _INSURER,
            day=policy.ends_on,
            due=policy.ends_on,
            note=mark("By the date that you entered."),
            sources=() if policy.needed is None else policy.needed.rule.sources,
            confidence="high",
        )


def policy_note(rule: PolicyRule) -> str:
    """Return what the calendar says of a policy: who needs one, and what it costs to have none."""
    return f"{rule.words} {rule.penalty}".strip()


def _item(household_id: UUID, occasion: _Occasion, done: Mapping[str, datetime.date]) -> CalendarItem:
    engagement = occasion.engagement
    return CalendarItem(
        key=occasion.key,
        uid=uuid5(household_id, occasion.key),
        kind="notice",
        jurisdiction=occasion.jurisdiction,
        what=occasion.what,
        agency=occasion.agency,
        form=None,
        employee_id=None if engagement is None else engagement.person_id,
        employee_name=None if engagement is None else engagement.name,
        period=occasion.day.isoformat(),
        period_start=occasion.day,
        period_end=occasion.day,
        due=occasion.due,
        due_unmoved=occasion.due,
        amount=None,
        earlier=0,
        reason=None,
        link=None,
        done_on=occasion.done_on or done.get(occasion.key),
        note=occasion.note,
        sources=occasion.sources,
        confidence=occasion.confidence,
    )
