"""Oregon's withholding formulas: federal tax is subtracted from the wages, whole dollars, a flat rate without
a form.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up, half_up_to
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import UNITS

DOLLAR = UNITS["dollar"]
SINGLE = "single"
MARRIED = "married"


class FormulaRow(NamedTuple):
    """A printed formula: base tax plus a rate on the base wages over an amount (not the row's own bound)."""

    at_least: int
    rate: int
    base: int
    excess_over: int


class Ceiling(NamedTuple):
    """The most federal tax that is subtracted from annual wages of at least ``wages``, in cents."""

    wages: int
    most: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The formulas for one group: employees with the single deduction, or with the married one."""

    deduction: int
    below: tuple[FormulaRow, ...]
    large: tuple[FormulaRow, ...]


@dataclass(frozen=True, slots=True)
class Oregon:
    """The annual formula chosen by status, allowances and wages; allowances are a credit against its tax."""

    periods: Mapping[str, int]
    columns: Mapping[str, str]
    """Filing status of the OR-W-4 → ``single`` or ``married``."""

    schedules: Mapping[str, Schedule]
    ceilings: Mapping[str, tuple[Ceiling, ...]]
    allowances_end_above: Mapping[str, int]
    married_formulas_from_allowances: int
    """A single employee with this many allowances uses the married deduction and formulas."""

    large_wages_from: int
    """Annual wages from which the second set of formulas applies."""

    allowance_credit: int
    no_certificate_rate: int

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        if pay.wages <= 0:
            return 0
        status = certificate["filing_status"]
        if status is None:
            if trace is not None:
                trace.text("certificate", "none on file: one rate on the wages")
                trace.rate("rate without a certificate", self.no_certificate_rate)
            return half_up(pay.wages * self.no_certificate_rate, RATE_SCALE)
        periods = self.periods.get(pay.frequency)
        if periods is None:
            raise TaxInputError("pay_frequency", f"Oregon has no formula for {pay.frequency} pay")
        column = self.columns[str(status)]
        allowances = int(certificate["allowances"] or 0)
        group = MARRIED if allowances >= self.married_formulas_from_allowances else column
        schedule = self.schedules[group]
        wages = pay.wages * periods
        most = 0
        for ceiling in self.ceilings[column]:
            if wages >= ceiling.wages:
                most = ceiling.most
        federal = min(pay.federal_income_tax * periods, most)
        base = max(0, wages - federal - schedule.deduction)
        rows = schedule.large if wages >= self.large_wages_from else schedule.below
        chosen = rows[0]
        for row in rows:
            if base >= row.at_least:
                chosen = row
        scaled = chosen.base * RATE_SCALE + (base - chosen.excess_over) * chosen.rate
        annual = half_up_to(max(0, scaled), RATE_SCALE, DOLLAR)
        counted = 0 if wages > self.allowances_end_above[column] else allowances
        credit = counted * self.allowance_credit
        if trace is not None:
            trace.cents("wages a year at this pay", wages)
            trace.cents("federal income tax a year, up to the ceiling", federal)
            trace.cents("standard deduction", schedule.deduction)
            trace.cents("base wages", base)
            trace.cents("base tax of the formula", chosen.base)
            trace.cents("excess over", chosen.excess_over)
            trace.rate("rate of the formula", chosen.rate)
            trace.cents("annual tax, whole dollars", annual)
            trace.cents("allowance credit", credit)
            trace.text("pay periods a year", periods)
        return half_up_to(annual - credit, periods, DOLLAR) if annual > credit else 0


def _rows(table: RuleTable, key: str) -> tuple[FormulaRow, ...]:
    rows = []
    for entry in table.tables(key):
        rows.append(
            FormulaRow(
                entry.cents("at_least"), entry.rate("rate"), entry.cents("base"), entry.cents("excess_over")
            )
        )
        entry.close()
    if not rows:
        raise table.error(key, "at least one formula is needed")
    return tuple(rows)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Oregon:
    """Compile ``schedule``, ``federal_ceiling`` and ``allowances_end_above`` by single and married, and the rest."""
    schedules = figures.table("schedule")
    ceilings = figures.table("federal_ceiling")
    columns = figures.table("columns")
    compiled: dict[str, Schedule] = {}
    steps: dict[str, tuple[Ceiling, ...]] = {}
    for name in (SINGLE, MARRIED):
        schedule = schedules.table(name)
        compiled[name] = Schedule(
            schedule.cents("deduction"), _rows(schedule, "below"), _rows(schedule, "large")
        )
        schedule.close()
        listed = []
        for entry in ceilings.tables(name):
            listed.append(Ceiling(entry.cents("wages"), entry.cents("most")))
            entry.close()
        steps[name] = tuple(listed)
    schedules.close()
    ceilings.close()
    method = Oregon(
        periods=periods,
        columns={status: columns.choice(status, (SINGLE, MARRIED)) for status in columns},
        schedules=compiled,
        ceilings=steps,
        allowances_end_above=figures.cents_by_key("allowances_end_above"),
        married_formulas_from_allowances=figures.integer("married_formulas_from_allowances"),
        large_wages_from=figures.cents("large_wages_from"),
        allowance_credit=figures.cents("allowance_credit"),
        no_certificate_rate=figures.rate("no_certificate_rate"),
    )
    figures.close()
    return method
