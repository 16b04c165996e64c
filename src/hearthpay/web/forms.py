"""Reading a browser's form, and checking that it was sent from one of our pages.

Fields are URL-encoded and short, a few hundred for a payroll of many employees: the standard library reads them, and
no field is a file.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request

from hearthpay.access.refusal import Refusal
from hearthpay.http.runtime import address_of
from hearthpay.http.statuses import FORBIDDEN, HttpRefusal
from hearthpay.wire.secrecy import holds_a_secret, key_holds_a_secret

_LARGEST: Final = 60_000
_MOST_FIELDS: Final = 400
_KIND: Final = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of the form; for a field sent twice, the last.

    Raises `validation_error` for anything but a form of ours: another content type, too long, or not UTF-8.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = bytearray()
    try:
        async for chunk in request.stream():
            if (
                len(body) <= _LARGEST
            ):  # the rest is received and dropped, so that the client gets to read the refusal
                body += chunk
    except ClientDisconnect:
        raise _unreadable() from None  # nobody reads it; that he left is no failure of ours
    if kind != _KIND or len(body) > _LARGEST:
        raise _unreadable()
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise _unreadable() from None
    return dict(pairs)


def refuse_other_sites(request: Request) -> None:
    """Refuse a form that a page of another site sent (`invalid_state`, 403).

    Browsers say so in `Sec-Fetch-Site`; older ones, and all of them over plain HTTP, only in `Origin`. That is `null`
    for our own pages, because they send no referrer, and is accepted: another site's page would still need the link
    itself.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        foreign = site not in ("same-origin", "none")
    else:
        origin = request.headers.get("origin", "null")
        foreign = origin not in ("null", _origin(address_of(request)), _origin(str(request.base_url)))
    if foreign:
        raise HttpRefusal("invalid_state", "This form was sent from another site.", status=FORBIDDEN)


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _unreadable() -> Refusal:
    return Refusal("validation_error", "This form could not be read.")


def values_to_repeat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the last try that a form shows again: none that reads like a number of the vault.

    Digits alone are shown, such as those of a confirmation, but not in the place of an email address.
    """
    return {name: "" if _reads_like_a_secret(name, value) else value for name, value in values.items()}


def _reads_like_a_secret(name: str, value: object) -> bool:
    if not isinstance(value, str):
        return False
    return key_holds_a_secret(value) or (name == "email" and "@" not in value and holds_a_secret(value))
