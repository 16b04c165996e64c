"""Where the money of a payroll goes, in three pots: to the employees, held for taxes, and the household's own taxes."""

from collections.abc import Iterable
from dataclasses import dataclass

from hearthpay.payroll.ledger.estimates import EstimatedPaycheck
from hearthpay.payroll.ledger.rows import PaycheckRow


@dataclass(frozen=True, slots=True)
class MoneyPots:
    """The three pots, in cents: they add up to what the payroll costs. A refund of taxes has amounts below zero."""

    paid_out: int
    """Net pay."""

    set_aside: int
    """What employees save from their pay: theirs as well, and paid out later."""

    held: int
    """Taxes withheld from the employees, which the household pays to the agencies."""

    own_taxes: int
    """The household's taxes on top of the pay."""

    @property
    def to_employee(self) -> int:
        """What belongs to the employees: net pay and what they set aside."""
        return self.paid_out + self.set_aside

    @property
    def to_keep_aside(self) -> int:
        """What the household keeps for the agencies: taxes held and its own."""
        return self.held + self.own_taxes

    @property
    def total(self) -> int:
        """What the payroll costs the household."""
        return self.to_employee + self.to_keep_aside


def pots_of(paychecks: Iterable[PaycheckRow | EstimatedPaycheck]) -> MoneyPots:
    """Return the pots of paychecks together."""
    paid_out = set_aside = held = own_taxes = 0
    for each in paychecks:
        paid_out += each.net_pay
        set_aside += each.set_aside.amount
        held += each.employee_taxes
        own_taxes += each.employer_taxes
    return MoneyPots(paid_out, set_aside, held, own_taxes)
