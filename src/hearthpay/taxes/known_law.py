"""What is known about a year's law, line by line: published, carried on, provisional, or unknown."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hearthpay.taxes.coverage import FEDERAL, CoverageRow, coverage, state_coverage
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence, FinalityStatus


@dataclass(frozen=True, slots=True)
class KnownLine:
    """How final the figures of one line are for a year."""

    jurisdiction: str
    """The state, or ``US``."""

    code: str
    name: str
    finality: FinalityStatus
    basis: str
    """The statute that carries the figures on, or why others are used; empty if they are published."""

    figures: tuple[str, ...]
    """Which figures are provisional: ``rate``, ``wage_base``, ``tables``, ``weekly_maximum``."""

    awaited: str | None
    """The month, such as ``2026-12``, in which the figures were published in other years."""

    confidence: Confidence
    sources: tuple[Source, ...]


def known_lines(rulebook: Rulebook, jurisdiction: str | None = None) -> tuple[KnownLine, ...]:
    """Return every line of a year, federal ones first, or those of one jurisdiction: a state in any case, or ``US``.

    Raises `TaxInputError` naming ``state`` for any other value.
    """
    if jurisdiction is None:
        states: Iterable[str] = rulebook.supported_states
        rows: Iterable[CoverageRow] = coverage(rulebook)
    elif jurisdiction.strip().upper() == FEDERAL:
        states = ()
        rows = (row for row in coverage(rulebook) if row.jurisdiction == FEDERAL)
    else:
        rules = rulebook.state(jurisdiction, "state")
        states, rows = (rules.state,), state_coverage(rules)
    # For a line with several versions in the year, the last one applies.
    lines = {(row.jurisdiction, row.code): _line(row) for row in rows}
    programs = [*_programs(FEDERAL, rulebook.finality)] if jurisdiction is None or not states else []
    for state in states:
        own = rulebook.state(state).finality
        programs += _programs(state, {code: each for code, each in own.items() if code[:2] == state})
    return (*lines.values(), *programs)


def _line(row: CoverageRow) -> KnownLine:
    known = row.finality
    if known is None:
        return KnownLine(
            row.jurisdiction, row.code, row.name, "final", "", (), None, row.confidence, row.sources
        )
    return _known(row.jurisdiction, row.name, known)


def _known(jurisdiction: str, name: str, known: Finality) -> KnownLine:
    return KnownLine(
        jurisdiction,
        known.code,
        name,
        known.status,
        known.basis,
        known.figures,
        known.awaited,
        known.confidence,
        known.sources,
    )


def _programs(jurisdiction: str, finality: Mapping[str, Finality]) -> Iterator[KnownLine]:
    """Yield the programs that begin in the year without a line yet."""
    return (_known(jurisdiction, each.code, each) for each in finality.values() if each.begins is not None)


def counts_by_jurisdiction(lines: Iterable[KnownLine]) -> dict[str, Counter[FinalityStatus]]:
    """Return the number of lines by finality for each jurisdiction."""
    counts: dict[str, Counter[FinalityStatus]] = {}
    for line in lines:
        counts.setdefault(line.jurisdiction, Counter())[line.finality] += 1
    return counts
