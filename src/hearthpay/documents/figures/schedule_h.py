"""Schedule H (Form 1040) of a household's year: every line in cents, and the ledger rows behind it.

Lines 1, 3 and 20 are wages as the law counts them; the taxes on them are products, as the form asks, which may differ
from the sum of the payments' taxes by rounding (`Figure.ledger_cents`). Money that an employee has set aside is paid
wages like any other and changes nothing here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from hearthpay.documents.figures.books import (
    ADDITIONAL_MEDICARE,
    CREDIT_REDUCTION,
    MEDICARE,
    SOCIAL_SECURITY,
    HouseholdBooks,
    PersonBooks,
    federal_line,
    futa_quarters,
)
from hearthpay.documents.figures.figure import Figure, Part, Remark, derived, product, total
from hearthpay.documents.figures.forms import FormStatus, ScheduleHForm, schedule_h_form
from hearthpay.documents.figures.unemployment_part import (
    CreditReductionWorksheet,
    LateWorksheet,
    StateContributions,
    StateRow,
    UnemploymentPart,
    open_contributions,
    unemployment_part,
)
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.thresholds import liability_thresholds

_SOCIAL_SECURITY_BOTH: Final = (SOCIAL_SECURITY, "US-SS-ER")
_MEDICARE_BOTH: Final = (MEDICARE, "US-MED-ER")


@dataclass(frozen=True, slots=True)
class ScheduleHQuestion:
    """What the household answers that is in no ledger."""

    quarters_before: Mapping[int, int] = field(default_factory=dict)
    """Cash wages in cents of the calendar quarters of the year before, as `futa_quarters` counts them."""

    contributions: Mapping[str, StateContributions] | None = None
    """The contributions paid to each state; None: everything the ledger charged, on time."""

    files_return: bool = True
    """Whether the employer must file a Form 1040, to which the schedule is attached."""


@dataclass(frozen=True, slots=True)
class ScheduleH:
    """A household's Schedule H. Lines and answers that are None are left blank."""

    tax_year: int
    status: FormStatus
    required: bool
    """Whether it must be filed: False if all three questions are answered No."""

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
    """The line to which the total is carried; None if the schedule is filed alone, with Part IV."""

    total: Figure | None = None
    """The amount owed by this schedule: line 26, or line 8 if it ends at line 9."""

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


def schedule_h_of(books: HouseholdBooks, question: ScheduleHQuestion | None = None) -> ScheduleH:
    """Return the household's Schedule H of the year.

    Raises `FormNotKnownError` for a year whose form hasn't been published.
    """
    question = question or ScheduleHQuestion()
    form = schedule_h_form(books.tax_year)
    everyone = list(books.everyone())
    owing = [person for person in everyone if person.owes_fica]
    withheld = total(
        part for person in everyone for part in person.amounts(_federal_income_tax(books.tax_year))
    )
    owes_futa = _reaches_futa(books, question)
    answer_a = bool(owing)
    answer_b = None if answer_a else withheld.cents > 0
    answer_c = None if answer_a or answer_b else owes_futa
    begun = ScheduleH(
        books.tax_year, form.status, bool(answer_a or answer_b or answer_c), answer_a, answer_b, answer_c
    )
    if not begun.required:
        return begun
    first = None if answer_c else _part_one(books.tax_year, owing, withheld)
    second = unemployment_part(books.tax_year, everyone, form, question.contributions) if owes_futa else None
    return _closed(begun, form, question, first, second, _remarks(everyone, form, question, second))


def _closed(
    begun: ScheduleH,
    form: ScheduleHForm,
    question: ScheduleHQuestion,
    first: _PartOne | None,
    second: UnemploymentPart | None,
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
            "line_27": question.files_return,
        }
    lines |= {"goes_to": form.goes_to if question.files_return else None, "total": owed, "remarks": remarks}
    filled = {name: lines.get(name, getattr(begun, name)) for name in ScheduleH.__slots__}
    return ScheduleH(**filled)  # type: ignore[arg-type]


def _federal_income_tax(tax_year: int) -> frozenset[str]:
    tax = rulebook_of(tax_year).income_tax
    return frozenset({tax.code, tax.supplemental_code})


def _reaches_futa(books: HouseholdBooks, question: ScheduleHQuestion) -> bool:
    """Return whether cash wages of any quarter of this year or the last reach the FUTA threshold."""
    states = sorted({person.work_state for person in books.people})
    if not states:
        return False
    threshold = liability_thresholds(states[0], books.tax_year)[1].cents
    quarters = [*futa_quarters(books).values(), *question.quarters_before.values()]
    return max(quarters) >= threshold


def _part_one(tax_year: int, owing: list[PersonBooks], withheld: Figure) -> _PartOne:
    """Return lines 1 to 8; if nobody reaches the threshold, it begins at line 7."""
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
    """Return the wages that the lines tax, and the tax on them, all shares included."""
    law = federal_line(codes[0], tax_year)
    wages = total(part for person in owing for part in person.demanded(law))
    rate = sum(federal_line(code, tax_year).rate for code in codes)
    return wages, product(wages, rate, name, (part for person in owing for part in person.amounts(codes)))


def _remarks(
    everyone: list[PersonBooks],
    form: ScheduleHForm,
    question: ScheduleHQuestion,
    second: UnemploymentPart | None,
) -> tuple[Remark, ...]:
    remarks = []
    if form.status == "draft":
        remarks.append(
            Remark("draft", f"Schedule H of {form.tax_year} is a draft of the IRS: its lines may change.")
        )
    if second is not None and question.contributions is None:
        remarks.append(
            Remark(
                "contributions_assumed",
                "Assumes that all state unemployment contributions were paid in full by "
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
        remarks += open_contributions(form.tax_year, everyone)
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


def sources_of(schedule: ScheduleH) -> dict[str, tuple[Part, ...]]:
    """Return the ledger rows behind each line that is a sum of them, by the line's number."""
    found = {}
    for name in ScheduleH.__slots__:
        value = getattr(schedule, name)
        if name.startswith("line_") and isinstance(value, Figure) and value.parts:
            found[name.removeprefix("line_")] = value.parts
    for row in schedule.line_17:
        found[f"17b {row.state} {row.period_from}"] = row.wages.parts
    return found
