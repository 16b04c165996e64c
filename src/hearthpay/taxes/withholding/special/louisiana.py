"""Louisiana's computer formula: a flat rate after the standard deduction for block A of Form L-4."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay


@dataclass(frozen=True, slots=True)
class Louisiana:
    """Wages less the deduction of the period, times the rate, then line 7 of Form L-4."""

    periods: Mapping[str, int]
    rate: int
    deductions: Mapping[int, int]
    """Cents a year by the number in block A."""

    blocks: Mapping[str, int]
    """The block A value for a filing status if the block itself wasn't filled in."""

    def block(self, certificate: StateCertificate) -> int:
        """Return block A; raises `TaxInputError` for a number that the form doesn't have."""
        block = int(certificate["block_a"] or 0)
        if block not in self.deductions:
            known = ", ".join(str(number) for number in sorted(self.deductions))
            raise TaxInputError("state.block_a", f"must be one of {known}")
        return block or self.blocks[str(certificate["filing_status"])]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`; the increase or decrease of line 7 is included."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"Louisiana has no formula for {pay.frequency} pay")
        block = self.block(certificate)
        free = half_up(self.deductions[block], periods)
        taxable = max(0, pay.wages - free)
        tax = half_up(taxable * self.rate, RATE_SCALE)
        change = int(certificate["adjustment_per_period"] or 0) - int(certificate["decrease_per_period"] or 0)
        if trace is not None:
            trace.text("block A", block)
            trace.cents("standard deduction of the period", free)
            trace.cents("taxed wages", taxable)
            trace.rate("rate", self.rate)
            trace.cents("tax before line 7", tax)
        return max(0, tax + change)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Louisiana:
    """Compile ``rate``, ``deduction`` (dollars a year by block A) and ``blocks`` (filing status → block A)."""
    deductions = figures.cents_by_key("deduction")
    if not all(name.isdigit() for name in deductions):
        raise figures.error("deduction", "is listed by the numbers of block A")
    blocks = figures.table("blocks")
    by_status = {status: blocks.integer(status) for status in blocks}
    by_block = {int(name): amount for name, amount in deductions.items()}
    for status, block in by_status.items():
        if block not in by_block:
            raise blocks.error(status, "is not a number of block A")
    method = Louisiana(periods, figures.rate("rate"), by_block, by_status)
    figures.close()
    return method
