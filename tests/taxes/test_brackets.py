"""Where one row of a bracket table ends and the next begins, in both ways that tables are printed."""

import pytest

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.money import RATE_SCALE

LOWERS = (0, 100_00, 500_00)
BASES = (0, 2_00, 30_00)  # not where the row below ends, as in tables that are printed with rounded bases
RATES = tuple(percent * RATE_SCALE // 100 for percent in (1, 5, 10))


@pytest.mark.parametrize(
    ("over", "wages", "row"),
    [
        (False, -1, 0),
        (False, 0, 0),
        (False, 99_99, 0),
        (False, 100_00, 1),  # at least 100
        (False, 499_99, 1),
        (False, 500_00, 2),
        (True, -1, 0),
        (True, 0, 0),
        (True, 100_00, 0),  # not over 100
        (True, 100_01, 1),
        (True, 500_00, 1),
        (True, 500_01, 2),
    ],
)
def test_wages_at_the_edge_of_a_row(over: bool, wages: int, row: int) -> None:
    table = BracketTable(LOWERS, RATES, BASES, over)
    assert table.row(wages) == row
    assert table.scaled_tax(wages, RATE_SCALE) == BASES[row] * RATE_SCALE + RATES[row] * (wages - LOWERS[row])
