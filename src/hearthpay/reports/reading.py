"""Reads the data of the reports from the records and the ledger of one household."""

import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.relations import EMPLOYEES, VAULT_ENDINGS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.duties.ledger_records import read_payments
from hearthpay.payroll.ledger.quarters import (
    read_prior_gross,
    read_quarters,
    read_taxed_months,
    read_taxed_quarters,
)
from hearthpay.reports.paid import paid_by_agency
from hearthpay.reports.state_wages import (
    EarnedInQuarter,
    ReportedPerson,
    StateWageDetail,
    TaxedInQuarter,
    WagesOfLine,
    state_wages,
)
from hearthpay.reports.tax_liability import LineInMonth, TaxLiability, tax_liability


class _PeopleRow(NamedTuple):
    id: UUID
    person: UUID
    first_name: str
    last_name: str
    last_four: str | None


_PEOPLE: Final = query(
    _PeopleRow,
    "SELECT e.id, coalesce(e.person_id, e.id) AS person, e.first_name, e.last_name, v.last_four "
    "FROM {employees} e LEFT JOIN {vault_endings} v ON v.owner_kind = 'employee' AND v.owner_id = e.id "
    "AND v.kind IN ('ssn', 'itin') WHERE e.employer_id = :employer ORDER BY e.id, v.kind DESC",
    employees=EMPLOYEES,
    vault_endings=VAULT_ENDINGS,
)


async def read_state_wages(
    session: AsyncSession, employer_id: UUID, state: str, year: int, quarter: int | None
) -> StateWageDetail:
    """Return a household's wages in a state; raises `TaxInputError` for a year without rules."""
    earned = [
        EarnedInQuarter(paid.employee_id, paid.quarter, paid.cents)
        for paid in await read_quarters(session, employer_id, first_year=year, last_year=year)
        if paid.work_state == state
    ]
    taxed = [
        TaxedInQuarter(each.employee_id, each.quarter, WagesOfLine(*each[2:]))
        for each in await read_taxed_quarters(session, employer_id, state=state, year=year)
    ]
    return state_wages(
        state,
        year,
        quarter,
        people=await _people(session, employer_id),
        earned=earned,
        taxed=taxed,
        prior_gross=await read_prior_gross(session, employer_id, year),
    )


async def read_tax_liability(
    session: AsyncSession, employer_id: UUID, first: datetime.date, last: datetime.date
) -> TaxLiability:
    """Return what a household owes to agencies for the pay dates of a date range, and what it paid of that."""
    months = await read_taxed_months(session, employer_id, first=first, last=last)
    taxed = [LineInMonth(*each) for each in months]
    payments = [
        payment
        for payment in await read_payments(session, employer_id)
        if first.replace(day=1) <= payment.first <= last
    ]
    return tax_liability(first, last, taxed, paid_by_agency(taxed, payments))


async def _people(session: AsyncSession, employer_id: UUID) -> dict[UUID, ReportedPerson]:
    """Return the person behind each employee record; a person with several records is identified by the first."""
    people: dict[UUID, ReportedPerson] = {}
    by_record: dict[UUID, ReportedPerson] = {}
    for row in await fetch_all(session, _PEOPLE, {"employer": employer_id}):
        person = people.get(row.person)
        if person is None or (person.last_four is None and row.last_four is not None):
            person = ReportedPerson(row.person, row.first_name, row.last_name, row.last_four)
            people[row.person] = person
        by_record[row.id] = person
    return {record: people[person.id] for record, person in by_record.items()}
