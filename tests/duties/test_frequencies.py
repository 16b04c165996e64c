"""A year whose frequency falls in its course: no month is filed less often than the law asks of it."""

from collections.abc import Mapping

import pytest

from hearthpay.duties.frequency import AccountLedger, months_of, stretches_of
from hearthpay.duties.rules import duties_of


@pytest.mark.parametrize(
    ("taxes", "expected"),
    [
        # $20 of December 2025 are expected to become $240 a year: quarterly. $2 of February 2026 are paid once a year.
        ({(2025, 12): 20_00, (2026, 2): 2_00}, [(1, 1, "quarterly"), (2, 12, "annual")]),
        (
            {(2025, 12): 20_00, (2026, 8): 2_00},
            [(1, 3, "quarterly"), (4, 6, "quarterly"), (7, 7, "quarterly"), (8, 12, "annual")],
        ),
        # It rises at once.
        ({(2026, 2): 2_00, (2026, 8): 60_00}, [(1, 9, "quarterly"), (10, 12, "quarterly")]),
    ],
)
def test_withholding_in_kansas(
    taxes: Mapping[tuple[int, int], int], expected: list[tuple[int, int, str]]
) -> None:
    [account] = [each for each in duties_of("KS").accounts if each.name == "withholding"]
    ledger = AccountLedger(lambda year, month: taxes.get((year, month), 0))
    stretches = stretches_of(account, None, ledger, 2026)
    assert [(each.first_month, each.last_month, each.frequency) for each in stretches] == expected
    often = [band.frequency for band in account.bands]
    asked = months_of(account, None, ledger, 2026)
    for each in stretches:
        for month in range(each.first_month, each.last_month + 1):
            assert often.index(each.frequency) >= often.index(asked[month - 1].frequency), month
