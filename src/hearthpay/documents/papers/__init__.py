"""The documents themselves: figures and parties → a PDF. Pure except for the compiler, which is loaded when needed."""

import re
from typing import Final

from hearthpay.documents.papers.cover_paper import PackageItem, PackageUse, year_cover
from hearthpay.documents.papers.schedule_h_paper import schedule_h
from hearthpay.documents.papers.stub_paper import StubLanguage, pay_stub
from hearthpay.documents.papers.w2_paper import w2_for_employee, w2_for_household, w2_for_state
from hearthpay.documents.papers.w2c_paper import w2c
from hearthpay.documents.papers.w3_paper import w3, w3c

__all__ = [
    "PackageItem",
    "PackageUse",
    "StubLanguage",
    "page_count",
    "pay_stub",
    "schedule_h",
    "w2_for_employee",
    "w2_for_household",
    "w2_for_state",
    "w2c",
    "w3",
    "w3c",
    "year_cover",
]

_PAGES: Final = re.compile(rb"/Type/Pages/Count (\d+)")


def page_count(pdf: bytes) -> int:
    """Return how many pages one of our documents has; raises `ValueError` for any other file."""
    found = _PAGES.search(pdf)
    if found is None:
        raise ValueError("this is none of our papers")
    return int(found.group(1))
