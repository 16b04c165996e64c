"""The District's percentage method (FR-230): the annual schedule scaled to the pay period, in whole cents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


class Period(NamedTuple):
    """One allowance and the schedule for one pay frequency."""

    allowance: int
    table: BracketTable


@dataclass(frozen=True, slots=True)
class DistrictOfColumbia:
    """One schedule for every filing status; nonresidents aren't taxed."""

    periods: Mapping[str, Period]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        if certificate["dc_nonresident_d4a"] or certificate["reciprocity_certificate_on_file"]:
            if trace is not None:
                trace.text("nothing is withheld", "certificate of nonresidence (D-4A)")
            return 0
        period = self.periods.get(pay.frequency)
        if period is None:
            raise TaxInputError("pay_frequency", f"the District has no table for {pay.frequency} pay")
        allowances = int(certificate["allowances"] or 0) * period.allowance
        taxable = max(0, pay.wages - allowances)
        if trace is not None:
            row = period.table.row(taxable)
            trace.cents("each allowance", period.allowance)
            trace.cents("taxable wages", taxable)
            trace.cents("row of the schedule over", period.table.lowers[row])
            trace.cents("base tax of the row", period.table.bases[row])
            trace.rate("rate of the row", period.table.rates[row])
        return half_up(period.table.scaled_tax(taxable, RATE_SCALE), RATE_SCALE)


def read(figures: RuleTable, periods: Mapping[str, int]) -> DistrictOfColumbia:
    """Scale the annual ``brackets`` and ``allowance`` to each pay frequency, every amount to the cent."""
    annual = figures.brackets("brackets", over=True)
    allowance = figures.cents("allowance")
    figures.close()
    compiled = {}
    for frequency, count in periods.items():
        table = BracketTable(
            tuple(half_up(lower, count) for lower in annual.lowers),
            annual.rates,
            tuple(half_up(base, count) for base in annual.bases),
            annual.over,
        )
        compiled[frequency] = Period(half_up(allowance, count), table)
    return DistrictOfColumbia(compiled)
