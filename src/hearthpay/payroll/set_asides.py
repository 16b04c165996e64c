"""What an employee asks to have kept back from net pay: a standing rule, changed or skipped on one paycheck.

It is the employee's own money after taxes, so no tax and no year-to-date wage knows of it.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from hearthpay.payroll.records import SetAside
from hearthpay.taxes.rounding import half_up

#: The most that one paycheck sets aside, in cents.
LARGEST_SET_ASIDE: Final = 999_900
#: A rate of at most this many decimals: 0.0525 is five and a quarter percent.
MOST_DECIMALS: Final = 6


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
        """What the rule asks for of this gross pay: a share to the nearest cent, halves up."""
        if self.rate is None:
            return self.amount_cents or 0
        numerator, denominator = self.rate.as_integer_ratio()
        return half_up(gross_cents * numerator, denominator)


def set_aside_of(
    rule: SetAsideRule | None,
    *,
    skip: bool,
    wished_cents: int | None,
    gross_cents: int,
    after_taxes_cents: int,
    balance_cents: int,
) -> SetAside:
    """Return what one paycheck sets aside, why, and the balance with it; all in cents.

    Skipping it beats an amount wished for this paycheck, which beats the standing rule. Never more than what taxes
    leave, nor than `LARGEST_SET_ASIDE`. Raises ValueError for a wish out of those bounds.
    """
    if skip:
        return SetAside(0, "skipped", balance_cents)
    if wished_cents is not None:
        if not 0 <= wished_cents <= LARGEST_SET_ASIDE:
            raise ValueError("the amount to set aside must be between 0 and 9,999")
        source, wished = "override", wished_cents
    elif rule is not None:
        source, wished = "rule", min(rule.wished_cents(gross_cents), LARGEST_SET_ASIDE)
    else:
        source, wished = "none", 0
    amount = min(wished, max(after_taxes_cents, 0))
    return SetAside(amount, source, balance_cents + amount)
