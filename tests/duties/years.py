"""A year of paydays, as the tax engine charges it, for the four households of the table of states."""

import datetime
import functools
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from hearthpay.duties.household import (
    EmploymentSpell,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    PaydayAmount,
    Withholding,
)
from hearthpay.duties.thresholds_crossed import WagesPaid, liabilities_of
from hearthpay.registrations.derivation import EmployeeFacts, WithholdingElection, state_withheld_for
from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck
from hearthpay.taxes.liability import QuarterlyWages, wages_by_line
from tests.duties.household import HOUSEHOLD

YEAR = 2026
FRIDAYS = [datetime.date(YEAR, 1, 2) + datetime.timedelta(weeks=number) for number in range(52)]
HIRED = datetime.date(YEAR, 1, 1)


@dataclass(frozen=True)
class Kind:
    """Whom a household employs, for how much a week, and whether tax is withheld where the law leaves it open."""

    weekly: tuple[int, ...]
    withheld: bool = True


KINDS = {
    "part-time": Kind((35,), withheld=False),
    "nanny": Kind((1000,)),
    "two-nannies": Kind((800, 800)),
    "live-in": Kind((650,)),
}


def year_of(state: str, name: str) -> Household:
    """Return the household after a year in a state, with what the law charged on each payday."""
    kind = KINDS[name]
    people, paydays = [], []
    months: dict[tuple[UUID, str, int], int] = {}
    wages = QuarterlyWages()
    for number, weekly in enumerate(kind.weekly, 1):
        person = UUID(int=number)
        for day, code, cents in paychecks_of_year(state, weekly, withheld=kind.withheld):
            paydays.append(PaydayAmount(code, day, cents))
            place = (person, code, day.month)
            months[place] = months.get(place, 0) + cents
        for day in FRIDAYS:
            wages.add(person, day, wages_by_line(YEAR, state, "none", weekly * 100, {}))
        election = WithholdingElection(kind.withheld, None if kind.withheld else False)
        withheld = [state_withheld_for(EmployeeFacts(state, election=election), HIRED)]
        withheld += ["US"] if kind.withheld else []
        people.append(
            HouseholdEmployee(
                person,
                f"Employee {number}",
                (EmploymentSpell(state, HIRED),),
                withholding=tuple(Withholding(each, HIRED) for each in withheld if each),
            )
        )
    employees = tuple(people)
    return Household(
        HOUSEHOLD,
        employees,
        liabilities_of(employees, WagesPaid({YEAR: wages}, frozenset()), YEAR - 1, YEAR + 1),
        tuple(
            LedgerAmount(person, code, YEAR, month, cents)
            for (person, code, month), cents in months.items()
            if cents
        ),
        paydays=tuple(paydays),
        as_of=datetime.date(YEAR + 1, 12, 31),
    )


@functools.lru_cache(8)
def paychecks_of_year(
    state: str, weekly: int, *, withheld: bool
) -> tuple[tuple[datetime.date, str, int], ...]:
    """Return every line of every payday of a year, in cents; kept for who asks again at once."""
    found = []
    so_far: dict[str, Decimal] = {}
    for day in FRIDAYS:
        paycheck = calculate_paycheck(
            PaycheckInput(
                pay_date=day,
                pay_frequency="weekly",
                regular_wages=Decimal(weekly),
                work_state=state,
                annual_wages_expected=Decimal(weekly * 52),
                federal=FederalCertificate(elected=withheld),
                state={} if withheld else {"elected": False},
                ytd=so_far,
            )
        )
        for line in paycheck.lines:
            so_far[line.code] = so_far.get(line.code, Decimal(0)) + line.taxable_wages
            found.append((day, line.code, int(line.amount * 100)))
    return tuple(found)
