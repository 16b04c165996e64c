"""Tax tables: rows of lower bound, marginal rate and base tax."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BracketTable:
    """A table compiled to whole cents and rates in billionths (see `hearthpay.taxes.money.RATE_SCALE`)."""

    lowers: tuple[int, ...]
    rates: tuple[int, ...]
    bases: tuple[int, ...]
    over: bool
    """True if the table reads "over … but not over …", False for "at least … but less than …"."""

    def row(self, wages: int) -> int:
        """Return the index of the row that ``wages`` (cents) fall in."""
        find = bisect_left if self.over else bisect_right
        index = find(self.lowers, wages) - 1
        return index if index > 0 else 0

    def scaled_tax(self, wages: int, scale: int) -> int:
        """Return the tax on ``wages`` (cents) as exact cents times ``scale`` (the rates' scale)."""
        find = bisect_left if self.over else bisect_right
        index = find(self.lowers, wages) - 1
        if index < 0:
            index = 0
        return self.bases[index] * scale + self.rates[index] * (wages - self.lowers[index])
