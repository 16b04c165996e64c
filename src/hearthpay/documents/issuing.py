"""Issues documents: the same figures give the version already issued, changed ones a new version beside the old.

Reading, drawing and storing are three steps. Only the first and the last hold a transaction. Between them the books
may change, so the last step checks that the version it replaces is still the one it was compared with.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import out_of_reach
from hearthpay.access.refusal import Refusal
from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.documents.archive import ArchivedFile, ids_in_force, keep, read_in_force
from hearthpay.documents.drawing import drawn_in_turn
from hearthpay.documents.facts import facts_of, read_facts
from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.models import IssuedDocument
from hearthpay.documents.packing import PackedPaper, Transaction, list_of
from hearthpay.documents.paper import Paper
from hearthpay.documents.service import Prepared
from hearthpay.employers.models import Employer
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.security.key_ring import KeyRing

Preparation = Callable[[AsyncSession], Awaitable[Prepared]]

_TRIES: Final = 3

_Place = tuple[str, UUID, int, str]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A version's bytes, and those of the document that corrects the version before, if there is one."""

    paper: Paper
    content: bytes
    before: IssuedDocument | None
    correction: bytes | None


class TooManyPapersError(Exception):
    """A package has more documents than are drawn within a request; nothing was drawn."""

    def __init__(self, prepared: Prepared) -> None:
        super().__init__(f"{prepared.too_many} papers")
        self.prepared: Final = prepared


async def issue(
    transaction: Transaction, ring: KeyRing, clock: Clock, actor: Actor, prepare: Preparation
) -> ArchivedFile:
    """Return the requested document: from the archive if it was issued with the same figures, otherwise issued now.

    Each document of a package is stored as soon as it is drawn, so a repeated request continues from there. Raises
    what ``prepare`` raises, KeyRingError, TooManyPapersError if the documents were only counted, and
    `service_unavailable` if the figures change faster than they can be drawn.
    """
    for _ in range(_TRIES):
        view = await look(transaction, prepare)
        papers = view.prepared.papers
        if view.prepared.too_many is not None:
            raise TooManyPapersError(view.prepared)
        if view.prepared.package is None:
            (only,) = papers
            kept = await issue_paper(transaction, ring, clock, actor, view, only)
            if kept is not None:
                return kept
            continue
        packed: list[PackedPaper] = []
        for paper in papers:
            kept = await issue_paper(transaction, ring, clock, actor, view, paper)
            if kept is None:
                break
            packed.append(packed_of(paper, kept))
        else:
            return await issue_package(transaction, ring, clock, actor, view, packed)
    raise Refusal("service_unavailable", "The books change while this paper is drawn: ask again in a moment.")


@dataclass(frozen=True, slots=True)
class View:
    """What was prepared in one transaction, and the versions of it in force at that time."""

    prepared: Prepared
    in_force: Mapping[_Place, UUID]


async def look(transaction: Transaction, prepare: Preparation) -> View:
    """Return what ``prepare`` returns, and the versions in force. Raises what it raises."""
    async with transaction() as session:
        prepared = await prepare(session)
        return View(prepared, await ids_in_force(session, prepared.owner, prepared.papers))


async def issue_paper(
    transaction: Transaction, ring: KeyRing, clock: Clock, actor: Actor, view: View, paper: Paper
) -> ArchivedFile | None:
    """Return one document of the view; if none has these figures, draw it in its organization's turn and store it.

    If another request has issued it since, return that; None if it has other figures, as the view is then out of date.
    """
    owner = view.prepared.owner
    async with transaction() as session:
        in_force = await read_in_force(session, ring, owner, (paper,))
    found = in_force.get(paper.place)
    if found is not None and found.facts == paper.facts:
        return found
    if (None if found is None else found.document.id) != view.in_force.get(paper.place):
        return None
    marks = PaperMarks(test=owner.sandbox, issued_on=clock.today())
    drawn = await drawn_in_turn(owner.organization_id, lambda: _draw(paper, found, marks))
    async with transaction() as session:
        return await _keep_drawn(session, ring, clock, actor, owner, drawn)


async def issue_package(
    transaction: Transaction,
    ring: KeyRing,
    clock: Clock,
    actor: Actor,
    view: View,
    packed: Sequence[PackedPaper],
    also: Callable[[AsyncSession, ArchivedFile], Awaitable[None]] | None = None,
) -> ArchivedFile:
    """Return the package of these documents, in their order except that the last, the cover sheet, comes first.

    ``also`` runs in the transaction that stores it, or finds it already stored.
    """
    prepared = view.prepared
    assert prepared.package is not None
    in_order = (packed[-1], *packed[:-1])
    paper = Paper(
        kind="year_package",
        subject_id=prepared.owner.employer_id,
        tax_year=prepared.tax_year,
        variant="household",
        file_name=prepared.package,
        facts=facts_of([(each.name, each.etag) for each in in_order]),
        draw=lambda _: list_of(in_order),
        title="Everything of a year",
    )
    async with transaction() as session:
        await _lock(session, prepared.owner)
        found = (await read_in_force(session, ring, prepared.owner, (paper,))).get(paper.place)
        if found is None or found.facts != paper.facts:
            before = None if found is None else found.document
            drawn = Drawn(paper, list_of(in_order), before, None)
            found = await _keep(session, ring, clock, actor, prepared.owner, drawn)
        if also is not None:
            await also(session, found)
    return found


def packed_of(paper: Paper, kept: ArchivedFile) -> PackedPaper:
    """Return a package's entry for an issued document."""
    return PackedPaper(paper.file_name, kept.document.id, kept.etag)


def _draw(paper: Paper, before: ArchivedFile | None, marks: PaperMarks) -> Drawn:
    version = 1 if before is None else before.document.version + 1
    content = paper.draw(replace(marks, version=version))
    correction = None
    if before is not None and paper.correction is not None and _was_for_good(before.document):
        correction = paper.correction.draw(read_facts(before.facts), marks)
    return Drawn(paper, content, None if before is None else before.document, correction)


def _was_for_good(document: IssuedDocument) -> bool:
    """Return whether a version was issued after its year ended: nobody filed what was issued before."""
    return document.created_at.astimezone(BUSINESS_TIME).year > document.tax_year


async def _keep_drawn(
    session: AsyncSession, ring: KeyRing, clock: Clock, actor: Actor, owner: Owner, drawn: Drawn
) -> ArchivedFile | None:
    """Store the new version, or return what another request has issued since; None if that has other figures."""
    await _lock(session, owner)
    paper = drawn.paper
    now_in_force = await ids_in_force(session, owner, (paper,))
    if now_in_force.get(paper.place) != (None if drawn.before is None else drawn.before.id):
        found = (await read_in_force(session, ring, owner, (paper,))).get(paper.place)
        return found if found is not None and found.facts == paper.facts else None
    return await _keep(session, ring, clock, actor, owner, drawn)


async def _lock(session: AsyncSession, owner: Owner) -> None:
    locked = select(Employer.id).where(Employer.id == owner.employer_id).with_for_update(key_share=True)
    if await session.scalar(locked) is None:
        raise out_of_reach(owner.employer_id)


async def _keep(
    session: AsyncSession, ring: KeyRing, clock: Clock, actor: Actor, owner: Owner, drawn: Drawn
) -> ArchivedFile:
    paper, before = drawn.paper, drawn.before
    kept = await keep(session, ring, clock, owner, paper, drawn.content, before)
    await _leave_trace(session, actor, kept)
    if drawn.correction is not None and paper.correction is not None and before is not None:
        corrects = replace(
            paper,
            kind=paper.correction.kind,
            variant=f"{paper.variant}-from-{before.version}",
            file_name=paper.correction.file_name,
        )
        await _leave_trace(
            session, actor, await keep(session, ring, clock, owner, corrects, drawn.correction, None)
        )
    return kept


async def _leave_trace(session: AsyncSession, actor: Actor, kept: ArchivedFile) -> None:
    document = kept.document
    await record_audit(
        session,
        actor,
        "document.issue",
        employer_id=document.employer_id,
        subject_id=document.id,
        details={
            "kind": document.kind,
            "tax_year": document.tax_year,
            "variant": document.variant,
            "version": document.version,
            "about": document.subject_id,
            "employee_id": document.employee_id,
            "payroll_id": document.payroll_id,
            "content_sha256": document.content_hash.hex(),
        },
    )
