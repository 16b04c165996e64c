"""The files that pages load: the style sheet, the scripts, the icons and the web manifest.

Each is read and compressed once, when the program starts. A page names a file by the fingerprint of its content, so a
browser keeps it for a year and asks for it again only after it has changed.

Only these files are compressed, and pages that are the same for everybody. A page of a signed-in person holds the
token of its forms, wages and names beside text that its address can decide: compressed, its length would tell somebody
who reads the connection about them, one guess at a time (BREACH).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.http.published import accepts_gzip, lists_tag

_FOLDER: Final = "/assets/"
_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"
_UNCHANGED: Final = 304
_SVG: Final = "image/svg+xml"
_CSS: Final = "text/css; charset=utf-8"
_MANIFEST: Final = "app.webmanifest"


class Asset:
    """One file: its content, and its address with the fingerprint of the content."""

    def __init__(self, name: str, media_type: str, content: bytes, *, compressed: bool = True) -> None:
        """Compress the content if that makes it smaller; pictures are small already."""
        self.path: Final = _FOLDER + name
        self.content: Final = content
        small = gzip.compress(content, 9, mtime=0) if compressed else content
        self.small: Final = small if len(small) < len(content) else None
        self.version: Final = hashlib.sha256(content).hexdigest()[:12]
        self._media_type: Final = media_type

    @property
    def address(self) -> str:
        """The address that pages name."""
        return f"{self.path}?v={self.version}"

    async def __call__(self, request: Request) -> Response:
        """Return the file; a browser keeps it for good only at the address of this very content.

        While a new version starts on some of several hosts, the other hosts answer its pages with the file they have.
        """
        current = request.query_params.get("v") == self.version
        small = self.small if accepts_gzip(request.headers.get("accept-encoding", "")) else None
        headers = {
            "Cache-Control": _FOR_GOOD if current else _ASK_AGAIN,
            "Content-Type": self._media_type,
            "ETag": f'"{self.version}{"-gzip" if small is not None else ""}"',
        }
        if self.small is not None:
            headers["Vary"] = "Accept-Encoding"
        if lists_tag(request.headers.get("if-none-match", ""), headers["ETag"]):
            return Response(status_code=_UNCHANGED, headers=headers)
        if small is None:
            return Response(self.content, headers=headers)
        return Response(small, headers=headers | {"Content-Encoding": "gzip"})


def _read(name: str, media_type: str, *, compressed: bool = True) -> Asset:
    content = files("hearthpay.web").joinpath("static", name).read_bytes()
    return Asset(name, media_type, content, compressed=compressed)


def _style() -> Asset:
    """Return the style sheet without its comments and the space between its rules."""
    text = _read("app.css", _CSS).content.decode()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return Asset("app.css", _CSS, re.sub(r"\s*([{};])\s*", r"\1", text).strip().encode())


_FILES: Final = (
    _style(),
    _read("passkeys.js", "text/javascript; charset=utf-8"),
    _read("keys.js", "text/javascript; charset=utf-8"),
    _read("icon.svg", _SVG),
    _read("icon-180.png", "image/png", compressed=False),
    _read("icon-192.png", "image/png", compressed=False),
    _read("icon-512.png", "image/png", compressed=False),
)


def _manifest(icons: Mapping[str, Asset]) -> Asset:
    """Return the web manifest, by which phones put the app on the home screen."""
    content = {
        "name": "Hearthpay",
        "short_name": "Hearthpay",
        "id": "/home",
        "start_url": "/home",
        "scope": "/",
        "display": "standalone",
        "background_color": "#f6f5f1",
        "theme_color": "#f6f5f1",
        "icons": [
            {"src": icons["icon.svg"].address, "sizes": "any", "type": _SVG},
            *(
                {
                    "src": icons[f"icon-{size}.png"].address,
                    "sizes": f"{size}x{size}",
                    "type": "image/png",
                    "purpose": "any maskable",
                }
                for size in (192, 512)
            ),
        ],
    }
    return Asset(_MANIFEST, "application/manifest+json", json.dumps(content, separators=(",", ":")).encode())


_NAMED: Final = {asset.path.removeprefix(_FOLDER): asset for asset in _FILES}

ASSETS: Final[Mapping[str, Asset]] = _NAMED | {_MANIFEST: _manifest(_NAMED)}
"""The files by their names."""


def inline_icon() -> str:
    """Return the icon as an address that holds it, so that a page asks for nothing more."""
    return f"data:{_SVG}," + quote(_NAMED["icon.svg"].content.decode().strip(), safe=" =:/'")


def address_of(name: str) -> str:
    """Return the address of a file, for a page. Raises KeyError for an unknown name."""
    return ASSETS[name].address


router: Final = APIRouter(include_in_schema=False)
for _asset in ASSETS.values():
    router.add_api_route(_asset.path, _asset.__call__)
