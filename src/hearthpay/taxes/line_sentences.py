"""What a line of a paycheck is, in one or two plain sentences: the rate, its limit, or the tables behind it.

The sentences are `Message`s, so that pages show them in their reader's language. Nothing here calculates.
"""

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Final

from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.local import LocalTax, MonthlyFee
from hearthpay.taxes.local.methods import ExclusionBands, Fee, FlatRate, OwnTables, StateTaxSurcharge
from hearthpay.taxes.message_texts import MessageCode
from hearthpay.taxes.messages import Message, message
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import StateIncomeTax, StateRules

_SHARES: Final = (" (employee)", " (employer)")


def line_sentences(
    code: str,
    rulebook: Rulebook,
    state: str,
    day: datetime.date,
    who: str,
    rate: Decimal | None = None,
) -> tuple[Message, ...]:
    """Return what a line is, and who bears it; nothing for a line that the year's law does not have.

    ``state`` is where the work is done or, under an agreement, where the employee lives; ``day`` is the pay date,
    ``who`` the employee's name in a sentence, ``rate`` the fraction that was charged, as a household's own rate.
    Raises `TaxInputError` for a state without rules.
    """
    tax = rulebook.income_tax
    if code == tax.code:
        return (_of("line_federal_tables", code, tax.name, who), _held(who, tax.agency))
    if code == tax.supplemental_code:
        percent = _percent(rate, tax.supplemental_rate)
        return (_of("line_supplemental_rate", code, tax.name, who, rate=percent), _held(who, tax.agency))
    rules = rulebook.state(state)
    income_tax = rules.income_tax
    if income_tax is not None and code == income_tax.code:
        return (_income_tax(rules, income_tax, day, who), _held(who, income_tax.agency))
    contribution = _in_force(code, rulebook, rules, day)
    if contribution is not None:
        return tuple(_contribution(contribution, who, rate))
    local = [each for each in rules.local_taxes if each.code == code]
    current = next((each for each in local if each.in_force(day)), local[0] if local else None)
    return () if current is None else tuple(_local(current, who, rate))


def _in_force(code: str, rulebook: Rulebook, rules: StateRules, day: datetime.date) -> Contribution | None:
    """Return the flat-rate line on a day; the year's first version if none is in force any more."""
    found = rules.contributions_by_code(day).get(code)
    if found is not None:
        return found
    return next((each for each in (*rulebook.contributions, *rules.contributions) if each.code == code), None)


def _contribution(line: Contribution, who: str, charged: Decimal | None) -> Iterator[Message]:
    rate = _percent(charged, line.rate)
    if line.wage_floor:
        yield _of("line_rate_above", line.code, line.name, who, rate=rate, floor=_dollars(line.wage_floor))
    elif line.wage_base is not None:
        yield _of("line_rate_up_to", line.code, line.name, who, rate=rate, base=_dollars(line.wage_base))
    elif line.period_maximum is not None:
        most = _dollars(line.period_maximum["weekly"])
        yield _of("line_rate_at_most", line.code, line.name, who, rate=rate, most=most)
    else:
        yield _of("line_rate", line.code, line.name, who, rate=rate)
    if line.assigned_rate and line.payer == "employer":
        own = charged is not None and _percent(charged, 0) != _percent(None, line.rate)
        yield message("line_own_rate" if own else "line_new_employer_rate")
    yield _held(who, line.agency) if line.payer == "employee" else message("line_on_top", agency=line.agency)


def _income_tax(rules: StateRules, tax: StateIncomeTax, day: datetime.date, who: str) -> Message:
    version = tax.version(day, None, None)
    rate = _only_rate(version.figures)
    if rate is None:
        return _of("line_state_tables", tax.code, tax.name, who, state=rules.name, form=tax.form.form)
    percent = rate * 100
    if set(version.figures) == {"rate"}:
        return _of("line_rate", tax.code, tax.name, who, rate=percent)
    return _of("line_rate_after_deductions", tax.code, tax.name, who, rate=percent, state=rules.name)


def _only_rate(figures: Mapping[str, object]) -> Decimal | None:
    """Return the rate of a method that has only one, as a fraction; None for one with rows of rates or formulas."""
    rate = figures.get("rate")
    if isinstance(rate, Decimal):
        return rate
    tables = figures.get("brackets")
    if isinstance(tables, Mapping) and all(
        isinstance(rows, list) and len(rows) == 1 for rows in tables.values()
    ):
        rates = {rows[0][1] for rows in tables.values()}
        if len(rates) == 1:
            return Decimal(rates.pop())
    return None


def _local(tax: LocalTax, who: str, charged: Decimal | None) -> Iterator[Message]:
    method = tax.method
    match method:
        case FlatRate() if method.exemptions:
            rate = _percent(charged, method.rate)
            yield _of("line_rate_after_exemptions", tax.code, tax.name, who, rate=rate)
        case FlatRate():
            yield _of("line_rate", tax.code, tax.name, who, rate=_percent(charged, method.rate))
        case StateTaxSurcharge():
            yield _of("line_rate_of_state_tax", tax.code, tax.name, who, rate=_percent(None, method.rate))
        case ExclusionBands():
            yield _of("line_rate_above_exclusion", tax.code, tax.name, who, rate=_percent(None, method.rate))
        case Fee() if method.weekly is not None:
            yield _of("line_fee_of_week", tax.code, tax.name, who, amount=_dollars(method.weekly))
        case Fee():
            yield _of("line_fee_of_year", tax.code, tax.name, who, amount=_dollars(method.annual))
        case MonthlyFee():
            fee, least = _dollars(method.amount), _dollars(method.minimum)
            yield _of("line_fee_of_month", tax.code, tax.name, who, amount=fee, minimum=least)
        case OwnTables():
            yield _of("line_city_tables", tax.code, tax.name, who)
        case _:
            raise TypeError(f"{tax.code}: no sentence for {type(method).__name__}")
    if tax.year_maximum is not None:
        yield message("line_most_of_year", most=_dollars(tax.year_maximum))
    yield _held(who, tax.agency) if tax.payer == "employee" else message("line_on_top", agency=tax.agency)


def _of(code: MessageCode, line: str, name: str, who: str, **params: object) -> Message:
    """Return the sentence about a line. Its name is without the share, because another sentence says who pays."""
    for share in _SHARES:
        name = name.removesuffix(share)
    return message(code, line=line, tax=name, who=who, **params)


def _held(who: str, agency: str) -> Message:
    return message("line_held", who=who, agency=agency)


def _percent(charged: Decimal | None, rate: int) -> Decimal:
    """Return the rate that was charged in percent; that of the law, in billionths, if it isn't known."""
    return Decimal(rate).scaleb(-7) if charged is None else charged * 100


def _dollars(cents: int) -> str:
    """Return an amount without the cents if it has none: 184,500, 0.60."""
    return f"{cents // 100:,}" if cents % 100 == 0 else f"{from_cents(cents):,}"
