"""Form W-2 of one person: every box in cents, and the ledger rows behind it.

Boxes follow the General Instructions for Forms W-2 and W-3, and Publication 926 for household employees. Wages below
the year's threshold leave boxes 3 to 6 empty. Social Security and Medicare of the employee that the household paid
from its own funds are wages in box 1 only (and the state's), and appear in boxes 4 and 6 as if withheld.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from hearthpay.documents.figures.books import (
    ADDITIONAL_MEDICARE,
    MEDICARE,
    SOCIAL_SECURITY,
    BookedPaycheck,
    PersonBooks,
    federal_line,
)
from hearthpay.documents.figures.figure import Figure, Part, Remark, total, total_or_blank
from hearthpay.documents.figures.forms import w2_form
from hearthpay.documents.figures.state_boxes import StateBoxes, state_boxes
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.year import MOST_ROUNDING_CENTS

_CODES_ON_A_SHEET: Final = 4
_OTHER_ON_A_SHEET: Final = 3
_ROWS_ON_A_SHEET: Final = 2
_NONRESIDENT: Final = "-NONRESIDENT"
_FLSA_WEEK: Final = 40_000
"""Thousandths of hours in a week beyond which the Fair Labor Standards Act requires overtime."""

_T = TypeVar("_T")


class CodedAmount(NamedTuple):
    """An entry of box 12."""

    code: str
    figure: Figure


class LabelledAmount(NamedTuple):
    """An entry of box 14, and the state that requires it."""

    label: str
    state: str
    figure: Figure


class BoxesOfState(NamedTuple):
    """Boxes 15 to 17 of one state; the ledger doesn't know whose account is printed in box 15."""

    state: str
    wages: Figure
    tax: Figure | None


class LocalWages(NamedTuple):
    """Boxes 18 to 20 of one locality."""

    state: str
    name: str
    code: str
    wages: Figure
    tax: Figure | None


@dataclass(frozen=True, slots=True)
class W2:
    """A person's Form W-2. A box that is None is left blank; for a household, boxes 7 to 11 and 13 always are."""

    tax_year: int
    person_id: UUID
    name: str
    box_1: Figure
    box_2: Figure | None
    box_3: Figure | None
    box_4: Figure | None
    box_5: Figure | None
    box_6: Figure | None
    box_12: tuple[CodedAmount, ...]
    other_box: str
    """The number of the box for state programs: 14, or 14a."""

    box_14: tuple[LabelledAmount, ...]
    states: tuple[BoxesOfState, ...]
    localities: tuple[LocalWages, ...]
    required_for: tuple[str, ...]
    """Why it must be filed: any of `fica`, `federal_income_tax`, `state_income_tax`, `local_income_tax`; empty if it
    need not be."""

    remarks: tuple[Remark, ...]


def w2_of(books: PersonBooks, coded_amounts: Sequence[CodedAmount] = ()) -> W2:
    """Return a person's Form W-2 of the year.

    ``told`` are entries of box 12 that no payroll knows, supplied by the household (II, DD, FF). Raises
    `FormNotKnownError` for a year whose form is not published.
    """
    form = w2_form(books.tax_year)
    box_1 = total([*books.gross_pay(), *books.paid_for()])
    box_2 = total_or_blank(books.amounts(_federal_income_tax(books)))
    owes_fica = books.owes_fica
    remarks = [*_about_fica(books), *_about_prior(books)]
    overtime = qualified_overtime(books) if form.overtime_code is not None else None
    coded = list(coded_amounts)
    if form.overtime_code is not None and overtime is not None:
        coded.append(CodedAmount(form.overtime_code, overtime))
        remarks.append(
            Remark(
                "overtime_taken_for_qualified",
                "Box 12 takes overtime hours for hours beyond 40 in a week, as far as the pay period's hours allow; "
                "leave out what only a state's law or the agreement calls overtime.",
                overtime.cents,
            )
        )
    states = _states(books, box_1)
    localities = _localities(books)
    return W2(
        tax_year=books.tax_year,
        person_id=books.person.id,
        name=books.person.name,
        box_1=box_1,
        box_2=box_2,
        box_3=_wages(books, SOCIAL_SECURITY) if owes_fica else None,
        box_4=total(books.amounts({SOCIAL_SECURITY})) if owes_fica else None,
        box_5=_wages(books, MEDICARE) if owes_fica else None,
        box_6=total(books.amounts({MEDICARE, ADDITIONAL_MEDICARE})) if owes_fica else None,
        box_12=tuple(coded),
        other_box=form.other_box,
        box_14=_other(books),
        states=states,
        localities=localities,
        required_for=_required_for(owes_fica, box_2, states, localities),
        remarks=tuple(remarks),
    )


def qualified_overtime(books: PersonBooks) -> Figure | None:
    """Return the part of overtime pay above the regular rate, at most half that rate; None if there is none.

    The Fair Labor Standards Act exempts those who live in the household (section 13(b)(21)). If a paycheck has no
    hours at the regular rate, its overtime counts as paid at time and a half: a third of the pay.
    """
    if books.person.lives_in:
        return None
    return total_or_blank(
        booked.part(_premium(booked), "overtime_pay above the regular rate") for booked in books.paychecks
    )


def _premium(booked: BookedPaycheck) -> int:
    earnings = booked.paycheck.earnings
    overtime = int(earnings.overtime_hours.scaleb(3))
    hours = _qualified_hours(int(earnings.regular_hours.scaleb(3)), overtime)
    if hours <= 0 or earnings.overtime_pay <= 0:
        return 0
    paid = earnings.overtime_pay if hours == overtime else half_up(earnings.overtime_pay * hours, overtime)
    salary = booked.paycheck.salary
    if salary is not None:
        straight = half_up(salary.regular_rate * hours, 1_000)
        return max(0, min(paid - straight, half_up(straight, 2)))
    regular_hours = int(earnings.regular_hours.scaleb(3))
    if regular_hours <= 0:
        return half_up(paid, 3)
    straight = half_up(earnings.regular_pay * hours, regular_hours)
    return max(0, min(paid - straight, half_up(straight, 2)))


def _qualified_hours(regular: int, overtime: int) -> int:
    """Return how many of the overtime hours (thousandths) can lie beyond 40 in a week (29 U.S.C. 207).

    In a pay period of one week they are exact; in a longer one they are the maximum, whichever weeks they fell in. If
    no regular hours are given, all overtime hours count.
    """
    return overtime if regular <= 0 else max(0, min(overtime, regular + overtime - _FLSA_WEEK))


def sheets_of(w2: W2) -> tuple[W2, ...]:
    """Return the form's sheets, each with up to four codes, three items of box 14, two states and two localities.

    What doesn't fit is printed on another sheet with boxes 1 to 6 blank (General Instructions, boxes 12 and 15 to 20);
    its `box_1` is an empty figure.
    """
    codes = _in_groups(w2.box_12, _CODES_ON_A_SHEET)
    other = _in_groups(w2.box_14, _OTHER_ON_A_SHEET)
    states = _in_groups(w2.states, _ROWS_ON_A_SHEET)
    localities = _in_groups(w2.localities, _ROWS_ON_A_SHEET)
    sheets = []
    for number in range(max(1, len(codes), len(other), len(states), len(localities))):
        sheet = replace(
            w2,
            box_12=_group(codes, number),
            box_14=_group(other, number),
            states=_group(states, number),
            localities=_group(localities, number),
        )
        if number:
            sheet = replace(
                sheet, box_1=total(()), box_2=None, box_3=None, box_4=None, box_5=None, box_6=None, remarks=()
            )
        sheets.append(sheet)
    return tuple(sheets)


def _in_groups(items: Sequence[_T], size: int) -> list[tuple[_T, ...]]:
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]


def _group(groups: Sequence[tuple[_T, ...]], number: int) -> tuple[_T, ...]:
    return groups[number] if number < len(groups) else ()


def _federal_income_tax(books: PersonBooks) -> frozenset[str]:
    tax = rulebook_of(books.tax_year).income_tax
    return frozenset({tax.code, tax.supplemental_code})


def _wages(books: PersonBooks, code: str) -> Figure:
    return total(books.demanded(federal_line(code, books.tax_year)))


def _other(books: PersonBooks) -> tuple[LabelledAmount, ...]:
    found = []
    for state in _states_named(books):
        for item in state_boxes()[state].other:
            figure = total(books.amounts(item.lines))
            if figure.cents:
                found.append(LabelledAmount(item.label, state, figure))
    return tuple(found)


def _states_named(books: PersonBooks) -> list[str]:
    ours = {line.code[:2] for _, line in books.lines()}
    return sorted((ours | {line.code[:2] for _, line in books.told()}) & STATES.keys())


def _states(books: PersonBooks, box_1: Figure) -> tuple[BoxesOfState, ...]:
    """Return boxes 15 to 17, even if no tax was withheld, since the state can tax the wages."""
    rules = rulebook_of(books.tax_year)
    taxes = {}
    for state in {*_states_named(books), *(books.state_of(entry) for entry in books.prior)}:
        tax = rules.state(state).income_tax
        if tax is not None:
            taxes[state] = tax.code
    rows = []
    for state, code in sorted(taxes.items()):
        wages = _state_wages(books, state, code)
        amount = total_or_blank(books.amounts({code}))
        if not any(part.cents for part in wages) and amount is None:
            continue
        figure = total(wages)
        if state_boxes()[state].federal_wages:
            figure = replace(box_1, formula="box 1")
        rows.append(BoxesOfState(state, figure, amount))
    return tuple(rows)


def _state_wages(books: PersonBooks, state: str, code: str) -> list[Part]:
    parts = []
    for booked, line in books.lines():
        if line.code == code:
            parts.append(booked.part(line.subject_wages, f"{code} subject_wages"))
            parts.append(
                booked.part(booked.paid_for_cents, "Social Security and Medicare paid by the household")
            )
    for entry in books.prior:
        subject_wages = {line.code: line.subject_wages for line in entry.lines}
        elsewhere = any(other.endswith("-SIT") for other in subject_wages)
        if code in subject_wages:
            parts.append(entry.part(subject_wages[code], f"{code} subject_wages"))
        elif books.state_of(entry) == state and not elsewhere:
            parts.append(entry.part(entry.gross_pay, "gross_pay"))
    return parts


def _localities(books: PersonBooks) -> tuple[LocalWages, ...]:
    rules = rulebook_of(books.tax_year)
    rows = []
    for state in _states_named(books):
        boxes = state_boxes()[state]
        places = {tax.code: tax.locality for tax in rules.state(state).local_taxes if tax.payer == "employee"}
        for code in sorted(places.keys() - boxes.lines_in_other):
            wages, tax = total(_local_wages(books, code)), total_or_blank(books.amounts({code}))
            if tax is not None or wages.cents:
                rows.append(LocalWages(state, _place(boxes, code, places[code]), code, wages, tax))
    return tuple(rows)


def _local_wages(books: PersonBooks, code: str) -> Iterable[Part]:
    """Return the wages on which a local tax was withheld; if its withholding wasn't agreed on, its boxes stay blank."""
    return books.taxable(code)


def _place(boxes: StateBoxes, code: str, locality: str) -> str:
    return boxes.locality_names.get(code) or locality.removesuffix(_NONRESIDENT).replace("-", " ")


def _required_for(
    owes_fica: bool,
    box_2: Figure | None,
    states: Iterable[BoxesOfState],
    localities: Iterable[LocalWages],
) -> tuple[str, ...]:
    reasons = {
        "fica": owes_fica,
        "federal_income_tax": box_2 is not None,
        "state_income_tax": any(row.tax is not None for row in states),
        "local_income_tax": any(row.tax is not None for row in localities),
    }
    return tuple(reason for reason, holds in reasons.items() if holds)


def _about_fica(books: PersonBooks) -> list[Remark]:
    """Return remarks on FICA: below the threshold, what must be or was repaid; otherwise, what is still open."""
    codes = {SOCIAL_SECURITY, MEDICARE, ADDITIONAL_MEDICARE}
    if books.owes_fica:
        return _open(books)
    threshold, wages = from_cents(books.fica_threshold), from_cents(books.fica_wages)
    below = f"The wages of {wages:,} stay below {threshold:,}: boxes 3 to 6 are blank."
    kept = sum(part.cents for part in books.amounts(codes))
    remarks = []
    repaid = -sum(
        line.amount for booked, line in books.lines() if booked.paycheck.is_refund and line.code in codes
    )
    if repaid:
        remarks.append(
            Remark("fica_repaid", f"{below} What was withheld, {from_cents(repaid):,}, was repaid.", repaid)
        )
    if kept:
        remarks.append(
            Remark(
                "fica_to_be_repaid",
                f"{below} Repay what was withheld for Social Security and Medicare, {from_cents(kept):,}.",
                kept,
            )
        )
    return remarks


def _open(books: PersonBooks) -> list[Remark]:
    """Return remarks where the tax withheld differs from the year's requirement by more than payment rounding."""
    remarks = []
    for code, name in ((SOCIAL_SECURITY, "Social Security"), (MEDICARE, "Medicare")):
        law = federal_line(code, books.tax_year)
        wages = sum(part.cents for part in books.demanded(law))
        untaxed = wages - sum(part.cents for part in books.taxable(code))
        withheld = sum(part.cents for part in books.amounts({code}))
        missing = law.tax(wages, law.rate) - withheld
        rounding = len(books.paychecks) + (MOST_ROUNDING_CENTS if books.prior else 0)
        if untaxed or abs(missing) > rounding:
            text = (
                f"{name} of the year's wages is {from_cents(withheld + missing):,}; {from_cents(withheld):,} was "
                "withheld. The next paycheck of the year corrects what is ours"
            )
            text += (
                ", not what another payroll withheld."
                if books.prior
                else "; after the year the household does."
            )
            remarks.append(Remark("open", text, missing))
    return remarks


def _about_prior(books: PersonBooks) -> list[Remark]:
    remarks = []
    for entry in books.prior:
        text = f"Includes what {entry.source} paid until {entry.as_of}: see that no other Form W-2 is filed for it."
        if not any(line.code[:2] in STATES for line in entry.lines):
            text += f" Its lines name no state: it is taken to be earned in {STATES[books.state_of(entry)]}."
        remarks.append(Remark("prior_wages", text, entry.gross_pay))
    return remarks
