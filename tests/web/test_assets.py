"""The files of pages: compressed, kept for good by their fingerprint, and nothing that pages need is missing."""

import gzip
import json
import re

import httpx
import pytest

from hearthpay.web.assets import ASSETS, address_of


@pytest.mark.parametrize("name", sorted(ASSETS))
async def test_a_file_is_kept_for_good_at_its_own_address_only(client: httpx.AsyncClient, name: str) -> None:
    asset = ASSETS[name]
    answer = await client.get(address_of(name))
    assert answer.status_code == 200
    assert answer.content == asset.content
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    for other in (asset.path, f"{asset.path}?v=0000", f"{asset.path}?v="):
        assert (await client.get(other)).headers["Cache-Control"] == "no-cache"
    again = await client.get(asset.path, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    assert again.content == b""


async def test_text_goes_compressed_to_who_takes_it_and_pictures_as_they_are(
    client: httpx.AsyncClient,
) -> None:
    for name, asset in ASSETS.items():
        small = await client.get(asset.path, headers={"Accept-Encoding": "gzip"})
        plain = await client.get(asset.path, headers={"Accept-Encoding": "identity"})
        assert small.content == plain.content == asset.content
        assert "Content-Encoding" not in plain.headers
        compressed = small.headers.get("Content-Encoding") == "gzip"
        assert compressed == (not name.endswith(".png")), name
        if compressed:
            assert asset.small is not None
            assert gzip.decompress(asset.small) == asset.content
            assert small.headers["ETag"] != plain.headers["ETag"]
            assert small.headers["Vary"] == "Accept-Encoding"


async def test_the_style_sheet_is_small(client: httpx.AsyncClient) -> None:
    answer = await client.get(address_of("app.css"), headers={"Accept-Encoding": "gzip"})
    assert int(answer.headers["Content-Length"]) < 10_000


async def test_a_phone_can_put_the_app_on_its_home_screen(client: httpx.AsyncClient) -> None:
    manifest = json.loads((await client.get(address_of("app.webmanifest"))).content)
    assert manifest["display"] == "standalone"
    assert {icon["sizes"] for icon in manifest["icons"]} >= {"192x192", "512x512"}
    for icon in manifest["icons"]:
        found = await client.get(icon["src"])
        assert found.headers["Content-Type"] == icon["type"]
    page = (await client.get("/sign-in", headers={"Accept": "text/html"})).text
    assert f'<link rel="manifest" href="{address_of("app.webmanifest")}">' in page
    assert '<meta name="theme-color"' in page


async def test_pages_of_people_are_never_compressed(client: httpx.AsyncClient) -> None:
    """They hold the token of their forms beside what an address says."""
    page = await client.get("/sign-in", headers={"Accept": "text/html", "Accept-Encoding": "gzip"})
    assert "form_token" in page.text
    assert "Content-Encoding" not in page.headers


async def test_every_class_of_the_pages_frame_is_in_the_style_sheet(client: httpx.AsyncClient) -> None:
    style = ASSETS["app.css"].content.decode()
    page = (await client.get("/help", headers={"Accept": "text/html"})).text
    used = {name for group in re.findall(r'class="([^"]+)"', page) for name in group.split()}
    assert used
    assert {name for name in used if not re.search(rf"\.{re.escape(name)}\b", style)} == set()
