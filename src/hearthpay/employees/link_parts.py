"""A tax link in three parts: the number, the address and the certificates, each entered once and in any order.

A link stays open until all three were entered or it expires, so that the employee can skip one and come back.
What was entered is shown only for a short time: a link may have been sent to the wrong person.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.clock import Clock
from hearthpay.database.relations import VAULT_ENDINGS
from hearthpay.database.session import Database
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.employees.certificate_sheets import FEDERAL, sheet_for
from hearthpay.employees.models import Employee, Invitation, SignedCertificate
from hearthpay.employees.open_links import (
    OpenInvitation,
    StoreEntered,
    enter_by_link,
    find_link,
    link_ended,
    opened_by,
)
from hearthpay.taxes import TaxInputError

LinkPart = Literal["number", "address", "certificates"]
PARTS: Final[tuple[LinkPart, ...]] = ("number", "address", "certificates")

SHOWN_FOR: Final = datetime.timedelta(minutes=30)
"""How long a link shows what was entered by it, so that a mistake is seen."""


class _NumberRow(NamedTuple):
    last_four: str


_NUMBER: Final = query(
    _NumberRow,
    "SELECT v.last_four FROM {vault_endings} v "
    "WHERE v.owner_kind = 'employee' AND v.owner_id = :employee AND v.kind = :kind",
    vault_endings=VAULT_ENDINGS,
)


@dataclass(frozen=True, slots=True)
class LinkProgress:
    """What was entered by a link.

    `asked`: the jurisdictions whose certificates it asks for. `signed`: when each was signed by it. `number`: kind and
    last four digits of the number and `address`, only for a short time after they were entered.
    """

    number_at: datetime.datetime | None
    address_at: datetime.datetime | None
    asked: tuple[str, ...]
    signed: Mapping[str, datetime.datetime]
    number: tuple[str, str] | None = None
    address: Mapping[str, str | None] | None = None

    @property
    def unsigned(self) -> tuple[str, ...]:
        """The jurisdictions whose certificates are still to be signed."""
        return tuple(each for each in self.asked if each not in self.signed)

    @property
    def missing(self) -> tuple[LinkPart, ...]:
        """The parts that were not entered yet, in the order of the pages."""
        there = {
            "number": self.number_at is not None,
            "address": self.address_at is not None,
            "certificates": not self.unsigned,
        }
        return tuple(part for part in PARTS if not there[part])


@dataclass(frozen=True, slots=True)
class OpenLink:
    """An open link and what was entered by it."""

    invitation: OpenInvitation
    progress: LinkProgress


async def look_at_link(
    database: Database, clock: Clock, token: str, *, also_completed: bool = False
) -> OpenLink:
    """Return what the link opens, and what was entered by it; with `also_completed`, also when nothing is missing.

    Raises `not_found` for a token that never belonged to a link, `gone` for one that was used, replaced or has
    expired.
    """
    tenant, found = await find_link(database, clock, token, also_completed=also_completed)
    async with database.transaction(tenant) as session:
        opened = replace(await opened_by(session, found.invitation_id), time=found.time)
        now = clock.now() if found.time is None else found.time.at
        progress = await _progress(session, opened, clock.today() if found.time is None else now.date())
        if opened.type == "tax_info":
            progress = await _with_entries(session, opened, progress, now)
    return OpenLink(opened, progress)


async def enter_part(
    database: Database, clock: Clock, token: str, request_id: str, part: LinkPart, enter: StoreEntered
) -> LinkProgress:
    """Store one part of a tax link: `enter` does, in the same transaction. With the last part the link is used up.

    Of two attempts at once one succeeds. Raises `not_found`, `gone` also for a part that was entered already, and what
    `enter` raises; the link then stays as it was.
    """
    reached: list[LinkProgress] = []

    async def one_part(session: AsyncSession, actor: Actor, opened: OpenInvitation) -> bool:
        invitation = opened.invitation
        _take(invitation, part, clock.now())
        await session.flush()
        await enter(session, actor, invitation)
        progress = await _progress(session, opened, clock.today())
        reached.append(progress)
        return not progress.missing

    await enter_by_link(database, clock, token, request_id, one_part)
    return reached[-1]


def _take(invitation: Invitation, part: LinkPart, now: datetime.datetime) -> None:
    """Note that a part is entered. Raises `gone` for one that was entered before, and for a link without parts."""
    if invitation.type != "tax_info":
        raise link_ended()
    if part == "number":
        if invitation.tax_number_at is not None:
            raise link_ended()
        invitation.tax_number_at = now
    elif part == "address":
        if invitation.address_at is not None:
            raise link_ended()
        invitation.address_at = now


async def _progress(session: AsyncSession, opened: OpenInvitation, today: datetime.date) -> LinkProgress:
    invitation = opened.invitation
    signed = await session.execute(
        select(SignedCertificate.jurisdiction, SignedCertificate.signed_at).where(
            SignedCertificate.invitation_id == invitation.id
        )
    )
    return LinkProgress(
        invitation.tax_number_at,
        invitation.address_at,
        _certificates_asked(opened.employee, today),
        {row.jurisdiction: row.signed_at for row in signed},
    )


async def _with_entries(
    session: AsyncSession, opened: OpenInvitation, progress: LinkProgress, now: datetime.datetime
) -> LinkProgress:
    number, address = None, None
    kind = opened.invitation.tax_number_kind
    if kind is not None and _just_entered(progress.number_at, now):
        row = await fetch_optional(session, _NUMBER, {"employee": opened.employee.id, "kind": kind})
        number = None if row is None else (kind, row.last_four)
    if _just_entered(progress.address_at, now):
        address = opened.employee.address
    return replace(progress, number=number, address=address)


def _just_entered(at: datetime.datetime | None, now: datetime.datetime) -> bool:
    return at is not None and now - at < SHOWN_FOR


def _certificates_asked(employee: Employee, today: datetime.date) -> tuple[str, ...]:
    """Return the jurisdictions whose certificate the employee may sign: the federal one, and the state's if any."""
    return tuple(each for each in (FEDERAL, employee.work_state) if _has_sheet(each, today))


def _has_sheet(jurisdiction: str, today: datetime.date) -> bool:
    try:
        return sheet_for(jurisdiction, today, "en", {}) is not None
    except TaxInputError:
        return False
