"""Asking for a new link: the holder of one that has ended asks the household, once a day, and learns nothing by it."""

import datetime
from typing import Final

from sqlalchemy import or_, update

from hearthpay.access.audit_trail import record_audit
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.open_links import find_link
from hearthpay.employees.own_notices import notify_of_link_request
from hearthpay.people.context import PeopleContext

AGAIN_AFTER: Final = datetime.timedelta(days=1)
"""How long a link's holder waits before another request counts."""


async def request_new_link(
    people_context: PeopleContext, presented: str, address: str | None, request_id: str
) -> None:
    """Record that the link's holder asks for a new one, and notify the household; repeating it soon changes nothing.

    It becomes a to-do of the household until another link is sent. `address` is where the request comes from. Raises
    `not_found` for a token that never belonged to a link, and `rate_limited`.
    """
    await people_context.throttle.mail_asked_for(address)
    tenant, found = await find_link(people_context.database, people_context.clock, presented, also_ended=True)
    now = people_context.clock.now() if found.time is None else found.time.at
    async with people_context.database.transaction(tenant) as session:
        asked = await session.scalar(
            update(Invitation)
            .where(
                Invitation.id == found.invitation_id,
                or_(
                    Invitation.new_link_requested_at.is_(None),
                    Invitation.new_link_requested_at <= now - AGAIN_AFTER,
                ),
            )
            .values(new_link_requested_at=now)
            .returning(Invitation.type)
        )
        if asked is None:
            return
        await record_audit(
            session,
            found.holder(tenant, request_id),
            "invitation.request",
            employer_id=found.employer_id,
            subject_id=found.invitation_id,
            details={"employee_id": found.employee_id, "type": asked},
        )
        employee = await session.get_one(Employee, found.employee_id)
        await notify_of_link_request(people_context, session, employee)
