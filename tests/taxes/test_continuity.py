"""State income tax as a function of wages makes no jump that the law does not contain.

Wages rise dollar by dollar (four dollars at a time by the month); a step that takes more than 15 % of the dollars
is a jump. What the law contains is listed, in cents above that, with the reason; the list must stay exact.
"""

import pytest

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.withholding import PeriodPay

RULEBOOK = rulebook_of(2026)
STEEPEST_PERCENT = 15
#: The most that rounding to the cent can add to a step.
ROUNDING_CENTS = 1

#: Highest weekly and monthly wages looked at, and the step, in cents.
RANGES = {"weekly": (6_000_00, 1_00), "monthly": (26_000_00, 4_00)}

WHOLE_DOLLARS = "the tax is rounded to the whole dollar"
KNOWN_JUMPS = {
    "AL": (40, "a dependent counts less above 50,000 and 100,000 a year"),
    "AR": (150, "the printed schedule taxes the middle of each 100-dollar band, in whole dollars"),
    "CA": (2_750, "nothing up to the low income exemption, then the tax on the whole"),
    "CT": (720, "exemption, add-back, recapture and credit step by annual wages"),
    "ID": (100, WHOLE_DOLLARS),
    "ME": (100, WHOLE_DOLLARS),
    "MO": (100, WHOLE_DOLLARS),
    "MS": (100, WHOLE_DOLLARS),
    "MT": (100, WHOLE_DOLLARS),
    "NC": (100, WHOLE_DOLLARS),
    "ND": (100, WHOLE_DOLLARS),
    "NJ": (6, "the printed base taxes do not join to the cent"),
    "NM": (50, "nothing is withheld below one dollar a month"),
    "NY": (4, "the printed base taxes do not join to the cent"),
    "OK": (100, WHOLE_DOLLARS),
    "OR": (2_200, "without an allowance the formula's constant is due from the first dollar"),
    "UT": (200, "every line of the schedule is rounded to the whole dollar"),
    "WV": (100, WHOLE_DOLLARS),
}


def worst_jump(state: str) -> int:
    """The largest excess of a step over 15 % of the wages it adds, in cents, over statuses and versions."""
    tax = RULEBOOK.state(state).income_tax
    statuses = [{}]
    if tax.form.status_field:
        choices = tax.form.fields[tax.form.status_field].choices
        statuses = [{tax.form.status_field: value} for value in dict.fromkeys(choices.values())]
    worst = 0
    for version in tax.versions:
        for frequency, (top, step) in RANGES.items():
            for status in statuses:
                certificate = {**tax.form.defaults, **status}
                before = None
                for wages in range(0, top, step):
                    try:
                        amount = version.method.withhold(PeriodPay(wages, frequency, 0, 0), certificate, None)
                    except TaxInputError:
                        break
                    if before is not None:
                        worst = max(worst, amount - before - step * STEEPEST_PERCENT // 100)
                    before = amount
    return worst


@pytest.mark.parametrize(
    "state", [state for state in RULEBOOK.supported_states if RULEBOOK.state(state).income_tax is not None]
)
def test_tax_makes_no_unknown_jump(state):
    worst = worst_jump(state)
    known, _ = KNOWN_JUMPS.get(state, (ROUNDING_CENTS, ""))
    assert worst <= known
    if state in KNOWN_JUMPS:
        assert worst > known // 2, "the law's jump has gone: shorten the list"
