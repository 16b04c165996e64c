"""Calculates a paycheck: federal tax, contributions, then the state's tax, which may use both."""

from dataclasses import replace

from hearthpay.taxes.agencies import FEDERAL
from hearthpay.taxes.contribution import RELATIONSHIPS
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.finality import Finality, unpublished_programs
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.messages import message
from hearthpay.taxes.money import to_cents
from hearthpay.taxes.paycheck.contributions import Contributions
from hearthpay.taxes.paycheck.federal_income_tax import add_federal_income_tax, tax_on_regular_wages
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.other_pay import (
    NOTHING_COUNTED,
    CountedPay,
    at_regular_frequency,
    counted_by_federal_tax,
    counted_pay,
    leave_to_others,
)
from hearthpay.taxes.paycheck.remaining_pay import limit_to_pay, settle_arrears
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.paycheck.result import Paycheck
from hearthpay.taxes.paycheck.state_income_tax import (
    add_state_and_local_income_tax,
    taxes_supplemental_apart,
)
from hearthpay.taxes.rulebook import Rulebook, rulebook_for
from hearthpay.taxes.state import StateRules
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.year import ReportedYear, Year


def calculate_paycheck(request: PaycheckInput, *, explain: bool = False) -> Paycheck:
    """Calculate every line of one paycheck under the law in force on its pay date.

    With ``explain``, the result shows each line's steps, figures and sources. Raises `TaxInputError` naming the field
    for an unknown jurisdiction, a year without rules, or an impossible value.
    """
    rulebook = rulebook_for(request.pay_date)
    rules = rulebook.state(request.work_state)
    year = _checked(request, rulebook, rules)
    regular = to_cents(request.regular_wages, "regular_wages")
    supplemental = to_cents(request.supplemental_wages, "supplemental_wages")
    gross = regular + supplemental
    lines = Lines(explain)
    counted = counted_pay(request, regular)
    request = at_regular_frequency(request, regular)

    _add_federal_tax(lines, request, rulebook, year, (regular, supplemental), counted)
    federal_tax = lines.employee
    after_federal = len(lines.entries)
    contributions = Contributions(lines, request, rules, year, gross)
    contributions.add_all(rules)
    contributions.add_of_other_states(rulebook, rules)
    after_contributions = len(lines.entries)
    pay = PeriodPay(
        gross, request.pay_frequency, federal_tax, contributions.fica, contributions.fica_before()
    )
    if counted.wages:
        counted, pay = _counted_with(request, rulebook, rules, counted, pay)
    agreement = add_state_and_local_income_tax(
        lines, request, rulebook, rules, year, pay, supplemental + counted.supplemental, counted
    )
    leave_to_others(lines, after_contributions, len(lines.entries), counted)
    # A pay stub lists income taxes first; they are calculated last because some states depend on the rest.
    income_taxes = lines.move_to_end(after_federal, after_contributions)

    if lines.employee > gross:
        limit_to_pay(lines, gross, income_taxes)
    if lines.arrears:
        settle_arrears(lines, gross)
    if rules.limitations:
        lines.limitations += rules.limitations
    provisional: tuple[str, ...] = ()
    unknown: tuple[Finality, ...] = ()
    if rules.unsettled or not rulebook.is_final:
        provisional, unknown = _not_final(lines, request, rulebook, rules)
    # By position: keywords take twice as long.
    return Paycheck(
        gross,
        tuple(lines.entries),
        lines.employee,
        lines.employer,
        rulebook,
        tuple(dict.fromkeys(lines.limitations)) if len(lines.limitations) > 1 else tuple(lines.limitations),
        lines.explanations_by_line() if explain else (),
        agreement,
        provisional,
        unknown,
        tuple(lines.corrections),
    )


def _add_federal_tax(
    lines: Lines,
    request: PaycheckInput,
    rulebook: Rulebook,
    year: Year | None,
    wages: tuple[int, int],
    counted: CountedPay,
) -> None:
    """Append this paycheck's part of the federal income tax on ``wages``, its regular and supplemental ones."""
    tax = rulebook.income_tax
    regular, supplemental = wages
    if counted.wages:
        counted = counted_by_federal_tax(request, tax, counted, regular)
        if counted.last:
            counted = counted.bearing({tax.code: tax_on_regular_wages(request, tax, counted.last)})
    regular += counted.regular + counted.last
    add_federal_income_tax(lines, request, tax, year, regular, supplemental + counted.supplemental)
    leave_to_others(lines, 0, 1, counted)


def _counted_with(
    request: PaycheckInput,
    rulebook: Rulebook,
    rules: StateRules,
    counted: CountedPay,
    own: PeriodPay,
) -> tuple[CountedPay, PeriodPay]:
    """Return the other pay with all taxes that it bore, and the period's pay together with it."""
    federal = rulebook.income_tax
    if counted.last and taxes_supplemental_apart(request, rulebook, rules):
        counted = counted.less_last()
    fica = counted.fica(own.social_security_and_medicare, own.wages)
    before = max(0, own.social_security_and_medicare_before - fica)
    federal_tax = counted.taxes.get(federal.code, 0) + counted.taxes.get(federal.supplemental_code, 0)
    if counted.last:
        federal_tax_on_last = tax_on_regular_wages(request, federal, counted.last)
        federal_tax += federal_tax_on_last
        last = Lines(False)
        last_pay = PeriodPay(counted.last, own.frequency, federal_tax_on_last, fica, before)
        add_state_and_local_income_tax(last, request, rulebook, rules, None, last_pay, 0, NOTHING_COUNTED)
        counted = counted.bearing({line.code: line.amount_cents for line in last.entries})
    return counted, PeriodPay(
        own.wages + counted.wages,
        own.frequency,
        own.federal_income_tax + federal_tax,
        own.social_security_and_medicare + fica,
        before,
    )


def _checked(request: PaycheckInput, rulebook: Rulebook, rules: StateRules) -> Year | None:
    """Refuse what no paycheck can have; return the year so far, if any of it is given."""
    if request.pay_frequency not in rulebook.pay_periods:
        raise TaxInputError("pay_frequency", f"must be one of {', '.join(rulebook.pay_periods)}")
    if request.relationship not in RELATIONSHIPS:
        raise TaxInputError("relationship", f"must be one of {', '.join(RELATIONSHIPS)}")
    year: Year | None = request.year
    if year is None and (request.ytd or request.ytd_tax or request.ytd_subject):
        _check_codes(request, rules)
        year = ReportedYear(request.ytd, request.ytd_subject, request.ytd_tax)
    start, end = request.period_start, request.period_end
    if start is not None and end is not None and end < start:
        raise TaxInputError("period_end", "must not be before period_start")
    return year


def _check_codes(request: PaycheckInput, rules: StateRules) -> None:
    """Refuse year-to-date codes that no line of the year has: a typo would lose a cap.

    Codes of other states are accepted: an employee may have worked elsewhere earlier in the year.
    """
    known = rules.known_codes
    if known.issuperset(request.ytd) and (
        not (request.ytd_tax or request.ytd_subject)
        or (known.issuperset(request.ytd_tax) and known.issuperset(request.ytd_subject))
    ):
        return
    given = (("ytd", request.ytd), ("ytd_tax", request.ytd_tax), ("ytd_subject", request.ytd_subject))
    for field_name, amounts in given:
        for code in amounts:
            if code not in known and (code[:2] in ("US", rules.state) or code[:2] not in STATES):
                raise TaxInputError(
                    f"{field_name}.{code}", f"is not a line of federal law or of {rules.name}"
                )


def _not_final(
    lines: Lines, request: PaycheckInput, rulebook: Rulebook, rules: StateRules
) -> tuple[tuple[str, ...], tuple[Finality, ...]]:
    """Return the lines with substitute figures, which a limitation reports, and what can't be calculated at all."""
    provisional: list[str] = []
    unknown: list[Finality] = []
    for line in lines.entries:
        state = line.code[:2]
        own = rules if state in (rules.state, FEDERAL) else rulebook.state(state)
        finality = own.finality.get(line.code) if line.code in own.unsettled else None
        if finality is None or _is_assigned(line.code, finality, request, own):
            continue
        if finality.status == "provisional":
            provisional.append(line.code)
        else:
            unknown.append(replace(finality, agency=line.agency))
    unknown += unpublished_programs(rules.finality, request.pay_date)
    if provisional:
        lines.limitations.append(
            message("figures_not_published", year=rulebook.tax_year, lines=", ".join(provisional))
        )
    lines.limitations.extend(
        message("figure_unknown", year=rulebook.tax_year, line=each.code) for each in unknown
    )
    return tuple(provisional), tuple(unknown)


def _is_assigned(code: str, finality: Finality, request: PaycheckInput, rules: StateRules) -> bool:
    """Return whether the household's own rate replaces the only unpublished figure."""
    if request.employer.sui_rate is None or finality.figures != ("rate",):
        return False
    line = rules.contributions_by_code(request.pay_date).get(code)
    return line is not None and line.assigned_rate
