"""Wisconsin's formula method: a deduction that falls as the annual wages rise, then one annual table."""

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
from hearthpay.taxes.withholding.annualized import read_columns


class SlidingDeduction(NamedTuple):
    """The deduction for a status: cents a year, less ``rate`` (billionths) of the wages over ``phase_start``."""

    maximum: int
    phase_start: int
    rate: int

    def scaled(self, annual: int) -> int:
        """Return the deduction in cents times `RATE_SCALE`, unrounded."""
        over = max(0, annual - self.phase_start)
        return max(0, self.maximum * RATE_SCALE - over * self.rate)


@dataclass(frozen=True, slots=True)
class Wisconsin:
    """Deduction and exemptions are subtracted from the annual wages, with one rounding at the end."""

    periods: Mapping[str, int]
    column_field: str
    columns: Mapping[str, str]
    deductions: Mapping[str, SlidingDeduction]
    exemption: int
    table: BracketTable

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"Wisconsin has no formula for {pay.frequency} pay")
        annual = pay.wages * periods
        deduction = self.deductions[self.columns[str(certificate[self.column_field])]].scaled(annual)
        exempt = int(certificate["exemptions"] or 0) * self.exemption
        net = max(0, (annual - exempt) * RATE_SCALE - deduction)
        row = self.table.row(net // RATE_SCALE)
        excess = net - self.table.lowers[row] * RATE_SCALE
        tax = self.table.bases[row] * RATE_SCALE * RATE_SCALE + excess * self.table.rates[row]
        if trace is not None:
            trace.cents("wages a year at this pay", annual)
            trace.cents("deduction", half_up(deduction, RATE_SCALE))
            trace.cents("exemptions", exempt)
            trace.cents("net annual wages", half_up(net, RATE_SCALE))
            trace.cents("row of the table from", self.table.lowers[row])
            trace.cents("base tax of the row", self.table.bases[row])
            trace.rate("rate of the row", self.table.rates[row])
            trace.text("pay periods a year", periods)
        return half_up(tax, RATE_SCALE * RATE_SCALE * periods)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Wisconsin:
    """Compile ``deduction.C`` (``maximum``, ``phase_start``, ``rate``), ``exemption``, ``brackets``, the column."""
    column_field, columns = read_columns(figures)
    if column_field is None:
        raise figures.error("column_field", "is missing")
    listed = figures.table("deduction")
    deductions: dict[str, SlidingDeduction] = {}
    for name in listed:
        entry = listed.table(name)
        deductions[name] = SlidingDeduction(
            entry.cents("maximum"), entry.cents("phase_start"), entry.rate("rate")
        )
        entry.close()
    for column in columns.values():
        if column not in deductions:
            raise figures.error("columns", f"no deduction {column!r}")
    method = Wisconsin(
        periods=periods,
        column_field=column_field,
        columns=columns,
        deductions=deductions,
        exemption=figures.cents("exemption"),
        table=figures.brackets("brackets"),
    )
    figures.close()
    return method
