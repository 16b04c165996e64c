"""The interactive reference: our own files only, as they were released, under a policy that lets nothing else in."""

import hashlib
import re
import tomllib
from base64 import b64encode
from importlib.resources import files

import httpx
import pytest

from hearthpay.http import reference

RELEASED = files(reference).joinpath("swagger_ui")
RELEASE = tomllib.loads(RELEASED.joinpath("release.toml").read_text("utf-8"))


def test_swagger_ui_is_as_it_was_released_with_its_licenses() -> None:
    kept = {file.name for file in RELEASED.iterdir()} - {"release.toml"}
    assert kept == set(RELEASE["sha256"])
    assert {"LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"} <= kept
    for name, digest in RELEASE["sha256"].items():
        assert hashlib.sha256(RELEASED.joinpath(name).read_bytes()).hexdigest() == digest, name
    assert "Apache License" in RELEASED.joinpath("LICENSE").read_text("utf-8")


async def test_the_page_loads_its_files_from_here_without_a_key(client: httpx.AsyncClient) -> None:
    page = (await client.get("/docs")).text
    named = set(re.findall(r'"(/docs/[^"]+)"', page))
    assert named == set(reference.reference_files())
    for path in named:
        answer = await client.get(path)
        assert answer.status_code == 200
        expected = "text/javascript" if path.endswith(".js") else "text/css"
        assert answer.headers["Content-Type"].startswith(expected), path


async def test_no_script_and_no_style_but_ours_runs(client: httpx.AsyncClient) -> None:
    answer = await client.get("/docs")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy["style-src"] == f"'self' 'sha256-{digest}'"
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["connect-src"] == "'self'"
    assert policy["img-src"] == "'self' data:"
    assert not re.search(r"\son\w+=|\sstyle=", answer.text)


@pytest.mark.parametrize("name", ["reference.js", "reference.css"])
def test_our_own_files_name_no_other_address(name: str) -> None:
    assert re.findall(r"""["'`(](?:https?:)?//""", _own(name)) == []
    assert "innerHTML" not in _own(name)


def _own(name: str) -> str:
    return files(reference).joinpath(name).read_text("utf-8")


def test_the_document_is_sent_to_no_validator() -> None:
    """Swagger UI sends the document's address to its makers, unless told not to or served on this machine."""
    assert "validatorUrl: null" in _own("reference.js")


async def test_large_files_go_compressed_to_who_takes_it(client: httpx.AsyncClient) -> None:
    whole = await client.get(reference.BUNDLE_PATH, headers={"Accept-Encoding": "identity"})
    small = await client.get(reference.BUNDLE_PATH, headers={"Accept-Encoding": "br, gzip"})
    unwanted = await client.get(reference.BUNDLE_PATH, headers={"Accept-Encoding": "gzip;q=0"})
    assert small.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in whole.headers
    assert "Content-Encoding" not in unwanted.headers
    assert int(small.headers["Content-Length"]) < int(whole.headers["Content-Length"]) / 3
    assert small.content == whole.content == RELEASED.joinpath("swagger-ui-bundle.js").read_bytes()
    assert small.headers["ETag"] != whole.headers["ETag"]
    assert small.headers["Vary"] == whole.headers["Vary"] == "Accept-Encoding"
    known = {"Accept-Encoding": "gzip", "If-None-Match": small.headers["ETag"]}
    assert (await client.get(reference.BUNDLE_PATH, headers=known)).status_code == 304


async def test_a_version_of_swagger_ui_is_kept_for_good(client: httpx.AsyncClient) -> None:
    assert RELEASE["version"] in reference.BUNDLE_PATH
    answer = await client.get(reference.BUNDLE_STYLE_PATH)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (await client.get(reference.SCRIPT_PATH)).headers["Cache-Control"] == "no-cache"
