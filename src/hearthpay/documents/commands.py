"""Commands of the document service, in plain values that the interfaces have parsed."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from hearthpay.employees.commands import PaperLanguage

StubCopy = Literal["employee", "household"]
W2Copy = Literal["employee", "household", "state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuePaystub:
    """A pay stub of a payroll; the employee may be left out if the payroll paid only one."""

    payroll_id: UUID
    employer_id: UUID | None = None
    employee_id: UUID | None = None
    language: PaperLanguage | None = None
    """None: the employee's language, and English on the household's copy."""

    copy: StubCopy = "employee"
    """The household's copy has a second page with the cost of the paycheck."""

    letterhead: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueW2:
    """A person's Form W-2; the state may be left out for the state's copy if there is only one."""

    tax_year: int
    employee_id: UUID
    employer_id: UUID | None = None
    copy: W2Copy = "employee"
    state: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueW3:
    """A household's Form W-3."""

    tax_year: int
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueScheduleH:
    """A household's Schedule H."""

    tax_year: int
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WageFileSubmitter:
    """Who uploads a wage file: the user id assigned by the SSA, and a contact."""

    user_id: str
    phone: str
    contact_name: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueWageFile:
    """The file in which the SSA accepts Forms W-2 (EFW2)."""

    tax_year: int
    submitter: WageFileSubmitter
    employer_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueYearPackage:
    """All documents of a year in one file; includes the wage file if its submitter is given."""

    tax_year: int
    employer_id: UUID | None = None
    submitter: WageFileSubmitter | None = None


IssueCommand = IssuePaystub | IssueW2 | IssueW3 | IssueScheduleH | IssueWageFile | IssueYearPackage
