"""The portal: where an employee with a link enters a bank account, or a tax number, an address and certificates.

The token in the address is the only authentication, so it stays out of logs, caches and referrers, and what was
entered by it can't be entered again. A link that has ended says how to get a new one, and passes the request on.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import DBAPIError
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.clock import household_time, set_household_time
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.employees.certificate_sheets import AnswersError
from hearthpay.employees.invitations import PORTAL_PATH
from hearthpay.employees.link_parts import LinkPart, OpenedLink, enter_part, look_at_link
from hearthpay.employees.link_requests import request_new_link
from hearthpay.employees.open_links import StoreEntered, complete, link_ended
from hearthpay.http.database_failures import database_failure_of, sqlstate_of
from hearthpay.http.envelope import request_id_of
from hearthpay.http.household_times import refuse_while_advancing
from hearthpay.http.runtime import runtime_of
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark
from hearthpay.people.dependencies import people_context_of
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.time_zones import set_shown_time_zone, shown_in
from hearthpay.web.certificate_form import prefix_of, read_certificates
from hearthpay.web.forms import read_form, refuse_other_sites
from hearthpay.web.framework import go
from hearthpay.web.numbers_form import FormError, read_address, read_bank_account, read_tax_number
from hearthpay.web.portal_pages import (
    DONE,
    address_in,
    bank_page,
    done_page,
    facts_of,
    go_on,
    language_of,
    link_page,
    part_page,
    unsigned_sheets,
)
from hearthpay.web.portal_submissions import (
    SubmittedAccount,
    SubmittedAddress,
    SubmittedCertificates,
    SubmittedNumber,
)
from hearthpay.web.refusal_words import REQUIRED

router: Final = APIRouter(include_in_schema=False)

_log = structlog.get_logger("hearthpay.web")
_LINK: Final = f"{PORTAL_PATH}/{{token}}"
_TRY_AGAIN: Final = {"Retry-After": "5"}
_OUTAGE: Final = mark("Something is not working on our side right now.")

Handler = Callable[[Request, str], Awaitable[Response]]


async def _friendly(request: Request, handler: Handler) -> Response:
    """Return the answer of `handler`; a refusal becomes a page that says what to do."""
    token = request.path_params["token"]
    try:
        with household_time(), shown_in():  # at real time, until it is known whose link it is
            return await handler(request, token)
    except Refusal as error:
        if error.code not in ("not_found", "gone"):
            # After a change of state, opening the link again is of no use.
            ended = error.code == "invalid_state" and status_of(error) != 403
            facts = {"message": error.message, "again": not ended}
            waits = {name: text for name, text in (error.headers or {}).items() if name == "Retry-After"}
            return link_page(request, "trouble.html", facts, status=status_of(error), headers=waits)
        return link_page(request, "closed.html", {"over": error.code == "gone"}, status=status_of(error))
    except (DatabaseUnavailable, DBAPIError, KeyRingError) as error:
        if isinstance(error, DBAPIError) and database_failure_of(error) is None:
            raise
        _log.error("portal unavailable", cause=type(error).__name__, sqlstate=sqlstate_of(error))
        facts = {"message": _OUTAGE, "again": True}
        return link_page(request, "trouble.html", facts, status=503, headers=_TRY_AGAIN)


@router.get(_LINK)
async def show_link(request: Request) -> Response:
    """Show the form for the bank account, or the first of the three pages that is still to be filled in."""

    async def shown(request: Request, token: str) -> Response:
        link = await _opened(request, token)
        if link.invitation.type == "bank_account":
            return bank_page(request, link.invitation)
        if "number" in link.progress.missing:
            return part_page(request, runtime_of(request).clock, link, "number")
        return go_on(request, None, link.progress.missing)

    return await _friendly(request, shown)


@router.post(_LINK)
async def submit_link(request: Request) -> Response:
    """Store the bank account, which uses the link up, or the number."""
    return await _friendly(request, _submit_link)


@router.get(f"{_LINK}/address")
async def show_address(request: Request) -> Response:
    """Show the form for the mailing address."""
    return await _friendly(request, _shown_part("address"))


@router.post(f"{_LINK}/address")
async def submit_address(request: Request) -> Response:
    """Store the mailing address."""
    return await _friendly(request, _submitted_part("address"))


@router.get(f"{_LINK}/certificates")
async def show_certificates(request: Request) -> Response:
    """Show the withholding certificates."""
    return await _friendly(request, _shown_part("certificates"))


@router.post(f"{_LINK}/certificates")
async def submit_certificates(request: Request) -> Response:
    """Store the certificates that were signed."""
    return await _friendly(request, _submitted_part("certificates"))


@router.get(f"{_LINK}/{DONE}")
async def show_done(request: Request) -> Response:
    """Show what was entered, and what is missing."""

    async def shown(request: Request, token: str) -> Response:
        return done_page(request, _of_tax(await _opened(request, token, also_completed=True)))

    return await _friendly(request, shown)


@router.get(f"{_LINK}/new-link")
async def back_to_link(request: Request) -> Response:
    """Redirect to the link itself, for a reader who changes the language of the page after a request."""
    return go(address_in(request, "number"))


@router.post(f"{_LINK}/new-link")
async def ask_for_new_link(request: Request) -> Response:
    """Pass on to the household that the holder of an ended link asks for a new one."""

    async def asked(request: Request, token: str) -> Response:
        refuse_other_sites(request)
        visitor_address = None if request.client is None else request.client.host
        await request_new_link(people_context_of(request), token, visitor_address, request_id_of(request))
        return link_page(request, "asked.html")

    return await _friendly(request, asked)


def _shown_part(part: LinkPart) -> Handler:
    async def shown(request: Request, token: str) -> Response:
        link = _of_tax(await _opened(request, token))
        if part not in link.progress.missing:
            return go_on(request, part, link.progress.missing)
        return part_page(request, runtime_of(request).clock, link, part)

    return shown


def _submitted_part(part: LinkPart) -> Handler:
    async def submitted(request: Request, token: str) -> Response:
        refuse_other_sites(request)
        ring = _ring(request)
        link = _of_tax(await _opened(request, token))
        refuse_while_advancing()
        return await _submit_part(request, token, link, part, await read_form(request), ring)

    return submitted


async def _submit_link(request: Request, token: str) -> Response:
    refuse_other_sites(request)
    ring = _ring(request)
    link = await _opened(request, token)
    refuse_while_advancing()
    form = await read_form(request)
    if link.invitation.type == "tax_info":
        return await _submit_part(request, token, link, "number", form, ring)
    runtime = runtime_of(request)
    try:
        entry = SubmittedAccount(read_bank_account(form), people_context_of(request))
    except FormError as error:
        return bank_page(request, link.invitation, error.problems, form)
    await complete(runtime.database, runtime.clock, token, request_id_of(request), entry.store)
    facts = {"told": entry.thanks(language_of(request)), "account": address_in(request, "account")}
    return link_page(request, "thanks.html", facts_of(link.invitation) | facts)


async def _submit_part(
    request: Request, token: str, link: OpenedLink, part: LinkPart, form: Mapping[str, str], ring: KeyRing
) -> Response:
    """Store one part and redirect to the next; with a mistake in it, return the page again."""
    runtime = runtime_of(request)
    try:
        enter = _entry(request, link, part, form, ring)
        progress = await enter_part(
            runtime.database, runtime.clock, token, request_id_of(request), part, enter
        )
    except (FormError, AnswersError) as error:
        return part_page(request, runtime.clock, link, part, error.problems, form)
    return go_on(request, part, progress.missing)


def _entry(
    request: Request, link: OpenedLink, part: LinkPart, form: Mapping[str, str], ring: KeyRing
) -> StoreEntered:
    """Return what stores the part from the form. Raises FormError."""
    people_context = people_context_of(request)
    if part == "number":
        return SubmittedNumber(read_tax_number(form), people_context, ring).store
    if part == "address":
        return SubmittedAddress(read_address(form), people_context).store
    clock = people_context.clock
    sheets = unsigned_sheets(link, clock, language_of(request))
    problems: dict[str, str] = {}
    if not sheets:
        raise link_ended()
    signed = read_certificates(sheets, form, clock.today(), problems)
    if not signed and not problems:
        raise FormError({f"{prefix_of(sheets[0])}signed_name": REQUIRED})
    if problems:
        raise FormError(problems)
    return SubmittedCertificates(signed, people_context).store


async def _opened(request: Request, token: str, *, also_completed: bool = False) -> OpenedLink:
    """Return what the link opens; without a language of the browser, the pages are in the employee's from now on."""
    runtime = runtime_of(request)
    link = await look_at_link(runtime.database, runtime.clock, token, also_completed=also_completed)
    request.state.employee_language = link.invitation.employee.language
    set_household_time(link.invitation.time)
    set_shown_time_zone(link.invitation.zone)
    return link


def _of_tax(link: OpenedLink) -> OpenedLink:
    """Return the link if it is one for tax details. Raises `not_found`."""
    if link.invitation.type != "tax_info":
        raise Refusal("not_found", "This link doesn't work.")
    return link


def _ring(request: Request) -> KeyRing:
    ring = runtime_of(request).ring
    if ring is None:
        raise Refusal("service_unavailable", "This service cannot keep your numbers safe yet.")
    return ring
