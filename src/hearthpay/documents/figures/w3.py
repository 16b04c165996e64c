"""Form W-3 of a household: the totals of its Forms W-2."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.documents.figures.figure import Figure, derived
from hearthpay.documents.figures.w2 import W2, sheets_of

SEVERAL_STATES: Final = "X"
"""The entry in box 15 if the forms name more than one state."""

_IN_BOX_12A: Final = frozenset({"D", "E", "F", "G", "H", "S", "Y", "AA", "BB", "EE"})
"""Deferred compensation: the only codes of box 12 that Form W-3 totals (General Instructions, box 12a)."""


@dataclass(frozen=True, slots=True)
class W3:
    """A household's Form W-3; `Kind of Payer` is "Hshld. emp.", `Kind of Employer` "None apply"."""

    tax_year: int
    box_c: int
    """How many Forms W-2 accompany it, including additional sheets for one person."""

    box_1: Figure
    box_2: Figure | None
    box_3: Figure | None
    box_4: Figure | None
    box_5: Figure | None
    box_6: Figure | None
    box_12a: Figure | None
    box_15: str | None
    box_16: Figure | None
    box_17: Figure | None
    box_18: Figure | None
    box_19: Figure | None


def w3_of(forms: Sequence[W2]) -> W3:
    """Return the Form W-3 for these Forms W-2, all of one tax year and at least one.

    Each figure is the sum of the boxes and has all their parts. Raises `ValueError` for none or several years.
    """
    years = {form.tax_year for form in forms}
    if len(years) != 1:
        raise ValueError("a Form W-3 goes with Forms W-2 of one tax year")
    states = sorted({row.state for form in forms for row in form.states})
    return W3(
        tax_year=years.pop(),
        box_c=sum(len(sheets_of(form)) for form in forms),
        box_1=_sum("box 1", (form.box_1 for form in forms)) or derived(0, "sum of box 1"),
        box_2=_box(forms, "box 2", lambda form: form.box_2),
        box_3=_box(forms, "box 3", lambda form: form.box_3),
        box_4=_box(forms, "box 4", lambda form: form.box_4),
        box_5=_box(forms, "box 5", lambda form: form.box_5),
        box_6=_box(forms, "box 6", lambda form: form.box_6),
        box_12a=_sum(
            "box 12", (entry.figure for form in forms for entry in form.box_12 if entry.code in _IN_BOX_12A)
        ),
        box_15=SEVERAL_STATES if len(states) > 1 else (states[0] if states else None),
        box_16=_sum("box 16", (row.wages for form in forms for row in form.states)),
        box_17=_sum("box 17", (row.tax for form in forms for row in form.states)),
        box_18=_sum("box 18", (row.wages for form in forms for row in form.localities)),
        box_19=_sum("box 19", (row.tax for form in forms for row in form.localities)),
    )


def _box(forms: Iterable[W2], name: str, of: Callable[[W2], Figure | None]) -> Figure | None:
    return _sum(name, (of(form) for form in forms))


def _sum(name: str, figures: Iterable[Figure | None]) -> Figure | None:
    """Return the sum of the boxes; None, a blank, if all of them are blank."""
    filled = [figure for figure in figures if figure is not None]
    if not filled:
        return None
    parts = tuple(part for figure in filled for part in figure.parts)
    return Figure(sum(figure.cents for figure in filled), parts, f"sum of {name}")
