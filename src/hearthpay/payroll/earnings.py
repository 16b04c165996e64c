"""What a paycheck pays for: hours at their rates, a bonus, other earnings."""

from dataclasses import dataclass
from decimal import Decimal

from hearthpay.taxes.money import from_cents
from hearthpay.taxes.rounding import half_up


@dataclass(frozen=True, slots=True)
class Earnings:
    """The parts of gross pay; hours have at most three decimals, amounts are dollars."""

    regular_hours: Decimal
    regular_pay: Decimal
    overtime_hours: Decimal
    overtime_pay: Decimal
    bonus: Decimal
    other_earnings: Decimal

    @property
    def regular_wages(self) -> Decimal:
        """What counts as regular wages: everything but the bonus."""
        return self.regular_pay + self.overtime_pay + self.other_earnings

    @property
    def gross_pay(self) -> Decimal:
        """All of it."""
        return self.regular_wages + self.bonus


def pay_for_hours(rate: Decimal, hours: Decimal) -> Decimal:
    """Return an hourly rate times hours, to the nearest cent, halves up."""
    cents, thousandths = int(rate.scaleb(2)), int(hours.scaleb(3))
    return from_cents(half_up(cents * thousandths, 1_000))
