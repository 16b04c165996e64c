"""Autopilot eligibility: every reason not to pay an employee, as codes for programs.

Checked on enrollment, on resumption and before each payroll is generated, with a few statements for many employees.
"""

import datetime
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.plans import PLANS
from hearthpay.banking.readiness import account_blockers, is_spellable
from hearthpay.database.relations import (
    BANK_ACCOUNTS,
    EMPLOYEES,
    EMPLOYERS,
    ORGANIZATIONS,
    PAYCHECKS,
    PAYROLLS,
    STANDING_AUTHORIZATIONS,
)
from hearthpay.database.statements import statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark
from hearthpay.payroll.issues import failures
from hearthpay.taxes import TaxInputError, rulebook_for
from hearthpay.taxes.finality import unpublished_programs

Reason = Literal[
    "not_plus",
    "employee_inactive",
    "employment_ended_in_period",
    "employee_not_started",
    "employee_incomplete",
    "insufficient_history",
    "direct_deposit_unavailable",
    "direct_deposit_not_offered",
    "authorization_missing",
    "tax_year_not_final",
    "unsupported_jurisdiction",
    "not_calculable",
    "internal_error",
]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)

FOR_THE_OPERATOR: Final[frozenset[str]] = failures.FOR_THE_OPERATOR | {"direct_deposit_not_offered"}
"""Reasons that no household can fix: they don't count as failures, and the affected periods stay open."""

IN_WORDS: Final[Mapping[Reason, tuple[str, str]]] = {
    "not_plus": (
        mark("The plan does not include Autopilot"),
        mark("Ask your administrator for the Plus or Professional plan."),
    ),
    "employee_inactive": (
        mark("The employee does not work for you any more"),
        mark("Reinstate the employee, or end Autopilot."),
    ),
    "employment_ended_in_period": (
        mark("The employment ended during the pay period"),
        mark("Run the last payroll yourself, with the hours worked until then."),
    ),
    "employee_not_started": (mark("The employee has not started yet"), mark("Begin with a later period.")),
    "employee_incomplete": (
        mark("The employee has no pay rate or salary"),
        mark("Enter the pay rate or salary."),
    ),
    "insufficient_history": (
        mark("No payroll of this employee has been completed yet"),
        mark("Run a payroll first and check it. When it's completed, Autopilot can continue."),
    ),
    "direct_deposit_unavailable": (
        mark("Direct deposit is not possible"),
        mark("Connect your bank account, and have the employee enter one in the portal."),
    ),
    "direct_deposit_not_offered": (
        mark("Direct deposit is switched off on this service at the moment"),
        mark("No action needed."),
    ),
    "authorization_missing": (
        mark("Nobody has agreed to the debits of the bank account that is connected now"),
        mark("Agree to them on the page of Autopilot."),
    ),
    "tax_year_not_final": (
        mark("Tax figures for the pay date aren't published yet, or aren't in this version of Hearthpay"),
        mark("No action needed."),
    ),
    "unsupported_jurisdiction": (
        mark("Hearthpay has no tax rules for the state of work yet"),
        mark("No action needed."),
    ),
    "not_calculable": (mark("The payroll cannot be calculated"), mark("Correct the employee's settings.")),
    "internal_error": (mark("There was an error on our side"), mark("No action needed.")),
}
"""Each reason in words, with what the household can do about it."""


class _PeopleRow(NamedTuple):
    id: UUID
    employer_id: UUID
    status: str
    start_date: datetime.date
    end_date: datetime.date | None
    work_state: str
    first_name: str
    salaried: bool
    incomplete: bool
    last_name: str
    household_first: str
    household_last: str
    sandbox: bool
    plan: str
    paid_before: bool


_PEOPLE: Final = query(
    _PeopleRow,
    "SELECT m.id, m.employer_id, m.status, m.start_date, m.end_date, m.work_state, m.first_name, "
    "m.salary_cents IS NOT NULL AS salaried, "
    "coalesce(m.pay_rate_cents, m.salary_cents) IS NULL AS incomplete, "
    "m.last_name, h.first_name AS household_first, h.last_name AS household_last, h.sandbox, o.plan, EXISTS ("
    "SELECT FROM {paychecks} c JOIN {payrolls} p ON p.id = c.payroll_id WHERE c.employee_id = m.id "
    "AND c.reverses IS NULL AND p.status = 'completed' "
    "AND NOT EXISTS (SELECT FROM {paychecks} r WHERE r.reverses = c.id)) AS paid_before "
    "FROM {employees} m JOIN {employers} h ON h.id = m.employer_id "
    "JOIN {organizations} o ON o.id = m.organization_id WHERE m.id = ANY(:employees)",
    paychecks=PAYCHECKS,
    payrolls=PAYROLLS,
    employees=EMPLOYEES,
    employers=EMPLOYERS,
    organizations=ORGANIZATIONS,
)
_AUTHORIZED: Final = statement(
    "SELECT z.enrollment_id FROM {standing_authorizations} z "
    "JOIN {bank_accounts} a ON a.id = z.bank_account_id AND a.status <> 'replaced' "
    "WHERE z.enrollment_id = ANY(:enrollments) AND z.ended_at IS NULL",
    standing_authorizations=STANDING_AUTHORIZATIONS,
    bank_accounts=BANK_ACCOUNTS,
)


@dataclass(frozen=True, slots=True)
class EligibilityFacts:
    """What eligibility depends on, besides a period's dates."""

    has_plan: bool
    active: bool
    salaried: bool
    start_date: datetime.date
    end_date: datetime.date | None
    """The last day of work of an employee who has left."""

    incomplete: bool
    paid_before: bool
    direct_deposit_enabled: bool
    direct_deposit: bool
    work_state: str

    @property
    def last_day(self) -> datetime.date | None:
        """The last day of work of an employee who has left and hasn't been reinstated."""
        return None if self.active else self.end_date


def reasons_against(
    facts: EligibilityFacts,
    *,
    authorized: bool,
    period_end: datetime.date,
    pay_date: datetime.date,
    period_start: datetime.date | None = None,
) -> tuple[Reason, ...]:
    """Return all reasons not to pay the period; none means that Autopilot may pay.

    With ``period_start``, that of an enrollment's next period, an employee who has left is still paid for the periods
    of employment: a full one as usual, and for the last, partial one a salaried employee by working days. An hourly
    employee's hours in the last partial period aren't known.

    Checks that rules exist for the year and for every program of the work state that has begun by then. Whether a
    paycheck needs a figure that isn't known yet is found by its calculation.
    """
    law = _law_missing(facts.work_state, pay_date)
    last_day = facts.last_day
    works = facts.active or (last_day is not None and period_start is not None and period_start <= last_day)
    part_of_it = works and last_day is not None and last_day < period_end
    found: dict[Reason, bool] = {
        "not_plus": not facts.has_plan,
        "employee_inactive": not works,
        "employment_ended_in_period": part_of_it and not facts.salaried,
        "employee_not_started": facts.start_date > period_end,
        "employee_incomplete": facts.incomplete,
        "insufficient_history": not facts.paid_before,
        "direct_deposit_unavailable": facts.direct_deposit_enabled and not facts.direct_deposit,
        "direct_deposit_not_offered": not facts.direct_deposit_enabled,
        "authorization_missing": not authorized,
        "tax_year_not_final": law == "tax_year_not_final",
        "unsupported_jurisdiction": law == "unsupported_jurisdiction",
    }
    return tuple(reason for reason, holds in found.items() if holds)


def reason_of_code(code: str) -> Reason:
    """Return the reason for a code of the calculation."""
    if code == "unsupported_tax_year":
        return "tax_year_not_final"
    return next((reason for reason in REASONS if reason == code), "not_calculable")


async def read_facts(
    session: AsyncSession, employees: Collection[UUID], *, direct_deposit_enabled: bool
) -> dict[UUID, EligibilityFacts]:
    """Return the facts by employee; ``offered`` says whether this installation has a bank. The sandbox has its own."""
    rows = await fetch_all(session, _PEOPLE, {"employees": list(employees)})
    households = {row.employer_id for row in rows}
    blocked = await account_blockers(session, households=households, employees=employees)
    return {
        row.id: EligibilityFacts(
            has_plan=row.plan in PLANS and "autopilot" in PLANS[row.plan].features,
            active=row.status == "active",
            salaried=row.salaried,
            start_date=row.start_date,
            end_date=row.end_date,
            incomplete=row.incomplete,
            paid_before=row.paid_before,
            direct_deposit_enabled=direct_deposit_enabled or row.sandbox,
            direct_deposit=row.employer_id not in blocked
            and row.id not in blocked
            and is_spellable(f"{row.first_name} {row.last_name}")
            and is_spellable(f"{row.household_first} {row.household_last}"),
            work_state=row.work_state,
        )
        for row in rows
    }


async def authorized_enrollments(session: AsyncSession, enrollments: Sequence[UUID]) -> set[UUID]:
    """Return those enrollments whose standing authorization covers the account that is connected now."""
    return set(await session.scalars(_AUTHORIZED, {"enrollments": list(enrollments)}))


def _law_missing(work_state: str, pay_date: datetime.date) -> Reason | None:
    try:
        rules = rulebook_for(pay_date).state(work_state)
    except TaxInputError as error:
        return reason_of_code(error.code)
    return "tax_year_not_final" if unpublished_programs(rules.finality, pay_date) else None
