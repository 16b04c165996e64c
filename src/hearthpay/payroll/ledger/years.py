"""The totals of an employee's earlier paychecks of a year, and how adding or removing a paycheck changes them."""

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from hearthpay.payroll.ledger.rows import PaycheckRow, YearToDate
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.taxes import YearSoFar
from hearthpay.taxes.year import (
    ALL_DUE,
    LiableFrom,
    PaidWages,
    counted_wages,
    owed_after,
    year_demands,
)

NOTHING_YET: Final = YearToDate()
NO_YEAR: Final = YearSoFar()


class PriorWages(NamedTuple):
    """What other payrolls paid earlier in the year (cents); `year` has the part below each cap."""

    totals: YearToDate
    year: YearSoFar

    def plus(self, other: "PriorWages") -> "PriorWages":
        """Return both together."""
        return PriorWages(self.totals.plus(other.totals), self.year.plus(other.year))


class OtherRecords(NamedTuple):
    """The other records of the same person: their ids, and the totals of our own paychecks for them (cents)."""

    ids: tuple[UUID, ...]
    totals: YearToDate
    year: YearSoFar
    fica_refunded: bool = False
    """Whether Social Security and Medicare were repaid with one of them."""

    provisional: frozenset[str] = frozenset()
    """Codes of lines that their paychecks charged with provisional figures."""


@dataclass(frozen=True, slots=True)
class History:
    """The totals of an employee's earlier paychecks: the year's sums by line, and the escrow (cents).

    ``totals`` and ``year`` are of our own paychecks; ``prior`` is added to them. A person's year is one: if there are
    ``others``, ``prior`` and what the year owes are the person's, whichever record they were entered for.
    """

    totals: YearToDate = NOTHING_YET
    year: YearSoFar = NO_YEAR
    set_aside_balance: int = 0
    set_aside_rule: SetAsideRule | None = None
    prior: PriorWages | None = None
    fica_refunded: bool = False
    """Social Security and Medicare of the year were repaid with this record; see `fica_repaid`."""

    others: OtherRecords | None = None
    provisional: frozenset[str] = frozenset()
    """Codes of lines that paychecks of the year charged with provisional figures until its own were published. Their
    tax follows the figures in force: what was charged too little or too much is settled with the next paycheck."""

    rulebook_version: str | None = None
    """The rulebook by which the year was last measured; None if nothing was paid in it."""

    @property
    def fica_repaid(self) -> bool:
        """Whether Social Security and Medicare of the person's year were repaid.

        They are due again once the year's wages reach the threshold.
        """
        return self.fica_refunded or (self.others is not None and self.others.fica_refunded)

    @property
    def totals_to_date(self) -> YearToDate:
        """The person's sums of the year, including prior wages."""
        totals = self.totals if self.others is None else self.totals.plus(self.others.totals)
        return totals if self.prior is None else totals.plus(self.prior.totals)

    @property
    def year_to_date(self) -> YearSoFar:
        """The person's year by line, including prior wages."""
        year = self.year if self.others is None else self.year.plus(self.others.year)
        return year if self.prior is None else year.plus(self.prior.year)

    def with_paycheck(self, paycheck: PaycheckRow) -> "History":
        """Return the history with one more paycheck."""
        year = self.year
        subject, taxable, taxes = dict(year.subject_wages), dict(year.taxable_wages), dict(year.taxes)
        owed = dict(year.owed) if year.owed else {}
        owed_wages = dict(year.owed_wages) if year.owed_wages else {}
        for line in paycheck.lines:
            code = line.code
            subject[code] = subject.get(code, 0) + line.subject_wages
            taxable[code] = taxable.get(code, 0) + line.taxable_wages
            taxes[code] = taxes.get(code, 0) + line.amount
            if owed:
                owed.pop(code, None)
                owed_wages.pop(code, None)
        owed |= {carried.code: carried.amount for carried in paycheck.carried}
        sums = YearToDate(
            paycheck.gross_pay, paycheck.net_pay, paycheck.employee_taxes, paycheck.employer_taxes
        )
        return replace(
            self,
            totals=self.totals.plus(sums),
            year=YearSoFar(subject, taxable, taxes, owed, owed_wages),
            provisional=self.provisional.union(paycheck.provisional),
            set_aside_balance=self.set_aside_balance + paycheck.set_aside.amount,
            fica_refunded=self.fica_refunded or paycheck.is_refund,
        )

    def without_paycheck(
        self, negative: PaycheckRow, standing: Sequence[PaidWages], tax_year: int
    ) -> "History":
        """Return the history with a paycheck reversed by one with ``negative`` amounts; ``standing`` are those left.

        What the year then owes is what it would have been without the paycheck.
        """
        return self.with_paycheck(negative).measured_by(standing, tax_year)

    def measured_by(
        self, standing: Sequence[PaidWages], tax_year: int, liable: LiableFrom = ALL_DUE
    ) -> "History":
        """Return the history with what it owes recalculated from the remaining paychecks, in their order.

        ``liable`` says from which day lines that depend on a threshold are due. Lines charged with provisional
        figures are measured with them, at the rates in force.
        """
        before = self.prior.year if self.prior is not None else NO_YEAR
        settled = self.provisional if self.others is None else self.provisional | self.others.provisional
        if settled:
            liable = dict.fromkeys(settled, datetime.date(tax_year, 1, 1)) | dict(liable)
        demands = year_demands(standing, before, liable)
        owed, owed_wages = owed_after(demands, before, self.year_to_date, tax_year, liable)
        return replace(self, year=replace(self.year, owed=owed, owed_wages=owed_wages))

    def counted_by(self, standing: Sequence[PaidWages], tax_year: int, liable: LiableFrom) -> YearSoFar:
        """Return the year to date, including prior wages, with the subject wages on which the lines are due."""
        before = self.prior.year if self.prior is not None else NO_YEAR
        year = self.measured_by(standing, tax_year, liable).year_to_date
        counted = {code: cents for code, cents in counted_wages(standing, before, liable).items() if cents}
        others = {code: cents for code, cents in year.subject_wages.items() if code not in liable}
        known = dict.fromkeys((code for code in year.subject_wages if code in liable), 0)
        return replace(year, subject_wages=others | known | counted)


NO_HISTORY: Final = History()


def seen_by_others(
    histories: Mapping[UUID, History], employee_id: UUID, after: History
) -> dict[UUID, History]:
    """Return the histories of a person's other records once one record's is ``after``; none for most people.

    ``histories`` has all records of the person.
    """
    if after.others is None:
        return {}
    records = {each: histories[each] for each in after.others.ids} | {employee_id: after}
    return {
        record: replace(
            records[record],
            year=replace(records[record].year, owed=after.year.owed, owed_wages=after.year.owed_wages),
            others=other_records([each for each in records if each != record], records),
        )
        for record in after.others.ids
    }


def other_records(ids: Iterable[UUID], histories: Mapping[UUID, History]) -> OtherRecords:
    """Return the totals of these records of one person, each by its own paychecks."""
    together = OtherRecords(tuple(ids), NOTHING_YET, NO_YEAR)
    for record in together.ids:
        own = histories[record]
        together = together._replace(
            totals=together.totals.plus(own.totals),
            year=together.year.plus(own.year),
            fica_refunded=together.fica_refunded or own.fica_refunded,
            provisional=together.provisional | own.provisional,
        )
    return together
