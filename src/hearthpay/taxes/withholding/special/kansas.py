"""Kansas' percentage tables, after an allowance that depends on the number of allowances and the allowance rate."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


@dataclass(frozen=True, slots=True)
class Period:
    """The printed figures of one pay frequency, in cents."""

    joint_allowance: int
    joint_covers: int
    """How many allowances the joint personal allowance covers."""

    single_allowance: int
    dependent_allowance: int
    tables: Mapping[str, BracketTable]
    """Allowance rate of Form K-4 → percentage table."""

    def allowance(self, rate: str, count: int) -> int:
        """Return the exempt amount for ``count`` allowances at the allowance ``rate`` (``single`` or ``joint``)."""
        if count == 0:
            return 0
        if rate == "joint" and count >= self.joint_covers:
            return self.joint_allowance + (count - self.joint_covers) * self.dependent_allowance
        return self.single_allowance + (count - 1) * self.dependent_allowance


@dataclass(frozen=True, slots=True)
class Kansas:
    """The percentage method of Publication KW-100."""

    periods: Mapping[str, Period]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        period = self.periods.get(pay.frequency)
        if period is None:
            raise TaxInputError("pay_frequency", f"Kansas prints no table for {pay.frequency} pay")
        rate = str(certificate["allowance_rate"])
        free = period.allowance(rate, int(certificate["allowances"] or 0))
        taxable = max(0, pay.wages - free)
        table = period.tables[rate]
        if trace is not None:
            row = table.row(taxable)
            trace.text("allowance rate (K-4 line 3)", rate)
            trace.cents("allowance of the period", free)
            trace.cents("taxable wages", taxable)
            trace.cents("row of the table over", table.lowers[row])
            trace.cents("base tax of the row", table.bases[row])
            trace.rate("rate of the row", table.rates[row])
        return half_up(table.scaled_tax(taxable, RATE_SCALE), RATE_SCALE)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Kansas:
    """Compile the tables and allowances, a table for each frequency under ``schedule``."""
    schedules = figures.table("schedule")
    joint_covers = figures.integer("joint_allowance_covers")
    compiled: dict[str, Period] = {}
    for frequency in schedules:
        if frequency not in periods:
            raise schedules.error(frequency, "is not a pay frequency")
        schedule = schedules.table(frequency)
        compiled[frequency] = Period(
            joint_allowance=schedule.cents("joint_allowance"),
            joint_covers=joint_covers,
            single_allowance=schedule.cents("single_allowance"),
            dependent_allowance=schedule.cents("dependent_allowance"),
            tables={rate: schedule.brackets(rate, over=True) for rate in ("single", "joint")},
        )
        schedule.close()
    method = Kansas(compiled)
    figures.close()
    return method
