"""Signing the hiring documents: both parties type their names under a version as it was issued."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import undefer
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import SIGN_PAPERS
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.clock import Clock
from hearthpay.documents.archive import ArchivedFile, open_document
from hearthpay.documents.models import IssuedDocument, PaperSignature
from hearthpay.employees.links import allow_own
from hearthpay.employees.models import Employee
from hearthpay.mail.wording import holds_invisible
from hearthpay.security.key_ring import KeyRing

Party = Literal["household", "employee"]

SIGNED_KINDS: Final = ("work_agreement", "hire_notice")
LONGEST_NAME: Final = 100


@dataclass(frozen=True, slots=True)
class SignablePaper:
    """The version in force of a hiring document, and who has signed it."""

    document: IssuedDocument
    signatures: tuple[PaperSignature, ...]

    def signed_by(self, party: Party) -> PaperSignature | None:
        """Return a party's signature; None if the party hasn't signed."""
        return next((each for each in self.signatures if each.party == party), None)


async def papers_to_sign(
    session: AsyncSession, actor: Actor, employer_id: UUID, employee_id: UUID
) -> tuple[SignablePaper, ...]:
    """Return an employee's work agreements and notices of pay in force, the newest first.

    Raises what `allow_own` raises, and `not_found`.
    """
    await _allow(session, actor, employer_id, employee_id)
    statement = (
        select(IssuedDocument)
        .where(
            IssuedDocument.employer_id == employer_id,
            IssuedDocument.employee_id == employee_id,
            IssuedDocument.kind.in_(SIGNED_KINDS),
            IssuedDocument.superseded_by.is_(None),
        )
        .order_by(IssuedDocument.created_at.desc(), IssuedDocument.id.desc())
    )
    documents = (await session.scalars(statement)).all()
    signatures = await _signatures_of(session, employer_id, [document.id for document in documents])
    return tuple(
        SignablePaper(document, tuple(each for each in signatures if each.document_id == document.id))
        for document in documents
    )


async def read_paper(
    session: AsyncSession,
    ring: KeyRing,
    actor: Actor,
    employer_id: UUID,
    employee_id: UUID,
    document_id: UUID,
) -> ArchivedFile:
    """Return a hiring document as it was issued. Raises what `allow_own` raises, and `not_found`."""
    await _allow(session, actor, employer_id, employee_id)
    return open_document(ring, await _found(session, employer_id, employee_id, document_id, content=True))


async def sign_paper(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employer_id: UUID,
    employee_id: UUID,
    document_id: UUID,
    name: str,
    person_id: UUID,
) -> PaperSignature:
    """Store the signature of the employee, or from anybody else that of the household, under a version in force.

    Leaves an audit row; signing again changes nothing.

    Raises what `allow_own` raises, `not_found`, `validation_error` for an invalid name, and `invalid_state` if a
    newer version has replaced the document.
    """
    await _allow(session, actor, employer_id, employee_id)
    typed = " ".join(name.split())
    if not typed or len(typed) > LONGEST_NAME or not typed.isprintable() or holds_invisible(typed):
        raise invalid("signed_name", "is needed: please type your full name")
    document = await _found(session, employer_id, employee_id, document_id)
    party = _party(actor)
    for signature in await _signatures_of(session, employer_id, [document_id]):
        if signature.party == party:
            return signature
    if document.superseded_by is not None:
        raise Refusal("invalid_state", "There is a newer version of this paper: please open the page again.")
    signature = PaperSignature(
        id=uuid7(),
        organization_id=document.organization_id,
        employer_id=employer_id,
        sandbox=document.sandbox,
        employee_id=employee_id,
        document_id=document_id,
        party=party,
        signed_name=typed,
        signed_at=clock.now(),
        person_id=person_id,
    )
    session.add(signature)
    await session.flush()
    await record_audit(
        session,
        actor,
        "document.sign",
        employer_id=employer_id,
        subject_id=signature.id,
        details={
            "employee_id": employee_id,
            "kind": document.kind,
            "version": document.version,
            "document_id": document_id,
            "party": party,
            "content_sha256": document.content_hash.hex(),
        },
    )
    return signature


async def _allow(session: AsyncSession, actor: Actor, employer_id: UUID, employee_id: UUID) -> None:
    allow_own(actor, SIGN_PAPERS, employee_id)
    employee = await session.get(Employee, employee_id)
    if employee is None or employee.employer_id != employer_id or not actor.reaches(employer_id):
        raise Refusal("not_found", "We couldn't find that employee.")


def _party(actor: Actor) -> Party:
    return "employee" if actor.kind == "employee" else "household"


async def _found(
    session: AsyncSession, employer_id: UUID, employee_id: UUID, document_id: UUID, *, content: bool = False
) -> IssuedDocument:
    statement = select(IssuedDocument).where(
        IssuedDocument.id == document_id,
        IssuedDocument.employer_id == employer_id,
        IssuedDocument.employee_id == employee_id,
        IssuedDocument.kind.in_(SIGNED_KINDS),
    )
    if content:
        statement = statement.options(undefer(IssuedDocument.sealed_content))
    else:
        # Nobody can issue another version, or sign, between this check and the signature.
        statement = statement.with_for_update(key_share=True)
    found = await session.scalar(statement)
    if found is None:
        raise Refusal("not_found", "There is no such paper.")
    return found


async def _signatures_of(
    session: AsyncSession, employer_id: UUID, document_ids: Sequence[UUID]
) -> Sequence[PaperSignature]:
    if not document_ids:
        return ()
    statement = (
        select(PaperSignature)
        .where(PaperSignature.employer_id == employer_id, PaperSignature.document_id.in_(document_ids))
        .order_by(PaperSignature.signed_at)
    )
    return (await session.scalars(statement)).all()
