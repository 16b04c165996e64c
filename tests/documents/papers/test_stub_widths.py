"""What a pay stub's template takes for certain, so that it measures less, changes nothing of the document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typst
from benchmarks.papers import _EMPLOYEE, _HOUSEHOLD, _stub

from hearthpay.documents import rendering
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.stub import PayStub
from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers.stub_paper import StubLanguage, stub_paper
from hearthpay.documents.rendering import most_width, render_pdf

FONTS = Path(rendering.__file__).parent / "templates" / "fonts"
MEASURED = """
#set text(font: "Source Sans Pro", size: 100pt, number-width: "tabular", ligatures: false)
#let width(letter, weight) = measure(text(weight: weight, letter)).width.pt() / 100
#let letters = range(32, 127).map(str.from-unicode)
#context [#metadata(letters.map(letter => (letter, calc.max(width(letter, 400), width(letter, 600))))) <widths>]
#context [#metadata((400, 600).map(weight => measure(text(weight: weight)[H]).height.pt() / 100)) <capitals>]
"""
NAMES = (
    "W" * 30,
    "Ölsteuer für Köln",
    "A very long name of a tax that goes over more than a single line of the table at any rate",
    "x",
    "mmmm wwww MMMM @@@@ WWWW",
    "Occupation tax, 中文",
    "Newark (New Jersey) payroll tax",
    "i" * 40,
    "  two   spaces  ",
    "Social Security (employee)",
)


def measured(folder: Path, label: str) -> Any:
    source = folder / "measured.typ"
    source.write_text(MEASURED)
    found = typst.query(
        str(source), f"<{label}>", field="value", one=True, font_paths=[str(FONTS)], ignore_system_fonts=True
    )
    return json.loads(found)


def test_no_letter_is_wider_than_counted(tmp_path: Path) -> None:
    for letter, width in measured(tmp_path, "widths"):
        most = most_width(letter)
        assert most is not None
        assert width <= most, letter
    assert most_width("é") is None
    assert most_width("a\nb") is None
    assert most_width("") == 0


def test_the_longest_usual_name_of_a_line_counts_as_one_line_of_its_column() -> None:
    most = most_width("Social Security (employee)")
    assert most is not None
    assert most * 9.5 <= 182


def test_capitals_are_as_high_as_the_template_says(tmp_path: Path) -> None:
    assert measured(tmp_path, "capitals") == pytest.approx([0.66, 0.66])
    assert "#let capitals = 0.66 " in (FONTS.parent / "pay_stub.typ").read_text("utf-8")


def stubs() -> Iterator[tuple[PayStub, StubLanguage, dict[str, Any]]]:
    usual = _stub(7)
    yield usual, "en", {}
    yield usual, "es", {"file_copy": True}
    yield replace(usual, voided=True, set_aside=Figure(500), set_aside_balance=Figure(9900)), "en", {}
    for times in (1_000, 100_000):
        large = tuple(
            line._replace(
                current=Figure(line.current.cents * times),
                year_to_date=Figure(line.current.cents * times * 20),
                taxable_wages=Figure(usual.gross_pay.cents * times),
            )
            for line in usual.withheld
        )
        yield replace(usual, withheld=large, gross_pay=Figure(usual.gross_pay.cents * times)), "en", {}
    for many in (3, 30):
        lines = tuple(
            usual.withheld[0]._replace(code=f"ZZ-{each}", name=NAMES[each % len(NAMES)])
            for each in range(many)
        )
        yield (
            replace(usual, withheld=lines, household=lines),
            "en",
            {"file_copy": True, "letterhead": "W" * 60},
        )


@pytest.mark.parametrize(("stub", "language", "more"), list(stubs()))
def test_a_stub_with_known_widths_is_the_stub_with_all_measured(
    stub: PayStub, language: StubLanguage, more: dict[str, Any]
) -> None:
    options = {"file_copy": False, "letterhead": None, "note": "A note " * 30} | more
    paper = stub_paper(
        stub,
        household=replace(_HOUSEHOLD, name="Wilhelmina Montgomery-Worthington Household"),
        employee=_EMPLOYEE,
        marks=PaperMarks(),
        language=language,
        **options,
    )
    assert paper["widths"]
    assert render_pdf("pay_stub", paper) == render_pdf("pay_stub", {**paper, "widths": {}})
