"""Gross-up: finds the wages that give the employee exactly the promised net pay."""

import dataclasses
from decimal import Decimal

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import MAX_CENTS, from_cents, to_cents
from hearthpay.taxes.paycheck import Paycheck, PaycheckInput, calculate_paycheck

_NEIGHBOURHOOD = 2_500
"""How many cents around the crossing are tried: where tables jump, net pay falls or skips a cent."""


def gross_up(request: PaycheckInput, net_pay: Decimal, *, explain: bool = False) -> Paycheck:
    """Return the paycheck whose net pay is exactly ``net_pay`` dollars, by finding its regular wages.

    ``request`` gives everything else; its ``regular_wages`` are ignored and its supplemental wages are kept. Where
    tax jumps, several wages give the same net pay: the lowest within 25 dollars is used. Raises `TaxInputError`
    naming ``net_pay`` if no wages give it: it is less than the net of the supplemental wages alone, or a cent that
    the state's printed tables skip.
    """
    target = to_cents(net_pay, "net_pay")

    def paycheck(regular: int, *, explained: bool = False) -> Paycheck:
        wages = dataclasses.replace(request, regular_wages=from_cents(regular))
        return calculate_paycheck(wages, explain=explained)

    if paycheck(0).net_pay_cents > target:
        raise TaxInputError("net_pay", "is less than the supplemental wages alone leave")
    low, high = 0, max(target, 100)
    while paycheck(high).net_pay_cents < target:
        low, high = high, high * 2
        if high > MAX_CENTS:
            raise TaxInputError("net_pay", "is more than any wages of at most 999999999.99 leave")
    while low < high:
        middle = (low + high) // 2
        if paycheck(middle).net_pay_cents < target:
            low = middle + 1
        else:
            high = middle
    # Net pay rises by at most a cent per cent of wages, but falls where a table jumps: check both sides.
    for regular in range(max(0, low - _NEIGHBOURHOOD), low + _NEIGHBOURHOOD):
        if paycheck(regular).net_pay_cents == target:
            return paycheck(regular, explained=explain)
    raise TaxInputError("net_pay", "no wages leave exactly this amount: the printed tax tables skip it")
