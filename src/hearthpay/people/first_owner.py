"""The first owner of an installation, who creates an account by the one-time link shown to the operator.

Which organization the link leads to is decided when it is used: organizations created at the command line after the
link was printed count too.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.refusal import Checks, invalid
from hearthpay.clock import Clock
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.languages.catalogue import mark
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.identity import read_name, read_new_address
from hearthpay.people.models import OneTimeToken, PersonRecord
from hearthpay.people.operators import operate_first
from hearthpay.people.sign_in import SignInResult, complete_sign_in, person_at
from hearthpay.people.sign_up import (
    NewPerson,
    check_new_person,
    found_organization,
    join_as_owner,
    make_person,
    named_or_own,
)
from hearthpay.people.tokens import leave_token, look_at_token, use_token
from hearthpay.security.portal_tokens import PortalToken, parse_token


class _WithoutPeopleRow(NamedTuple):
    organization_id: UUID
    name: str


_WITHOUT_PEOPLE: Final = query(
    _WithoutPeopleRow,
    "SELECT {columns} FROM organizations_without_people(:token_hash, :now)",
    columns=column_list(_WithoutPeopleRow._fields),
)
_OTHER_NAME: Final = mark(
    "an organization with another name was created for you; send the form again to join it"
)
_SEVERAL: Final = mark("several organizations have this name; ask your administrator for an invitation")


class _Organization(NamedTuple):
    """An organization without people."""

    id: UUID
    name: str


async def offer_first_owner(session: AsyncSession, clock: Clock) -> PortalToken | None:
    """Return a one-time token for the first owner of an installation without people; None if there are any.

    The session is the operator's. A previously offered link no longer works.
    """
    if await session.scalar(select(func.count()).select_from(PersonRecord)):
        return None
    await session.execute(
        update(OneTimeToken)
        .where(OneTimeToken.kind == "first_owner", OneTimeToken.used_at.is_(None))
        .values(used_at=clock.now())
    )
    return await leave_token(session, clock.now(), "first_owner")


async def organization_to_join(people_context: PeopleContext, presented: str) -> str | None:
    """Return the name of the one organization without people, which the link's holder will own.

    None if the holder names an organization instead. Raises `not_found` and `gone` for a link that doesn't work.
    """
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        await look_at_token(session, now, "first_owner", presented)
        without_people = await _without_people(session, people_context, presented)
        return without_people[0].name if len(without_people) == 1 else None


async def become_first_owner(
    people_context: PeopleContext, presented: str, email: str, new: NewPerson, organization: str, visit: Visit
) -> SignInResult:
    """Create the first owner's account, by the link shown to the operator; begin a session.

    The person joins the one organization without people, or the one of them that `organization` names; otherwise a
    new organization gets that name, or the person's if it is empty and there is no organization to choose. Raises
    `gone` for a link that no longer works, and `validation_error`.
    """
    async with people_context.database.transaction(None) as session:
        await look_at_token(session, people_context.clock.now(), "first_owner", presented)
        needs_name = _needs_name(await _without_people(session, people_context, presented), organization)
    checks = Checks()
    address = checks.run(lambda: read_new_address(email), email)
    if needs_name:
        checks.run(lambda: read_name(organization, "organization"), "")
    checked = await check_new_person(new, address, checks)
    now = people_context.clock.now()
    async with people_context.database.transaction(None) as session:
        if await person_at(session, address) is not None:
            raise invalid("email", "already has an account")
        without_people = await _without_people(session, people_context, presented)
        joined = _chosen(without_people, organization.strip())
        named = organization if without_people else named_or_own(organization, new)
        named = read_name(named, "organization") if joined is None else ""
        await use_token(session, now, "first_owner", presented)
        person_id = await make_person(session, people_context.clock, address, checked, visit)
        if joined is None:
            await found_organization(session, now, person_id, named, visit)
        else:
            await join_as_owner(session, now, person_id, joined, visit)
        await operate_first(session, now, person_id, presented, visit)
        return await complete_sign_in(people_context, session, now, person_id, "link", visit)


def _chosen(without_people: Sequence[_Organization], typed: str) -> UUID | None:
    """Return the organization to join; None if a new one is created. Raises `validation_error`."""
    of_that_name = [each for each in without_people if each.name.casefold() == typed.casefold()]
    if len(of_that_name) > 1:
        raise invalid("organization", _SEVERAL)
    if of_that_name:
        return of_that_name[0].id
    if len(without_people) != 1:
        return None
    if typed:
        raise invalid("organization", _OTHER_NAME)
    return without_people[0].id


def _needs_name(without_people: Sequence[_Organization], typed: str) -> bool:
    """Return whether a new organization gets the typed name, or one must be named because there are several."""
    name = typed.strip()
    if len(without_people) == 1 or name.casefold() in {each.name.casefold() for each in without_people}:
        return False
    return bool(without_people or name)


async def _without_people(
    session: AsyncSession, people_context: PeopleContext, presented: str
) -> list[_Organization]:
    """Return the organizations that never had a member, waiting for any transaction that is creating one."""
    token = parse_token(presented)
    values = {"token_hash": None if token is None else token.hash, "now": people_context.clock.now()}
    return [_Organization(*row) for row in await fetch_all(session, _WITHOUT_PEOPLE, values)]
