"""Massachusetts' percentage method (Circular M): FICA off the wages, status credits off the tax."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.annualized import annualized_tax


class Period(NamedTuple):
    """The amounts that Circular M prints for one pay frequency."""

    per_exemption: int
    exemption_base: int
    """Added once if any exemption is claimed."""

    head_of_household: int
    blindness: int
    low_pay: int
    """Pay below which nothing is withheld if an exemption is claimed."""


@dataclass(frozen=True, slots=True)
class Massachusetts:
    """One table with the surtax; head of household and blindness reduce the period's tax."""

    periods: Mapping[str, int]
    amounts: Mapping[str, Period]
    contributions_most: int
    """The most Social Security and Medicare of a year that is subtracted from the wages."""

    table: BracketTable

    def withhold(self, pay: PeriodPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """See `hearthpay.taxes.withholding.Method`."""
        amounts = self.amounts.get(pay.frequency)
        if amounts is None:
            raise TaxInputError("pay_frequency", f"Circular M prints nothing for {pay.frequency} pay")
        if certificate["full_time_student_under_8000"]:
            if trace is not None:
                trace.text("nothing is withheld", "full-time student (M-4 box D)")
            return 0
        exemptions = int(certificate["total_exemptions"] or 0)
        if exemptions and pay.wages < amounts.low_pay:
            if trace is not None:
                trace.cents("nothing is withheld from pay below", amounts.low_pay)
            return 0
        left = max(0, self.contributions_most - pay.social_security_and_medicare_before)
        contributions = min(pay.social_security_and_medicare, left)
        exempt = exemptions * amounts.per_exemption + amounts.exemption_base if exemptions else 0
        net = pay.wages - contributions - exempt
        credit = amounts.head_of_household if certificate["head_of_household"] else 0
        credit += amounts.blindness * (bool(certificate["blind"]) + bool(certificate["spouse_blind"]))
        if trace is not None:
            trace.cents("Social Security and Medicare of this pay", contributions)
            trace.cents("exemptions of the period", exempt)
            trace.cents("taxed wages of the period", max(0, net))
            trace.cents("head of household and blindness, off the tax", credit)
        if net <= 0:
            return 0
        periods = self.periods[pay.frequency]
        return max(0, annualized_tax(net * periods, periods, self.table, 0, 1, trace) - credit)


def read(figures: RuleTable, periods: Mapping[str, int]) -> Massachusetts:
    """Compile ``period`` (a table for each frequency), ``contributions_most`` and the annual ``brackets``."""
    listed = figures.table("period")
    amounts: dict[str, Period] = {}
    for frequency in listed:
        if frequency not in periods:
            raise listed.error(frequency, "is not a pay frequency")
        entry = listed.table(frequency)
        amounts[frequency] = Period(
            per_exemption=entry.cents("per_exemption"),
            exemption_base=entry.cents("exemption_base"),
            head_of_household=entry.cents("head_of_household"),
            blindness=entry.cents("blindness"),
            low_pay=entry.cents("low_pay"),
        )
        entry.close()
    method = Massachusetts(
        periods, amounts, figures.cents("contributions_most"), figures.brackets("brackets", over=True)
    )
    figures.close()
    return method
