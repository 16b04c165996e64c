"""What entries of the history are about: names of households, employees and payrolls, and the pages that show them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.audit import AuditEntry
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import Say, day_in, mark
from hearthpay.payroll.models import Payroll

_PAGES: Final[tuple[tuple[str, str], ...]] = (
    ("autopilot.", "/autopilot"),
    ("bank_account.", "/bank"),
    ("ach.", "/bank"),
    ("calendar_link.", "/calendar"),
    ("duty.", "/calendar"),
    ("document.", "/taxes/papers"),
    ("tax_payment.", "/taxes"),
    ("filing.", "/taxes"),
    ("registration.", "/state-accounts"),
    ("insurance.", "/state-accounts"),
    ("employer.", "/household"),
)
"""The household's page for actions that begin so."""

_OWN_PAGES: Final[tuple[tuple[str, str, str], ...]] = (
    ("key.", "/settings/keys", mark("API keys")),
    ("agent.", "/settings/agents", mark("Connected apps")),
    ("member.", "/settings/members", mark("Members")),
)
_HOUSEHOLD_PAGE: Final = mark("{household}'s household")


@dataclass(frozen=True, slots=True)
class Objects:
    """The names of what entries are about, by id; those of an employee or payroll with its household."""

    households: Mapping[UUID, str]
    employees: Mapping[UUID, tuple[UUID, str]]
    payrolls: Mapping[UUID, tuple[UUID, Payroll]]


@dataclass(frozen=True, slots=True)
class ObjectLink:
    """A link to what an entry is about, with its words."""

    path: str
    text: str


def about(entry: AuditEntry) -> UUID | None:
    """Return the id of what an entry is about: its employee, for a record of an employee's such as a certificate."""
    employee = entry.details.get("employee_id")
    try:
        return entry.subject_id if employee is None else UUID(str(employee))
    except ValueError:
        return entry.subject_id


async def read_objects(session: AsyncSession, entries: Collection[AuditEntry]) -> Objects:
    """Return the names of what the entries are about, as far as the session's tenant has them."""
    subjects = {subject for each in entries if (subject := about(each)) is not None}
    employees = {
        row.id: (row.employer_id, f"{row.first_name} {row.last_name}")
        for row in await session.execute(
            select(Employee.id, Employee.employer_id, Employee.first_name, Employee.last_name).where(
                Employee.id.in_(subjects)
            )
        )
    }
    payrolls = {
        row.id: (row.employer_id, row)
        for row in await session.scalars(select(Payroll).where(Payroll.id.in_(subjects)))
    }
    places = {each.employer_id for each in entries if each.employer_id is not None} | subjects
    households = {
        row.id: f"{row.first_name} {row.last_name}"
        for row in await session.execute(
            select(Employer.id, Employer.first_name, Employer.last_name).where(Employer.id.in_(places))
        )
    }
    return Objects(households, employees, payrolls)


def links_of(say: Say, language: str, entry: AuditEntry, objects: Objects) -> Sequence[ObjectLink]:
    """Return links to the entry's employee or payroll, and to its household, as far as they are known."""
    links = []
    subject = about(entry)
    if subject is not None and subject in objects.employees:
        household, name = objects.employees[subject]
        links.append(ObjectLink(f"/app/{household}/employees/{subject}", name))
    elif subject is not None and subject in objects.payrolls:
        household, payroll = objects.payrolls[subject]
        words = say(mark("{day} payroll"), day=day_in(language, payroll.pay_date))
        links.append(ObjectLink(f"/app/{household}/payrolls/{subject}", words))
    else:
        links += [
            ObjectLink(path, say(words))
            for begin, path, words in _OWN_PAGES
            if entry.action.startswith(begin)
        ]
    place = entry.employer_id
    if place is not None and place in objects.households:
        page = next((path for begin, path in _PAGES if entry.action.startswith(begin)), "")
        words = say(_HOUSEHOLD_PAGE, household=objects.households[place])
        links.append(ObjectLink(f"/app/{place}{page}", words))
    return links
