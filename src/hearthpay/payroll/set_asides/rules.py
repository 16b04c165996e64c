"""What an employee asks to have set aside from net pay: a standing rule, changed or skipped on one paycheck.

It is the employee's own money after taxes, so it affects no tax and no year-to-date wages.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hearthpay.taxes.rounding import half_up

LARGEST_SET_ASIDE: Final = 999_900
"""The most that one paycheck sets aside, in cents."""

MOST_DECIMALS: Final = 6
"""The most decimals of a rate: 0.0525 is five and a quarter percent."""


@dataclass(frozen=True, slots=True)
class SetAsideRule:
    """Either a share of gross pay, above 0 and at most 1, or a fixed amount for each paycheck, in cents.

    Raises ValueError for a rule that is neither or both, or out of bounds.
    """

    rate: Decimal | None = None
    amount_cents: int | None = None

    def __post_init__(self) -> None:
        if (self.rate is None) == (self.amount_cents is None):
            raise ValueError("a set-aside rule is either a rate or an amount")
        if self.rate is not None:
            if not self.rate.is_finite() or not 0 < self.rate <= 1:
                raise ValueError("the rate must be above 0 and at most 1, such as 0.05")
            if -int(self.rate.as_tuple().exponent) > MOST_DECIMALS:
                raise ValueError(f"the rate may have at most {MOST_DECIMALS} decimals")
        if self.amount_cents is not None and not 0 < self.amount_cents <= LARGEST_SET_ASIDE:
            raise ValueError("the amount must be above 0 and at most 9,999")

    def wished_cents(self, gross_cents: int) -> int:
        """Return the cents that the rule requests from this gross pay; a share is rounded to the nearest cent, half
        up.
        """
        if self.rate is None:
            return self.amount_cents or 0
        numerator, denominator = self.rate.as_integer_ratio()
        return half_up(gross_cents * numerator, denominator)
