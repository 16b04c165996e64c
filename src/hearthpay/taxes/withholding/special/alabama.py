"""Alabama's formula: a standard deduction that falls in steps, and federal tax subtracted from the wages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import annualized_tax


class SteppedDeduction(NamedTuple):
    """A standard deduction that falls by ``reduction`` for each ``step`` of wages, or part of one. Cents."""

    most: int
    ceiling: int
    """The highest gross income with the full deduction."""

    step: int
    reduction: int
    floor_from: int
    """From here on the deduction is ``least``."""

    least: int

    def amount(self, gross: int) -> int:
        """Return the deduction at an annual gross income of ``gross`` cents."""
        if gross <= self.ceiling:
            return self.most
        if gross >= self.floor_from:
            return self.least
        steps = -(-(gross - self.ceiling) // self.step)
        return max(self.least, self.most - steps * self.reduction)


@dataclass(frozen=True, slots=True)
class Alabama:
    """Annual wages less deduction, federal tax at this rate, personal and dependent exemptions."""

    periods: Mapping[str, int]
    deductions: Mapping[str, SteppedDeduction]
    personal_exemptions: Mapping[str, int]
    dependent_exemption: BracketTable
    """The exemption for each dependent by gross income, as the base of each row."""

    tables: Mapping[str, BracketTable]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no formula for {pay.frequency} pay")
        code = str(certificate["exemption_code"])
        gross = pay.wages * periods
        deduction = self.deductions[code].amount(gross)
        federal = pay.federal_income_tax * periods
        each = self.dependent_exemption.bases[self.dependent_exemption.row(gross)]
        dependents = int(certificate["dependents"] or 0) * each
        taxable = gross - deduction - federal - self.personal_exemptions[code] - dependents
        if trace is not None:
            trace.cents("wages a year at this pay", gross)
            trace.text("exemption code", code)
            trace.cents("standard deduction", deduction)
            trace.cents("federal income tax a year at this pay", federal)
            trace.cents("personal exemption", self.personal_exemptions[code])
            trace.cents("dependent exemptions", dependents)
            trace.cents("annual taxable wages", max(0, taxable))
        if taxable <= 0:
            return 0
        return annualized_tax(taxable, periods, self.tables[code], 0, 1, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Alabama:
    """Compile the figures by exemption code, and ``dependent_exemption`` as rows [over, 0, amount each]."""
    brackets = figures.table("brackets")
    tables = {name: brackets.brackets(name, over=True) for name in brackets}
    codes = figures.table("codes")
    deductions: dict[str, SteppedDeduction] = {}
    exemptions: dict[str, int] = {}
    by_code: dict[str, BracketTable] = {}
    for code in codes:
        entry = codes.table(code)
        deductions[code] = SteppedDeduction(
            most=entry.cents("deduction"),
            ceiling=entry.cents("full_up_to"),
            step=entry.cents("step"),
            reduction=entry.cents("reduction"),
            floor_from=entry.cents("least_from"),
            least=entry.cents("least_deduction"),
        )
        exemptions[code] = entry.cents("personal_exemption")
        name = entry.text("brackets")
        if name not in tables:
            raise entry.error("brackets", f"{name!r} is not one of the tables")
        by_code[code] = tables[name]
        entry.close()
    dependent_exemption = figures.brackets("dependent_exemption", over=True, joined=False)
    figures.close()
    return Alabama(periods, deductions, exemptions, dependent_exemption, by_code)
