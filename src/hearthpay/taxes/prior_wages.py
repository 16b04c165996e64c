"""Wages that another payroll paid in the year: how much of them our caps count, and where they differ from the law."""

import datetime
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.message_texts import MessageCode
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.money import RATE_SCALE, rate_of
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_for
from hearthpay.taxes.state import StateRules
from hearthpay.taxes.year import MOST_ROUNDING_CENTS, YearSoFar, capped_lines


class PriorLine(NamedTuple):
    """One tax as the other payroll reports it, in cents."""

    code: str
    subject_wages: int
    taxable_wages: int
    amount: int


class Review(NamedTuple):
    """The result of reviewing prior wages; the sums of the lines in cents."""

    employee_taxes: int
    employer_taxes: int
    differences: tuple[Message, ...]


def review_prior_wages(
    lines: Sequence[PriorLine], gross_pay: int, as_of: datetime.date, work_state: str
) -> Review:
    """Compare the lines with the law in force on ``as_of``; nothing is altered, every difference is reported.

    Raises `TaxInputError` naming ``lines[n].code`` for a code that isn't a line of the year, or occurs twice, and for
    a year without rules.
    """
    rulebook = rulebook_for(as_of, "tax_year")
    states = {line.code[:2] for line in lines if line.code[:2] in STATES} | {work_state}
    rules = [rulebook.state(state) for state in sorted(states)]
    by_code = _by_code(lines, frozenset().union(*(each.known_codes for each in rules)), as_of.year)
    laws = {law.code: law for each in rules for law in each.contributions_on(as_of)}
    households = _of_the_household(laws, rules)

    names = {each.code: each.name for state in rules for each in state.local_taxes}
    names |= {law.code: law.name for law in laws.values()}
    differences: list[Message] = []
    for line in lines:
        name = names.get(line.code, line.code)
        differences += _differences(line, name, laws.get(line.code), by_code, gross_pay)
    differences += _missing_above_a_floor(laws, by_code)
    differences += _halves(by_code, names)
    household_owes = sum(line.amount for line in lines if line.code in households)
    return Review(
        employee_taxes=sum(line.amount for line in lines) - household_owes,
        employer_taxes=household_owes,
        differences=tuple(differences),
    )


def lines_by_law(
    gross_pay: int, as_of: datetime.date, work_state: str, relationship: str
) -> Mapping[str, PriorLine]:
    """Return the flat-rate lines that the law asks for on a year's gross pay up to a day, in cents, by code.

    Lines that the relationship exempts are left out. A household's own rate isn't known: the new-employer rate counts.
    Raises `TaxInputError` for a year without rules or an unknown state.
    """
    rules = rulebook_for(as_of, "tax_year").state(work_state)
    return {
        law.code: PriorLine(law.code, gross_pay, law.due(gross_pay), law.tax(law.due(gross_pay), law.rate))
        for law in rules.contributions_on(as_of)
        if relationship not in law.exempt_relationships and law.period_maximum is None
    }


def _by_code(lines: Sequence[PriorLine], known: frozenset[str], year: int) -> dict[str, PriorLine]:
    """Return the lines by code; refuse one that isn't a line of the year, or occurs twice."""
    by_code: dict[str, PriorLine] = {}
    for position, line in enumerate(lines):
        if line.code not in known:
            raise TaxInputError(
                f"lines[{position}].code", f"is not a line of {year}; `hearthpay coverage` lists them all"
            )
        if line.code in by_code:
            raise TaxInputError(f"lines[{position}].code", "is there twice")
        by_code[line.code] = line
    return by_code


def _of_the_household(laws: Mapping[str, Contribution], rules: Sequence[StateRules]) -> set[str]:
    """Return the codes of the lines that the household pays."""
    codes = {law.code for law in laws.values() if law.payer == "employer"}
    return codes | {tax.code for each in rules for tax in each.local_taxes if tax.payer == "employer"}


def _missing_above_a_floor(
    laws: Mapping[str, Contribution], by_code: Mapping[str, PriorLine]
) -> list[Message]:
    """Report each line above a floor that isn't entered although the wages reach the floor."""
    found = []
    for law in laws.values():
        if law.wage_floor and law.code not in by_code and law.ytd_code in by_code:
            due = law.due(by_code[law.ytd_code].subject_wages)
            if due:
                found.append(
                    message("prior_line_missing", line=law.code, tax=law.name, amount=DollarAmount(due))
                )
    return found


def counted_year(entered_year: YearSoFar, tax_year: int) -> YearSoFar:
    """Return prior wages as our own year counts them: for each capped line, what the law taxes of its subject wages.

    What the other payroll taxed too much or too little isn't ours to correct: it stays as it was charged.
    """
    taxable = dict(entered_year.taxable_wages)
    on = datetime.date(tax_year, 12, 31)
    for code, line in capped_lines(rulebook_for(on), entered_year.subject_wages, on).items():
        due = line.due(entered_year.subject_wages.get(line.ytd_code, 0))
        if (
            line.follows is not None
        ):  # wages of other states may have used up the base: nobody told their order
            due = min(due, taxable.get(code, 0))
        if due or code in taxable:
            taxable[code] = due
    return YearSoFar(entered_year.subject_wages, taxable, entered_year.taxes)


def _differences(
    line: PriorLine, name: str, law: Contribution | None, by_code: Mapping[str, PriorLine], gross_pay: int
) -> list[Message]:
    found = []

    def report(code: MessageCode, **figures: object) -> None:
        found.append(message(code, line=line.code, tax=name, **figures))

    taxable, charged = DollarAmount(line.taxable_wages), DollarAmount(line.amount)
    if line.subject_wages > gross_pay:
        report(
            "prior_wages_above_gross_pay",
            amount=DollarAmount(line.subject_wages),
            pay=DollarAmount(gross_pay),
        )
    if line.taxable_wages > line.subject_wages:
        report("prior_wages_above_subject")
    if law is None:
        return found
    due = law.due(by_code.get(law.ytd_code, line).subject_wages)
    if law.is_capped and line.taxable_wages != due:
        if law.wage_base is not None:
            base = DollarAmount(law.wage_base)
            report("prior_wages_not_by_base", amount=taxable, base=base, due=DollarAmount(due))
        else:
            floor = DollarAmount(law.wage_floor)
            report("prior_wages_not_by_floor", amount=taxable, floor=floor, due=DollarAmount(due))
    if not law.assigned_rate and law.period_maximum is None:
        tax = half_up(line.taxable_wages * law.rate, RATE_SCALE)
        if abs(tax - line.amount) > MOST_ROUNDING_CENTS:
            percent = rate_of(law.rate) * 100
            report("prior_tax_not_by_rate", amount=charged, percent=percent, due=DollarAmount(tax))
    return found


def _halves(by_code: Mapping[str, PriorLine], names: Mapping[str, str]) -> list[Message]:
    """Report a missing share: Social Security and Medicare have two shares on the same wages."""
    found = []
    for shares in ("US-SS", "US-MED"):
        code = f"{shares}-EE"
        own, households = by_code.get(code), by_code.get(f"{shares}-ER")
        params = {"shares": shares, "line": code, "tax": names[code]}
        if (own is None) != (households is None):
            found.append(message("prior_share_missing", **params))
        elif own is not None and households is not None and own.taxable_wages != households.taxable_wages:
            found.append(message("prior_shares_differ", **params))
    return found
