"""Connecticut's calculation rules (TPG-211): five tables looked up by the code of the Form CT-W4."""

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


class CodeTables(NamedTuple):
    """Tables A to E of one withholding code."""

    exemption: BracketTable
    """Exemption by annual wages, as the base of each row."""

    initial_tax: BracketTable
    add_back: BracketTable
    """The amounts added by the phase-out of the lowest rate and the recapture, as the base of each row."""

    recapture: BracketTable
    credit: BracketTable
    """The share of the tax covered by the personal credit, as the rate of each row."""


@dataclass(frozen=True, slots=True)
class Connecticut:
    """Without a certificate, one rate on all wages; with it, Tables A to E on the annual wages."""

    periods: Mapping[str, int]
    no_certificate_rate: int
    codes: Mapping[str, CodeTables]
    no_certificate_code: str
    """The ``withholding_code`` that stands for no certificate, and the one that claims no withholding."""

    no_withholding_code: str

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`. Reduced withholding (line 3) is subtracted from the result."""
        code = str(certificate["withholding_code"])
        if trace is not None:
            trace.text("withholding code", code)
        if code == self.no_withholding_code:
            return 0
        if code == self.no_certificate_code:
            if trace is not None:
                trace.rate("rate without a Form CT-W4", self.no_certificate_rate)
            tax = half_up(pay.wages * self.no_certificate_rate, RATE_SCALE)
        else:
            tax = self._by_tables(pay, self.codes[code], trace)
        reduced = int(certificate["reduced_withholding"] or 0)
        if trace is not None and reduced:
            trace.cents("reduced withholding (CT-W4 line 3)", reduced)
        return max(0, tax - reduced)

    def _by_tables(self, pay: PeriodPay, tables: CodeTables, trace: Trace | None) -> int:
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"the state has no rule for {pay.frequency} pay")
        salary = pay.wages * periods
        exemption = tables.exemption.bases[tables.exemption.row(salary)]
        taxable = salary - exemption
        if trace is not None:
            trace.cents("wages a year at this pay", salary)
            trace.cents("personal exemption (Table A)", exemption)
            trace.cents("annual taxable income", max(0, taxable))
        if taxable <= 0:
            return 0
        added = tables.add_back.bases[tables.add_back.row(salary)]
        recaptured = tables.recapture.bases[tables.recapture.row(salary)]
        credit = tables.credit.rates[tables.credit.row(salary)]
        initial = tables.initial_tax.scaled_tax(taxable, RATE_SCALE)
        scaled = initial + (added + recaptured) * RATE_SCALE
        if trace is not None:
            trace.cents("initial tax (Table B)", half_up(initial, RATE_SCALE))
            trace.cents("phase-out add-back (Table C)", added)
            trace.cents("recapture (Table D)", recaptured)
            trace.rate("personal tax credit (Table E)", credit)
            trace.text("pay periods a year", periods)
        return half_up(scaled * (RATE_SCALE - credit), RATE_SCALE * RATE_SCALE * periods)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Connecticut:
    """Compile the named tables of each kind (see `CodeTables`) and ``codes`` (code → table name of each).

    Rows read "more than": exemption, add-back and recapture [over, 0, amount], credit [over, decimal, 0].
    """
    named: dict[str, dict[str, BracketTable]] = {}
    for kind in CodeTables._fields:
        group = figures.table(kind)
        named[kind] = {name: group.brackets(name, over=True, joined=kind == "initial_tax") for name in group}
    codes = figures.table("codes")
    compiled: dict[str, CodeTables] = {}
    for code in codes:
        entry = codes.table(code)
        chosen: dict[str, BracketTable] = {}
        for kind in CodeTables._fields:
            name = entry.text(kind)
            if name not in named[kind]:
                raise entry.error(kind, f"{name!r} is not one of the tables")
            chosen[kind] = named[kind][name]
        entry.close()
        compiled[code] = CodeTables(**chosen)
    method = Connecticut(
        periods=periods,
        no_certificate_rate=figures.rate("no_certificate_rate"),
        codes=compiled,
        no_certificate_code=figures.text("no_certificate_code"),
        no_withholding_code=figures.text("no_withholding_code"),
    )
    figures.close()
    return method
