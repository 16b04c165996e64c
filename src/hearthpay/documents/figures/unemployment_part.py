"""Part II of Schedule H: federal unemployment tax, and the credit for what was paid to the states.

Section A is for a household that paid one state, in time, on all wages. All others calculate the credit in Section B,
with the worksheets of the instructions for contributions paid late and for states that owe the federal fund.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hearthpay.documents.figures.books import CREDIT_REDUCTION, FUTA, PersonBooks, federal_line
from hearthpay.documents.figures.figure import Figure, Remark, derived, product, total
from hearthpay.documents.figures.forms import ScheduleHForm
from hearthpay.documents.figures.rate_periods import RatePeriod, rate_periods
from hearthpay.taxes.money import RATE_SCALE, from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_of


class StateContributions(NamedTuple):
    """What was paid to a state's unemployment fund on the year's wages, in cents: by the due date, and after it."""

    on_time: int
    late: int = 0


class StateRow(NamedTuple):
    """A row of line 17: a state and one rate period, columns a to h."""

    state: str
    wages: Figure
    period_from: datetime.date
    period_to: datetime.date
    rate: int
    """Column d, in billionths."""

    at_largest_credit: Figure
    at_own_rate: Figure
    less: Figure
    paid: Figure


class LateWorksheet(NamedTuple):
    """Worksheet 1 of the instructions, for contributions paid after their due date; cents."""

    line_1: int
    line_2: int
    line_3: int
    line_4: int
    line_5: int
    line_6: int
    line_7: int
    line_8: int


class CreditReductionWorksheet(NamedTuple):
    """Worksheet 2 of the instructions, for states that owe the federal fund; cents."""

    line_1: int
    line_2: int
    line_3: tuple[tuple[str, int, int, int], ...]
    """For each state: its letters, the FUTA wages paid there, the rate in billionths, and the reduction."""

    line_4: int
    line_5: int


class UnemploymentPart(NamedTuple):
    """Lines 10 to 24, and the resulting tax."""

    line_10: bool
    line_11: bool
    line_12: bool
    line_13: str | None = None
    line_14: Figure | None = None
    line_14_zero_rate: bool = False
    line_15: Figure | None = None
    line_16: Figure | None = None
    line_17: tuple[StateRow, ...] = ()
    line_18g: Figure | None = None
    line_18h: Figure | None = None
    line_19: Figure | None = None
    line_20: Figure | None = None
    line_21: Figure | None = None
    line_22: Figure | None = None
    worksheet_1: LateWorksheet | None = None
    worksheet_2: CreditReductionWorksheet | None = None
    line_23: Figure | None = None
    line_24: Figure | None = None

    @property
    def tax(self) -> int:
        """FUTA tax, from either section."""
        figure = self.line_16 if self.line_16 is not None else self.line_24
        return 0 if figure is None else figure.cents


def unemployment_part(
    tax_year: int,
    everyone: list[PersonBooks],
    form: ScheduleHForm,
    contributions: Mapping[str, StateContributions] | None,
) -> UnemploymentPart:
    """Return lines 10 to 24; ``contributions`` are the payments to each state, None for all that the ledger charged."""
    futa = federal_line(FUTA, tax_year)
    wages = total(part for person in everyone for part in person.demanded(futa))
    periods = rate_periods(tax_year, everyone)
    paid = _paid(periods, contributions)
    reductions = _reductions(tax_year, everyone, periods)
    states = sorted({period.state for period in periods})
    one_state = len(states) == 1 and not reductions
    in_time = all(paid[state].on_time >= charged_by(periods, state) for state in states)
    same_wages = all(_taxed_by_states(person) >= _futa_taxed(person) for person in everyone)
    if one_state and in_time and same_wages:
        charged = [part for person in everyone for part in person.amounts({FUTA})]
        return UnemploymentPart(
            True,
            True,
            True,
            line_13=states[0],
            line_14=derived(paid[states[0]].on_time, "contributions paid"),
            line_14_zero_rate=not any(period.rate for period in periods),
            line_15=wages,
            line_16=product(wages, futa.rate, "line 15", charged),
        )
    rows = _rows(form, periods, paid)
    line_18g = derived(sum(row.less.cents for row in rows), "column g")
    line_18h = derived(sum(row.paid.cents for row in rows), "column h")
    line_19 = derived(line_18g.cents + line_18h.cents, "line 18, columns g + h")
    line_21 = product(wages, form.gross_rate, "line 20")
    line_22 = product(wages, form.largest_credit, "line 20")
    late = sum(each.late for each in paid.values())
    worksheet_1 = _late(line_22.cents, line_19.cents, late, form) if late else None
    credit = min(line_19.cents, line_22.cents) if worksheet_1 is None else worksheet_1.line_8
    worksheet_2 = _reduced(credit, wages.cents, reductions) if reductions else None
    formula = "the smaller of lines 19 and 22" if worksheet_1 is None else "worksheet 1, line 8"
    line_23 = (
        derived(credit, formula)
        if worksheet_2 is None
        else derived(worksheet_2.line_5, "worksheet 2, line 5")
    )
    codes = {FUTA, CREDIT_REDUCTION}
    charged_cents = sum(part.cents for person in everyone for part in person.amounts(codes))
    return UnemploymentPart(
        one_state,
        in_time,
        same_wages,
        line_17=rows,
        line_18g=line_18g,
        line_18h=line_18h,
        line_19=line_19,
        line_20=wages,
        line_21=line_21,
        line_22=line_22,
        worksheet_1=worksheet_1,
        worksheet_2=worksheet_2,
        line_23=line_23,
        line_24=Figure(
            line_21.cents - line_23.cents, formula="line 21 - line 23", ledger_cents=charged_cents
        ),
    )


def _paid(
    periods: list[RatePeriod], contributions: Mapping[str, StateContributions] | None
) -> dict[str, StateContributions]:
    """Return what was paid to each state; if that isn't known, what the ledger charged counts as paid in time."""
    states = {period.state for period in periods}
    if contributions is None:
        return {state: StateContributions(charged_by(periods, state)) for state in states}
    return {state: contributions.get(state, StateContributions(0)) for state in states}


def charged_by(periods: Iterable[RatePeriod], state: str) -> int:
    """Return the cents of contributions that the ledger charged for a state."""
    return max(0, sum(period.charged for period in periods if period.state == state))


def _taxed_by_states(person: PersonBooks) -> int:
    return sum(part.cents for period in rate_periods(person.tax_year, [person]) for part in period.wages)


def _futa_taxed(person: PersonBooks) -> int:
    return sum(part.cents for part in person.demanded(federal_line(FUTA, person.tax_year)))


def _rows(
    form: ScheduleHForm, periods: list[RatePeriod], paid: Mapping[str, StateContributions]
) -> tuple[StateRow, ...]:
    """Return line 17; what was paid to a state in time fills its rows in their order, and the last takes the rest."""
    rows = []
    left = {state: each.on_time for state, each in paid.items()}
    for number, period in enumerate(periods):
        last = all(later.state != period.state for later in periods[number + 1 :])
        here = left[period.state] if last else min(left[period.state], period.demanded)
        left[period.state] -= here
        wages = total(period.wages)
        most = product(wages, form.largest_credit, "column b")
        own = product(wages, period.rate, "column b")
        rows.append(
            StateRow(
                state=period.state,
                wages=wages,
                period_from=period.first_day,
                period_to=period.last_day,
                rate=period.rate,
                at_largest_credit=most,
                at_own_rate=Figure(own.cents, own.parts, own.formula, period.demanded),
                less=derived(max(0, most.cents - own.cents), "column e - column f, not below 0"),
                paid=derived(here, "contributions paid in time"),
            )
        )
    return tuple(rows)


def _late(line_22: int, line_19: int, late: int, form: ScheduleHForm) -> LateWorksheet:
    line_3 = max(0, line_22 - line_19)
    line_5 = min(line_3, late)
    line_6 = half_up(line_5 * form.credit_of_late_contributions, RATE_SCALE)
    line_7 = line_19 + line_6
    return LateWorksheet(line_22, line_19, line_3, late, line_5, line_6, line_7, min(line_22, line_7))


def _reductions(
    tax_year: int, everyone: list[PersonBooks], periods: list[RatePeriod]
) -> tuple[tuple[str, int, int, int], ...]:
    """Return the states whose credit is reduced: letters, FUTA wages, rate and the reduction.

    FUTA taxes the first wages of the year: for someone who worked in two states, those of the state where they were
    paid first.
    """
    base = federal_line(FUTA, tax_year).wage_base or 0
    wages: dict[str, int] = {}
    for person in everyone:
        left = base
        for _, state, cents in person.futa_wages():
            taken = min(left, cents)
            left -= taken
            wages[state] = wages.get(state, 0) + taken
    found = []
    for state in sorted(wages.keys() | {period.state for period in periods}):
        rate = credit_reduction_rate(tax_year, state)
        if rate:
            cents = wages.get(state, 0)
            found.append((state, cents, rate, half_up(cents * rate, RATE_SCALE)))
    return tuple(found)


def credit_reduction_rate(tax_year: int, state: str) -> int:
    """Return by how many billionths a state's credit is reduced; 0 if it isn't."""
    return max(
        (
            line.rate
            for line in rulebook_of(tax_year).state(state).contributions
            if line.code == CREDIT_REDUCTION
        ),
        default=0,
    )


def _reduced(
    credit: int, line_20: int, reductions: tuple[tuple[str, int, int, int], ...]
) -> CreditReductionWorksheet:
    line_4 = sum(cents for _, _, _, cents in reductions)
    return CreditReductionWorksheet(credit, line_20, reductions, line_4, max(0, credit - line_4))


def open_contributions(tax_year: int, everyone: list[PersonBooks]) -> list[Remark]:
    """Return remarks on states whose contributions differ from the year's requirement by more than rounding."""
    periods = rate_periods(tax_year, everyone)
    payments = sum(len(person.paychecks) for person in everyone)
    remarks = []
    for state in sorted({period.state for period in periods}):
        charged = sum(period.charged for period in periods if period.state == state)
        missing = sum(period.demanded for period in periods if period.state == state) - charged
        if abs(missing) > payments:
            remarks.append(
                Remark(
                    "contributions_open",
                    f"The year's wages ask for {from_cents(charged + missing):,} of {state} unemployment tax; "
                    f"{from_cents(charged):,} was charged. Report and pay what the state's own return comes to.",
                    missing,
                )
            )
    return remarks
