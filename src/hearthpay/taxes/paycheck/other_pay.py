"""Pay of other paychecks that income tax counts together with one: what it adds, and what was withheld from it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from hearthpay.taxes.federal import FederalIncomeTax
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.paycheck.supplemental_wages import is_flat
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.trace import Step


class CountedPay(NamedTuple):
    """Wages in cents that income tax counts beside the paycheck's own, and the taxes that they bore, by line code.

    ``last`` is the part that was paid for the last period before. Its taxes are calculated, not as withheld.
    """

    regular: int
    supplemental: int
    last: int
    taxes: Mapping[str, int]

    @property
    def wages(self) -> int:
        """All of them."""
        return self.regular + self.supplemental + self.last

    def less_last(self) -> "CountedPay":
        """Return what was paid for the same period alone."""
        return self._replace(last=0)

    def bearing(self, taxes: Mapping[str, int]) -> "CountedPay":
        """Return the same with more taxes."""
        return self._replace(
            taxes={code: self.taxes.get(code, 0) + taxes.get(code, 0) for code in (*self.taxes, *taxes)}
        )

    def fica(self, own: int, gross: int) -> int:
        """Return the employee's Social Security and Medicare on it, where this paycheck's ``gross`` bears ``own``."""
        of_period = self.taxes.get("US-SS-EE", 0) + self.taxes.get("US-MED-EE", 0)
        return of_period + (half_up(own * self.last, gross) if gross else 0)


NOTHING_COUNTED = CountedPay(0, 0, 0, {})


def counted_pay(request: PaycheckInput, regular: int) -> CountedPay:
    """Return what income tax counts beside a paycheck with ``regular`` wages (cents)."""
    other = request.other_pay
    if other is None:
        return NOTHING_COUNTED
    in_period = to_cents(other.regular_wages, "other_pay.regular_wages")
    last = to_cents(other.last_regular_wages, "other_pay.last_regular_wages")
    return CountedPay(
        in_period,
        to_cents(other.supplemental_wages, "other_pay.supplemental_wages"),
        0 if regular or in_period else last,
        {code: int(amount.scaleb(2)) for code, amount in other.taxes.items()},
    )


def at_regular_frequency(request: PaycheckInput, regular: int) -> PaycheckInput:
    """Return the request with the pay frequency of the regular wages that it is counted with, if it has none."""
    other = request.other_pay
    if other is None or regular or other.pay_frequency is None:
        return request
    return replace(request, pay_frequency=other.pay_frequency)


def counted_by_federal_tax(
    request: PaycheckInput, tax: FederalIncomeTax, counted: CountedPay, regular: int
) -> CountedPay:
    """Return what the federal tax by certificate counts: supplemental wages at the flat rate stand apart."""
    if not counted.wages or not is_flat(request, tax.code, tax.supplemental_code):
        return counted
    return counted._replace(supplemental=0, last=0) if regular else NOTHING_COUNTED


def leave_to_others(lines: Lines, start: int, end: int, counted: CountedPay) -> None:
    """Reduce the lines from position ``start`` to before ``end`` to this paycheck's part of what was counted."""
    if not counted.wages:
        return
    for position in range(start, end):
        code = lines.entries[position].code
        before = counted.taxes.get(code, 0)
        lines.reduce(position, counted.wages, before)
        if lines.explanations is not None:
            of_period = counted.regular + counted.supplemental
            steps = (
                *([Step("other pay of the period, counted in", from_cents(of_period))] if of_period else []),
                *(
                    [Step("pay of the period before, counted in", from_cents(counted.last))]
                    if counted.last
                    else []
                ),
                Step("tax on the pay that was counted in", from_cents(before)),
                Step("tax of this paycheck", from_cents(lines.entries[position].amount_cents)),
            )
            lines.add_steps(code, steps)
