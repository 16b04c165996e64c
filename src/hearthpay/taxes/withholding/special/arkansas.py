"""Arkansas' formula: the midpoint of a band, a rate less a constant, whole dollars, then credits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up, half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS

DOLLAR = UNITS["dollar"]


class LowIncomeBand(NamedTuple):
    """Annual wages over which the low-income credit phases out: full at ``lower``, none at ``upper``."""

    lower: int
    upper: int
    most: int


class LowIncomeStatus(NamedTuple):
    """The bands of one filing status, and how many of its exemptions are not for dependents."""

    own_exemptions: int
    few_dependents: LowIncomeBand
    more_dependents: LowIncomeBand


@dataclass(frozen=True, slots=True)
class Arkansas:
    """One table for everyone; exemptions are credits against the annual tax."""

    periods: Mapping[str, int]
    standard_deduction: int
    midpoint_below: int
    """Net income below it is moved to the midpoint of its band."""

    band: int
    table: BracketTable
    """Rows of lower bound and rate; the base is the constant to subtract, not a tax."""

    credit: int
    more_dependents_from: int
    """How many dependents lead to the wider low-income band."""

    low_income: Mapping[str, LowIncomeStatus]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no formula for {pay.frequency} pay")
        gross = pay.wages * periods
        exemptions = int(certificate["exemptions"] or 0)
        low_income_credit = 0
        if certificate["low_income_election"]:
            band = self._low_income_band(str(certificate["low_income_filing_status"]), exemptions)
            if gross < band.lower:
                if trace is not None:
                    trace.cents("no tax under the low-income tables below annual wages of", band.lower)
                return 0
            if gross < band.upper:
                low_income_credit = half_up(band.most * (band.upper - gross), band.upper - band.lower)
        net = max(0, gross - self.standard_deduction)
        looked_up = net
        if net < self.midpoint_below:
            looked_up = net // self.band * self.band + self.band // 2
        row = self.table.row(looked_up)
        scaled = looked_up * self.table.rates[row] - self.table.bases[row] * RATE_SCALE
        gross_tax = half_up_to(scaled, RATE_SCALE, DOLLAR) if scaled > 0 else 0
        credit = exemptions * self.credit
        annual = max(0, gross_tax - low_income_credit - credit)
        if trace is not None:
            trace.cents("wages a year at this pay", gross)
            trace.cents("standard deduction", self.standard_deduction)
            trace.cents("net income looked up", looked_up)
            trace.rate("rate of the row", self.table.rates[row])
            trace.cents("minus", self.table.bases[row])
            trace.cents("gross tax of the year, whole dollars", gross_tax)
            trace.cents("low-income credit", low_income_credit)
            trace.cents("credits of the exemptions", credit)
            trace.text("pay periods a year", periods)
        return half_up(annual, periods)

    def _low_income_band(self, status: str, exemptions: int) -> LowIncomeBand:
        rule = self.low_income[status]
        many = exemptions - rule.own_exemptions >= self.more_dependents_from
        return rule.more_dependents if many else rule.few_dependents


def _read_band(table: RuleTable, key: str) -> LowIncomeBand:
    entry = table.table(key)
    band = LowIncomeBand(entry.cents("lower"), entry.cents("upper"), entry.cents("credit"))
    entry.close()
    return band


def read(figures: RuleTable, periods: Mapping[str, int]) -> Arkansas:
    """Compile the formula; ``table`` holds rows [net income from, rate, minus]."""
    listed = figures.table("low_income")
    low_income: dict[str, LowIncomeStatus] = {}
    for status in listed:
        entry = listed.table(status)
        few = _read_band(entry, "few_dependents")
        more = _read_band(entry, "more_dependents") if "more_dependents" in entry else few
        low_income[status] = LowIncomeStatus(entry.integer("own_exemptions"), few, more)
        entry.close()
    method = Arkansas(
        periods=periods,
        standard_deduction=figures.cents("standard_deduction"),
        midpoint_below=figures.cents("midpoint_below"),
        band=figures.cents("band"),
        table=figures.brackets("table", joined=False),
        credit=figures.cents("credit_per_exemption"),
        more_dependents_from=figures.integer("more_dependents_from"),
        low_income=low_income,
    )
    figures.close()
    return method
