"""What a scheduled payroll is expected to be: kept as the answer to its approval, read as amounts in whole cents."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from hearthpay.payroll.ledger.earnings import Earnings
from hearthpay.payroll.ledger.rows import PayrollTotals, SetAside, YearToDate
from hearthpay.taxes.messages import Message, of_json

MESSAGES: Final = "messages"
"""Where a kept estimate has the warnings of a paycheck by code; not answered."""


class EstimatedLine(NamedTuple):
    """One tax on an expected paycheck; amounts in cents."""

    code: str
    name: str
    payer: str
    taxable_wages: int
    rate: Decimal | None
    amount: int
    ytd_amount: int


class EstimatedSalary(NamedTuple):
    """The working days of a full period, and those that are paid."""

    working_days: int
    paid_days: Decimal

    @property
    def prorated(self) -> bool:
        """Whether the amount differs from that of a full period."""
        return self.paid_days != self.working_days


@dataclass(frozen=True, slots=True)
class EstimatedPaycheck:
    """An expected paycheck; its fields are called as those of a `PaycheckRow`."""

    employee_id: UUID
    employee_name: str
    payment_method: str
    earnings: Earnings
    gross_pay: int
    employee_taxes: int
    employer_taxes: int
    set_aside: SetAside
    net_pay: int
    total_cost: int
    lines: tuple[EstimatedLine, ...]
    ytd: YearToDate
    warnings: tuple[Message, ...]
    salary: EstimatedSalary | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a payroll was expected to be when it was approved; ``answer`` has Decimals for its numbers, in dollars."""

    answer: Mapping[str, Any]

    @classmethod
    def parse(cls, kept: bytes | str) -> Self:
        """Return the estimate that is kept as JSON."""
        return cls(json.loads(kept, parse_float=Decimal))

    @property
    def totals(self) -> PayrollTotals:
        """The expected sums."""
        totals = self.answer["totals"]
        return PayrollTotals(
            _cents(totals["gross_pay"]),
            _cents(totals["total_deductions"]),
            _cents(totals["total_net_pay"]),
            _cents(totals["total_employer_taxes"]),
            _cents(totals["total_cost"]),
        )

    @property
    def paychecks(self) -> tuple[EstimatedPaycheck, ...]:
        """The expected paychecks, in the order of the request."""
        return tuple(_paycheck(each) for each in self.answer["employees"])


def _paycheck(kept: Mapping[str, Any]) -> EstimatedPaycheck:
    earnings, set_aside = kept["earnings"], kept["voluntary_set_aside"]
    salary = earnings.get("salary")
    return EstimatedPaycheck(
        employee_id=UUID(kept["employee_id"]),
        employee_name=kept["name"],
        payment_method=kept["payment_method"],
        earnings=Earnings(
            Decimal(earnings["regular_hours"]),
            _cents(earnings["regular_pay"]),
            Decimal(earnings["overtime_hours"]),
            _cents(earnings["overtime_pay"]),
            _cents(earnings["bonus"]),
            _cents(earnings["other_earnings"]),
        ),
        gross_pay=_cents(kept["gross_pay"]),
        employee_taxes=_cents(kept["employee_taxes"]["total"]),
        employer_taxes=_cents(kept["employer_taxes"]["total"]),
        set_aside=SetAside(_cents(set_aside["amount"]), set_aside["source"], _cents(set_aside["balance"])),
        net_pay=_cents(kept["net_pay"]),
        total_cost=_cents(kept["total_cost"]),
        lines=tuple(
            EstimatedLine(
                line["code"],
                line["name"],
                line["payer"],
                _cents(line["taxable_wages"]),
                None if line["rate"] is None else Decimal(line["rate"]),
                _cents(line["amount"]),
                _cents(line["ytd_amount"]),
            )
            for line in kept["lines"]
        ),
        ytd=YearToDate(**{name: _cents(kept["ytd"][name]) for name in YearToDate._fields}),
        # One that was kept before warnings had codes has their sentences alone.
        warnings=tuple(of_json(each) for each in kept.get(MESSAGES, kept["warnings"])),
        salary=None
        if salary is None
        else EstimatedSalary(int(salary["working_days"]), Decimal(salary["paid_days"])),
    )


def _cents(dollars: Decimal | int) -> int:
    """Return whole cents; an amount of nothing is kept as a bare 0."""
    return int(Decimal(dollars).scaleb(2))
