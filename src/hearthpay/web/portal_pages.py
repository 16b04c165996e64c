"""The pages of an employee's link: their language, their parts, and how each is shown.

They are pages of the app without a session: the token in the address is all that they know of the visitor. The
language is the one requested by `?language=`, otherwise the browser's, otherwise the employee's.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from hearthpay.banking.account_changes import WAITS
from hearthpay.clock import Clock
from hearthpay.employees.certificate_sheets import CertificateSheet
from hearthpay.employees.invitations import PORTAL_PATH
from hearthpay.employees.link_parts import PARTS, LinkPart, OpenedLink
from hearthpay.employees.open_links import OpenInvitation
from hearthpay.languages.catalogue import mark, preferred, say_in
from hearthpay.people.dependencies import people_context_of
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.certificate_form import prefix_of, sheets_of
from hearthpay.web.framework import go, show
from hearthpay.web.numbers_form import Problems
from hearthpay.web.portal_submissions import NOTIFIED
from hearthpay.web.visitor import Visitor

DONE: Final = "done"
"""The last part of the address of the page that says what was entered."""

_LANGUAGES: Final = {"en": "English", "es": "Español"}
_OTHER: Final = {"en": "es", "es": "en"}
_NUMBER_ENDING: Final = {
    "ssn": mark("Social Security number ending in {digits}"),
    "itin": mark("ITIN ending in {digits}"),
}
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


def language_of(request: Request) -> str:
    """Return the requested language; otherwise the browser's; without one, the employee's."""
    requested = request.query_params.get("language")
    if requested in _LANGUAGES:
        return str(requested)
    accepted = request.headers.get("accept-language")
    known: str | None = getattr(request.state, "employee_language", None)
    return known if known is not None and accepted is None else preferred(accepted)


def link_page(
    request: Request,
    template: str,
    facts: Mapping[str, object] = _NOTHING,
    *,
    status: int = 200,
    headers: Mapping[str, str] = _NOTHING,
) -> Response:
    """Return a page of `templates/link/` in the frame of a flow, with a link to the other language."""
    language = language_of(request)
    visitor = Visitor(
        request, people_context_of(request), None, "", new_visit=False, language=language
    )  # no matter who is signed in, these pages are about the link alone
    other = _OTHER[language]
    frame = {
        "flow": "plain",
        "switch": {"to": other, "name": _LANGUAGES[other], "path": f"?language={other}"},
        "ask_path": address_in(request, "new-link"),
    }
    response = show(visitor, template, frame | dict(facts), status=status, folder="link")
    response.headers.update(headers)
    return response


def address_in(request: Request, part: str) -> str:
    """Return the path of a part of the link, in the language that was requested, if any."""
    path = f"{PORTAL_PATH}/{request.path_params['token']}"
    if part != "number":
        path += f"/{part}"
    requested = request.query_params.get("language")
    return f"{path}?language={requested}" if requested in _LANGUAGES else path


def go_on(request: Request, after: LinkPart | None, missing: tuple[LinkPart, ...]) -> Response:
    """Return a redirect to the first missing part after one, or to the page that says what was entered."""
    position = -1 if after is None else PARTS.index(after)
    following = [part for part in missing if PARTS.index(part) > position]
    return go(address_in(request, following[0] if following else DONE))


def bank_page(
    request: Request,
    opened: OpenInvitation,
    problems: Problems = _NOTHING,
    typed: Mapping[str, str] = _NOTHING,
) -> Response:
    """Return the form for a bank account; with `problems`, what is wrong beside each field, and no typed number."""
    facts = facts_of(opened) | {
        "problems": problems,
        "account_type": typed.get("account_type", ""),
        "hours": int(WAITS.total_seconds() // 3600),
    }
    return link_page(request, "bank_account.html", facts, status=400 if problems else 200)


def part_page(
    request: Request,
    clock: Clock,
    link: OpenedLink,
    part: LinkPart,
    problems: Problems = _NOTHING,
    typed: Mapping[str, str] = _NOTHING,
) -> Response:
    """Return one of the three pages; with `problems`, what is wrong beside each field. It never contains a number."""
    number = PARTS.index(part) + 1
    following = PARTS[number] if number < len(PARTS) else DONE
    facts = facts_of(link.invitation) | {
        "problems": problems,
        "form_values": {},
        "number": number,
        "last": len(PARTS),
        "back": address_in(request, PARTS[number - 2])
        if number > 1 and PARTS[number - 2] in link.progress.missing
        else None,
        "skip": address_in(request, following),
    }
    if part == "address":
        # A field with a mistake comes back empty: it may have a number in it that belongs nowhere.
        kept = {name: value for name, value in typed.items() if name not in problems}
        facts |= {"form_values": kept, "states": list(STATES.items())}
    if part == "certificates":
        facts |= _certificates(link, clock, language_of(request), problems, typed)
    return link_page(request, f"{part}.html", facts, status=400 if problems else 200)


def unsigned_sheets(link: OpenedLink, clock: Clock, language: str) -> tuple[CertificateSheet, ...]:
    """Return the certificates that weren't signed by this link yet; blank, since a link reads nothing on record."""
    sheets = sheets_of(link.invitation.employee, clock.today(), language, blank=True)
    return tuple(each for each in sheets if each.jurisdiction in link.progress.unsigned)


def _certificates(
    link: OpenedLink, clock: Clock, language: str, problems: Problems, typed: Mapping[str, str]
) -> dict[str, object]:
    sheets = unsigned_sheets(link, clock, language)
    fields = [each.field for sheet in sheets for each in sheet.questions]
    fields += [f"{prefix_of(sheet)}{name}" for sheet in sheets for name in ("signed_name", "signed_on")]
    kept = {each.field: each.entered for sheet in sheets for each in sheet.questions}
    return {
        "sheets": [(sheet, prefix_of(sheet)) for sheet in sheets],
        "states": STATES,
        "form_values": {name: typed.get(name, "") for name in fields if name not in problems}
        if problems
        else kept,
        "today": clock.today().isoformat(),
    }


def done_page(request: Request, link: OpenedLink) -> Response:
    """Return what was entered, masked, and what is missing, with the way to an account."""
    say, progress = say_in(language_of(request)), link.progress
    sends_mail = people_context_of(request).sends_mail
    number = None
    if progress.number is not None:
        kind, digits = progress.number
        number = say(_NUMBER_ENDING[kind], digits=digits)
    facts = facts_of(link.invitation) | {
        "missing": {part: address_in(request, part) for part in progress.missing},
        "entered": len(progress.missing) < len(PARTS) or bool(progress.signed),
        "number": number,
        "address": progress.address,
        "signed": [(each, STATES.get(each)) for each in progress.asked if each in progress.signed],
        "until": link.invitation.invitation.expires_at,
        "told": say(NOTIFIED) if sends_mail and not link.invitation.sandbox else None,
        "account": address_in(request, "account"),
    }
    return link_page(request, "done.html", facts)


def facts_of(opened: OpenInvitation) -> dict[str, object]:
    """Return what any page of a link says about the employment: two names, and whether it is a test household's."""
    return {
        "first_name": opened.first_name,
        "household": opened.household,
        "sandbox": opened.sandbox,
    }
