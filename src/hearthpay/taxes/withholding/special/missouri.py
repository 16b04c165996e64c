"""Missouri's annual formula, unless the employee names the amount to withhold (Form MO W-4, line 3)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS, Annualized, read_columns


@dataclass(frozen=True, slots=True)
class Missouri:
    """One bracket table for every status; a requested amount replaces the formula."""

    formula: Annualized
    named_amount_field: str

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        named = int(certificate[self.named_amount_field] or 0)
        if named:
            if trace is not None:
                trace.cents("amount named on the certificate in place of the formula", named)
            return named
        return self.formula.withhold(pay, certificate, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Missouri:
    """Compile ``standard_deduction`` by column, the table ``brackets``, both roundings and ``named_amount_field``."""
    field, columns = read_columns(figures)
    table = figures.brackets("brackets", over=figures.flag("over", default=False))
    formula = Annualized(
        periods=periods,
        column_field=field,
        columns=columns,
        standard_deduction=figures.cents_by_key("standard_deduction"),
        deduction_field=None,
        allowances={},
        credits={},
        tables=dict.fromkeys(columns.values(), table),
        annual_unit=UNITS[figures.choice("annual_rounding", tuple(UNITS))],
        unit=UNITS[figures.choice("rounding", tuple(UNITS))],
    )
    for column in formula.tables:
        if column not in formula.standard_deduction:
            raise figures.error("standard_deduction", f"nothing for the column {column!r}")
    method = Missouri(formula, figures.text("named_amount_field"))
    figures.close()
    return method
