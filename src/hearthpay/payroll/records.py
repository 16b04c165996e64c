"""A payroll as the service calculates, stores and answers it: plain records, amounts in whole cents."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from hearthpay.payroll.earnings import Earnings
from hearthpay.payroll.pay_dates import PayDates


class LineRecord(NamedTuple):
    """One tax on one paycheck, and its sum over the year so far."""

    code: str
    name: str
    payer: str
    agency: str
    category: str
    subject_wages: int
    taxable_wages: int
    rate: Decimal | None
    amount: int
    ytd_amount: int


class YearToDate(NamedTuple):
    """Sums of the year for one employee."""

    gross_pay: int = 0
    net_pay: int = 0
    employee_taxes: int = 0
    employer_taxes: int = 0


class SetAside(NamedTuple):
    """What is kept back from net pay at the employee's wish, and the balance with it."""

    amount: int
    source: str
    balance: int


@dataclass(frozen=True, slots=True)
class PaycheckRecord:
    """One employee's paycheck. ``ytd`` includes it."""

    employee_id: UUID
    employee_name: str
    payment_method: str
    earnings: Earnings
    gross_pay: int
    employee_taxes: int
    employer_taxes: int
    set_aside: SetAside
    lines: tuple[LineRecord, ...]
    ytd: YearToDate
    warnings: tuple[str, ...]
    residence_state: str
    #: The certificate under which another state's resident is free of the work state's income tax.
    reciprocity_certificate: str | None
    work_state: str

    @property
    def net_pay(self) -> int:
        """What is paid out: gross pay less the employee's taxes and what is set aside."""
        return self.gross_pay - self.employee_taxes - self.set_aside.amount

    @property
    def total_cost(self) -> int:
        """Gross pay and the household's taxes on it."""
        return self.gross_pay + self.employer_taxes


@dataclass(frozen=True, slots=True)
class PayrollRecord:
    """A payroll: its dates, its paychecks and the rulebook they were calculated under."""

    employer_id: UUID
    dates: PayDates
    pay_frequency: str
    paychecks: tuple[PaycheckRecord, ...]
    rulebook_version: str
    tax_year: int
    notes: str | None
    #: Codes of lines whose figures of the year are not published yet; such a payroll is an estimate.
    projected: tuple[str, ...] = ()

    @property
    def gross_pay(self) -> int:
        """Sum of gross pay."""
        return sum(paycheck.gross_pay for paycheck in self.paychecks)

    @property
    def net_pay(self) -> int:
        """Sum of net pay."""
        return sum(paycheck.net_pay for paycheck in self.paychecks)

    @property
    def total_deductions(self) -> int:
        """Everything between gross and net."""
        return self.gross_pay - self.net_pay

    @property
    def employer_taxes(self) -> int:
        """Sum of the household's taxes."""
        return sum(paycheck.employer_taxes for paycheck in self.paychecks)

    @property
    def total_cost(self) -> int:
        """Sum of what the paychecks cost."""
        return self.gross_pay + self.employer_taxes


@dataclass(frozen=True, slots=True)
class StoredPayroll:
    """A payroll that was run."""

    id: UUID
    status: str
    created_at: datetime.datetime
    record: PayrollRecord
