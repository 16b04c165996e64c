"""Iowa's formula: a flat rate after the deduction of the period, less the allowances spread over the year."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay

ANNUAL = "annual"


@dataclass(frozen=True, slots=True)
class Iowa:
    """Steps T1 to T3 of the formula, each rounded to the cent."""

    periods: Mapping[str, int]
    rate: int
    columns: Mapping[str, Mapping[str, str]]
    """Form vintage → filing status → column of the deductions."""

    columns_with_earning_spouse: Mapping[str, str]
    """The same for an employee on a newer form whose spouse also has earned income."""

    deductions: Mapping[str, Mapping[str, int]]
    """Column → frequency → cents."""

    counting_vintage: str
    """The form version that counts allowances, and their annual value."""

    counted_allowance: int

    def column(self, certificate: StateCertificate) -> str:
        """Return the column of deductions for the certificate."""
        vintage, status = str(certificate["form_vintage"]), str(certificate["filing_status"])
        if certificate["spouse_has_earned_income"] and vintage != self.counting_vintage:
            return self.columns_with_earning_spouse[status]
        return self.columns[vintage][status]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`. A frequency without a printed deduction is annualized."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"Iowa has no deduction for {pay.frequency} pay")
        if certificate["form_vintage"] == self.counting_vintage:
            allowances = int(certificate["allowances"] or 0) * self.counted_allowance
        else:
            allowances = int(certificate["total_allowance_dollars"] or 0)
        column = self.column(certificate)
        deduction = self.deductions[column].get(pay.frequency)
        scale = 1
        if deduction is None:
            deduction = self.deductions[column][ANNUAL]
            scale = periods
        taxable = max(0, pay.wages * scale - deduction)
        tax = half_up(taxable * self.rate, RATE_SCALE)
        spread = half_up(allowances * scale, periods)
        if trace is not None:
            trace.text("column of the deductions", column)
            trace.cents("deduction (D)", deduction)
            trace.cents("T1: wages after the deduction", taxable)
            trace.rate("rate", self.rate)
            trace.cents("T2: tax before allowances", tax)
            trace.cents("allowances of the period (W / P)", spread)
        return half_up(max(0, tax - spread), scale)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Iowa:
    """Compile ``rate``, ``columns``, ``columns_with_earning_spouse``, ``deduction`` and the older allowance."""
    vintages = figures.table("columns")
    columns: dict[str, Mapping[str, str]] = {}
    for vintage in vintages:
        by_status = vintages.table(vintage)
        columns[vintage] = {status: by_status.text(status) for status in by_status}
    earning = figures.table("columns_with_earning_spouse")
    deductions = figures.table("deduction")
    method = Iowa(
        periods=periods,
        rate=figures.rate("rate"),
        columns=columns,
        columns_with_earning_spouse={status: earning.text(status) for status in earning},
        deductions={column: deductions.cents_by_key(column) for column in deductions},
        counting_vintage=figures.text("counting_vintage"),
        counted_allowance=figures.cents("counted_allowance"),
    )
    figures.close()
    return method
