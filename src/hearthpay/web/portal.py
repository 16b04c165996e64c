"""The portal: where an employee who was sent a link enters a bank account or a taxpayer number.

The token in the address is all that is asked for, so it stays out of logs, caches and referrers, and it works once.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal
from hearthpay.banking.accounts import AccountDetails, connect_employee_account
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.employees.certificate_sheets import FEDERAL, AnswersError, CertificateSheet
from hearthpay.employees.invitations import PORTAL_PATH, OpenInvitation, StoreEntered, complete, look_up
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employees.onboarding import save_employee_address, save_employee_tax_number
from hearthpay.employees.own_notices import tell_of_change
from hearthpay.employees.signing import Signature, sign_certificate
from hearthpay.http.database_trouble import sqlstate_of, trouble_of
from hearthpay.http.envelope import request_id_of
from hearthpay.http.runtime import runtime_of
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.years.household_year import measure_people_anew
from hearthpay.people.front_desk import FrontDesk
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.web.certificate_form import prefix_of, read_certificates, sheets_of
from hearthpay.web.desk import desk_of
from hearthpay.web.forms import read_form, refuse_other_sites
from hearthpay.web.numbers_form import FormError, Problems, read_bank_account, read_tax_info
from hearthpay.web.pages import STYLE_PATH, page, style

router: Final = APIRouter(include_in_schema=False)
router.add_api_route(STYLE_PATH, style)

_log = structlog.get_logger("hearthpay.web")
_LINK: Final = f"{PORTAL_PATH}/{{token}}"
_TRY_AGAIN: Final = {"Retry-After": "5"}
_KIND_NAMES: Final = {"ssn": "Social Security number", "itin": "taxpayer number (ITIN)"}

Handler = Callable[[Request, str], Awaitable[Response]]


async def _friendly(request: Request, handler: Handler) -> Response:
    """Return what `handler` answers; a refusal becomes a page that says what to do."""
    token = request.path_params["token"]
    try:
        return await handler(request, token)
    except Refusal as error:
        if error.code not in ("not_found", "gone"):
            return page("trouble.html", {"message": error.message}, status=error.status)
        return page("closed.html", {"over": error.code == "gone"}, status=error.status)
    except (DatabaseUnavailable, DBAPIError, KeyRingError) as error:
        if isinstance(error, DBAPIError) and trouble_of(error) is None:
            raise
        _log.error("portal unavailable", cause=type(error).__name__, sqlstate=sqlstate_of(error))
        message = "Something is not working on our side just now: nothing was saved."
        return page("trouble.html", {"message": message}, status=503, headers=_TRY_AGAIN)


@router.get(_LINK)
async def show(request: Request) -> Response:
    """The form that the link opens."""
    return await _friendly(request, _show)


@router.post(_LINK)
async def submit(request: Request) -> Response:
    """Takes the form; the link is used up then."""
    return await _friendly(request, _submit)


async def _show(request: Request, token: str) -> Response:
    runtime = runtime_of(request)
    return _form(await look_up(runtime.database, runtime.clock, token), runtime.clock)


async def _submit(request: Request, token: str) -> Response:
    refuse_other_sites(request)
    runtime = runtime_of(request)
    if runtime.ring is None:
        raise Refusal("service_unavailable", "This service cannot keep your numbers safe yet.")
    opened = await look_up(runtime.database, runtime.clock, token)
    form = await read_form(request)
    try:
        enter, shown = _entry(opened, form, runtime.ring, runtime.clock, desk_of(request))
        await complete(runtime.database, runtime.clock, token, request_id_of(request), enter)
    except FormError as error:
        return _form(opened, runtime.clock, error.problems, form)
    except AnswersError as error:
        return _form(opened, runtime.clock, _beside_fields(error.problems), form)
    return page("thanks.html", _facts(opened) | {"shown": shown, "account": f"{PORTAL_PATH}/{token}/account"})


def _entry(
    opened: OpenInvitation, form: Mapping[str, str], ring: KeyRing, clock: Clock, desk: FrontDesk
) -> tuple[StoreEntered, str]:
    """Return how the form is stored, and what of it may be shown: last digits only. Raises FormError."""
    if opened.type == "bank_account":
        bank = read_bank_account(form)

        async def enter_bank(session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
            employee = await session.get_one(Employee, invitation.employee_id)
            details = AccountDetails(bank.routing, bank.account, bank.account_type)
            await connect_employee_account(session, ring, actor, employee, details, clock.now())

        return enter_bank, f"{bank.account_type} account ending in {bank.account.last_four}"

    problems: dict[str, str] = {}
    signed = read_certificates(_sheets(opened, clock), form, clock.today(), problems)
    try:
        entry = read_tax_info(form)
    except FormError as error:
        raise FormError({**_beside_fields(problems), **error.problems}) from None
    if problems:
        raise FormError(_beside_fields(problems))
    number = entry.number

    async def enter_number(session: AsyncSession, actor: Actor, invitation: Invitation) -> None:
        parted_or_joined = await save_employee_tax_number(session, ring, actor, invitation, number)
        await measure_people_anew(session, parted_or_joined)
        if entry.address is not None:
            await save_employee_address(session, actor, clock, invitation, entry.address)
        for each in signed:
            signature = Signature(each.name, each.on, invitation_id=invitation.id)
            await sign_certificate(
                session, actor, clock, invitation.employee_id, each.sheet, each.answers, signature
            )
            employee = await session.get_one(Employee, invitation.employee_id)
            what = "w4" if each.sheet.jurisdiction == FEDERAL else "certificate"
            await tell_of_change(desk, session, employee, None, what)

    return enter_number, f"{_KIND_NAMES[number.kind]} ending in {number.last_four}"


def _form(
    opened: OpenInvitation,
    clock: Clock,
    problems: Problems | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """Return the form; with `problems`, what is wrong next to each field. No number that was typed is in it again."""
    facts = _facts(opened) | {
        "problems": problems or {},
        "account_type": typed.get("account_type", ""),
    }
    if opened.type == "tax_info":
        sheets = _sheets(opened, clock)
        fields = [each.field for sheet in sheets for each in sheet.questions]
        fields += [f"{prefix_of(sheet)}{name}" for sheet in sheets for name in ("signed_name", "signed_on")]
        kept = {each.field: each.entered for sheet in sheets for each in sheet.questions}
        facts |= {
            "sheets": [(sheet, prefix_of(sheet)) for sheet in sheets],
            "entered": {name: typed.get(name, "") for name in fields} if problems else kept,
            "today": clock.today().isoformat(),
            "_": say_in("en"),
        }
    return page(f"{opened.type}.html", facts, status=400 if problems else 200)


def _sheets(opened: OpenInvitation, clock: Clock) -> tuple[CertificateSheet, ...]:
    if opened.type != "tax_info":
        return ()
    return sheets_of(opened.employee, clock.today(), "en", blank=True)


def _beside_fields(problems: Problems) -> dict[str, str]:
    """Return problems as sentences, as these pages show them."""
    return {name: f"{text[:1].upper()}{text[1:]}." for name, text in problems.items()}


def _facts(opened: OpenInvitation) -> dict[str, object]:
    return {
        "first_name": opened.first_name,
        "household": opened.household,
        "sandbox": opened.sandbox,
    }
