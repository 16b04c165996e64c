"""The texts on the copies of Form W-2, read from ``w2_texts.toml``."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hearthpay.documents.figures.books import SOCIAL_SECURITY, federal_line
from hearthpay.documents.figures.forms import FormNotKnownError, w2_form
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.papers.writing import money

_FILE: Final = Path(__file__).parent / "w2_texts.toml"


@dataclass(frozen=True, slots=True)
class W2Texts:
    """The texts of one tax year."""

    omb: str
    captions: Mapping[str, str]
    """The captions by the copy's letter or digit."""

    furnished: Mapping[str, str]
    use: Mapping[str, str]
    foot: Mapping[str, str]
    """What a page may be used for, in a long and a short form."""

    draft: bool
    """Whether the year's form is still unpublished."""


@functools.cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def w2_texts(tax_year: int) -> W2Texts:
    """Return the texts of a tax year; raises `FormNotKnownError` for one without a form."""
    data = _file()
    year = next((each for each in data["year"] if each["tax_year"] == tax_year), None)
    if year is None:
        raise FormNotKnownError(f"the copies of Form W-2 of {tax_year} are not known yet")
    captions = {copy: text for copy, text in data["captions"].items() if copy not in ("source", "confidence")}
    return W2Texts(
        year["omb"],
        captions,
        data["furnished"],
        data["use"],
        data["foot"],
        w2_form(tax_year).status == "draft",
    )


def notice_and_instructions(form: W2) -> list[Mapping[str, object]]:
    """Return what must accompany the employee's copies: titles and texts, with the codes used in box 12."""
    data = _file()
    law = federal_line(SOCIAL_SECURITY, form.tax_year)
    filled = {
        "year": form.tax_year,
        "most_social_security": money(law.tax(law.wage_base or 0, law.rate)),
        "other_box": form.other_box,
    }
    codes = list(dict.fromkeys(entry.code for entry in form.box_12))
    texts = data["codes"]
    left_out = {"Box 12."} if not codes else set()
    if not form.box_14:
        left_out.add("Box {other_box}.")
    parts: list[Mapping[str, object]] = []
    for name, heading in (("notice", "Notice to Employee"), ("instructions", "Instructions for Employee")):
        items = []
        for item in data[name]:
            if item["title"] in left_out:
                continue
            items.append({key: item[key].format(**filled) for key in ("title", "text")})
            if item["title"] == "Box 12.":
                items += [{"title": f"{code}—", "text": texts.get(code, texts["other"])} for code in codes]
        parts.append({"title": heading, "items": items})
    return parts
