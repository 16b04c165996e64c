"""The table at the end: what was measured, what it was measured against, and the aim."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound that a measured figure should keep; `at_least` says on which side."""

    bound: float
    at_least: bool

    def met(self, figure: float) -> bool:
        return figure >= self.bound if self.at_least else figure <= self.bound


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `ratio` compares two medians of the same run.

    The aim is about `judged`, which is None where the run allows no verdict.
    """

    measure: str
    result: str
    against: str = ""
    ratio: float | None = None
    aim: Aim | None = None
    judged: float | None = None


def spread(samples: Sequence[float]) -> float:
    """How far the middle half of the samples lies apart, as a share of their median."""
    lower, middle, upper = quantiles(samples, n=4)
    return (upper - lower) / middle


def print_table(rows: Sequence[Row]) -> None:
    cells = [("Measure", "Median", "Against (same run)", "Ratio", "Aim", "")]
    for row in rows:
        aim = verdict = ""
        if row.aim is not None:
            aim = f"{'≥' if row.aim.at_least else '≤'} {row.aim.bound:g}"
            verdict = "not judged" if row.judged is None else "met" if row.aim.met(row.judged) else "MISSED"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        cells.append((row.measure, row.result, row.against, ratio, aim, verdict))
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for position, line in enumerate(cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if position == 0:
            print("  ".join("-" * width for width in widths))


def in_columns(entries: Sequence[str], across: int = 10) -> str:
    """Short entries side by side, indented."""
    rows = (entries[start : start + across] for start in range(0, len(entries), across))
    return "\n".join("  " + "   ".join(row) for row in rows)
