"""Packages that take too long for one request: requested, looked up, and made by the worker (`package_builder`)."""

import datetime
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, cast
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import LIST_DOCUMENTS, OBTAIN_DOCUMENTS, allow
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock, real_clock
from hearthpay.documents.commands import IssueYearPackage, WageFileSubmitter
from hearthpay.documents.models import DocumentPackage
from hearthpay.documents.service import Prepared
from hearthpay.employers.service import resolve_employer
from hearthpay.wire.answer_fields import HouseholdIdentifier, YearOfTaxes

PACKAGE_AT_ONCE: Final = 60
"""How many documents are drawn within a request, about a second's work; the worker draws more than that."""

PackageStatus = Literal["waiting", "drawing", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class YearPackage:
    """A package of a year's documents that the worker makes."""

    id: UUID
    """The package's id, for `GET /documents/packages/{package_id}`."""

    employer_id: HouseholdIdentifier
    tax_year: YearOfTaxes
    status: PackageStatus
    """`waiting` for its turn, being drawn (`drawing`), `ready` at `document_path`, or `failed` with a `failure`."""

    papers: int
    """How many documents it will hold."""

    drawn: int
    """How many of them are done."""

    requested_at: datetime.datetime
    """When it was requested, in UTC."""

    finished_at: datetime.datetime | None
    """When it was ready or failed, in UTC; null until then."""

    document_id: UUID | None
    """The finished file, for `GET /documents/{document_id}`; null until it is `ready`."""

    document_path: str | None
    """Where the finished file is."""

    failure: Mapping[str, Any] | None
    """Why it couldn't be made: as `details` of `document_not_available`, or `reason` `internal_failure`."""

    path: str
    """Where to check its progress."""


def year_package_of(package: DocumentPackage) -> YearPackage:
    """Return a package as the API shows it."""
    return YearPackage(
        id=package.id,
        employer_id=package.employer_id,
        tax_year=package.tax_year,
        status=cast(PackageStatus, package.status),
        papers=package.papers,
        drawn=package.drawn,
        requested_at=package.requested_at,
        finished_at=package.finished_at,
        document_id=package.document_id,
        document_path=None if package.document_id is None else f"/api/v1/documents/{package.document_id}",
        failure=package.failure,
        path=f"/api/v1/documents/packages/{package.id}",
    )


async def order_package(
    session: AsyncSession, actor: Actor, clock: Clock, requested: IssueYearPackage, counted: Prepared
) -> DocumentPackage:
    """Have the worker make the package that was counted; return the one in progress if this year has one.

    Raises what `allow` raises, and `invalid_state` (409) if the one in progress names another submitter.
    """
    allow(actor, OBTAIN_DOCUMENTS, counted.owner.employer_id)
    assert counted.too_many is not None
    submitter = None if requested.submitter is None else asdict(requested.submitter)
    owner = counted.owner
    made: DocumentPackage | None = await session.scalar(
        insert(DocumentPackage)
        .values(
            id=uuid7(),
            organization_id=owner.organization_id,
            employer_id=owner.employer_id,
            sandbox=owner.sandbox,
            tax_year=requested.tax_year,
            submitter=submitter,
            status="waiting",
            papers=counted.too_many,
            requested_at=real_clock(clock).now(),
        )
        .on_conflict_do_nothing(
            index_elements=["employer_id", "tax_year"], index_where=DocumentPackage.finished_at.is_(None)
        )
        .returning(DocumentPackage)
    )
    if made is not None:
        await record_audit(
            session,
            actor,
            "document.package",
            employer_id=made.employer_id,
            subject_id=made.id,
            details={"tax_year": made.tax_year, "papers": made.papers},
        )
        return made
    unfinished = select(DocumentPackage).where(
        DocumentPackage.employer_id == owner.employer_id,
        DocumentPackage.tax_year == requested.tax_year,
        DocumentPackage.finished_at.is_(None),
    )
    under_way: DocumentPackage | None = await session.scalar(unfinished)
    if under_way is None:  # it was finished between the two statements
        raise Refusal("service_unavailable", "A package of this year has just been finished: ask again.")
    if under_way.submitter != submitter:
        raise Refusal(
            "invalid_state",
            "A package of this year is being made with another submitter of the wage file: ask again once it is ready.",
            conflict=True,
            details={"package_id": under_way.id},
        )
    return under_way


async def find_package(session: AsyncSession, actor: Actor, package_id: UUID) -> DocumentPackage:
    """Return a requested package. Raises what `allow` raises, and `not_found`, also for one out of reach."""
    allow(actor, LIST_DOCUMENTS)
    package = await session.get(DocumentPackage, package_id)
    if package is None or not actor.reaches(package.employer_id):
        raise Refusal("not_found", "There is no such package.")
    return package


async def latest_package(
    session: AsyncSession, actor: Actor, employer_id: UUID, tax_year: int
) -> DocumentPackage | None:
    """Return the most recently requested package of the year, if any. Raises what `resolve_employer` raises."""
    allow(actor, LIST_DOCUMENTS)
    employer = await resolve_employer(session, actor, employer_id)
    statement = (
        select(DocumentPackage)
        .where(DocumentPackage.employer_id == employer.id, DocumentPackage.tax_year == tax_year)
        .order_by(DocumentPackage.id.desc())
        .limit(1)
    )
    found: DocumentPackage | None = await session.scalar(statement)
    return found


def request_of(package: DocumentPackage) -> IssueYearPackage:
    """Return the original request."""
    submitter = None if package.submitter is None else WageFileSubmitter(**package.submitter)
    return IssueYearPackage(tax_year=package.tax_year, employer_id=package.employer_id, submitter=submitter)
