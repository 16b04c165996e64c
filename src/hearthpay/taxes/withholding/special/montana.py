"""Montana's tables by pay period, to whole dollars, unless the employee names the amount (Form MW-4)."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rounding import half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period

DOLLAR = UNITS["dollar"]


@dataclass(frozen=True, slots=True)
class Montana:
    """The printed tables give cents; those are rounded to dollars, to the nearest or up."""

    tables: PerPeriod
    status_field: str
    both_spouses_work_field: str
    both_spouses_work_status: str
    """The status whose table a married employee uses when both spouses work."""

    named_amount_field: str
    round_up: bool

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        named = int(certificate[self.named_amount_field] or 0)
        if named:
            if trace is not None:
                trace.cents("amount named on the certificate in place of the tables", named)
            return named
        if certificate[self.both_spouses_work_field]:
            certificate = {**certificate, self.status_field: self.both_spouses_work_status}
        tax = self.tables.withhold(pay, certificate, trace)
        if trace is not None:
            trace.cents("tax before rounding to a whole dollar", tax)
        return -(-tax // DOLLAR) * DOLLAR if self.round_up else half_up_to(tax, 1, DOLLAR)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Montana:
    """Compile the printed ``tables`` and the certificate entries that take precedence over them."""
    status_field = figures.text("status_field")
    both_field = figures.text("both_spouses_work_field")
    both_status = figures.text("both_spouses_work_status")
    named_field = figures.text("named_amount_field")
    round_up = figures.choice("dollar_rounding", ("nearest", "up")) == "up"
    tables = read_per_period(figures, periods)
    if tables.columns.get(both_status) is None:
        raise figures.error("both_spouses_work_status", f"{both_status!r} has no column")
    return Montana(tables, status_field, both_field, both_status, named_field, round_up)
