"""New Mexico's tables by pay period, with the single rate for married employees who ask for it and a monthly floor."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period


@dataclass(frozen=True, slots=True)
class NewMexico:
    """The printed tables; a month's tax below the floor isn't withheld."""

    tables: PerPeriod
    status_field: str
    single_rate_field: str
    single_rate_status: str
    """The status whose table is used for an employee who asks for the single rate."""

    monthly_floor: int
    """Cents a month below which nothing is withheld, if one pay period covers the whole month or more."""

    months: int
    """The most pay periods a year with which one pay period covers a month."""

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        if certificate[self.single_rate_field]:
            certificate = {**certificate, self.status_field: self.single_rate_status}
        tax = self.tables.withhold(pay, certificate, trace)
        # With shorter periods only the month's total could decide, which one paycheck doesn't know.
        if tax < self.monthly_floor and self.tables.periods[pay.frequency] <= self.months:
            if trace is not None:
                trace.cents("below the month's floor, not withheld", tax)
            return 0
        return tax


def read(figures: RuleTable, periods: Mapping[str, int]) -> NewMexico:
    """Compile the printed ``tables``, ``monthly_floor`` and the entry that asks for the single rate."""
    status_field = figures.text("status_field")
    single_field = figures.text("single_rate_field")
    single_status = figures.text("single_rate_status")
    floor = figures.cents("monthly_floor")
    tables = read_per_period(figures, periods)
    if tables.columns.get(single_status) is None:
        raise figures.error("single_rate_status", f"{single_status!r} has no column")
    return NewMexico(tables, status_field, single_field, single_status, floor, periods["monthly"])
