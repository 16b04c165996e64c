"""The interactive reference at `/docs`: Swagger UI and the code that runs it, self-hosted.

The page that is sent is the plain one; its only script, ours, replaces it with Swagger UI. Readers without scripts,
or of `/docs?plain`, get the plain page. Nothing is loaded from another address, and no script is inline.

`swagger_ui/` holds the released files unchanged, with their licenses; `release.toml` names the version and its
checksums, and `python -m tests.openapi.refresh_swagger_ui` fetches another.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from hearthpay.http.published import Published

_FILES: Final = files(__name__)
VERSION: Final[str] = tomllib.loads(_FILES.joinpath("swagger_ui/release.toml").read_text("utf-8"))["version"]
"""The version of Swagger UI."""

SCRIPT_PATH: Final = "/docs/reference.js"
"""The path of the script that replaces the plain page with the reference."""
STYLE_PATH: Final = "/docs/reference.css"
"""The path of its style, which is small; the plain page has its own."""
BUNDLE_PATH: Final = f"/docs/swagger-ui-{VERSION}/swagger-ui-bundle.js"
"""The path of Swagger UI: different for each version, so it may be cached permanently."""
BUNDLE_STYLE_PATH: Final = f"/docs/swagger-ui-{VERSION}/swagger-ui.css"
"""The path of Swagger UI's style."""

_JAVASCRIPT: Final = "text/javascript; charset=utf-8"
_CSS: Final = "text/css; charset=utf-8"
_FOR_GOOD: Final = {"Cache-Control": "public, max-age=31536000, immutable"}


def head(document: str) -> str:
    """Return the plain page's head elements that let the reference of `document` replace it."""
    return (
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLE_PATH}">'
        f'<script src="{SCRIPT_PATH}" data-document="{document}" '
        f'data-bundle="{BUNDLE_PATH}" data-style="{BUNDLE_STYLE_PATH}"></script>'
    )


def reference_files() -> dict[str, Published]:
    """Return everything that the reference loads, by its path."""
    return {
        SCRIPT_PATH: _published("reference.js", _JAVASCRIPT),
        STYLE_PATH: _published("reference.css", _CSS),
        BUNDLE_PATH: _published("swagger_ui/swagger-ui-bundle.js", _JAVASCRIPT, _FOR_GOOD),
        BUNDLE_STYLE_PATH: _published("swagger_ui/swagger-ui.css", _CSS, _FOR_GOOD),
    }


def _published(name: str, media_type: str, headers: Mapping[str, str] | None = None) -> Published:
    return Published(_FILES.joinpath(name).read_bytes, media_type, headers, compressed=True)
