"""Utah's schedules: a flat rate less an allowance that phases out, every line in whole dollars."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS, read_columns

DOLLAR = UNITS["dollar"]


class Schedule(NamedTuple):
    """The printed figures of one column and pay frequency, in cents."""

    base_allowance: int
    threshold: int


@dataclass(frozen=True, slots=True)
class Utah:
    """The seven lines of a schedule of Publication 14."""

    rate: int
    phase_out_rate: int
    column_field: str
    columns: Mapping[str, str]
    schedules: Mapping[tuple[str, str], Schedule]

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        column = self.columns[str(certificate[self.column_field])]
        schedule = self.schedules.get((column, pay.frequency))
        if schedule is None:
            raise TaxInputError("pay_frequency", f"Utah prints no schedule for {pay.frequency} pay")
        gross_tax = half_up_to(pay.wages * self.rate, RATE_SCALE, DOLLAR)
        excess = max(0, pay.wages - schedule.threshold)
        reduction = half_up_to(excess * self.phase_out_rate, RATE_SCALE, DOLLAR)
        allowance = max(0, schedule.base_allowance - reduction)
        if trace is not None:
            trace.text("column of the schedules", column)
            trace.rate("rate", self.rate)
            trace.cents("line 2, wages by the rate", gross_tax)
            trace.cents("line 3, base allowance", schedule.base_allowance)
            trace.cents("line 4, wages above the threshold", excess)
            trace.cents("line 5, reduction of the allowance", reduction)
            trace.cents("line 6, allowance", allowance)
        return max(0, gross_tax - allowance)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Utah:
    """Compile ``rate``, ``phase_out_rate``, the column and ``schedule.C.F`` with its two amounts."""
    column_field, columns = read_columns(figures)
    if column_field is None:
        raise figures.error("column_field", "is missing")
    listed = figures.table("schedule")
    schedules: dict[tuple[str, str], Schedule] = {}
    for column in listed:
        by_frequency = listed.table(column)
        for frequency in by_frequency:
            if frequency not in periods:
                raise by_frequency.error(frequency, "is not a pay frequency")
            entry = by_frequency.table(frequency)
            schedules[column, frequency] = Schedule(entry.cents("base_allowance"), entry.cents("threshold"))
            entry.close()
    method = Utah(
        rate=figures.rate("rate"),
        phase_out_rate=figures.rate("phase_out_rate"),
        column_field=column_field,
        columns=columns,
        schedules=schedules,
    )
    figures.close()
    return method
