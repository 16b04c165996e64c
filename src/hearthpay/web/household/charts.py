"""The positions of a chart's bars: plain numbers for the macro that draws them as SVG, without a script or a style."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 560
HEIGHT: Final = 230
_LEFT: Final = 58
_TOP: Final = 14
_BOTTOM: Final = 200
_STEPS: Final = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Month:
    """One column: its label, and its amounts in cents, the lowest part first; none is negative."""

    name: str
    amounts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a column, or one of columns side by side, in SVG coordinates. `series` counts from 0."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True)
class Gridline:
    """A line across the chart with its label; all labels of a chart are of one kind: $500, or $2k, or $1M."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class BarChart:
    """A chart ready to be drawn. `names` are the columns' with the middle of each."""

    bars: tuple[Bar, ...]
    lines: tuple[Gridline, ...]
    names: tuple[tuple[float, str], ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    bottom: int = _BOTTOM


def bar_chart(months: Sequence[Month], *, side_by_side: bool = False) -> BarChart:
    """Return the chart of amounts on each other, or side by side. Raises ValueError for a negative amount."""
    if any(amount < 0 for month in months for amount in month.amounts):
        raise ValueError("a bar shows what something cost, not what came back")
    together = max if side_by_side else sum
    heights = [together((*month.amounts, 0)) for month in months]
    step = _step(max(heights, default=0))
    top = max(step, *(-(-height // step) * step for height in heights)) if months else step
    scale = (_BOTTOM - _TOP) / top
    place = (WIDTH - _LEFT) / max(1, len(months))
    bars = [
        bar
        for number, month in enumerate(months)
        for bar in _column(month, _LEFT + place * (number + 0.5), place, scale, side_by_side=side_by_side)
    ]
    unit, sign = _unit(step)
    lines = [
        Gridline(round(_BOTTOM - cents * scale, 1), f"${cents // 100 // unit:,}{sign if cents else ''}")
        for cents in range(0, top + 1, step)
    ]
    names = [(round(_LEFT + place * (number + 0.5), 1), month.name) for number, month in enumerate(months)]
    return BarChart(tuple(bars), tuple(lines), tuple(names))


def _column(month: Month, middle: float, place: float, scale: float, *, side_by_side: bool) -> Iterator[Bar]:
    """Yield the bars of a month whose column is `place` wide, in the order of the series."""
    width = (
        min(56.0, place * 0.62) if not side_by_side else min(28.0, place * 0.8 / max(1, len(month.amounts)))
    )
    x = middle - width * (len(month.amounts) if side_by_side else 1) / 2
    y = float(_BOTTOM)
    for series, amount in enumerate(month.amounts):
        if amount:
            top = y - amount * scale
            yield Bar(round(x, 1), round(top, 1), round(width, 1), round(amount * scale, 1), series)
            y = _BOTTOM if side_by_side else top
        x += width if side_by_side else 0


def _step(highest: int) -> int:
    """Return the distance between lines, in cents, so that there are two to five of them above zero."""
    unit = 100
    while True:
        for factor in _STEPS:
            if highest <= unit * factor * 4:
                return unit * factor
        unit *= 10


def _unit(step: int) -> tuple[int, str]:
    """Return the dollars that labels count in for this distance between lines, and the sign for it."""
    dollars = step // 100
    if dollars % 1_000_000 == 0:
        return 1_000_000, "M"
    return (1000, "k") if dollars % 1000 == 0 else (1, "")
