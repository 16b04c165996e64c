"""How final the figures of a line are for a year: final, carried on by the law, provisional, or unknown.

A year begins before all of its figures are published. The year's rule files state what each line is based on in
``[[finality]]`` tables, next to the figures themselves.
"""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from hearthpay.taxes.agencies import read_agency
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence, FinalityStatus

_STATUSES: Final = ("carried", "provisional", "unknown")
_FIGURES: Final = ("rate", "wage_base", "tables", "weekly_maximum")


@dataclass(frozen=True, slots=True)
class Finality:
    """What a line's figures of the year are based on, if they aren't published for the year."""

    code: str
    status: FinalityStatus
    """``carried``: by law last year's figure continues until it is changed. ``provisional``: the year's figure isn't
    published yet, and another is used until it is. ``unknown``: nothing can be used in its place."""

    basis: str
    """Carried: the statute. Provisional: why this figure is used. Unknown: what is missing."""

    sources: tuple[Source, ...]
    confidence: Confidence
    figures: tuple[str, ...] = ()
    """Which figures are provisional: ``rate``, ``wage_base``, ``tables``, ``weekly_maximum``."""

    awaited: str | None = None
    """The month, such as ``2026-12``, in which the figure was published in other years."""

    agency: str = ""
    """For a program without a line yet: the agency that will publish it."""

    begins: datetime.date | None = None
    """For a program without a line yet: the first pay date to which it applies."""


def read_finality(
    table: RuleTable, state: str, codes: Iterable[str], kept: frozenset[str]
) -> dict[str, Finality]:
    """Read the ``[[finality]]`` tables of a rule file of ``state``, by line code; final lines have none.

    ``codes`` are all line codes of the file, ``kept`` those whose figures are from the year before. If the file says
    nothing about one of these, it is provisional. Raises `RuleError` naming what is wrong.
    """
    known = set(codes)
    found: dict[str, Finality] = {}
    for entry in table.tables("finality"):
        for finality in _read(entry, state, known):
            if finality.code in found:
                raise entry.error("codes", f"{finality.code!r} is named twice")
            found[finality.code] = finality
    for code in kept.difference(found):
        found[code] = Finality(code, "provisional", "", (), "low")
    return found


def _read(entry: RuleTable, state: str, known: set[str]) -> list[Finality]:
    status = cast("FinalityStatus", entry.choice("status", _STATUSES))
    codes = entry.texts("codes")
    if not codes:
        raise entry.error("codes", "must name at least one line")
    figures, awaited, agency, begins = entry.texts("figures"), None, "", None
    if status != "carried":
        awaited = entry.text("awaited")
        _check_month(entry, awaited)
    if (status == "provisional") != bool(figures) or not set(figures) <= set(_FIGURES):
        raise entry.error("figures", f"a provisional line, and no other, names some of {', '.join(_FIGURES)}")
    if new := [code for code in codes if code not in known]:
        if status != "unknown":
            raise entry.error("codes", f"{new[0]!r} is not a line of this file")
        agency, begins = read_agency(entry, state), entry.date("begins")
    basis, sources, confidence = entry.text("basis"), entry.sources(), entry.confidence()
    entry.close()
    return [
        Finality(code, status, basis, sources, confidence, figures, awaited, agency, begins) for code in codes
    ]


def _check_month(entry: RuleTable, awaited: str) -> None:
    try:
        datetime.date.fromisoformat(f"{awaited}-01")
    except ValueError:
        raise entry.error("awaited", "must be a month like 2026-12") from None


def unpublished_programs(finality: Mapping[str, Finality], pay_date: datetime.date) -> tuple[Finality, ...]:
    """Return the programs that have begun by a pay date but have no line that can be calculated."""
    return tuple(each for each in finality.values() if each.begins is not None and each.begins <= pay_date)
