"""What the calendar of duties needs to know about a household, as plain values.

Amounts are whole cents from the ledger; days are calendar days. Nothing is looked up here: the caller supplies it.
"""

import datetime
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from hearthpay.duties.periods import month_number

FEDERAL = "US"
"""The value used in place of a state for federal law."""


@dataclass(frozen=True, slots=True)
class EmploymentSpell:
    """A period in which an employee works in one state; ``until`` is the last day, None while it continues."""

    state: str
    since: datetime.date
    until: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class Withholding:
    """A period in which income tax of a jurisdiction (a state, or ``US``) is withheld from an employee."""

    jurisdiction: str
    since: datetime.date
    until: datetime.date | None = None


@dataclass(frozen=True, slots=True)
class HouseholdEmployee:
    """A person whom the household pays; employments are in order and don't overlap."""

    id: UUID
    name: str
    employments: tuple[EmploymentSpell, ...]
    relationship: str = "none"
    withholding: tuple[Withholding, ...] = ()
    claims_exemption: bool = False
    """Whether the Form W-4 on file claims exemption from federal withholding."""

    local_lines: frozenset[str] = frozenset()
    """Codes of the local taxes on the employee's pay today, by the places chosen."""


class Liability(NamedTuple):
    """A crossed threshold: from ``since`` to ``until`` the household owes what depends on it.

    ``name`` is the engine's (``fica``, ``futa``, ``sui``, ``sdi``, ``tdi``). If only one employee's wages count, as
    for Social Security, ``employee_id`` says whose.
    """

    jurisdiction: str
    name: str
    since: datetime.date
    until: datetime.date | None = None
    employee_id: UUID | None = None


class LedgerAmount(NamedTuple):
    """The total of a line in the paychecks of one month, for one employee, in cents, less voids."""

    employee_id: UUID
    line: str
    year: int
    month: int
    cents: int


class PaydayAmount(NamedTuple):
    """The total of a line in all paychecks of one day, in cents, less voids."""

    line: str
    day: datetime.date
    cents: int


Months = Set[int]
"""Months by their numbers, see `month_number`."""


@dataclass(frozen=True, slots=True)
class WagesInState:
    """The wages paid to all employees together in a state in one month, in cents."""

    state: str
    year: int
    month: int
    cents: int


@dataclass(frozen=True, slots=True)
class Filing:
    """How often the household files under an account, starting with a year, as the household or its agency chose."""

    jurisdiction: str
    account: str
    frequency: str
    since_year: int


@dataclass(frozen=True, slots=True)
class ClosedAccount:
    """The last day of an account that the agency has closed; later periods are no longer reported."""

    jurisdiction: str
    account: str
    on: datetime.date


@dataclass(frozen=True, slots=True)
class RecordedPayment:
    """What the household paid to a tax agency for a period of an account, as it recorded it; reversed ones left out."""

    id: UUID
    jurisdiction: str
    account: str
    """As `payment_accounts` names it."""

    period: str
    """As the calendar names it: ``2026-Q3``, ``2026-I2``, or a day."""

    first: datetime.date
    last: datetime.date
    """The first and last day that it is for."""

    cents: int
    paid_on: datetime.date
    agency: str = ""
    """The agency's id."""


@dataclass(frozen=True, slots=True)
class RecordedFiling:
    """When the household filed what an item of the calendar asks for, and the total of the return as it was filed."""

    filed_on: datetime.date
    total: int | None = None
    """The taxes of the period in cents; None for what has no amount."""


@dataclass(frozen=True, slots=True)
class Household:
    """The facts of one household."""

    id: UUID
    employees: tuple[HouseholdEmployee, ...] = ()
    liabilities: tuple[Liability, ...] = ()
    amounts: tuple[LedgerAmount, ...] = ()
    wages: tuple[WagesInState, ...] = ()
    filings: tuple[Filing, ...] = ()
    closed: tuple[ClosedAccount, ...] = ()
    paydays: tuple[PaydayAmount, ...] = ()
    """The amounts by payday, of lines that a duty settles payday by payday."""

    open_lines: frozenset[str] = frozenset()
    """Codes of lines whose account has a number on file; the agency may require a return even for no pay."""

    as_of: datetime.date = datetime.date.min
    """The day of the facts; a period before it has ended."""

    expects_to_owe: bool = False
    """Whether the household expects to cross a threshold: what is due at a hire is due before wages show it."""

    done: Mapping[str, datetime.date] = field(default_factory=dict)
    """What the household has marked as done, by the item's key, with the day it was done."""

    payments: tuple[RecordedPayment, ...] = ()
    filed: Mapping[str, RecordedFiling] = field(default_factory=dict)
    """What the household recorded as filed, by the item's key; the latest where a return was amended."""

    cents_by_line: Mapping[str, Mapping[int, int]] = field(init=False, repr=False, compare=False)
    """The amounts of all employees together by line and month, since a duty needs only some lines."""

    months_of: Mapping[UUID, Mapping[str, Months]] = field(init=False, repr=False, compare=False)
    """The months with an amount by employee and line."""

    paydays_by_line: Mapping[int, Mapping[str, Sequence[PaydayAmount]]] = field(
        init=False, repr=False, compare=False
    )
    """The amounts by payday by year and line."""

    def __post_init__(self) -> None:
        """Add the amounts up by line, note the months in which each employee has any, and sort those by payday."""
        lines: dict[str, dict[int, int]] = {}
        employees: dict[UUID, dict[str, set[int]]] = {}
        of = None
        own: dict[str, set[int]] = {}
        for employee_id, line, year, month, cents in self.amounts:
            if employee_id is not of:
                own, of = employees.setdefault(employee_id, {}), employee_id
            number = month_number(year, month)
            together = lines.get(line)
            if together is None:
                together = lines[line] = {}
            together[number] = together.get(number, 0) + cents
            if cents:
                months = own.get(line)
                if months is None:
                    own[line] = {number}
                else:
                    months.add(number)
        years: dict[int, dict[str, list[PaydayAmount]]] = {}
        for paid in self.paydays:
            years.setdefault(paid.day.year, {}).setdefault(paid.line, []).append(paid)
        object.__setattr__(self, "paydays_by_line", years)
        object.__setattr__(self, "cents_by_line", lines)
        object.__setattr__(self, "months_of", employees)
