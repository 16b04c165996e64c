"""North Dakota's two methods: for the Form W-4 of 2020 or later, and for that of 2019 or earlier."""

from collections.abc import Mapping
from dataclasses import dataclass

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import Annualized, read_annualized
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period


@dataclass(frozen=True, slots=True)
class NorthDakota:
    """The certificate says which Form W-4 is on file; each has its own tables."""

    version_field: str
    old_version: str
    new_form: Annualized
    old_form: PerPeriod

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        old = certificate[self.version_field] == self.old_version
        if trace is not None:
            trace.text("Form W-4 on file", certificate[self.version_field])
        return (self.old_form if old else self.new_form).withhold(pay, certificate, trace)


def read(figures: RuleTable, periods: Mapping[str, int]) -> NorthDakota:
    """Compile ``new_form`` (an annual table) and ``old_form`` (tables by pay period)."""
    method = NorthDakota(
        version_field=figures.text("version_field"),
        old_version=figures.text("old_version"),
        new_form=read_annualized(figures.table("new_form"), periods),
        old_form=read_per_period(figures.table("old_form"), periods),
    )
    figures.close()
    return method
