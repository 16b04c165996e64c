"""Signing a withholding certificate: the employee's answers become the record's, starting with the next payroll.

The copy is stored as it was issued: the questions in their words and language, the law they are based on, the answers,
who signed it and when. It never changes; `ended_at` says since when the record has had other entries.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession
from uuid_utils.compat import uuid7

from hearthpay.access.actor import Actor
from hearthpay.access.audit_trail import record_audit
from hearthpay.access.permissions import OWN_RECORD
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.employees.certificate_sheets import FEDERAL, Answers, AnswersError, CertificateSheet
from hearthpay.employees.certificates import merged
from hearthpay.employees.links import allow_own, own_employee_at
from hearthpay.employees.models import Employee, SignedCertificate
from hearthpay.employees.payable import check_payable
from hearthpay.employees.service import lock_employee

_COLUMNS: Final = {FEDERAL: "federal_withholding"}


@dataclass(frozen=True, slots=True)
class Signature:
    """Who signed, as typed, on which day, and how: as a signed-in person, or as the holder of an invitation."""

    name: str
    on: datetime.date
    person_id: UUID | None = None
    invitation_id: UUID | None = None
    address: str | None = None


async def sign_certificate(
    session: AsyncSession,
    actor: Actor,
    clock: Clock,
    employee_id: UUID,
    sheet: CertificateSheet,
    answers: Answers,
    signature: Signature,
) -> SignedCertificate:
    """Store the signed copy, and set the employee's record to its entries; leaves an audit row.

    A Form W-4 replaces the one before as a whole, even one of 2019 or earlier; of a state's certificate, entries that
    weren't asked for stay. Raises AnswersError for what the tax engine can't withhold by, `not_found`, and
    `invalid_state` if the employee works in another state by then.
    """
    allow_own(actor, OWN_RECORD, employee_id)
    employee = await lock_employee(session, actor, employee_id)
    if sheet.jurisdiction not in (FEDERAL, employee.work_state):
        raise Refusal("invalid_state", "The state of work has changed: please open the page again.")
    column = _COLUMNS.get(sheet.jurisdiction, "state_withholding")
    before: dict[str, Any] = getattr(employee, column)
    after = merged({} if sheet.jurisdiction == FEDERAL else before, answers.entries)
    if sheet.jurisdiction == FEDERAL and before.get("elected") is False:
        after["elected"] = False
    await _end_in_force(session, clock, employee_id, sheet.jurisdiction)
    setattr(employee, column, after)
    _check_payable(employee, clock, sheet)
    employee.updated_at = clock.now()
    await session.flush()
    certificate = _copy(employee, clock, sheet, answers, signature, after, actor.request_id)
    session.add(certificate)
    await session.flush()
    await record_audit(
        session,
        actor,
        "certificate.sign",
        employer_id=employee.employer_id,
        subject_id=certificate.id,
        details={
            "employee_id": employee.id,
            "form": sheet.form,
            "jurisdiction": sheet.jurisdiction,
            "before": before,
            "after": after,
        },
    )
    return certificate


async def certificates_of(
    session: AsyncSession, actor: Actor, employee_id: UUID
) -> Sequence[SignedCertificate]:
    """Return what the employee has signed, the newest first. Raises what `allow_own` raises, and `not_found`."""
    allow_own(actor, OWN_RECORD, employee_id)
    await own_employee_at(session, employee_id)
    newest = select(SignedCertificate).where(SignedCertificate.employee_id == employee_id)
    return (await session.scalars(newest.order_by(SignedCertificate.id.desc()))).all()


async def find_certificate(
    session: AsyncSession, actor: Actor, employee_id: UUID, certificate_id: UUID
) -> SignedCertificate:
    """Return one signed copy. Raises `not_found`, also for another employee's."""
    allow_own(actor, OWN_RECORD, employee_id)
    found = await session.get(SignedCertificate, certificate_id)
    if found is None or found.employee_id != employee_id or not actor.reaches(found.employer_id):
        raise Refusal("not_found", "Certificate not found.")
    return found


async def _end_in_force(session: AsyncSession, clock: Clock, employee_id: UUID, jurisdiction: str) -> None:
    """End the previous one, even if the new one has the same entries."""
    await session.execute(
        update(SignedCertificate)
        .where(
            SignedCertificate.employee_id == employee_id,
            SignedCertificate.jurisdiction == jurisdiction,
            SignedCertificate.ended_at.is_(None),
        )
        .values(ended_at=clock.now())
    )


def _check_payable(employee: Employee, clock: Clock, sheet: CertificateSheet) -> None:
    """Refuse answers that no paycheck could be withheld by, next to the page's field."""
    try:
        check_payable(employee, clock)
    except Refusal as error:
        if error.code != "validation_error" or not isinstance(error.details, list):
            raise
        fields = {each.name: each.field for each in sheet.questions}
        problems = {
            fields[name]: each.message
            for each in error.details
            if (name := each.field.rpartition(".")[2]) in fields
        }
        if not problems:
            raise
        raise AnswersError(problems) from None


def _copy(
    employee: Employee,
    clock: Clock,
    sheet: CertificateSheet,
    answers: Answers,
    signature: Signature,
    entries: dict[str, Any],
    request_id: str | None,
) -> SignedCertificate:
    return SignedCertificate(
        id=uuid7(),
        organization_id=employee.organization_id,
        employer_id=employee.employer_id,
        sandbox=employee.sandbox,
        employee_id=employee.id,
        jurisdiction=sheet.jurisdiction,
        form=sheet.form,
        law_year=sheet.law_year,
        rulebook_version=sheet.rulebook_version,
        wording=sheet.wording,
        language=sheet.language,
        asked=sheet.asked,
        answered=dict(answers.typed),
        entries=entries,
        signed_name=signature.name,
        signed_on=signature.on,
        signed_at=clock.now(),
        person_id=signature.person_id,
        invitation_id=signature.invitation_id,
        address=signature.address,
        request_id=request_id,
        ended_at=None,
    )
