"""The positions of a chart's bars: plain numbers for the macro that draws them as SVG, without a script or a style."""

from collections.abc import Sequence
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
    """One part of a column in SVG coordinates. `series` counts from 0."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True)
class Gridline:
    """A line across the chart with its label in whole dollars."""

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


def bar_chart(months: Sequence[Month]) -> BarChart:
    """Return the chart of stacked amounts. Raises ValueError for a negative amount."""
    if any(amount < 0 for month in months for amount in month.amounts):
        raise ValueError("a bar shows what something cost, not what came back")
    step = _step(max((sum(month.amounts) for month in months), default=0))
    top = max(step, *(-(-sum(month.amounts) // step) * step for month in months)) if months else step
    scale = (_BOTTOM - _TOP) / top
    place = (WIDTH - _LEFT) / max(1, len(months))
    width = min(56.0, place * 0.62)
    bars: list[Bar] = []
    for number, month in enumerate(months):
        x, y = _LEFT + place * (number + 0.5) - width / 2, float(_BOTTOM)
        for series, amount in enumerate(month.amounts):
            if amount:
                y -= amount * scale
                bars.append(Bar(round(x, 1), round(y, 1), round(width, 1), round(amount * scale, 1), series))
    lines = [Gridline(round(_BOTTOM - cents * scale, 1), _short(cents)) for cents in range(0, top + 1, step)]
    names = [(round(_LEFT + place * (number + 0.5), 1), month.name) for number, month in enumerate(months)]
    return BarChart(tuple(bars), tuple(lines), tuple(names))


def _step(highest: int) -> int:
    """Return the distance between lines, in cents, so that there are two to five of them above zero."""
    unit = 100
    while True:
        for factor in _STEPS:
            if highest <= unit * factor * 4:
                return unit * factor
        unit *= 10


def _short(cents: int) -> str:
    dollars = cents // 100
    if dollars and dollars % 1_000_000 == 0:
        return f"{dollars // 1_000_000}M"
    if dollars and dollars % 1000 == 0:
        return f"{dollars // 1000}k"
    return f"{dollars:,}"
