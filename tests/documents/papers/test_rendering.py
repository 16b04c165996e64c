"""How papers are set: accessible, the same bytes for the same figures, whatever somebody is called."""

import concurrent.futures
import functools
import io
import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops

from hearthpay.documents.figures.w3 import w3_of
from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers import (
    page_count,
    pay_stub,
    schedule_h,
    w2_for_employee,
    w2_for_household,
    w2c,
    w3,
    year_cover,
)
from hearthpay.documents.papers.schedule_h_paper import schedule_h_sheets
from hearthpay.documents.papers.stub_paper import stub_paper
from hearthpay.documents.papers.w2_paper import employee_sheets
from hearthpay.documents.papers.w3_paper import w3_sheet
from hearthpay.documents.rendering import legible, render_pages
from tests.documents.papers.family import (
    MILLERS,
    ROSA,
    read,
    stub_with_everything,
    text_of,
    year_of_two_states,
)

PICTURES = Path(__file__).parent / "pictures"
SQUARE = 20
MOST_DIFFERENCE = 6
HOSTILE = {
    "typst markup": '#panic("x") #sys.inputs *b* _i_ $1/0$ <a> @b = H // c',
    "code that ends a string": '"); #read("/etc/passwd") \\u{41} \\',
    "sixty letters in one": "W" * 60,
    "sixty with blanks": "Wilhelmina " * 5 + "Wilde",
    "right to left": "שרה כהן مريم",
    "turned around": "Rosa \u202eleinaD",
    "accents and other alphabets": "Žofie Łękawska Иванова Nguyễn",
    "markup of others": "<b>Rosa</b>&amp;{{7*7}}",
}


def papers_of(name: str) -> list[bytes]:
    family, nanny = replace(MILLERS, name=name), replace(ROSA, first_name=name, last_name=name)
    year = year_of_two_states()
    return [
        pay_stub(stub_with_everything(), household=family, employee=nanny, letterhead=name[:60], note=name),
        w2_for_household(year.form, household=family, employee=nanny),
        w3(w3_of([year.form]), household=family),
    ]


@functools.cache
def pictured() -> Mapping[str, bytes]:
    """The first page of each kind of paper, small."""
    year, stub = year_of_two_states(), stub_with_everything()
    english = stub_paper(
        stub, household=MILLERS, employee=ROSA, marks=PaperMarks(), language="en", file_copy=True,
        letterhead="The Miller home", note="Thank you for a wonderful year, Rosa.",
    )  # fmt: skip
    spanish = stub_paper(
        replace(stub, voided=True), household=MILLERS, employee=ROSA, marks=PaperMarks(test=True), language="es",
        file_copy=False, letterhead=None, note=None,
    )  # fmt: skip
    papers = {
        "stub": ("pay_stub", english),
        "stub-es": ("pay_stub", spanish),
        "w2": ("w2", employee_sheets(year.form, MILLERS, ROSA, PaperMarks())),
        "w3": ("lines", w3_sheet(w3_of([year.form]), MILLERS, PaperMarks())),
        "schedule-h": ("lines", schedule_h_sheets(year.schedule, MILLERS, PaperMarks())),
    }
    return {name: render_pages(template, paper, 48)[0] for name, (template, paper) in papers.items()}


def test_papers_are_tagged_titled_and_in_a_language() -> None:
    year = year_of_two_states()
    who = {"household": MILLERS, "employee": ROSA}
    papers = {
        "en-US": [
            pay_stub(stub_with_everything(), **who),
            w2_for_employee(year.form, **who),
            w2c(year.form, replace(year.form, box_2=None), **who),
            w3(w3_of([year.form]), household=MILLERS),
            schedule_h(year.schedule, household=MILLERS),
        ],
        "es-US": [pay_stub(stub_with_everything(), **who, language="es")],
    }
    for language, drawn in papers.items():
        for pdf in drawn:
            reader = read(pdf)
            root = reader.root_object
            assert root["/Lang"] == language
            assert root["/MarkInfo"]["/Marked"].value is True
            assert root["/ViewerPreferences"]["/DisplayDocTitle"].value is True
            assert root["/StructTreeRoot"]["/K"]
            assert reader.metadata is not None
            assert reader.metadata.title
            meta = root["/Metadata"].get_data().decode()
            assert "<pdfuaid:part>1</pdfuaid:part>" in meta
            assert "CreateDate" not in meta
            assert page_count(pdf) == len(reader.pages)
            assert all(
                re.search(r"\bnot\b|no se presenta", page.extract_text()[-120:]) for page in reader.pages
            )
            for page in reader.pages:
                assert [float(side) for side in page.mediabox] == [0, 0, 612, 792]
                for font in page["/Resources"]["/Font"].values():
                    assert "/ToUnicode" in font.get_object()


def test_tables_have_headers_and_headings_follow_each_other() -> None:
    pdf = pay_stub(stub_with_everything(), household=MILLERS, employee=ROSA, file_copy=True)
    tags: list[str] = []

    def walk(node: object) -> None:
        node = node.get_object() if hasattr(node, "get_object") else node
        if isinstance(node, list):
            for each in node:
                walk(each)
        elif isinstance(node, dict):
            if "/S" in node:
                tags.append(str(node["/S"]))
            if "/K" in node:
                walk(node["/K"])

    walk(read(pdf).root_object["/StructTreeRoot"])
    assert tags.count("/Table") == 5
    assert tags.count("/TH") == 5 + 5 + 2 + 5 + 2
    headings = [tag for tag in tags if tag in ("/H1", "/H2", "/H3")]
    assert headings[0] == "/H1"
    assert headings.count("/H1") == 2


def test_the_same_figures_make_the_same_bytes_in_any_process() -> None:
    stub = stub_with_everything()
    drawn = functools.partial(pay_stub, household=MILLERS, employee=ROSA)
    first = drawn(stub)
    assert drawn(stub, language="es") != first
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(drawn, [stub] * 8)) == {first}
    script = (
        "from hearthpay.documents.rendering import render_pdf\n"
        "import hashlib\n"
        "paper = {'title': 'T', 'language': 'en', 'test': None, 'foot': '', 'page': '{page}/{pages}', 'pages': []}\n"
        "print(hashlib.sha256(render_pdf('lines', paper)).hexdigest())"
    )
    runs = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_name_is_a_name_whatever_stands_in_it(name: str) -> None:
    for pdf in papers_of(name):
        said: list[str] = []
        for page in read(pdf).pages:
            page.extract_text(visitor_text=functools.partial(inside, said, float(page.mediabox.width)))
        text = re.sub(r"[\s\u200b]", "", "".join(said))
        if name.isascii():
            assert "".join(legible(name).split())[:60] in text, name


def inside(said: list[str], width: float, text: str, _: object, matrix: list[float], *rest: object) -> None:
    """Keep what is said; no word begins beside the sheet."""
    said.append(text)
    assert not text.strip() or 0 <= matrix[4] <= width, text


@given(st.text(min_size=1, max_size=60))
@settings(max_examples=25, deadline=None)
def test_whoever_is_called_whatever_gets_a_paper(name: str) -> None:
    assert page_count(year_cover(2025, [], household=replace(MILLERS, name=name))) == 1


def test_letters_that_no_font_has_become_boxes() -> None:
    assert legible("李 Rosa 😀\x00\u202e\n two") == "□ Rosa □ two"
    assert legible("e\u0301") == "é"
    for pdf in papers_of("李小龍 😀 \x00\u0378\ue000\U000e0041"):
        assert "□□□ □" in text_of(pdf)


def test_every_letter_that_the_fonts_are_said_to_have_can_be_set() -> None:
    from hearthpay.documents.rendering import _covered

    letters = [
        chr(point) for point in sorted(_covered()) if unicodedata.normalize("NFC", chr(point)) == chr(point)
    ]
    assert len(letters) > 3500
    assert legible(" ".join(letters)).count("□") == 1
    note = [" ".join(letters[start : start + 140]) for start in range(0, len(letters), 140)]
    paper = stub_paper(
        replace(stub_with_everything(), warnings=tuple(note)), household=MILLERS, employee=ROSA, marks=PaperMarks(),
        language="en", file_copy=True, letterhead=None, note=None,
    )  # fmt: skip
    from hearthpay.documents.rendering import render_pdf

    assert page_count(render_pdf("pay_stub", paper)) >= 2


@pytest.mark.parametrize("name", ["stub", "stub-es", "w2", "w3", "schedule-h"])
def test_pages_look_as_they_were_looked_at(name: str) -> None:
    """After a wanted change: `python -m tests.documents.papers.test_rendering`, and look at what it writes."""
    kept = Image.open(PICTURES / f"{name}.png").convert("L")
    drawn = Image.open(io.BytesIO(pictured()[name])).convert("L")
    assert drawn.size == kept.size
    squares = ImageChops.difference(kept, drawn).resize(
        (drawn.width // SQUARE, drawn.height // SQUARE), Image.Resampling.BOX
    )
    _, most = squares.getextrema()
    assert most <= MOST_DIFFERENCE, f"a square of the page differs by {most} of 255 in the mean"


def test_nobody_who_draws_no_paper_loads_the_compiler() -> None:
    modules = (
        "hearthpay.payroll.service, hearthpay.taxes.calculator, hearthpay.cli, hearthpay.calculator.answers, "
        "hearthpay.documents.papers, hearthpay.documents.efw2"
    )
    script = f"import sys, {modules}; print(sorted({{'typst', 'pypdf', 'PIL'}} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


if __name__ == "__main__":
    for each, picture in pictured().items():
        Image.open(io.BytesIO(picture)).convert("L").save(PICTURES / f"{each}.png", optimize=True)
