"""Prior wages: what another payroll paid an employee earlier in the year, entered once for each source."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import CHANGE_EMPLOYEES, allow
from hearthpay.access.refusal import invalid
from hearthpay.clock import Clock
from hearthpay.database.relations import EMPLOYEES
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query
from hearthpay.employees.service import find_employee, lock_everyone
from hearthpay.employers.threshold_basis import threshold_bases
from hearthpay.payroll.commands import EnterPriorWages
from hearthpay.payroll.ledger.quarters import QuarterPaid
from hearthpay.payroll.years.household_year import measure_household
from hearthpay.taxes.messages import DollarAmount, Message, message, of_json, texts, to_json
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.prior_wages import PriorLine, Review, review_prior_wages
from hearthpay.wire.answer_fields import (
    CreatedAt,
    EmployeeIdentifier,
    HouseholdIdentifier,
    LineCode,
    Warnings,
    YearOfTaxes,
)
from hearthpay.wire.messages import MessageItem, items_of
from hearthpay.wire.money import Dollars


class _CurrentRow(NamedTuple):
    id: UUID
    employer_id: UUID
    employee_id: UUID
    tax_year: int
    source: str
    as_of: datetime.date
    gross_pay: int
    net_pay: int
    employee_taxes: int
    employer_taxes: int
    lines: list[dict[str, Any]]
    messages: list[object]
    created_at: datetime.datetime


_CURRENT: Final = query(
    _CurrentRow,
    "SELECT id, employer_id, employee_id, tax_year, source, as_of, gross_pay, net_pay, employee_taxes, employer_taxes, "
    "lines, coalesce(messages, warnings) AS messages, created_at FROM prior_wages "
    "WHERE employee_id = :employee AND replaced_by IS NULL "
    "ORDER BY tax_year DESC, source",
)


_QUARTERS: Final = query(
    QuarterPaid,
    "SELECT w.employee_id, e.work_state, w.tax_year AS year, CAST(extract(quarter FROM w.as_of) AS int) AS quarter, "
    "CAST(sum(w.gross_pay) AS bigint) AS cents FROM prior_wages w JOIN {employees} e ON e.id = w.employee_id "
    "WHERE w.employer_id = :employer AND w.tax_year BETWEEN :first AND :last AND w.replaced_by IS NULL "
    "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    employees=EMPLOYEES,
)


class _OfAYearRow(NamedTuple):
    id: UUID
    employee_id: UUID
    source: str
    as_of: datetime.date
    gross_pay: int
    lines: list[dict[str, Any]]
    net_pay: int
    employee_taxes: int
    employer_taxes: int


_OF_A_YEAR: Final = query(
    _OfAYearRow,
    "SELECT id, employee_id, source, as_of, gross_pay, lines, net_pay, employee_taxes, employer_taxes FROM prior_wages "
    "WHERE employer_id = :employer AND tax_year = :tax_year AND replaced_by IS NULL ORDER BY id",
)


class _ReplacedRow(NamedTuple):
    id: UUID
    gross_pay: int


_REPLACE: Final = query(
    _ReplacedRow,
    "UPDATE prior_wages SET replaced_by = :id WHERE employee_id = :employee AND tax_year = :tax_year "
    "AND source = :source AND replaced_by IS NULL RETURNING id, gross_pay",
)
_INSERT: Final = text(
    "INSERT INTO prior_wages (id, organization_id, employer_id, sandbox, employee_id, tax_year, source, as_of, "
    "gross_pay, net_pay, employee_taxes, employer_taxes, lines, codes, subject_wages, taxable_wages, amounts, "
    "warnings, messages, created_at) VALUES (:id, :organization_id, :employer_id, :sandbox, :employee_id, :tax_year, "
    ":source, :as_of, :gross_pay, :net_pay, :employee_taxes, :employer_taxes, CAST(:lines AS jsonb), :codes, "
    ":subject_wages, :taxable_wages, :amounts, CAST(:warnings AS jsonb), CAST(:messages AS jsonb), :created_at)"
)


@dataclass(frozen=True, slots=True)
class PriorWagesLineItem:
    """One tax as it was entered."""

    code: LineCode
    subject_wages: Dollars
    """Wages that the tax is about, below its wage base or not."""

    taxable_wages: Dollars
    """Wages that were taxed."""

    amount: Dollars
    """What was withheld or charged."""


@dataclass(frozen=True, slots=True)
class PriorWagesItem:
    """Prior wages as they were entered, and where they differ from the law."""

    id: UUID
    """The entry's id."""

    employer_id: HouseholdIdentifier
    employee_id: EmployeeIdentifier
    tax_year: YearOfTaxes
    source: str
    """Who paid, such as the earlier provider's name."""

    as_of: datetime.date
    """The last pay date that is counted."""

    gross_pay: Dollars
    """Gross wages of the year up to `as_of`."""

    net_pay: Dollars
    """Net pay of the year up to `as_of`."""

    employee_taxes: Dollars
    """Taxes that were withheld."""

    employer_taxes: Dollars
    """Taxes that the household owed in addition."""

    lines: list[PriorWagesLineItem]
    """The taxes as they were entered."""

    created_at: CreatedAt
    warnings: Warnings = field(default_factory=list)
    warning_codes: list[MessageItem] = field(default_factory=list)
    """`warnings` for programs, in the same order."""


class EnteredPriorWages(NamedTuple):
    """Prior wages just entered, and where they differ from the law."""

    item: PriorWagesItem
    differences: tuple[Message, ...]


async def enter_prior_wages(
    session: AsyncSession, actor: Actor, clock: Clock, employee_id: UUID, new: EnterPriorWages
) -> EnteredPriorWages:
    """Count what another payroll paid in the employee's year; the latest entry of each source applies.

    Nothing entered is altered: if it differs from the law, the answer's warnings say so. Taxes that our own paychecks
    of the year charged too much or too little because of it are corrected with the next one. Raises `not_found`, and
    `validation_error` for a day outside the year or in the future, or for a code that isn't a line.
    """
    allow(actor, CHANGE_EMPLOYEES)
    if new.as_of.year != new.tax_year:
        raise invalid("as_of", "must be a day of tax_year")
    if new.as_of > clock.today():
        raise invalid("as_of", "must not be to come")
    # Their wages may reach a threshold of the household, on which the years of the others depend.
    employee = await lock_everyone(session, actor, employee_id)
    bases = await threshold_bases(session, employee.employer_id)
    review = review_prior_wages(new.lines, new.gross_pay, new.as_of, employee.work_state)
    totals = _totals(new, review)
    differences = (*review.differences, *totals.differences)
    record = {
        "id": uuid7(),
        "employee_id": employee.id,
        "employer_id": employee.employer_id,
        "tax_year": new.tax_year,
        "source": new.source,
        "as_of": new.as_of,
        **totals.amounts,
        "lines": [line._asdict() for line in new.lines],
        "messages": [to_json(each) for each in differences],
        "created_at": clock.now(),
    }
    which = {"id": record["id"], "employee": employee.id, "tax_year": new.tax_year, "source": new.source}
    replaced = await fetch_optional(session, _REPLACE, which)
    await session.execute(
        _INSERT,
        record
        | {
            "organization_id": employee.organization_id,
            "sandbox": employee.sandbox,
            "lines": orjson.dumps(record["lines"]).decode(),
            "warnings": orjson.dumps(texts(differences)).decode(),
            "messages": orjson.dumps(record["messages"]).decode(),
            "codes": [line.code for line in new.lines],
            "subject_wages": [line.subject_wages for line in new.lines],
            "taxable_wages": [line.taxable_wages for line in new.lines],
            "amounts": [line.amount for line in new.lines],
        },
    )
    await measure_household(session, employee.employer_id, new.tax_year, bases, [employee])
    await record_audit(
        session,
        actor,
        "employee.prior_wages",
        employer_id=employee.employer_id,
        subject_id=employee.id,
        details={
            "tax_year": new.tax_year,
            "source": new.source,
            "as_of": new.as_of,
            "prior_wages": record["id"],
            "replaces": None if replaced is None else replaced.id,
            "warnings": len(differences),
            "before": {"prior_gross_pay": None if replaced is None else from_cents(replaced.gross_pay)},
            "after": {"prior_gross_pay": from_cents(new.gross_pay)},
        },
    )
    return EnteredPriorWages(_item(record), differences)


async def list_prior_wages(
    session: AsyncSession, actor: Actor, employee_id: UUID
) -> Sequence[PriorWagesItem]:
    """Return an employee's prior wages in force, latest year first; raises `not_found`."""
    await find_employee(session, actor, employee_id)
    found = await fetch_all(session, _CURRENT, {"employee": employee_id})
    return [_item(row._asdict()) for row in found]


class PriorRecord(NamedTuple):
    """Prior wages in force, in cents."""

    id: UUID
    employee_id: UUID
    source: str
    as_of: datetime.date
    gross_pay: int
    lines: tuple[PriorLine, ...]
    net_pay: int
    employee_taxes: int
    employer_taxes: int


async def read_prior_year(session: AsyncSession, employer_id: UUID, tax_year: int) -> list[PriorRecord]:
    """Return the prior wages in force of all records of a household in a tax year, in the order they were entered."""
    rows = await fetch_all(session, _OF_A_YEAR, {"employer": employer_id, "tax_year": tax_year})
    return [
        PriorRecord(
            row.id,
            row.employee_id,
            row.source,
            row.as_of,
            row.gross_pay,
            tuple(PriorLine(**line) for line in row.lines),
            row.net_pay,
            row.employee_taxes,
            row.employer_taxes,
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class _Totals:
    amounts: dict[str, int]
    differences: tuple[Message, ...]


def _totals(new: EnterPriorWages, review: Review) -> _Totals:
    """Return the totals, calculating omitted ones from the lines, and where given totals differ from the sums."""
    given = {
        "employee_taxes": (new.employee_taxes, review.employee_taxes),
        "employer_taxes": (new.employer_taxes, review.employer_taxes),
    }
    amounts = {"gross_pay": new.gross_pay}
    differences = []
    for name, (given_total, summed) in given.items():
        amounts[name] = summed if given_total is None else given_total
        if amounts[name] != summed:
            amount, due = DollarAmount(amounts[name]), DollarAmount(summed)
            differences.append(message("prior_total_not_sum", field=name, amount=amount, due=due))
    net = new.gross_pay - amounts["employee_taxes"]
    amounts["net_pay"] = max(0, net) if new.net_pay is None else new.net_pay
    if amounts["net_pay"] != net:
        amount, due = DollarAmount(amounts["net_pay"]), DollarAmount(net)
        differences.append(message("prior_net_pay_differs", amount=amount, due=due))
    return _Totals(amounts, tuple(differences))


def _item(record: dict[str, object]) -> PriorWagesItem:
    values = dict(record)
    for name in ("gross_pay", "net_pay", "employee_taxes", "employer_taxes"):
        values[name] = from_cents(int(str(values[name])))
    lines = values["lines"]
    assert isinstance(lines, list)
    values["lines"] = [
        PriorWagesLineItem(
            line["code"],
            from_cents(line["subject_wages"]),
            from_cents(line["taxable_wages"]),
            from_cents(line["amount"]),
        )
        for line in lines
    ]
    messages = values.pop("messages")
    assert isinstance(messages, list)
    differences = [of_json(each) for each in messages]
    return PriorWagesItem(
        **values,  # type: ignore[arg-type]
        warnings=list(texts(differences)),
        warning_codes=items_of(differences),
    )


async def read_prior_quarters(
    session: AsyncSession, employer_id: UUID, *, first_year: int, last_year: int
) -> list[QuarterPaid]:
    """Return what other payrolls of the household paid in these years, in the quarter in which the reported period
    ends.

    It counts in that quarter for thresholds too: the quarters in which it was paid aren't known.
    """
    requested = {"employer": employer_id, "first": first_year, "last": last_year}
    return await fetch_all(session, _QUARTERS, requested)
