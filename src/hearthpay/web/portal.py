"""The portal: where an employee with a link enters a bank account or a taxpayer number.

The token in the address is the only authentication, so it stays out of logs, caches and referrers, and it works once.
The pages are in the employee's language, or the one requested by `?language=`.
"""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

import structlog
from fastapi import APIRouter
from sqlalchemy.exc import DBAPIError
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.banking.account_changes import WAITS
from hearthpay.clock import Clock, household_time, set_household_time
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.employees.certificate_sheets import AnswersError, CertificateSheet
from hearthpay.employees.invitations import PORTAL_PATH, OpenInvitation, complete, look_up
from hearthpay.http.database_failures import database_failure_of, sqlstate_of
from hearthpay.http.envelope import request_id_of
from hearthpay.http.household_times import refuse_while_advancing
from hearthpay.http.runtime import runtime_of
from hearthpay.http.statuses import status_of
from hearthpay.languages.catalogue import mark, preferred, say_in
from hearthpay.people.dependencies import people_context_of
from hearthpay.security.key_ring import KeyRing, KeyRingError
from hearthpay.time_zones import set_shown_time_zone, shown_in
from hearthpay.web.certificate_form import prefix_of, read_certificates, sheets_of
from hearthpay.web.forms import read_form, refuse_other_sites
from hearthpay.web.numbers_form import FormError, Problems, read_bank_account, read_tax_info
from hearthpay.web.pages import STYLE_PATH, page, style
from hearthpay.web.portal_submissions import LinkEntry, SubmittedAccount, SubmittedTaxInfo

router: Final = APIRouter(include_in_schema=False)
router.add_api_route(STYLE_PATH, style)

_log = structlog.get_logger("hearthpay.web")
_LINK: Final = f"{PORTAL_PATH}/{{token}}"
_TRY_AGAIN: Final = {"Retry-After": "5"}
_OUTAGE: Final = mark("Something is not working on our side just now.")
_LANGUAGES: Final = {"en": "English", "es": "Español"}
_OTHER: Final = {"en": "es", "es": "en"}

Handler = Callable[[Request, str], Awaitable[Response]]


async def _friendly(request: Request, handler: Handler) -> Response:
    """Return the answer of `handler`; a refusal becomes a page that says what to do."""
    token = request.path_params["token"]
    try:
        with household_time(), shown_in():  # at real time, until it is known whose link it is
            return await handler(request, token)
    except Refusal as error:
        if error.code not in ("not_found", "gone"):
            ended = (
                error.code == "invalid_state" and status_of(error) != 403
            )  # opening the link again is of no use
            facts = {"message": error.message, "again": not ended}
            return _page(request, "trouble.html", facts, status=status_of(error))
        return _page(request, "closed.html", {"over": error.code == "gone"}, status=status_of(error))
    except (DatabaseUnavailable, DBAPIError, KeyRingError) as error:
        if isinstance(error, DBAPIError) and database_failure_of(error) is None:
            raise
        _log.error("portal unavailable", cause=type(error).__name__, sqlstate=sqlstate_of(error))
        facts = {"message": _OUTAGE, "again": True}
        return _page(request, "trouble.html", facts, status=503, headers=_TRY_AGAIN)


@router.get(_LINK)
async def show(request: Request) -> Response:
    """Show the form that the link opens."""
    return await _friendly(request, _show)


@router.post(_LINK)
async def submit(request: Request) -> Response:
    """Process the form; this uses the link up."""
    return await _friendly(request, _submit)


async def _show(request: Request, token: str) -> Response:
    return _form(request, await _opened(request, token))


async def _submit(request: Request, token: str) -> Response:
    refuse_other_sites(request)
    runtime = runtime_of(request)
    if runtime.ring is None:
        raise Refusal("service_unavailable", "This service cannot keep your numbers safe yet.")
    opened = await _opened(request, token)
    refuse_while_advancing()
    form = await read_form(request)
    try:
        entry = _entry(request, opened, form, runtime.ring)
        await complete(runtime.database, runtime.clock, token, request_id_of(request), entry.store)
    except (FormError, AnswersError) as error:
        return _form(request, opened, error.problems, form)
    facts = {"told": entry.thanks(_language(request)), "account": _offer(request)}
    return _page(request, "thanks.html", _facts(opened) | facts)


async def _opened(request: Request, token: str) -> OpenInvitation:
    """Return what the link opens; from now on the pages of this request are in the employee's language."""
    runtime = runtime_of(request)
    opened = await look_up(runtime.database, runtime.clock, token)
    request.state.employee_language = opened.employee.language
    set_household_time(opened.time)
    set_shown_time_zone(opened.zone)
    return opened


def _entry(request: Request, opened: OpenInvitation, form: Mapping[str, str], ring: KeyRing) -> LinkEntry:
    """Return the entry from the form. Raises FormError."""
    people_context = people_context_of(request)
    if opened.type == "bank_account":
        return SubmittedAccount(read_bank_account(form), people_context)
    problems: dict[str, str] = {}
    sheets = _sheets(opened, people_context.clock, _language(request))
    signed = read_certificates(sheets, form, people_context.clock.today(), problems)
    try:
        typed = read_tax_info(form)
    except FormError as error:
        raise FormError({**problems, **error.problems}) from None
    if problems:
        raise FormError(problems)
    return SubmittedTaxInfo(typed, signed, people_context, ring)


def _form(
    request: Request,
    opened: OpenInvitation,
    problems: Problems | None = None,
    typed: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    """Return the form; with `problems`, what is wrong next to each field. It never contains a typed number."""
    language = _language(request)
    other = _OTHER[language]
    facts = _facts(opened) | {
        "problems": problems or {},
        "account_type": typed.get("account_type", ""),
        "hours": int(WAITS.total_seconds() // 3600),
        "switch": {"to": other, "name": _LANGUAGES[other], "path": f"{request.url.path}?language={other}"},
    }
    if opened.type == "tax_info":
        clock = runtime_of(request).clock
        sheets = _sheets(opened, clock, language)
        fields = [each.field for sheet in sheets for each in sheet.questions]
        fields += [f"{prefix_of(sheet)}{name}" for sheet in sheets for name in ("signed_name", "signed_on")]
        kept = {each.field: each.entered for sheet in sheets for each in sheet.questions}
        facts |= {
            "sheets": [(sheet, prefix_of(sheet)) for sheet in sheets],
            "form_values": {name: typed.get(name, "") for name in fields} if problems else kept,
            "today": clock.today().isoformat(),
        }
    return _page(request, f"{opened.type}.html", facts, status=400 if problems else 200)


def _page(
    request: Request,
    template: str,
    facts: Mapping[str, object],
    *,
    status: int = 200,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Response:
    language = _language(request)
    frame = {"_": say_in(language), "language": language, "switch": None}
    varies = {"Vary": "Accept-Language"}
    return page(template, frame | dict(facts), status=status, headers={**varies, **headers})


def _language(request: Request) -> str:
    """Return the requested language; otherwise the employee's; without one, the browser's."""
    asked = request.query_params.get("language")
    if asked in _LANGUAGES:
        return str(asked)
    known: str | None = getattr(request.state, "employee_language", None)
    return known or preferred(request.headers.get("accept-language"))


def _sheets(opened: OpenInvitation, clock: Clock, language: str) -> tuple[CertificateSheet, ...]:
    if opened.type != "tax_info":
        return ()
    return sheets_of(opened.employee, clock.today(), language, blank=True)


def _offer(request: Request) -> str:
    """Return the path at which the holder of the link can create an account."""
    return f"{PORTAL_PATH}/{request.path_params['token']}/account"


def _facts(opened: OpenInvitation) -> dict[str, object]:
    return {
        "first_name": opened.first_name,
        "household": opened.household,
        "sandbox": opened.sandbox,
    }
