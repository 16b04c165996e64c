"""Forms that move money: however often one is sent, its request is booked once.

A form carries an id that was made when it was shown. The id is claimed as an idempotency key in the transaction that
books, so if the same form is sent twice at once, the second waits and is redirected like the first. The keys outlast
the session that a form belongs to (`people.sessions.LASTS`): a form whose key has expired is refused anyway.
"""

from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response
from uuid_utils.compat import uuid7

from hearthpay.access.refusal import invalid
from hearthpay.clock import real_clock
from hearthpay.http.idempotent_writes import Claim, KeyTakenError, Rendered, fingerprint_of, run_once_per_key
from hearthpay.languages.catalogue import mark
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.visitor import FORM_ID

Booking = Callable[[AsyncSession], Awaitable[str]]
"""Books the form's request, and returns the household's path to go to next."""

_SEE_OTHER: Final = 303
_WITHOUT_ID: Final = mark("This form is out of date. Check it and send it again.")
_SENT_BEFORE: Final = mark(
    "You already submitted this form with different values. This submission wasn't saved. To save it too, submit again."
)


def new_form_id() -> str:
    """Return the id for a newly shown form."""
    return str(uuid7())


async def submit_once(at: HouseholdContext, content: object, book: Booking) -> Response:
    """Book the form's request once, and redirect; the same form again is redirected to the same place.

    ``content`` is the request in plain JSON. Raises what ``book`` raises, with nothing booked, and `validation_error`
    without a field for a form without an id, or one that was used for another request.
    """
    path = at.visitor.request.url.path
    try:
        form_id = UUID(at.form.get(FORM_ID, ""))
    except ValueError:
        raise invalid("", _WITHOUT_ID) from None
    claim = Claim(f"form {form_id}", fingerprint_of(at.actor, "POST", path, content=content), path)

    async def action(session: AsyncSession) -> Rendered:
        return Rendered((await book(session)).encode(), _SEE_OTHER)

    try:
        done = await run_once_per_key(
            at.visitor.people_context.database, at.actor, claim, action, now=real_clock(at.clock).now()
        )
    except KeyTakenError:
        raise invalid("", _SENT_BEFORE) from None
    return at.go(done.rendered.body.decode())
