"""HTML pages from templates, with the headers of a page whose address contains a secret."""

from collections.abc import Mapping
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from hearthpay.web.assets import address_of, inline_icon
from hearthpay.web.form_problems import note_field
from hearthpay.web.help.articles import term_page
from hearthpay.web.presentation import filters
from hearthpay.web.status_words import status_word
from hearthpay.web.template_cache import TemplateCache

# The middleware adds no-referrer and nosniff. No script runs, and forms can only be sent here.
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; manifest-src 'self'; img-src 'self' data:",
    "Cache-Control": "no-store",
    "X-Robots-Tag": "noindex",
}
_TEMPLATES: Final = Environment(
    loader=PackageLoader("hearthpay.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    bytecode_cache=TemplateCache("escaped, trimmed"),
)
_TEMPLATES.filters["capitalize_first"] = lambda text: text[:1].upper() + text[1:]
_TEMPLATES.filters.update(filters())
_TEMPLATES.globals["status_word"] = status_word
_TEMPLATES.globals["asset"] = address_of
_TEMPLATES.globals["icon"] = inline_icon()
_TEMPLATES.globals["term_page"] = term_page
_TEMPLATES.globals["note_field"] = note_field
_TEMPLATES.filters["full_stop"] = lambda text: text if text.endswith(".") else f"{text}."


def page(
    template: str,
    facts: Mapping[str, object] | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the page that `template` makes of `facts`; output is escaped."""
    body = _TEMPLATES.get_template(template).render(facts or {})
    return HTMLResponse(body, status, {**_HEADERS, **(headers or {})})


def compile_templates() -> None:
    """Load every template as its first page would; those that were not compiled yet are."""
    for name in _TEMPLATES.list_templates(extensions=("html",)):
        _TEMPLATES.get_template(name)
