"""Schedule H (Form 1040) of a household's year: every line in cents, and the rows of the ledger behind it.

Lines 1, 3 and 20 are wages as the law counts them; the taxes on them are products, as the form asks, which can part
from the sum of the payments' taxes by the cents that each was rounded by (`Figure.ledger_cents`). Money that an
employee has set aside is paid wages like any other and touches nothing here.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hearthpay.documents.figures.books import (
    ADDITIONAL_MEDICARE,
    CREDIT_REDUCTION,
    FUTA,
    MEDICARE,
    SOCIAL_SECURITY,
    HouseholdBooks,
    PersonBooks,
    federal_line,
    futa_quarters,
)
from hearthpay.documents.figures.figure import Figure, Part, Remark, derived, product, total
from hearthpay.documents.figures.forms import FormStatus, ScheduleHForm, schedule_h_form
from hearthpay.documents.figures.rate_periods import RatePeriod, rate_periods
from hearthpay.taxes.money import RATE_SCALE, from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.thresholds import liability_thresholds

_SOCIAL_SECURITY_BOTH: Final = (SOCIAL_SECURITY, "US-SS-ER")
_MEDICARE_BOTH: Final = (MEDICARE, "US-MED-ER")


class StateContributions(NamedTuple):
    """What was paid to a state's unemployment fund for the year's wages, in cents: by the due date, and after it."""

    on_time: int
    late: int = 0


@dataclass(frozen=True, slots=True)
class ScheduleHQuestion:
    """What the household tells that no ledger holds."""

    quarters_before: Mapping[int, int] = field(default_factory=dict)
    """Cash wages in cents of the calendar quarters of the year before, as `futa_quarters` counts them."""

    contributions: Mapping[str, StateContributions] | None = None
    """What each state was paid; None: all that the ledger charged, in time."""

    files_return: bool = True
    """Whether the employer must file a Form 1040, with which the schedule goes."""


class StateRow(NamedTuple):
    """A row of line 17: a state and a period of its rate, columns a to h."""

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
    """Of each state: its letters, the FUTA wages paid there, the rate in billionths, the reduction."""

    line_4: int
    line_5: int


@dataclass(frozen=True, slots=True)
class ScheduleH:
    """A household's Schedule H. Lines and answers that are None are left blank."""

    tax_year: int
    status: FormStatus
    required: bool
    """False where all three questions are answered No: then nothing is filed."""

    answer_a: bool
    answer_b: bool | None
    answer_c: bool | None
    line_1: Figure | None = None
    line_2: Figure | None = None
    line_3: Figure | None = None
    line_4: Figure | None = None
    line_5: Figure | None = None
    line_6: Figure | None = None
    line_7: Figure | None = None
    line_8: Figure | None = None
    line_9: bool | None = None
    line_10: bool | None = None
    line_11: bool | None = None
    line_12: bool | None = None
    line_13: str | None = None
    line_14: Figure | None = None
    line_14_zero_rate: bool = False
    """Whether line 14 reads "0% rate"."""

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
    line_25: Figure | None = None
    line_26: Figure | None = None
    line_27: bool | None = None
    goes_to: str | None = None
    """Where the total is carried to; None where the schedule is filed alone, with Part IV."""

    total: Figure | None = None
    """What is owed by this schedule: line 26, or line 8 where it ends at line 9."""

    remarks: tuple[Remark, ...] = ()


class _PartOne(NamedTuple):
    """Lines 1 to 8."""

    line_1: Figure | None
    line_2: Figure | None
    line_3: Figure | None
    line_4: Figure | None
    line_5: Figure | None
    line_6: Figure | None
    line_7: Figure
    line_8: Figure


class _PartTwo(NamedTuple):
    """Lines 10 to 24, and the tax they come to."""

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
        """FUTA tax of either section."""
        figure = self.line_16 if self.line_16 is not None else self.line_24
        return 0 if figure is None else figure.cents


def schedule_h_of(books: HouseholdBooks, told: ScheduleHQuestion | None = None) -> ScheduleH:
    """Return the household's Schedule H of the year.

    Raises `FormNotKnownError` for a year whose form is not published.
    """
    told = told or ScheduleHQuestion()
    form = schedule_h_form(books.tax_year)
    everyone = list(books.everyone())
    owing = [person for person in everyone if person.owes_fica]
    withheld = total(
        part for person in everyone for part in person.amounts(_federal_income_tax(books.tax_year))
    )
    owes_futa = _reaches_futa(books, told)
    answer_a = bool(owing)
    answer_b = None if answer_a else withheld.cents > 0
    answer_c = None if answer_a or answer_b else owes_futa
    begun = ScheduleH(
        books.tax_year, form.status, bool(answer_a or answer_b or answer_c), answer_a, answer_b, answer_c
    )
    if not begun.required:
        return begun
    first = None if answer_c else _part_one(books.tax_year, owing, withheld)
    second = _part_two(books.tax_year, everyone, form, told) if owes_futa else None
    return _closed(begun, form, told, first, second, _remarks(everyone, form, told, second))


def _closed(
    begun: ScheduleH,
    form: ScheduleHForm,
    told: ScheduleHQuestion,
    first: _PartOne | None,
    second: _PartTwo | None,
    remarks: tuple[Remark, ...],
) -> ScheduleH:
    """Return the schedule with its parts filled in, and Part III."""
    lines: dict[str, object] = {}
    line_8 = derived(0, "0: begun at line 10") if first is None else first.line_8
    if first is not None:
        lines |= first._asdict() | {"line_9": second is not None}
    owed = line_8
    if second is not None:
        lines |= second._asdict()
        from_line = "line 16" if second.line_16 is not None else "line 24"
        owed = derived(line_8.cents + second.tax, f"line 25 + {from_line}")
        lines |= {
            "line_25": line_8 if first is None else derived(line_8.cents, "line 8"),
            "line_26": owed,
            "line_27": told.files_return,
        }
    lines |= {"goes_to": form.goes_to if told.files_return else None, "total": owed, "remarks": remarks}
    filled = {name: lines.get(name, getattr(begun, name)) for name in ScheduleH.__slots__}
    return ScheduleH(**filled)  # type: ignore[arg-type]


def _federal_income_tax(tax_year: int) -> frozenset[str]:
    tax = rulebook_of(tax_year).income_tax
    return frozenset({tax.code, tax.supplemental_code})


def _reaches_futa(books: HouseholdBooks, told: ScheduleHQuestion) -> bool:
    """Tell whether cash wages of any quarter of this year or the last reach the threshold of FUTA."""
    states = sorted({person.work_state for person in books.people})
    if not states:
        return False
    threshold = liability_thresholds(states[0], books.tax_year)[1].cents
    quarters = [*futa_quarters(books).values(), *told.quarters_before.values()]
    return max(quarters) >= threshold


def _part_one(tax_year: int, owing: list[PersonBooks], withheld: Figure) -> _PartOne:
    """Return lines 1 to 8; without anybody at the threshold, it begins at line 7."""
    line_7 = withheld
    if not owing:
        return _PartOne(None, None, None, None, None, None, line_7, derived(line_7.cents, "line 7"))
    line_1, line_2 = _wages_and_tax(tax_year, owing, _SOCIAL_SECURITY_BOTH, "line 1")
    line_3, line_4 = _wages_and_tax(tax_year, owing, _MEDICARE_BOTH, "line 3")
    line_5, line_6 = _wages_and_tax(tax_year, owing, (ADDITIONAL_MEDICARE,), "line 5")
    line_8 = derived(line_2.cents + line_4.cents + line_6.cents + line_7.cents, "lines 2 + 4 + 6 + 7")
    return _PartOne(line_1, line_2, line_3, line_4, line_5, line_6, line_7, line_8)


def _wages_and_tax(
    tax_year: int, owing: list[PersonBooks], codes: tuple[str, ...], name: str
) -> tuple[Figure, Figure]:
    """Return the wages that the lines tax, and all shares of the tax on them together."""
    law = federal_line(codes[0], tax_year)
    wages = total(part for person in owing for part in person.demanded(law))
    rate = sum(federal_line(code, tax_year).rate for code in codes)
    return wages, product(wages, rate, name, (part for person in owing for part in person.amounts(codes)))


def _part_two(
    tax_year: int, everyone: list[PersonBooks], form: ScheduleHForm, told: ScheduleHQuestion
) -> _PartTwo:
    futa = federal_line(FUTA, tax_year)
    wages = total(part for person in everyone for part in person.demanded(futa))
    periods = rate_periods(tax_year, everyone)
    paid = _paid(periods, told)
    reductions = _reductions(tax_year, everyone, periods)
    states = sorted({period.state for period in periods})
    one_state = len(states) == 1 and not reductions
    in_time = all(paid[state].on_time >= charged_by(periods, state) for state in states)
    same_wages = all(_taxed_by_states(person) >= _futa_taxed(person) for person in everyone)
    if one_state and in_time and same_wages:
        charged = [part for person in everyone for part in person.amounts({FUTA})]
        return _PartTwo(
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
    return _PartTwo(
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


def _paid(periods: list[RatePeriod], told: ScheduleHQuestion) -> dict[str, StateContributions]:
    """Return what each state was paid; without word of it, what the ledger charged, in time."""
    states = {period.state for period in periods}
    if told.contributions is None:
        return {state: StateContributions(charged_by(periods, state)) for state in states}
    return {state: told.contributions.get(state, StateContributions(0)) for state in states}


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
    """Return line 17; what a state was paid in time fills its rows in their order, and the last takes the rest."""
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
    """Return the states whose credit is reduced: letters, FUTA wages, rate and what they come to.

    The first wages of the year are those of FUTA: whoever worked in two states has them where they were paid first.
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
    """Return by how many billionths a state's credit is reduced; 0 where it is not."""
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


def _remarks(
    everyone: list[PersonBooks], form: ScheduleHForm, told: ScheduleHQuestion, second: _PartTwo | None
) -> tuple[Remark, ...]:
    remarks = []
    if form.status == "draft":
        remarks.append(
            Remark("draft", f"Schedule H of {form.tax_year} is a draft of the IRS: its lines may change.")
        )
    if second is not None and told.contributions is None:
        remarks.append(
            Remark(
                "contributions_assumed",
                "Takes all state unemployment contributions for paid in full by "
                f"{form.contributions_due}; what is paid later earns less of the credit.",
            )
        )
    for state in [] if second is None or second.worksheet_2 is None else second.worksheet_2.line_3:
        unsure = any(
            line.code == CREDIT_REDUCTION and line.confidence == "low"
            for line in rulebook_of(form.tax_year).state(state[0]).contributions
        )
        if unsure:
            remarks.append(
                Remark(
                    "credit_reduction_provisional",
                    f"The credit reduction of {state[0]} for {form.tax_year} is provisional until the Department of "
                    "Labor's list of November is entered.",
                    state[3],
                )
            )
    if second is not None:
        remarks += _open_contributions(form.tax_year, everyone)
    for person in everyone:
        kept = (
            0
            if person.owes_fica
            else sum(
                part.cents
                for part in person.amounts({*_SOCIAL_SECURITY_BOTH, *_MEDICARE_BOTH, ADDITIONAL_MEDICARE})
            )
        )
        if kept:
            remarks.append(
                Remark(
                    "fica_not_due",
                    f"{person.person.name}: the wages stay below {from_cents(person.fica_threshold):,}; "
                    f"{from_cents(kept):,} of both shares was charged and is not due.",
                    kept,
                )
            )
    return tuple(remarks)


def _open_contributions(tax_year: int, everyone: list[PersonBooks]) -> list[Remark]:
    """Tell where a state's contributions are not what the year's wages come to, beyond the rounding of payments."""
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


def sources_of(schedule: ScheduleH) -> dict[str, tuple[Part, ...]]:
    """Return the rows of the ledger behind each line that is a sum of them, by the line's number."""
    found = {}
    for name in ScheduleH.__slots__:
        value = getattr(schedule, name)
        if name.startswith("line_") and isinstance(value, Figure) and value.parts:
            found[name.removeprefix("line_")] = value.parts
    for row in schedule.line_17:
        found[f"17b {row.state} {row.period_from}"] = row.wages.parts
    return found
