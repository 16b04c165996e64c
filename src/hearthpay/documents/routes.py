"""The HTTP API of documents: issuing, listing, and the household's helper for estimated tax."""

from functools import partial
from typing import Annotated, Final
from uuid import UUID

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import LIST_DOCUMENTS, OBTAIN_DOCUMENTS, READ_REPORTS
from hearthpay.access.refusal import Refusal
from hearthpay.documents.archive import ArchivedFile
from hearthpay.documents.commands import IssueCommand, IssueYearPackage
from hearthpay.documents.estimated_tax import EstimatedTax, estimate_tax
from hearthpay.documents.issuing import TooManyPapersError, issue
from hearthpay.documents.models import DocumentPackage
from hearthpay.documents.packages import (
    PACKAGE_AT_ONCE,
    YearPackage,
    find_package,
    order_package,
    year_package_of,
)
from hearthpay.documents.packing import package_file
from hearthpay.documents.paper import MEDIA_TYPES, media_type_of
from hearthpay.documents.schemas import (
    DocumentItem,
    DocumentsQuery,
    Efw2Request,
    EstimatedTaxQuery,
    PaystubRequest,
    ScheduleHRequest,
    W2Request,
    W3Request,
    YearPackageRequest,
    document_item_of,
    path_of,
)
from hearthpay.documents.service import Prepared, list_documents, open_issued, prepare_documents
from hearthpay.http.auth import require
from hearthpay.http.disconnects import until_disconnected
from hearthpay.http.envelope import DatedEnvelope, Envelope, ListEnvelope, answer, listing
from hearthpay.http.idempotency import REPLAYED, idempotent_name
from hearthpay.http.routing import OCTETS, api_router, describe, describe_file
from hearthpay.http.runtime import runtime_of
from hearthpay.security.key_ring import KeyRing
from hearthpay.wire.answer_fields import described_id

PackageId = Annotated[UUID, described_id("Id of the package, as the answer 202 named it.")]
DocumentId = Annotated[UUID, described_id("Id of the version, as `GET /documents` lists it.")]

router: Final = api_router("Documents")

_PACKAGE: Final = "package:"
"""The prefix of what an idempotency key stores for a package that the worker makes, rather than an issued document."""

_PDF: Final = ("application/pdf",)
_ERRORS: Final = (
    "document_not_available",
    "household_forbidden",
    "key_mode_mismatch",
    "idempotency_conflict",
)
_EMPLOYEE: Final = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
_SUBMITTER: Final = {"user_id": "AB12CD34", "phone": "415-555-0134"}


def _ring(request: Request) -> KeyRing:
    ring = runtime_of(request).ring
    if ring is None:
        raise Refusal(
            "service_unavailable",
            "Documents aren't available: encryption isn't set up. Contact your administrator.",
        )
    return ring


async def _issued(request: Request, actor: Actor, requested: IssueCommand) -> Response:
    """Answer the paper that is wanted, issued now or before; nothing more is drawn for a client that has gone."""
    return await until_disconnected(request, _issue(request, actor, requested))


async def _issue(request: Request, actor: Actor, requested: IssueCommand) -> Response:
    runtime, ring = runtime_of(request), _ring(request)
    transaction = partial(runtime.database.transaction, actor.tenant)
    issued: list[ArchivedFile] = []

    async def prepare(session: AsyncSession) -> Prepared:
        return await prepare_documents(
            session, ring, actor, runtime.clock, requested, at_once=PACKAGE_AT_ONCE
        )

    async def make() -> str:
        try:
            issued.append(await issue(transaction, ring, runtime.clock, actor, prepare))
        except TooManyPapersError as counted:
            assert isinstance(requested, IssueYearPackage)
            async with transaction() as session:
                package = await order_package(session, actor, runtime.clock, requested, counted.prepared)
            return f"{_PACKAGE}{package.id}"
        return str(issued[-1].document.id)

    name, replayed = await idempotent_name(request, actor, make)
    if name.startswith(_PACKAGE):
        async with transaction() as session:
            package = await find_package(session, actor, UUID(name.removeprefix(_PACKAGE)))
        return _ordered(request, package, replayed=replayed)
    kept = next((each for each in issued if str(each.document.id) == name), None)
    if kept is None:
        async with transaction() as session:
            kept = await open_issued(session, ring, actor, UUID(name))
    return _file(request, actor, kept, replayed=replayed)


def _ordered(request: Request, package: DocumentPackage, *, replayed: bool) -> Response:
    """Tell of a package that the worker makes, and where to ask for it."""
    item = year_package_of(package)
    response = answer(request, item, status=202)
    response.headers["Location"] = item.path
    response.headers.update(REPLAYED if replayed else {})
    return response


def _file(request: Request, actor: Actor, kept: ArchivedFile, *, replayed: bool = False) -> Response:
    name = kept.document.file_name
    headers = _naming(kept) | {
        "Content-Type": _media_type(request, name),
        "Vary": "Accept",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    headers |= REPLAYED if replayed else {}
    if kept.document.kind == "year_package":
        transaction = partial(runtime_of(request).database.transaction, actor.tenant)
        return StreamingResponse(package_file(transaction, _ring(request), kept), headers=headers)
    return Response(kept.content, headers=headers)


def _media_type(request: Request, file_name: str) -> str:
    """Return the file's own type; of one that isn't text `OCTETS`, if the client lists that in `Accept` instead."""
    own = media_type_of(file_name)
    if own.startswith("text/"):
        return own
    accepted = {each.split(";")[0].strip() for each in request.headers.get("Accept", "").lower().split(",")}
    return OCTETS if OCTETS in accepted and own not in accepted else own


def _naming(kept: ArchivedFile) -> dict[str, str]:
    return {
        "ETag": f'"{kept.etag}"',
        "Content-Location": path_of(kept.document),
        "Cache-Control": "private, no-cache",
    }


@router.post(
    "/documents/paystub",
    operation_id="issuePaystub",
    summary="Get a pay stub",
    **describe_file(
        media_types=_PDF,
        what="The pay stub.",
        body={"payroll_id": "019a9f2f-1b7a-7d54-8c15-1a9e0b5f6c02", "employee_id": _EMPLOYEE},
        errors=(*_ERRORS, "not_found"),
    ),
)
async def issue_paystub(
    request: Request, body: PaystubRequest, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """Of a completed payroll: a scheduled one, or one whose deposits are under way, has none yet; a voided one says so.

    The same figures give the same bytes; when they change, a new version is issued and the old one is kept. What the
    state of work asks for and nobody has told is named on the stub. Papers of test keys are marked TEST.
    """
    return await _issued(request, actor, body.to_command())


@router.post(
    "/documents/w2",
    operation_id="issueW2",
    summary="Get a Form W-2",
    **describe_file(
        media_types=_PDF,
        what="The form.",
        body={"employee_id": _EMPLOYEE, "tax_year": 2026},
        errors=(*_ERRORS, "not_found"),
    ),
)
async def issue_w2(
    request: Request, body: W2Request, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """One form for a person, whichever record is named; it takes both addresses.

    It takes the household's EIN too, or word that it is applied for; an employee's number that is not known yet reads
    "Applied For".

    Issued again with other figures once the year is over, a Form W-2c comes with it: `GET /documents` lists it.
    """
    return await _issued(request, actor, body.to_command())


@router.post(
    "/documents/w3",
    operation_id="issueW3",
    summary="Get the Form W-3 of a year",
    **describe_file(media_types=_PDF, what="The form.", body={"tax_year": 2026}, errors=_ERRORS),
)
async def issue_w3(
    request: Request, body: W3Request, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """What the household's Forms W-2 of the year add up to; it takes what they take."""
    return await _issued(request, actor, body.to_command())


@router.post(
    "/documents/schedule-h",
    operation_id="issueScheduleH",
    summary="Get the Schedule H of a year",
    **describe_file(media_types=_PDF, what="The schedule.", body={"tax_year": 2026}, errors=_ERRORS),
)
async def issue_schedule_h(
    request: Request, body: ScheduleHRequest, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """With a page that shows the payrolls behind each line. State contributions are taken for paid in time."""
    return await _issued(request, actor, body.to_command())


@router.post(
    "/documents/efw2",
    operation_id="issueEfw2",
    summary="Get the wage file for the SSA",
    **describe_file(
        media_types=("text/plain",),
        what="The file (EFW2): records of 512 characters.",
        body={"tax_year": 2026, "submitter": _SUBMITTER},
        errors=_ERRORS,
    ),
)
async def issue_efw2(
    request: Request, body: Efw2Request, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """All Forms W-2 of the year, for upload to Business Services Online. It takes an EIN."""
    return await _issued(request, actor, body.to_command())


@router.post(
    "/documents/year-package",
    operation_id="issueYearPackage",
    summary="Get everything of a year",
    **describe_file(
        media_types=("application/zip",),
        what="One file with all papers of the year and a cover sheet.",
        body={"tax_year": 2026, "submitter": _SUBMITTER},
        errors=(*_ERRORS, "invalid_state"),
        later=(Envelope[YearPackage], "The worker makes it: `path` tells how far it is."),
    ),
)
async def issue_year_package(
    request: Request, body: YearPackageRequest, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """Forms W-2 in all copies, W-3, Schedule H, the pay stubs, and with `submitter` the wage file.

    Up to 60 documents are returned at once. A larger package is prepared in the background: the answer is 202 with its
    `path`, also in `Location`, where you can read its `status` and how many of its `papers` are `drawn`. We email the
    household when it is ready, and `document_path` leads to the file. One package is prepared at a time for a household
    and year. A repeated request returns the one in progress.
    """
    return await _issued(request, actor, body.to_command())


@router.get(
    "/documents/packages/{package_id}",
    operation_id="getYearPackage",
    summary="Ask how far a package of a year's papers is",
    **describe(answer=Envelope[YearPackage], errors=("not_found",)),
)
async def get_package(
    request: Request, package_id: PackageId, actor: Annotated[Actor, Depends(require(LIST_DOCUMENTS))]
) -> Response:
    """If `ready`, the file is at `document_path`. If `failed`, `failure` tells what to supply before you try again."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        return answer(request, year_package_of(await find_package(session, actor, package_id)))


@router.get(
    "/documents",
    operation_id="listDocuments",
    summary="List the papers that were issued",
    **describe(
        answer=ListEnvelope[DocumentItem],
        query={"tax_year": 2026, "limit": 25},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def get_documents(
    request: Request,
    query: Annotated[DocumentsQuery, Query()],
    actor: Annotated[Actor, Depends(require(LIST_DOCUMENTS))],
) -> Response:
    """Newest first, each version; `superseded` ones were replaced, and are kept."""
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        documents, next_cursor = await list_documents(
            session, actor, query.employer_id, query.tax_year, query
        )
    return listing(request, [document_item_of(each) for each in documents], next_cursor)


@router.get(
    "/documents/{document_id}",
    operation_id="getDocument",
    summary="Get an issued paper again",
    **describe_file(
        media_types=tuple(MEDIA_TYPES.values()),
        what="The paper, byte for byte as it was issued.",
        errors=("not_found", "method_not_allowed"),
    ),
)
async def get_document(
    request: Request, document_id: DocumentId, actor: Annotated[Actor, Depends(require(OBTAIN_DOCUMENTS))]
) -> Response:
    """Also a version that was replaced. With its `ETag` in `If-None-Match` the answer is 304, without the bytes."""
    ring = _ring(request)
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        kept = await open_issued(session, ring, actor, document_id)
    known = {each.strip().removeprefix("W/") for each in request.headers.get("If-None-Match", "").split(",")}
    if known & {f'"{kept.etag}"', "*"}:
        return Response(status_code=304, headers=_naming(kept))
    return _file(request, actor, kept)


@router.get(
    "/reports/estimated-tax",
    operation_id="estimateTax",
    summary="Tell what to pay of household employment taxes in each quarter",
    **describe(
        answer=DatedEnvelope[EstimatedTax],
        query={"year": 2026},
        errors=("document_not_available", "household_forbidden", "key_mode_mismatch"),
    ),
)
async def get_estimated_tax(
    request: Request,
    query: Annotated[EstimatedTaxQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_REPORTS))],
) -> Response:
    """Installments of Form 1040-ES, or the extra withholding on the parents' own Form W-4 that covers the same amount.

    Recorded amounts and the forecast for the rest of the year are separate. The estimate covers only these taxes: not
    the household's own income tax, nor what was already paid.
    """
    runtime = runtime_of(request)
    data = await runtime.read(
        actor.tenant,
        lambda session: estimate_tax(session, actor, runtime.clock, query.employer_id, query.year),
    )
    return answer(request, data, as_of=runtime.clock.today())
