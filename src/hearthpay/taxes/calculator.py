"""The year's estimate for one employee: what a household and its employee will pay, before any payroll is run."""

import datetime
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple, cast

from hearthpay.taxes.assumptions import assumptions_of
from hearthpay.taxes.certificates import FederalCertificate
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.federal import STATUSES
from hearthpay.taxes.messages import Message, message, texts
from hearthpay.taxes.money import from_cents, rate_of, to_cents
from hearthpay.taxes.paycheck import (
    PAY_FREQUENCIES,
    Paycheck,
    PaycheckInput,
    PaycheckLine,
    calculate_paycheck,
)
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_for
from hearthpay.taxes.state import ReciprocityRule, StateRules
from hearthpay.taxes.thresholds import ThresholdCheck, thresholds_at
from hearthpay.taxes.vocabulary import FilingStatus, Payer

MAX_ANNUAL_WAGES = Decimal(999_999)

ASSUMPTIONS = (
    message("same_pay_assumed"),
    message("new_employer_rate_assumed"),
    message("withholding_assumed"),
)
"""The assumptions of every estimate."""


_CERTIFICATES = {
    status: FederalCertificate(filing_status=cast("FilingStatus", status)) for status in STATUSES
}
"""A Form W-4 with only the filing status."""


_new = tuple.__new__
"""Creates a line without its constructor, which would double the cost of a line."""


class AnnualLine(NamedTuple):
    """One tax over a year; amounts and wage base in cents, the rate a fraction."""

    code: str
    name: str
    payer: Payer
    category: str
    annual_cents: int
    per_paycheck_cents: int
    rate: Decimal | None
    wage_base: int | None


class AnnualEstimate(NamedTuple):
    """A year of equal paychecks. Amounts are cents unless they are of type Decimal."""

    tax_year: int
    state: str
    state_name: str
    annual_wages: Decimal
    pay_frequency: str
    filing_status: str
    periods: int
    gross_per_paycheck_cents: int
    lines: tuple[AnnualLine, ...]
    threshold: ThresholdCheck
    messages: tuple[Message, ...]
    """The estimate's assumptions and what it leaves open, by code."""

    rulebook_version: str
    residence_state: str | None
    reciprocity: ReciprocityRule | None
    """The agreement that applies, because its certificate is on file."""

    provisional: tuple[str, ...]
    """Codes of lines whose figures of the year aren't published yet."""

    reciprocity_certificate: str | None
    """The certificate of the agreement between the two states, applied or not; None if there is none."""

    @property
    def limitations(self) -> tuple[str, ...]:
        """The estimate's assumptions and what it leaves open, in English."""
        return texts(self.messages)

    def annual_by_category(self, payer: Payer) -> dict[str, int]:
        """Return the year's totals of a payer's lines in cents, by category."""
        sums: dict[str, int] = {}
        for line in self.lines:
            if line.payer == payer:
                sums[line.category] = sums.get(line.category, 0) + line.annual_cents
        return sums

    def annual_cents(self, payer: Payer, *categories: str) -> int:
        """Return the year's total of a payer's lines in cents, for the given categories or for all."""
        sums = self.annual_by_category(payer)
        return sum(sums.get(category, 0) for category in categories or sums)

    def per_paycheck_cents(self, payer: Payer) -> int:
        """Return the total of a payer's lines for one paycheck, spread evenly over the year."""
        total = 0
        for line in self.lines:
            if line.payer == payer:
                total += line.per_paycheck_cents
        return total


def estimate_year(
    state: str,
    annual_wages: Decimal,
    *,
    on: datetime.date,
    pay_frequency: str = "biweekly",
    filing_status: str = "single",
    residence_state: str | None = None,
    reciprocity_certificate_on_file: bool = False,
) -> AnnualEstimate:
    """Estimate a year's taxes on wages spread over equal paychecks, under the law in force on ``on``.

    Flat-rate lines are the year's wages up to their base times the rate; income tax is that of one paycheck times the
    pay periods. Below a household threshold its taxes are zero. Raises `TaxInputError` naming the field.
    """
    _check_inputs(annual_wages, pay_frequency, filing_status)
    annual = to_cents(annual_wages, "annual_wages")
    rulebook = rulebook_for(on, "tax_year")
    rules = rulebook.state(state, "state")
    periods = rulebook.pay_periods[pay_frequency]
    threshold = thresholds_at(rules.state, annual, on.year)
    gross = half_up(annual, periods)
    home = rulebook.state(residence_state, "residence_state") if residence_state else rules
    certificate = _certificate(rules, filing_status)
    if reciprocity_certificate_on_file:
        _refuse_certificate_between(rules, home)
        if rules.income_tax is not None:
            certificate["reciprocity_certificate_on_file"] = True
    request = PaycheckInput(
        pay_date=on,
        pay_frequency=pay_frequency,
        regular_wages=from_cents(gross),
        work_state=rules.state,
        residence_state=residence_state,
        residence={} if home is rules else _certificate(home, filing_status),
        annual_wages_expected=annual_wages,
        federal=_CERTIFICATES[filing_status],
        state=certificate,
    )
    paycheck, agreement = calculate_paycheck(request), rules.reciprocity.get(home.state)
    assumed = [assumption.coded_message for assumption in assumptions_of(request)]
    return AnnualEstimate(
        tax_year=rulebook.tax_year,
        state=rules.state,
        state_name=rules.name,
        annual_wages=threshold.annual_wages,
        pay_frequency=pay_frequency,
        filing_status=filing_status,
        periods=periods,
        gross_per_paycheck_cents=gross,
        lines=_lines_of_the_year(paycheck, rules, on, annual, periods),
        threshold=threshold,
        messages=(*ASSUMPTIONS, *assumed, *paycheck.messages, *threshold.messages),
        rulebook_version=rulebook.version,
        residence_state=residence_state.upper() if residence_state else None,
        reciprocity=paycheck.reciprocity,
        provisional=paycheck.provisional,
        reciprocity_certificate=None if agreement is None else agreement.certificate,
    )


def _check_inputs(annual_wages: Decimal, pay_frequency: str, filing_status: str) -> None:
    """Refuse values that no year can have."""
    if not annual_wages.is_finite() or not 0 <= annual_wages <= MAX_ANNUAL_WAGES:
        raise TaxInputError("annual_wages", f"must be between 0 and {MAX_ANNUAL_WAGES}")
    if pay_frequency not in PAY_FREQUENCIES:
        raise TaxInputError("pay_frequency", f"must be one of {', '.join(PAY_FREQUENCIES)}")
    if filing_status not in STATUSES:
        raise TaxInputError("filing_status", f"must be one of {', '.join(STATUSES)}")


def _refuse_certificate_between(rules: StateRules, home: StateRules) -> None:
    """Refuse a certificate of reciprocity if the two states have no agreement."""
    if home is not rules and home.state not in rules.reciprocity:
        raise TaxInputError(
            "reciprocity_certificate_on_file",
            f"must be false: {rules.name} has no reciprocity agreement with {home.name}",
        )


def _lines_of_the_year(
    paycheck: Paycheck, rules: StateRules, on: datetime.date, annual: int, periods: int
) -> tuple[AnnualLine, ...]:
    """Return a paycheck's lines over a year of ``annual`` cents, and those that only the year's total wages reach."""
    laws = rules.contributions_by_code(on)
    lines = [_of_the_year(line, laws, annual, periods) for line in paycheck.lines]
    for law in rules.floored_on(on):
        # A floor that one paycheck doesn't reach may be exceeded by the year's wages.
        if annual > law.wage_floor and law.code not in {line.code for line in lines}:
            yearly = law.tax(law.due(annual), law.rate)
            per_paycheck, rate = half_up(yearly, periods), rate_of(law.rate)
            lines.append(
                AnnualLine(law.code, law.name, law.payer, law.category, yearly, per_paycheck, rate, None)
            )
    return tuple(lines)


def _of_the_year(
    line: PaycheckLine, laws: Mapping[str, Contribution], annual: int, periods: int
) -> AnnualLine:
    """Return a line over a year: flat rates on the year's wages, income tax once per pay period."""
    code, name, payer, _, category, subject, _, rate, per_paycheck = line
    fraction = None if rate is None else rate_of(rate)
    law = laws.get(code)
    if law is None:
        columns = (code, name, payer, category, per_paycheck * periods, per_paycheck, fraction, None)
        return _new(AnnualLine, columns)
    yearly = law.tax(law.due(annual), law.rate) if subject else 0
    if law.period_maximum is not None:
        yearly = min(yearly, law.period_maximum["annual"])
    base = law.wage_base
    return _new(AnnualLine, (code, name, payer, category, yearly, half_up(yearly, periods), fraction, base))


def _certificate(rules: StateRules, filing_status: str) -> dict[str, object]:
    """Return the entries of a state's certificate with only the filing status."""
    form = rules.income_tax.form if rules.income_tax is not None else None
    if form is None or form.status_field is None:
        return {}
    return {form.status_field: form.from_federal[filing_status]}
