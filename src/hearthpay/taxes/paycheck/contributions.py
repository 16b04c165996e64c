"""The flat-rate lines of a paycheck: Social Security, Medicare, unemployment, state programs."""

from collections.abc import Mapping
from decimal import Decimal

from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import of_rule
from hearthpay.taxes.money import HALF_RATE, RATE_SCALE, scaled_rate, to_cents
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.paycheck.result import Correction
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import StateRules
from hearthpay.taxes.thresholds import unreached_liabilities
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.year import Standing, Year, arrears, fresh_charge, lines_in_force

_NOTHING_OWED: Mapping[str, int] = {}
_NOBODY: frozenset[str] = frozenset()


def _charge(line: Contribution, rate: int, before: Standing, counted: int) -> tuple[int, int, int, int]:
    """Return the taxable wages and the tax of this paycheck, and what earlier wages lack of each."""
    missing = owed = 0
    subject_before, taxed_before, tax_before, known = before
    if known is not None or (taxed_before is not None and taxed_before != line.due(subject_before)):
        missing, owed = arrears(line, rate, before)
        if tax_before is not None:
            tax_before += owed
    taxable, amount = fresh_charge(line, rate, subject_before, tax_before, counted)
    return taxable, amount, missing, owed


class Contributions:
    """Appends flat-rate lines to a paycheck of ``gross`` cents; adds up the employee's Social Security and Medicare."""

    __slots__ = (
        "_fica_lines",
        "_fresh",
        "_gross",
        "_in_full",
        "_lines",
        "_not_due",
        "_off",
        "_owing",
        "_relationship",
        "_request",
        "_year",
        "fica",
    )

    def __init__(
        self, lines: Lines, request: PaycheckInput, rules: StateRules, year: Year | None, gross: int
    ) -> None:
        self._lines = lines
        self._request = request
        self._relationship = request.relationship
        self._year = year
        self._gross = gross
        self._off = _switched_off(request, rules.state)
        self._not_due = request.not_due
        #: Whether all wages of this paycheck count for every line, so that no line has to be checked.
        self._in_full = request.relationship == "none" and not (self._off or request.not_due)
        self._owing = _NOTHING_OWED if year is None else year.owing
        #: The wages of this paycheck that each line taxes.
        self._fresh: dict[str, int] = {}
        #: The employee's Social Security and Medicare on this paycheck, and their lines with rates.
        self.fica = 0
        self._fica_lines: list[tuple[str, int]] = []

    def add_all(self, rules: StateRules) -> None:
        """Append the lines of federal law and of the work state that are in force on the pay date."""
        employer = self._request.employer
        waived = employer.waived_lines
        if waived:
            _check_waived(waived, rules)
        own_rate = employer.sui_rate
        for line in rules.contributions_on(self._request.pay_date):
            if waived and line.code in waived:
                continue
            if own_rate is None or not line.assigned_rate:
                self._add(line, line.rate)
            else:
                self._add(line, _assigned(own_rate))

    def _add(self, line: Contribution, rate: int) -> None:
        """Append a line, unless it appears only when something is due and nothing is."""
        liable, missing, owed = True, 0, 0
        subject = counted = self._gross
        if not self._in_full:
            liable, subject, counted = self._counted(line)
        if line.follows is not None:
            counted = self._fresh.get(line.follows, 0)
        year = self._year
        if year is not None and liable and (line.is_measured or line.code in self._owing):
            taxable, amount, missing, owed = _charge(line, rate, year.standing(line), counted)
        else:
            taxable = line.due(counted) if line.is_measured else counted
            amount = (taxable * rate + HALF_RATE) // RATE_SCALE
        if line.period_maximum is not None:
            taxable, amount = self._limit_to_period(line, line.period_maximum, taxable, amount)
        self._fresh[line.code] = taxable
        if missing or owed:
            taxable, amount = self._correct(line, missing, owed, taxable, amount)
        elif not (taxable or line.always_shown):
            return
        lines = self._lines
        lines.add(line.heading, subject, taxable, rate, amount)
        if line.is_noted or lines.explanations is not None:
            self._note(line, rate, (subject, taxable, amount, missing, owed))

    def _counted(self, line: Contribution) -> tuple[bool, int, int]:
        """Return whether a line is owed, the cents that are subject to it, and those of them that count now."""
        liable = line.liability not in self._off
        subject = self._gross if liable and self._relationship not in line.exempt_relationships else 0
        return liable, subject, 0 if line.code in self._not_due else subject

    def _note(self, line: Contribution, rate: int, shown: tuple[int, int, int, int, int]) -> None:
        """Record what an appended line means for later ones, and what has to be said about it."""
        lines, amount = self._lines, shown[2]
        if line.is_employees_fica:
            self.fica += amount
            self._fica_lines.append((line.code, rate))
        if line.confidence == "low" and amount:
            lines.limitations.append(
                of_rule(
                    "figure_not_verified",
                    line.note or "the figure could not be fully verified.",
                    "note",
                    line=line.code,
                )
            )
        if lines.explanations is not None:
            self._explain(line, rate, shown, self._off)

    def _limit_to_period(
        self, line: Contribution, maximums: Mapping[str, int], taxable: int, amount: int
    ) -> tuple[int, int]:
        """Return a line's taxable wages and tax, at most the maximum of the pay period."""
        maximum = maximums[self._request.pay_frequency]
        if amount <= maximum:
            return taxable, amount
        return min(taxable, half_up(maximum * RATE_SCALE, line.rate)), maximum

    def _correct(
        self, line: Contribution, missing: int, owed: int, taxable: int, amount: int
    ) -> tuple[int, int]:
        """Return a line's taxable wages and amount, plus what earlier wages lack of each if the household pays it.

        The employee's corrections are kept for the end: only then is the net pay available for them known.
        """
        if line.payer == "employee":
            self._lines.arrears.append((line.code, missing, owed))
            return taxable, amount
        self._lines.corrections.append(Correction(line.code, line.name, line.payer, missing, owed, 0))
        return taxable + missing, amount + owed

    def add_of_other_states(self, rulebook: Rulebook, rules: StateRules) -> None:
        """Append capped lines of states where the employee worked earlier in the year, if something is lacking."""
        year = self._year
        if year is None:
            return
        known = rules.known_codes
        elsewhere = [code for code in year.codes if code not in known]
        if not elsewhere:
            return
        lines = self._lines
        in_force = lines_in_force(rulebook, elsewhere, self._request.pay_date, year.owing)
        for code, line in in_force.items():
            if code in known:
                continue
            missing, owed = arrears(line, line.rate, year.standing(line))
            if not (missing or owed):
                continue
            taxable, amount = self._correct(line, missing, owed, 0, 0)
            lines.add(line.heading, 0, taxable, line.rate, amount)
            if lines.explanations is not None:
                self._explain(line, line.rate, (0, taxable, amount, missing, owed), _NOBODY)

    def fica_before(self) -> int:
        """Return the employee's Social Security and Medicare on earlier pay: as reported, or calculated from reported
        wages.
        """
        year = self._year
        total = 0
        if year is not None:
            for code, rate in self._fica_lines:
                tax = year.tax(code)
                total += half_up(year.taxable(code) * rate, RATE_SCALE) if tax is None else tax
        return total

    def _explain(
        self,
        line: Contribution,
        rate: int,
        shown: tuple[int, int, int, int, int],
        off: frozenset[str],
    ) -> None:
        request = self._request
        subject, taxable, amount, missing, owed = shown
        trace = Trace()
        if line.liability in off:
            trace.text("not liable", f"the {line.liability} liability is off or below its threshold")
        elif request.relationship in line.exempt_relationships:
            trace.text("exempt", f"wages of a {request.relationship} are not subject to it")
        elif line.code in request.not_due:
            trace.text("not due yet", f"the wages paid so far stay below the {line.liability} threshold")
        trace.cents("subject wages", subject)
        if line.wage_base is not None:
            trace.cents("wage base of the year", line.wage_base)
        if line.wage_floor:
            trace.cents("wages of the year above", line.wage_floor)
        if line.follows is not None:
            trace.cents(f"wages that {line.follows} taxes", self._fresh.get(line.follows, 0))
        if line.is_capped:
            measured = self._year is not None and line.liability not in off
            before = self._year.standing(line)[0] if self._year is not None and measured else 0
            trace.cents("wages earlier in the year", before)
        if missing or owed:
            trace.cents("earlier wages of the year taxed too little (negative: too much)", missing)
            trace.cents("tax on them", owed)
        trace.cents("taxable wages", taxable)
        trace.rate("rate", rate)
        if line.period_maximum is not None:
            trace.cents("at most in the pay period", line.period_maximum[request.pay_frequency])
        trace.cents("tax", amount)
        self._lines.explain(line.code, trace, line.sources, line.confidence, line.note)


def _switched_off(request: PaycheckInput, state: str) -> frozenset[str]:
    """Return the liabilities that don't apply: switched off, or below their threshold by expected wages."""
    employer = request.employer
    expected = request.annual_wages_expected
    off = _NOBODY
    if expected is not None:
        annual = to_cents(expected, "annual_wages_expected")
        off = unreached_liabilities(state, request.pay_date.year, annual)
    if employer.fica_liable and employer.futa_liable and employer.sui_liable:
        return off
    liable = {"fica": employer.fica_liable, "futa": employer.futa_liable, "sui": employer.sui_liable}
    return off | {liability for liability, applies in liable.items() if not applies}


def _check_waived(waived: frozenset[str], rules: StateRules) -> None:
    waivable = {line.code for line in rules.contributions if line.waivable}
    for code in waived:
        if code not in waivable:
            known = ", ".join(sorted(waivable)) or "none"
            raise TaxInputError(
                "employer.waived_lines", f"{code} cannot be left out in {rules.state}; only: {known}"
            )


def _assigned(value: Decimal) -> int:
    """Return the household's assigned unemployment rate in billionths."""
    if not value.is_finite() or not 0 <= value < 1:
        raise TaxInputError("employer.sui_rate", "must be a rate between 0 and 1, such as 0.027")
    try:
        return scaled_rate(value)
    except ValueError:
        raise TaxInputError("employer.sui_rate", "must have at most nine decimals") from None
