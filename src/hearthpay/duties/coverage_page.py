"""The documentation page that shows, state by state, which accounts and duties are known and with what confidence."""

import calendar
from collections.abc import Iterator

from hearthpay.duties.accounts import Account, LimitMeasure
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.periods import AfterHire, AfterPayday, AfterPeriod, DayOfYear, Partition, Paydays
from hearthpay.duties.rules import Duties, HouseholdDuty, duties_of
from hearthpay.insurance.requirements import rules_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.trace import Source

_HEAD = """# Coverage: duties

Made from the rule files by `hearthpay coverage --duties`; do not edit. The taxes stand in [coverage.md](coverage.md).

For each state: how often a household files under each account and what decides it, what is due when, and which
insurance the state asks for. A confidence of *low* means that no publication could be read.
"""

_MEASURES: dict[LimitMeasure, str] = {
    "assigned": "",
    "month": "withheld in a month",
    "quarter": "withheld in the quarter",
    "quarter_before": "withheld in the quarter before",
    "year": "withheld in the year",
    "year_before": "withheld in the year before",
    "july_june": "withheld in the 12 months to June 30 before the year",
}
_MONTHS = tuple(calendar.month_name)[1:]
_LAST_DAY = 31


def duties_page() -> str:
    """Return ``docs/reference/coverage-duties.md``: each jurisdiction, account, duty, policy and source."""
    parts = [_HEAD]
    for jurisdiction in (FEDERAL, *sorted(STATES)):
        parts.extend(_section(jurisdiction, duties_of(jurisdiction)))
    return "\n".join(parts).rstrip() + "\n"


def _section(jurisdiction: str, duties: Duties) -> Iterator[str]:
    name = "Federal" if jurisdiction == FEDERAL else STATES[jurisdiction]
    yield f"## {jurisdiction} — {name}\n"
    if duties.accounts:
        yield "| account | schedules | confidence | source |\n|---|---|---|---|"
        for account in duties.accounts:
            yield _row(
                account.label or account.name,
                _schedules(account),
                account.confidence or "",
                _cited(account.sources),
            )
        yield ""
    yield "| duty | form | due | confidence | source |\n|---|---|---|---|---|"
    for duty in duties.duties:
        schedule = f" ({', '.join(_words(each) for each in duty.frequencies)})" if duty.frequencies else ""
        yield _row(duty.what + schedule, duty.form or "", _due(duty), duty.confidence, _cited(duty.sources))
    for payee in duties.payees:
        lines = ", ".join(f"`{line}`" for line in payee.lines)
        yield _row(
            f"Pay {lines} to: {payee.name}", "", "when billed", payee.confidence, _cited(payee.sources)
        )
    for line in duties.prohibited:
        yield _row(f"`{line}`: a household may not withhold it", "", "", "", "")
    if jurisdiction != FEDERAL:
        for rule in rules_of(jurisdiction):
            kind = rule.kind.replace("_", " ")
            what = f"Insurance, {kind}: {rule.words}"
            yield _row(what, "", "before the first day", rule.confidence, _cited(rule.sources))
    yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _schedules(account: Account) -> str:
    parts = []
    rest = list(account.frequencies)
    if account.household_rule != "no":
        first = rest.pop(0)
        unless = " without an account" if account.household_rule == "without_number" else ""
        parts.append(f"households{unless}: {_words(first)}")
    if account.bands:
        rest = [each for each in rest if each not in {band.frequency for band in account.bands}]
        floor = None
        for band in account.bands:
            least = "" if floor is None else f" from ${floor / 100:,.2f}"
            most = "" if band.below is None else f" below ${band.below / 100:,.2f}"
            parts.append(f"{_words(band.frequency)}{least}{most}")
            floor = band.below
        parts[-1] += f" ({_MEASURES[account.measure]})"
    if account.new_account is not None:
        parts.append(f"new accounts begin {_words(account.new_account)}")
    if rest:
        parts.append(("by choice or letter: " if parts else "") + ", ".join(_words(each) for each in rest))
    return "; ".join(parts)


def _due(duty: HouseholdDuty) -> str:
    text = _day(duty)
    if duty.months:
        text += f", of {', '.join(_MONTHS[month - 1] for month in duty.months)}"
    if duty.over is not None:
        text += f", above ${duty.over / 100:,.2f}"
    if isinstance(duty.partition, Paydays) and duty.partition.reached is not None:
        text += f", once ${duty.partition.reached / 100:,.2f} are reached in a quarter"
    return text


def _day(duty: HouseholdDuty) -> str:
    due = duty.due
    if isinstance(due, AfterHire):
        return f"{due.days} {'business days' if due.office_days else 'days'} after the hire"
    if isinstance(due, AfterPayday):
        return _after_payday(duty, due)
    if isinstance(due, DayOfYear):
        when = {-1: "the year before", 0: "the year itself", 1: "the year after"}.get(due.years, "")
        return f"{_last(due.month, due.day)} of {when}"
    if not isinstance(due, AfterPeriod) or not isinstance(duty.partition, Partition):
        raise TypeError(f"{duty.id} is due for a period")
    word = {1: "year", 2: "half year", 4: "quarter", 12: "month"}.get(len(duty.partition.ends), "instalment")
    day = "the last day" if due.day == _LAST_DAY else f"the {due.day}th"
    return (
        f"{day} of the month after the {word}"
        if due.months == 1
        else f"{day}, {due.months} months after the {word}"
    )


def _after_payday(duty: HouseholdDuty, due: AfterPayday) -> str:
    partition = duty.partition
    if due.midweek:
        return "the Wednesday or Friday after the payday"
    if due.on_days:
        return "on day " + " and ".join(
            "of the month's end" if on == _LAST_DAY else str(on) for _, on in due.on_days
        )
    days = f"{due.days} {'business days' if due.office_days else 'days'}"
    if isinstance(partition, Paydays) and (partition.ends or partition.weekday is not None):
        return (
            f"{days} after each part of the month"
            if partition.ends
            else f"{days} after the week of the payday"
        )
    return f"{days} after the payday"


def _last(month: int, day: int) -> str:
    name = _MONTHS[month - 1]
    return f"the last day of {name}" if day == _LAST_DAY and name == "February" else f"{name} {day}"


def _words(frequency: str) -> str:
    return frequency.replace("_", " ")


def _cited(sources: tuple[Source, ...]) -> str:
    return "; ".join(f"[{_plain(each.title)}]({each.url}) {each.date}" for each in sources)


def _plain(text: str) -> str:
    return text.replace("|", "/").replace("[", "(").replace("]", ")")
