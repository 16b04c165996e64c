"""The pay stub of one paycheck: earnings, each line with its year to date, set-asides, and state requirements.

The year to date counts what was paid up to the stub's pay date, by pay date, in whatever order it was recorded.
"""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, NamedTuple
from uuid import UUID

from hearthpay.documents.figures.books import BookedPaycheck, HouseholdBooks, Person, PriorEntry
from hearthpay.documents.figures.figure import Figure, total
from hearthpay.documents.figures.stub_law import STUB_FIELDS, StubLaw, stub_laws
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.payroll.orders import SalaryShare
from hearthpay.taxes.messages import texts
from hearthpay.taxes.money import from_cents

EarningsKind = Literal["regular", "salary", "overtime", "bonus", "other_earnings", "other_payrolls"]

_PARTS: Final[dict[EarningsKind, str]] = {
    "regular": "regular_pay",
    "salary": "regular_pay",
    "overtime": "overtime_pay",
    "bonus": "bonus",
    "other_earnings": "other_earnings",
}
_CENT: Final = Decimal(1).scaleb(-2)
_RATE_PLACES: Final = Decimal(1).scaleb(-4)

_ALWAYS: Final = frozenset(
    {
        "er_name",
        "ee_name",
        "ee_id",
        "period",
        "period_end",
        "pay_date",
        "basis",
        "gross",
        "deductions",
        "net",
        "allowances",
        "bonus_lines",
        "ytd_gross",
        "ytd_deductions",
        "fit",
        "fica",
        "state_ui",
        "board_lodging",
        "advances",
    }
)
"""What every stub has. Deductions and allowances without a line here are not taken from this pay."""

_WITH_HOURS: Final = frozenset(
    {"rate", "ot_rate", "hours", "ot_hours", "hours_by_rate", "straight_pay", "ot_pay"}
)


class EarningsRow(NamedTuple):
    """A kind of earnings: hours and rate if it is paid by the hour, this paycheck's pay, and the year's."""

    kind: EarningsKind
    hours: Decimal | None
    rate: Decimal | None
    current: Figure
    year_to_date: Figure


class StubLine(NamedTuple):
    """A tax or contribution: the wages it is on, its rate if it has one, the current amount and the year's."""

    code: str
    name: str
    taxable_wages: int
    rate: Decimal | None
    current: Figure
    year_to_date: Figure


class SickLeave(NamedTuple):
    """The employee's sick leave in hours, as far as the household provides it."""

    available: Decimal | None = None
    used_in_period: Decimal | None = None
    used_in_year: Decimal | None = None
    accrued_in_year: Decimal | None = None
    paid_in_year: int | None = None
    """Cents."""


class StubParties(NamedTuple):
    """What is known about the two parties besides their names."""

    employer_address: bool = False
    employer_phone: bool = False
    business_number: bool = False
    """Whether the household's state business identification number is known."""


@dataclass(frozen=True, slots=True)
class PayStub:
    """The contents of a pay stub. Amounts are figures; hours and rates are decimals."""

    paycheck_id: UUID
    payroll_id: UUID
    employee_name: str
    period_start: datetime.date
    period_end: datetime.date
    pay_date: datetime.date
    pay_frequency: str
    payment_method: str
    earnings: tuple[EarningsRow, ...]
    salary: SalaryShare | None
    """The salary paid; None if pay is by the hour."""

    gross_pay: Figure
    gross_pay_year: Figure
    withheld: tuple[StubLine, ...]
    """The employee's lines."""

    withheld_total: Figure
    withheld_year: Figure
    set_aside: Figure
    set_aside_source: str
    set_aside_balance: Figure
    net_pay: Figure
    net_pay_year: Figure
    carried: tuple[tuple[str, Figure], ...]
    """What could not be charged on earlier wages and is carried to the next paycheck: names and amounts."""

    household: tuple[StubLine, ...]
    """The household's lines, for the household's separate second page."""

    household_total: Figure
    household_year: Figure
    total_cost: Figure
    sick_leave: SickLeave | None
    voided: bool
    is_refund: bool
    warnings: tuple[str, ...]
    law: StubLaw
    missing: tuple[str, ...]
    """What the work state requires and is missing, in words; also where the law exempts households."""


def stub_of(
    books: HouseholdBooks,
    paycheck_id: UUID,
    parties: StubParties | None = None,
    sick_leave: SickLeave | None = None,
) -> PayStub:
    """Return the stub of a paycheck of these books; raises `LookupError` if it isn't among them."""
    booked = next(
        (each for each in books.paychecks if each.id == paycheck_id and each.reverses is None), None
    )
    if booked is None:
        raise LookupError(f"no paycheck {paycheck_id} is in these books")
    paycheck = booked.paycheck
    so_far = _YearToDate.of(books, booked)
    law = stub_laws()[paycheck.work_state]
    return PayStub(
        paycheck_id=booked.id,
        payroll_id=booked.payroll_id,
        employee_name=paycheck.employee_name,
        period_start=booked.period_start,
        period_end=booked.period_end,
        pay_date=booked.pay_date,
        pay_frequency=booked.pay_frequency,
        payment_method=paycheck.payment_method,
        earnings=_earnings(booked, so_far),
        salary=paycheck.salary,
        gross_pay=_of(booked, paycheck.gross_pay, "gross_pay"),
        gross_pay_year=so_far.total("gross_pay"),
        withheld=_lines(booked, so_far, "employee"),
        withheld_total=_of(booked, paycheck.employee_taxes, "employee_taxes"),
        withheld_year=so_far.total("employee_taxes"),
        set_aside=_of(booked, paycheck.set_aside.amount, "set_aside"),
        set_aside_source=paycheck.set_aside.source,
        set_aside_balance=_of(booked, paycheck.set_aside.balance, "set_aside_balance"),
        net_pay=_of(booked, paycheck.net_pay, "net_pay"),
        net_pay_year=so_far.total("net_pay"),
        carried=tuple(
            (each.name, _of(booked, each.amount, f"{each.code} carried")) for each in paycheck.carried
        ),
        household=_lines(booked, so_far, "employer"),
        household_total=_of(booked, paycheck.employer_taxes, "employer_taxes"),
        household_year=so_far.total("employer_taxes"),
        total_cost=_of(booked, paycheck.total_cost, "total_cost"),
        sick_leave=sick_leave,
        voided=any(each.reverses == booked.id for each in books.paychecks),
        is_refund=paycheck.is_refund,
        warnings=texts(paycheck.warnings),
        law=law,
        missing=_missing(law, paycheck, parties or StubParties(), sick_leave),
    )


def _of(booked: BookedPaycheck, cents: int, what: str) -> Figure:
    return total([booked.part(cents, what)])


class _YearToDate(NamedTuple):
    """What a person was paid in the year up to and including a paycheck."""

    paychecks: tuple[BookedPaycheck, ...]
    prior: tuple[PriorEntry, ...]

    @classmethod
    def of(cls, books: HouseholdBooks, booked: BookedPaycheck) -> "_YearToDate":
        """Return the person's paychecks that count, by pay date; on the same day, those posted by then.

        Prior wages count from the day up to which they were entered. A reversed paycheck counts on its own stub only.
        """
        record = booked.paycheck.employee_id
        person = next(
            (each for each in books.people if each.has(record)),
            Person(record, "", booked.paycheck.work_state),
        )
        undone = {each.reverses for each in books.paychecks} - {booked.id}
        this = books.paychecks.index(booked)
        paychecks = tuple(
            each
            for place, each in enumerate(books.paychecks)
            if each.reverses is None
            and each.id not in undone
            and person.has(each.paycheck.employee_id)
            and (each.pay_date, place) <= (booked.pay_date, this)
        )
        prior = tuple(
            each for each in books.prior if person.has(each.employee_id) and each.as_of <= booked.pay_date
        )
        return cls(paychecks, prior)

    def total(self, column: str) -> Figure:
        """Return the sum of a column that both paychecks and prior wages have."""
        return total(
            [
                *(each.part(getattr(each.paycheck, column), column) for each in self.paychecks),
                *(each.part(getattr(each, column), column) for each in self.prior),
            ]
        )

    def line(self, code: str) -> Figure:
        """Return the amounts of a line."""
        what = f"{code} amount"
        ours = [
            booked.part(line.amount, what)
            for booked in self.paychecks
            for line in booked.paycheck.lines
            if line.code == code
        ]
        prior = [
            entry.part(line.amount, what) for entry in self.prior for line in entry.lines if line.code == code
        ]
        return total(ours + prior)


def _earnings(booked: BookedPaycheck, so_far: _YearToDate) -> tuple[EarningsRow, ...]:
    """Return the kinds of earnings that this paycheck or the year has."""
    earnings = booked.paycheck.earnings
    hours_of = {
        "regular": earnings.regular_hours,
        "salary": earnings.regular_hours,
        "overtime": earnings.overtime_hours,
    }
    rows = []
    for kind, column in _PARTS.items():
        pays = _pays_as(kind, booked.paycheck)
        current = getattr(earnings, column) if pays else 0
        year = total(
            each.part(getattr(each.paycheck.earnings, column), column)
            for each in so_far.paychecks
            if _pays_as(kind, each.paycheck)
        )
        hours = (hours_of.get(kind) or None) if pays else None
        if current or year.cents or hours:
            rate = None if hours is None or kind == "salary" else _rate(current, hours)
            rows.append(EarningsRow(kind, hours, rate, _of(booked, current, column), year))
    elsewhere = total(each.part(each.gross_pay, "gross_pay") for each in so_far.prior)
    if elsewhere.cents:
        rows.append(EarningsRow("other_payrolls", None, None, total(()), elsewhere))
    return tuple(rows)


def _pays_as(kind: EarningsKind, paycheck: PaycheckRow) -> bool:
    """Return whether a paycheck's amounts count under a kind: regular pay is either hourly or a salary."""
    if kind in ("regular", "salary"):
        return (kind == "salary") == (paycheck.salary is not None)
    return True


def _rate(cents: int, hours: Decimal) -> Decimal:
    """Return the rate that a pay is based on: in whole cents if that is exact, otherwise with four decimals."""
    exact = from_cents(cents) / hours
    rate = exact.quantize(_CENT)
    return (
        rate
        if (rate * hours).quantize(_CENT, "ROUND_HALF_UP") == from_cents(cents)
        else exact.quantize(_RATE_PLACES)
    )


def _lines(booked: BookedPaycheck, so_far: _YearToDate, payer: str) -> tuple[StubLine, ...]:
    return tuple(
        StubLine(
            line.code,
            line.name,
            line.taxable_wages,
            line.rate,
            _of(booked, line.amount, f"{line.code} amount"),
            so_far.line(line.code),
        )
        for line in booked.paycheck.lines
        if line.payer == payer
    )


def _missing(
    law: StubLaw, paycheck: PaycheckRow, parties: StubParties, sick_leave: SickLeave | None
) -> tuple[str, ...]:
    if paycheck.is_refund:
        return ()
    leave = sick_leave or SickLeave()
    known = {
        "er_addr": parties.employer_address,
        "er_mail": parties.employer_address,
        "er_phone": parties.employer_phone,
        "er_bin": parties.business_number,
        "sick_avail": leave.available is not None,
        "sick_avail_monthly": leave.available is not None,
        "sick_used": leave.used_in_period is not None,
        "sick_used_ytd": leave.used_in_year is not None,
        "sick_used_year": leave.used_in_year is not None,
        "sick_accrued_year": leave.accrued_in_year is not None,
        "sick_paid_ytd": leave.paid_in_year is not None,
    }
    known |= dict.fromkeys(_ALWAYS, True)
    known |= dict.fromkeys(
        _WITH_HOURS, bool(paycheck.earnings.regular_hours or paycheck.earnings.overtime_hours)
    )
    if paycheck.salary is not None:
        known["rate"] = True
    return tuple(STUB_FIELDS[name] for name in law.fields if not known[name])
