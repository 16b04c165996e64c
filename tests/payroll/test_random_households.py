"""Random years of a household without a database: thresholds reached, undone and chosen anew, for two employees."""

import datetime
import random
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from uuid import UUID, uuid4

import pytest

from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.rows import PaycheckRow, PayrollRecord
from hearthpay.payroll.ledger.years import NO_HISTORY, History
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.household_year import HouseholdYear
from hearthpay.payroll.years.reversal import opposite_of
from hearthpay.taxes.liability import QuarterlyWages, wages_by_line
from hearthpay.taxes.year import PaidWages
from tests.taxes.threshold_model import year_of_household

#: Disability insurance of its own, leave with unemployment, two that begin with a quarter, employees who pay.
STATES = ("CA", "DC", "GA", "MA", "NJ", "NY", "PA", "TX")
YEAR = 2026
SEEDS, MORE_SEEDS = 6, 150
ROSA = Payee(uuid4(), "Rosa", "Diaz", "TX", "TX", (), Decimal(20), Decimal(30), "check", "none", {}, {})
LENA = ROSA._replace(id=uuid4(), first_name="Lena")
PAYEES = {payee.id: payee for payee in (ROSA, LENA)}
HOUSEHOLD = uuid4()

AMOUNTS = (25_000, 49_999, 50_000, 74_999, 75_000, 99_999, 100_000, 299_999, 300_000, 900_000)


def sequence_of(dice: random.Random) -> list[tuple]:
    """Return a year of small payments around the thresholds, with voids, changes of the basis, and late ones."""
    steps = []
    for _ in range(dice.randrange(3, 14)):
        day = dice.randrange(365)
        match dice.choice(("run", "run", "run", "run", "run", "void", "void", "choose", "last year")):
            case "run":
                cents = [dice.choice((dice.randrange(1, 60_000), dice.choice(AMOUNTS))) for _ in range(2)]
                steps.append(("run", cents, day, dice.randrange(4)))
            case "void":
                steps.append(("void", dice.randrange(50)))
            case "choose":
                steps.append(("choose", dice.random() < 0.7))
            case "last year":
                steps.append(("last year", dice.randrange(200_000), day))
    return steps


@dataclass
class Household:
    """Two employees' years as the service keeps them, and beside them what was paid in plain figures."""

    states: tuple[str, str]
    as_paid: bool = True
    sui_rate: Decimal | None = None
    histories: dict[UUID, History] = field(default_factory=lambda: dict.fromkeys(PAYEES, NO_HISTORY))
    #: What stands, one entry for each paycheck, in the order they were run.
    standing: list[tuple[PaycheckRow, PaidWages, dict]] = field(default_factory=list)
    last_year: QuarterlyWages = field(default_factory=QuarterlyWages)
    paid_last_year: list[dict] = field(default_factory=list)

    def year(self) -> HouseholdYear:
        standing: dict[UUID, list[PaidWages]] = {}
        for record, paid, _ in self.standing:
            standing.setdefault(record.employee_id, []).append(paid)
        return HouseholdYear(
            tax_year=YEAR,
            as_paid=self.as_paid,
            chosen=True,
            persons={payee: payee for payee in PAYEES},
            standing=standing,
            last_year=self.last_year,
            states=frozenset(self.states),
        )

    def measure(self) -> None:
        """Note what each year owes, as the service does after whatever changes the household's wages."""
        year = self.year()
        liable = year.liable()
        for employee, history in self.histories.items():
            standing = year.standing.get(employee, ())
            self.histories[employee] = history.measured_by(standing, YEAR, liable[employee])

    def run(self, cents: list[int], day: int, who: int) -> PayrollRecord:
        date = datetime.date(YEAR, 1, 1) + datetime.timedelta(days=day)
        state = self.states[day % 7 == 0]
        payees = {
            payee.id: payee._replace(
                work_state=state, residence_state=state, federal_withholding={"elected": False}
            )
            for payee in PAYEES.values()
        }
        chosen = ((ROSA,), (LENA,), (ROSA, LENA), (LENA, ROSA))[who]
        entries = tuple(
            PayrollEntry(payee.id, "check", *[Decimal(0)] * 3, Decimal(amount).scaleb(-2))
            for payee, amount in zip(chosen, cents, strict=False)
        )
        order = SettledOrder(HOUSEHOLD, PayDates(date, date, date, False), "weekly", None, entries)
        record = calculate_payroll(order, payees, self.histories, {}, self.year())
        for paycheck in record.paychecks:
            assert paycheck.net_pay >= 0
            year = self.year()
            year.add(PayrollRecord(HOUSEHOLD, order.dates, "weekly", (paycheck,), "", YEAR, None))
            self.histories[paycheck.employee_id] = self.histories[paycheck.employee_id].with_paycheck(
                paycheck
            )
            plain = {
                "employee": paycheck.employee_id,
                "pay_date": date.isoformat(),
                "work_state": state,
                "wages": Fraction(paycheck.gross_pay, 100),
            }
            self.standing.append((paycheck, year.standing[paycheck.employee_id][-1], plain))
        return record

    def void(self, which: int) -> None:
        if not self.standing:
            return
        paycheck, _, _ = self.standing.pop(which % len(self.standing))
        history = self.histories[paycheck.employee_id]
        self.histories[paycheck.employee_id] = history.with_paycheck(opposite_of(paycheck, history))

    def pay_last_year(self, cents: int, day: int) -> None:
        date = datetime.date(YEAR - 1, 1, 1) + datetime.timedelta(days=day)
        state = self.states[0]
        self.last_year.add(ROSA.id, date, wages_by_line(YEAR, state, "none", cents))
        self.paid_last_year.append(
            {
                "employee": ROSA.id,
                "pay_date": date.isoformat(),
                "work_state": state,
                "wages": Fraction(cents, 100),
            }
        )

    def assert_right(self, told: object) -> None:
        paid = [*self.paid_last_year, *(plain for _, _, plain in self.standing)]
        demanded = year_of_household(paid, YEAR, as_paid=self.as_paid)
        for employee, history in self.histories.items():
            year = history.year
            lines = demanded.get(employee, {})
            for code in {*lines, *year.owed}:
                owed = year.owed.get(code, 0)
                tax = Fraction(year.taxes.get(code, 0) + owed, 100)
                if code not in lines:
                    assert tax == 0, (code, told)
                    continue
                assert abs(tax - lines[code].tax) <= lines[code].slack, (code, float(tax), lines[code], told)
                wages = year.taxable_wages.get(code, 0) + year.owed_wages.get(code, 0)
                if code not in year.owed or code in year.owed_wages:
                    assert Fraction(wages, 100) == lines[code].taxable, (code, told)


def live(states: tuple[str, str], sequence: list[tuple]) -> None:
    household = Household(states)
    for position, step in enumerate(sequence):
        told = (states, sequence[: position + 1])
        match step:
            case ("choose", as_paid):
                household.as_paid = as_paid
            case ("void", which):
                household.void(which)
            case ("last year", cents, day):
                household.pay_last_year(cents, day)
            case ("run", cents, day, who):
                record = household.run(cents, day, who)
                carried = {
                    paycheck.employee_id: {each.code: each.amount for each in paycheck.carried}
                    for paycheck in record.paychecks
                }
                household.measure()
                for employee, left in carried.items():
                    assert household.histories[employee].year.owed == left, told
                for paycheck in record.paychecks:
                    assert not paycheck.carried or paycheck.net_pay == 0, told
        household.measure()
        household.assert_right(told)


def live_years(state: str, seeds: range) -> None:
    for seed in seeds:
        dice = random.Random(f"{state} {seed}")
        live((state, dice.choice(STATES)), sequence_of(dice))


@pytest.mark.parametrize("state", STATES)
def test_every_line_ends_where_the_households_wages_demand(state: str):
    live_years(state, range(SEEDS))


@pytest.mark.long
@pytest.mark.parametrize("state", STATES)
def test_many_years_end_there(state: str):
    live_years(state, range(SEEDS, MORE_SEEDS))
