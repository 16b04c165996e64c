"""A household whose payrolls are calculated by the real engine and kept in memory, as the ledger would keep them."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from uuid import UUID, uuid4

from hearthpay.documents.figures.books import BookedPaycheck, HouseholdBooks, Person, PriorEntry
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.rows import PaycheckRow, YearToDate
from hearthpay.payroll.ledger.years import NO_HISTORY, History, PriorWages, other_records, seen_by_others
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.years.fica_refund import Repayable, calculate_refund
from hearthpay.payroll.years.household_year import HouseholdYear
from hearthpay.payroll.years.reversal import opposite_of
from hearthpay.taxes.liability import wages_by_line
from hearthpay.taxes.money import scaled_rate
from hearthpay.taxes.prior_wages import PriorLine, counted_year
from hearthpay.taxes.year import ALL_DUE, PaidWages, YearSoFar

ZERO = Decimal(0)
NO_CREDIT = Decimal(999_999)
"""A deduction on the Form W-4 that leaves nothing but the extra withholding."""


@dataclass
class Household:
    """People, their payrolls in the order they were run, and the books that come of them."""

    year: int = 2026
    payees: dict[UUID, Payee] = field(default_factory=dict)
    histories: dict[UUID, History] = field(default_factory=dict)
    posted: list[BookedPaycheck] = field(default_factory=list)
    prior: list[PriorEntry] = field(default_factory=list)
    rates: dict[str, Decimal] = field(default_factory=dict)
    live_ins: set[UUID] = field(default_factory=set)
    as_paid: bool = False
    """Whether what waits for a threshold is charged once the wages paid have reached it."""

    def hire(
        self,
        state: str,
        *,
        relationship: str = "none",
        income_tax: str | None = None,
        again: UUID | None = None,
        lives_in: bool = False,
        **changes: object,
    ) -> UUID:
        """Add an employee: ``income_tax`` is withheld from each paycheck; ``again`` is an earlier record of hers."""
        federal: dict[str, object] = {"elected": False}
        if income_tax is not None:
            federal = {"elected": True, "deductions": NO_CREDIT, "extra_withholding": Decimal(income_tax)}
        payee = Payee(
            uuid4(), "Rosa", "Diaz", state, state, (), Decimal(20), Decimal(30), "check", relationship, federal, {},
        )._replace(**changes)  # fmt: skip
        self.payees[payee.id] = payee
        self.histories[payee.id] = NO_HISTORY
        if lives_in:
            self.live_ins.add(payee.id)
        if again is not None:
            self.payees[payee.id] = payee._replace(person_id=again)
            self.payees[again] = self.payees[again]._replace(person_id=again)
            records = [each.id for each in self.payees.values() if each.person_id == again]
            for record in records:
                others = other_records([each for each in records if each != record], self.histories)
                shared = self.histories[again].prior
                self.histories[record] = replace(self.histories[record], others=others, prior=shared)
        return payee.id

    def move(self, record: UUID, state: str) -> None:
        self.payees[record] = self.payees[record]._replace(work_state=state, residence_state=state)

    def pay(
        self,
        record: UUID,
        wages: str | int | Decimal,
        day: str | datetime.date,
        *,
        frequency: str = "weekly",
        hours: str | None = None,
        overtime: str | None = None,
        set_aside: int | None = None,
        paid_for: Iterable[str] = (),
    ) -> BookedPaycheck:
        """Pay somebody: ``wages`` of whatever kind, or hours at the hourly rate."""
        date = datetime.date.fromisoformat(day) if isinstance(day, str) else day
        entry = PayrollEntry(
            record,
            "check",
            Decimal(hours or 0),
            Decimal(overtime or 0),
            ZERO,
            Decimal(wages),
            set_aside_wish=set_aside,
        )
        order = SettledOrder(uuid4(), PayDates(date, date, date, False), frequency, None, (entry,))
        thresholds = self.household_year() if self.as_paid or self._refunded() else None
        [paycheck] = calculate_payroll(order, self.payees, self.histories, self.rates, thresholds).paychecks
        return self._post(paycheck, date, frequency, frozenset(paid_for))

    def weekly(self, record: UUID, wages: str | int, weeks: int = 52) -> None:
        """Pay somebody each Friday from the year's first on."""
        first = datetime.date(self.year, 1, 1)
        first += datetime.timedelta(days=(4 - first.weekday()) % 7)
        for week in range(weeks):
            self.pay(record, wages, first + datetime.timedelta(weeks=week))

    def refund(self, record: UUID) -> BookedPaycheck:
        date = datetime.date(self.year, 12, 31)
        entry = PayrollEntry(record, "check", ZERO, ZERO, ZERO, ZERO)
        dates = PayDates(datetime.date(self.year, 1, 1), date, date, False)
        order = SettledOrder(uuid4(), dates, "weekly", "fica-refund", (entry,))
        repayable = {record: Repayable(0, 0)}
        [paycheck] = calculate_refund(order, self.payees, self.histories, repayable).paychecks
        return self._post(paycheck, date, "weekly", frozenset())

    def void(self, booked: BookedPaycheck) -> None:
        record = booked.paycheck.employee_id
        before = self.histories[record]
        negative = opposite_of(booked.paycheck, before)
        self.posted.append(replace(booked, id=uuid4(), paycheck=negative, reverses=booked.id))
        self._after(record, before.without_paycheck(negative, self._standing_of(record), self.year))

    def bring(
        self, record: UUID, as_of: str, gross: int, lines: Iterable[PriorLine], source: str = "before"
    ) -> None:
        """Enter what another payroll paid, in cents."""
        day = datetime.date.fromisoformat(as_of)
        entry = PriorEntry(uuid4(), record, source, day, gross, tuple(lines), gross, 0, 0)
        self.prior.append(entry)
        told = YearSoFar(
            {line.code: line.subject_wages for line in entry.lines},
            {line.code: line.taxable_wages for line in entry.lines},
            {line.code: line.amount for line in entry.lines},
        )
        wages = PriorWages(YearToDate(gross, gross, 0, 0), counted_year(told, self.year))
        for each in self._records(record):
            self.histories[each] = replace(self.histories[each], prior=wages)
        self.histories[record] = self.histories[record].measured_by(self._standing_of(record), self.year)
        self._measure()

    def books(self) -> HouseholdBooks:
        people = []
        for payee in self.payees.values():
            if payee.person_id in (None, payee.id):
                records = frozenset(self._records(payee.id)) - {payee.id}
                people.append(
                    Person(
                        payee.id,
                        payee.name,
                        payee.work_state,
                        payee.relationship,
                        records,
                        payee.id in self.live_ins,
                    )
                )
        liable = self.household_year().liable() if self.as_paid else {}
        return HouseholdBooks(self.year, tuple(people), tuple(self.posted), tuple(self.prior), liable)

    def household_year(self) -> HouseholdYear:
        """The household's year against its thresholds, as the service would read it."""
        persons = {payee.id: payee.person_id or payee.id for payee in self.payees.values()}
        year = HouseholdYear(
            tax_year=self.year,
            as_paid=self.as_paid,
            chosen=self.as_paid,
            persons=persons,
            standing={person: self._standing_of(person) for person in set(persons.values())},
            refunded=self._refunded(),
            states=frozenset(payee.work_state for payee in self.payees.values()),
        )
        for entry in self.prior:
            payee = self.payees[entry.employee_id]
            told = {line.code: line.subject_wages for line in entry.lines}
            wages = wages_by_line(self.year, payee.work_state, payee.relationship, entry.gross_pay, told)
            year.prior.add(persons[payee.id], entry.as_of, wages)
        return year

    def _refunded(self) -> set[UUID]:
        return {
            self.payees[each].person_id or each
            for each, history in self.histories.items()
            if history.fica_repaid
        }

    def standing(self) -> list[BookedPaycheck]:
        undone = {each.reverses for each in self.posted}
        return [each for each in self.posted if each.reverses is None and each.id not in undone]

    def _records(self, record: UUID) -> list[UUID]:
        person = self.payees[record].person_id
        return [record] if person is None else [e.id for e in self.payees.values() if e.person_id == person]

    def _standing_of(self, record: UUID) -> list[PaidWages]:
        records = self._records(record)
        return [
            PaidWages(
                each.pay_date,
                each.paycheck.work_state,
                {
                    line.code: (line.subject_wages, None if line.rate is None else scaled_rate(line.rate))
                    for line in each.paycheck.lines
                },
            )
            for each in self.standing()
            if each.paycheck.employee_id in records and not each.paycheck.is_refund
        ]

    def _post(
        self, paycheck: PaycheckRow, date: datetime.date, frequency: str, paid_for: frozenset[str]
    ) -> BookedPaycheck:
        booked = BookedPaycheck(uuid4(), uuid4(), date, date, date, frequency, paycheck, None, paid_for)
        self.posted.append(booked)
        record = paycheck.employee_id
        self._after(record, self.histories[record].with_paycheck(paycheck))
        return booked

    def _after(self, record: UUID, history: History) -> None:
        self.histories |= {record: history, **seen_by_others(self.histories, record, history)}
        self._measure()

    def _measure(self) -> None:
        """Note what everybody's year owes, where one's wages may decide on another's taxes."""
        if not (self.as_paid or self._refunded()):
            return
        liable = self.household_year().liable()
        for record in self.payees:
            measured = self.histories[record].measured_by(
                self._standing_of(record), self.year, liable.get(record, ALL_DUE)
            )
            self.histories[record] = measured
