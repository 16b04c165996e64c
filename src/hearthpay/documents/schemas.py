"""The API's requests and responses about documents."""

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal, cast
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.documents.commands import (
    IssuePaystub,
    IssueScheduleH,
    IssueW2,
    IssueW3,
    IssueWageFile,
    IssueYearPackage,
    StubCopy,
    W2Copy,
    WageFileSubmitter,
)
from hearthpay.documents.models import IssuedDocument
from hearthpay.documents.paper import DocumentKind, media_type_of
from hearthpay.employees.commands import PaperLanguage
from hearthpay.employers.schemas import PhoneNumber
from hearthpay.wire.answer_fields import CreatedAt, HouseholdIdentifier, YearOfTaxes
from hearthpay.wire.fields import Email, Identifier, PersonName, RequestModel, StateCode, Text
from hearthpay.wire.paging import Page

_USER_ID: Final = re.compile(r"[0-9A-Z]{8}")


def _read_user_id(value: object) -> str:
    user_id = value.strip().upper() if isinstance(value, str) else ""
    if _USER_ID.fullmatch(user_id) is None:
        raise PydanticCustomError("user_id_form", "Enter the eight letters and digits the SSA assigned.")
    return user_id


SsaUserId = Annotated[
    str,
    BeforeValidator(_read_user_id),
    WithJsonSchema({"type": "string", "pattern": "^[0-9A-Za-z]{8}$", "examples": ["AB12CD34"]}),
]
"""The user id of Business Services Online."""

TaxYear = Annotated[
    int, Field(ge=2000, le=2200, description="The tax year: the calendar year of the pay dates.")
]

_HOUSEHOLD: Final = "The household; left out, the one that the key remembers."


class PaystubRequest(RequestModel):
    """A pay stub of a completed payroll."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    payroll_id: Identifier
    """A payroll that is completed, or was and has been voided."""

    employee_id: Identifier | None = Field(
        default=None, description="May be left out where the payroll paid one employee."
    )
    language: PaperLanguage | None = Field(
        default=None, description="Default: the employee's; on the household's copy English."
    )
    copy_for: StubCopy = Field(
        default="employee",
        alias="copy",
        description="The household's has a second page: what the paycheck cost.",
    )
    letterhead: Annotated[str, Text(longest=60, name=True)] | None = Field(
        default=None, description="The household's own name for its stubs."
    )
    note: Annotated[str, Text(longest=300)] | None = Field(
        default=None, description="A text that is printed on the stub, up to 300 characters."
    )

    def to_command(self) -> IssuePaystub:
        """Return the invitation in plain values."""
        told = dict(self)
        return IssuePaystub(copy=told.pop("copy_for"), **told)


class W2Request(RequestModel):
    """A person's Form W-2 of a year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    employee_id: Identifier
    """The employee. All records of a person who was hired again are on one form."""

    tax_year: TaxYear
    copy_for: W2Copy = Field(
        default="employee",
        alias="copy",
        description="`employee`: copies B, C and 2 on one sheet. `household`: copy D. `state`: copy 1.",
    )
    state: StateCode | None = Field(
        default=None, description="Of the state's copy; may be left out where the form names one state."
    )

    def to_command(self) -> IssueW2:
        """Return the invitation in plain values."""
        told = dict(self)
        return IssueW2(copy=told.pop("copy_for"), **told)


class W3Request(RequestModel):
    """A household's Form W-3 of a year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    tax_year: TaxYear

    def to_command(self) -> IssueW3:
        """Return the invitation in plain values."""
        return IssueW3(**dict(self))


class ScheduleHRequest(RequestModel):
    """A household's Schedule H of a year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    tax_year: TaxYear

    def to_command(self) -> IssueScheduleH:
        """Return the invitation in plain values."""
        return IssueScheduleH(**dict(self))


class Efw2Submitter(RequestModel):
    """Ask who uploads the wage file."""

    user_id: SsaUserId = Field(description="The user id that the SSA's Business Services Online assigned.")
    phone: PhoneNumber = Field(description="Where the SSA may ask.")
    contact_name: PersonName | None = Field(default=None, description="Default: the household's name.")
    email: Email | None = Field(default=None, description="Default: the household's.")

    def to_command(self) -> WageFileSubmitter:
        """Return the invitation in plain values."""
        return WageFileSubmitter(**dict(self))


class Efw2Request(RequestModel):
    """The wage file of a year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    tax_year: TaxYear
    submitter: Efw2Submitter
    """Who uploads the file to the Social Security Administration."""

    def to_command(self) -> IssueWageFile:
        """Return the invitation in plain values."""
        return IssueWageFile(**dict(self) | {"submitter": self.submitter.to_command()})


class EstimatedTaxQuery(RequestModel):
    """Of which household and year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    year: Annotated[int, Field(ge=2000, le=2200, strict=False)] = Field(
        description="The tax year, not a future one."
    )


class YearPackageRequest(RequestModel):
    """Everything of a year."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    tax_year: TaxYear
    submitter: Efw2Submitter | None = Field(
        default=None, description="With it, the wage file is in the package too."
    )

    def to_command(self) -> IssueYearPackage:
        """Return the invitation in plain values."""
        submitter = None if self.submitter is None else self.submitter.to_command()
        return IssueYearPackage(**dict(self) | {"submitter": submitter})


class DocumentsQuery(Page):
    """Whose papers to list."""

    employer_id: Identifier | None = Field(default=None, description=_HOUSEHOLD)
    tax_year: Annotated[int, Field(ge=2000, le=2200, strict=False)] | None = Field(
        default=None, description="Of one year only."
    )


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A version of a paper that was issued."""

    id: UUID
    """The version's id, for `GET /documents/{document_id}`."""

    employer_id: HouseholdIdentifier
    kind: DocumentKind
    """What it is: `w2c` and `w3c` are corrections, `efw2` the wage file for the SSA, `year_cover` and `year_package`
    belong to the package of a year."""

    employee_id: UUID | None
    """Whom it is about; of a person with several records the first one."""

    payroll_id: UUID | None
    """The payroll of a pay stub; null for other kinds."""

    tax_year: YearOfTaxes
    variant: str
    """Which copy, and in which language."""

    version: int
    """1 for the first; each change of the figures makes the next."""

    status: Literal["in_force", "superseded"]
    """`in_force`: the newest version. `superseded`: a later one has replaced it."""

    superseded_by: UUID | None
    """The version that replaced it; null while it is in force."""

    file_name: str
    """The name to save the file under."""

    media_type: str
    """The file's type, such as `application/pdf`."""

    etag: str
    """The version's `ETag`, without quotation marks."""

    path: str
    """Where its bytes are."""

    created_at: CreatedAt


def document_item_of(document: IssuedDocument) -> DocumentItem:
    """Return a version as the API tells it."""
    return DocumentItem(
        id=document.id,
        employer_id=document.employer_id,
        kind=cast(DocumentKind, document.kind),
        employee_id=document.employee_id,
        payroll_id=document.payroll_id,
        tax_year=document.tax_year,
        variant=document.variant,
        version=document.version,
        status="in_force" if document.superseded_by is None else "superseded",
        superseded_by=document.superseded_by,
        file_name=document.file_name,
        media_type=media_type_of(document.file_name),
        etag=document.content_hash.hex(),
        path=path_of(document),
        created_at=document.created_at,
    )


def path_of(document: IssuedDocument) -> str:
    """Return where a version's bytes are."""
    return f"/api/v1/documents/{document.id}"
