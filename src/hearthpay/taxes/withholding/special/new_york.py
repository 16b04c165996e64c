"""New York State's exact calculation: the printed period tables, and Method III for the highest pay."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import ANNUAL, PerPeriod, read_per_period


@dataclass(frozen=True, slots=True)
class NewYork:
    """Method II below the top of its tables; above it, one rate on the whole annual net (Method III)."""

    method_two: PerPeriod
    top_rates: Mapping[str, tuple[tuple[int, int], ...]]
    """Column → (annual net from, rate on the whole), ascending."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        column = self.method_two.column(certificate)
        figures = self.method_two.figures.get((column, pay.frequency))
        periods = self.method_two.periods[pay.frequency]
        if figures is not None:
            annual = self.method_two.net_wages(pay.wages, figures, certificate) * periods
        else:
            figures = self.method_two.figures[column, ANNUAL]
            annual = self.method_two.net_wages(pay.wages * periods, figures, certificate)
        rate = 0
        for lower, whole in self.top_rates[column]:
            if annual >= lower:
                rate = whole
        if rate:
            if trace is not None:
                trace.cents("annual net wages (Method III)", annual)
                trace.rate("rate on the whole", rate)
            return half_up(half_up(annual * rate, RATE_SCALE), periods)
        return self.method_two.withhold(pay, certificate, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> NewYork:
    """Compile the tables of Method II and the rates of Method III (``top_rates``: rows [from, rate])."""
    top = figures.table("top_rates")
    rates: dict[str, tuple[tuple[int, int], ...]] = {}
    for column in top:
        rows = top.brackets(column, joined=False)
        rates[column] = tuple(zip(rows.lowers, rows.rates, strict=True))[1:]
    return NewYork(read_per_period(figures, periods), rates)
