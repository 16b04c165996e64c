"""Random years of people under two records: paid by either or both at once, linked and parted in between, voided."""

import datetime
import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from uuid import uuid4

import pytest

from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.payroll.ledger.years import NO_HISTORY, History, other_records, seen_by_others
from hearthpay.payroll.orders import PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.reversal import opposite_of
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.year import PaidWages, open_lines
from tests.payroll.test_random_years import ALL_STATES, HOUSEHOLD, RATES, ROSA, YEAR, Year

PAYEES = [ROSA._replace(id=uuid4()) for _ in range(2)]
IDS = [payee.id for payee in PAYEES]


@dataclass
class Person:
    """Two records as the service keeps them, one person or two, and beside them what was paid in plain figures."""

    states: tuple[str, str]
    linked: bool = False
    sui_rate: Decimal | None = None
    histories: dict = field(default_factory=lambda: dict.fromkeys(IDS, NO_HISTORY))
    #: In the order in which they were run.
    standing: list[tuple[PaycheckRow, dict]] = field(default_factory=list)

    def run(self, wages: dict[int, int], day: int, elsewhere: bool) -> None:
        """Pay one record, or both in one payroll: cents by record."""
        state = self.states[elsewhere]
        date = datetime.date(YEAR, 1, 1) + datetime.timedelta(days=day)
        entries = tuple(
            PayrollEntry(IDS[which], "check", *[Decimal(0)] * 3, Decimal(cents).scaleb(-2))
            for which, cents in wages.items()
        )
        order = SettledOrder(HOUSEHOLD, PayDates(date, date, date, False), "weekly", None, entries)
        payees = {
            each.id: each._replace(
                work_state=state, residence_state=state, federal_withholding={"elected": False}
            )
            for each in PAYEES
        }
        rates = {} if self.sui_rate is None else {state: self.sui_rate}
        for paycheck in calculate_payroll(order, payees, self.histories, rates).paychecks:
            assert paycheck.net_pay >= 0
            self._now(paycheck, self.histories[paycheck.employee_id].with_paycheck(paycheck))
            paid = {
                "pay_date": date.isoformat(),
                "work_state": state,
                "wages": Fraction(paycheck.gross_pay, 100),
                "sui_rate": self.sui_rate,
            }
            self.standing.append((paycheck, paid))
            after = self.histories[paycheck.employee_id]
            assert after.year.owed == {each.code: each.amount for each in paycheck.carried}
            assert paycheck.ytd == after.totals_to_date

    def void(self, which: int) -> None:
        if self.standing:
            paycheck, _ = self.standing.pop(which % len(self.standing))
            before = self.histories[paycheck.employee_id]
            left = self._left(paycheck.employee_id)
            self._now(paycheck, before.without_paycheck(opposite_of(paycheck, before), left, YEAR))

    def link(self, linked: bool) -> None:
        """Make the two records one person, or two again; what they owe is worked out anew."""
        self.linked = linked
        alone = {each: replace(history, others=None) for each, history in self.histories.items()}
        for each, other in (IDS, IDS[::-1]):
            others = other_records([other], alone) if linked else None
            history = replace(alone[each], others=others)
            self.histories[each] = history.measured_by(self._left(each), YEAR)

    def _now(self, paycheck: PaycheckRow, after: History) -> None:
        employee = paycheck.employee_id
        self.histories |= {employee: after, **seen_by_others(self.histories, employee, after)}

    def _paid(self, employee) -> list[tuple[PaycheckRow, dict]]:
        """The standing paychecks of the person that the record is of."""
        return [each for each in self.standing if self.linked or each[0].employee_id == employee]

    def _left(self, employee) -> list[PaidWages]:
        return [
            PaidWages(
                datetime.date.fromisoformat(paid["pay_date"]),
                paid["work_state"],
                {
                    line.code: (line.subject_wages, None if line.rate is None else scaled_rate(line.rate))
                    for line in record.lines
                },
            )
            for record, paid in self._paid(employee)
        ]

    def assert_right(self, told: object) -> None:
        """Each person's year is where the wages demand, and the same seen from either record."""
        for employee in IDS:
            year = self.histories[employee].year_to_date
            seen = Year(self.states, history=replace(NO_HISTORY, year=year), standing=self._paid(employee))
            missing = open_lines(year, datetime.date(YEAR, 12, 31))
            seen.assert_right({each.code: (each.taxable_wages, each.tax) for each in missing}, told)
        if self.linked:
            first, second = (self.histories[each] for each in IDS)
            assert first.totals_to_date == second.totals_to_date
            assert first.year.owed == second.year.owed


def live(states: tuple[str, str], sequence: list[tuple]) -> None:
    person = Person(states)
    for position, (kind, *what) in enumerate(sequence):
        match kind:
            case "run":
                person.run(*what)
            case "void":
                person.void(*what)
            case "rate":
                [person.sui_rate] = what
            case _:
                person.link(kind == "link")
        person.assert_right((states, sequence[: position + 1]))


def sequence_of(dice: random.Random) -> list[tuple]:
    steps: list[tuple] = [("link",)] if dice.random() < 0.3 else []
    for _ in range(dice.randrange(4, 14)):
        match dice.choice(("run", "run", "run", "both", "void", "void", "rate", "link", "link", "part")):
            case "void":
                steps.append(("void", dice.randrange(50)))
            case "rate":
                steps.append(("rate", dice.choice(RATES)))
            case "link" | "part" as kind:
                steps.append((kind,))
            case kind:
                records = dice.sample((0, 1), 2 if kind == "both" else 1)
                ranges = (1, 60_000), (100_000, 1_200_000), (700_000, 900_001), (1_000_000, 25_000_000)
                wages = {each: dice.randrange(*dice.choice(ranges)) for each in records}
                steps.append(("run", wages, dice.randrange(365), dice.random() < 0.25))
    return steps


def live_through(state: str, seeds: range) -> None:
    for seed in seeds:
        dice = random.Random(f"{state} {seed} of two")
        live((state, dice.choice(ALL_STATES)), sequence_of(dice))


@pytest.mark.parametrize("state", ALL_STATES)
def test_a_persons_year_ends_where_the_wages_of_all_records_demand(state):
    live_through(state, range(20))


@pytest.mark.long
@pytest.mark.parametrize("state", ALL_STATES)
def test_many_more_years_of_two_records(state):
    live_through(state, range(20, 1_500))
