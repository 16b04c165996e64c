"""Issues papers: the same figures give the version that was issued, changed ones a new version beside the old.

What is read, what is drawn and what is kept are three steps. Only the first and the last hold a transaction; between
them the books may change, so the last step looks whether the version it replaces is still the one it was compared with.
"""

import zipfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Final
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import out_of_reach
from hearthpay.access.refusal import Refusal
from hearthpay.clock import BUSINESS_TIME, Clock
from hearthpay.documents.archive import Kept, keep, read_in_force
from hearthpay.documents.drawing import off_the_loop
from hearthpay.documents.facts import facts_of, read_facts
from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.models import IssuedDocument
from hearthpay.documents.paper import Paper
from hearthpay.documents.service import Prepared
from hearthpay.employers.models import Employer
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.security.key_ring import KeyRing

Transaction = Callable[[], AbstractAsyncContextManager[AsyncSession]]
"""Opens a transaction in which the actor's rows are seen; commits when the block ends."""

Preparation = Callable[[AsyncSession], Awaitable[Prepared]]

_TRIES: Final = 3
_FIRST_DAY_OF_ZIP: Final = (1980, 1, 1, 0, 0, 0)
_FILE_MODE: Final = 0o600 << 16

_Place = tuple[str, UUID, int, str]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A version's bytes, and those of the paper that corrects the version before, where there is one."""

    paper: Paper
    content: bytes
    before: IssuedDocument | None
    correction: bytes | None


async def issue(
    transaction: Transaction, ring: KeyRing, clock: Clock, actor: Actor, prepare: Preparation
) -> Kept:
    """Return the paper that is wanted, out of the archive where it was issued with the same figures, else issued now.

    Raises what ``prepare`` raises, KeyRingError, and `service_unavailable` where the figures change faster than they
    can be drawn.
    """
    prepared, kept = await _issue_all(transaction, ring, clock, actor, prepare)
    if prepared.package is None:
        (only,) = kept.values()
        return only

    async def again(_: AsyncSession) -> Prepared:
        return Prepared(prepared.owner, (_package(prepared, kept),))

    _, packed = await _issue_all(transaction, ring, clock, actor, again)
    (only,) = packed.values()
    return only


async def _issue_all(
    transaction: Transaction,
    ring: KeyRing,
    clock: Clock,
    actor: Actor,
    prepare: Preparation,
) -> tuple[Prepared, dict[_Place, Kept]]:
    for _ in range(_TRIES):
        async with transaction() as session:
            prepared = await prepare(session)
            papers = prepared.papers
            in_force = await read_in_force(session, ring, prepared.owner, papers)
        changed = [
            paper
            for paper in papers
            if paper.place not in in_force or in_force[paper.place].facts != paper.facts
        ]
        if not changed:
            return prepared, {paper.place: in_force[paper.place] for paper in papers}
        marks = PaperMarks(test=prepared.owner.sandbox, issued_on=clock.today())
        drawn = await off_the_loop(lambda: _draw(changed, in_force, marks))  # noqa: B023 - awaited at once
        async with transaction() as session:
            kept = await _keep_all(session, ring, clock, actor, prepared.owner, drawn)
        if kept is not None:
            return prepared, {paper.place: kept.get(paper.place) or in_force[paper.place] for paper in papers}
    raise Refusal("service_unavailable", "The books change while this paper is drawn: ask again in a moment.")


def _draw(papers: Sequence[Paper], in_force: Mapping[_Place, Kept], marks: PaperMarks) -> list[Drawn]:
    drawn = []
    for paper in papers:
        before = in_force.get(paper.place)
        version = 1 if before is None else before.document.version + 1
        content = paper.draw(replace(marks, version=version))
        correction = None
        if before is not None and paper.correction is not None and _was_for_good(before.document):
            correction = paper.correction.draw(read_facts(before.facts), marks)
        drawn.append(Drawn(paper, content, None if before is None else before.document, correction))
    return drawn


def _was_for_good(document: IssuedDocument) -> bool:
    """Tell whether a version was issued once its year was over: what was issued before was filed by nobody."""
    return document.created_at.astimezone(BUSINESS_TIME).year > document.tax_year


async def _keep_all(
    session: AsyncSession,
    ring: KeyRing,
    clock: Clock,
    actor: Actor,
    owner: Owner,
    drawn: Sequence[Drawn],
) -> dict[_Place, Kept] | None:
    """Keep the new versions; None where another request has issued one of these papers meanwhile."""
    locked = select(Employer.id).where(Employer.id == owner.employer_id).with_for_update(key_share=True)
    if await session.scalar(locked) is None:
        raise out_of_reach(owner.employer_id)
    now_in_force = await read_in_force(session, ring, owner, [each.paper for each in drawn])
    kept: dict[_Place, Kept] = {}
    for each in drawn:
        found = now_in_force.get(each.paper.place)
        if (None if found is None else found.document.id) != (
            None if each.before is None else each.before.id
        ):
            return None
        kept[each.paper.place] = await _keep(session, ring, clock, actor, owner, each)
    return kept


async def _keep(
    session: AsyncSession, ring: KeyRing, clock: Clock, actor: Actor, owner: Owner, drawn: Drawn
) -> Kept:
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


async def _leave_trace(session: AsyncSession, actor: Actor, kept: Kept) -> None:
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


def _package(prepared: Prepared, kept: Mapping[_Place, Kept]) -> Paper:
    """Return one file with all papers of a year, the cover sheet first; equal papers give equal bytes."""
    assert prepared.package is not None
    *papers, cover = prepared.papers
    in_order = [(paper.file_name, kept[paper.place]) for paper in (cover, *papers)]
    contents = {name: each.content for name, each in in_order}
    hashes = [(name, each.etag) for name, each in in_order]
    return Paper(
        kind="year_package",
        subject_id=prepared.owner.employer_id,
        tax_year=prepared.tax_year,
        variant="household",
        file_name=prepared.package,
        facts=facts_of(hashes),
        draw=lambda _: _packed(contents),
        title="Everything of a year",
    )


def _packed(contents: Mapping[str, bytes]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _FIRST_DAY_OF_ZIP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _FILE_MODE
            archive.writestr(entry, content)
    return packed.getvalue()
