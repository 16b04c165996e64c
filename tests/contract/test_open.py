"""The contract's open addresses, the retired transfer, and what a stranger may try."""

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from hearthpay.app import INTERFACE_VERSION
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.http.api import Account, NewKey, refusal

CHANGELOG = Path(__file__).parents[2] / "docs" / "reference" / "api-changelog.md"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json", "/llms.txt", "/docs"])
async def test_what_is_open(client: httpx.AsyncClient, path: str) -> None:
    """Open, without a key: `GET /healthz`, `/readyz`, `/openapi.json`, `/llms.txt`, `/docs`."""
    assert (await client.get(path)).status_code == 200


async def test_readiness_names_the_editions_of_the_rules(client: httpx.AsyncClient) -> None:
    """`GET /readyz` lists each year's rules: `tax_year`, `edition`, `fingerprint`, `released`, `age_days`."""
    ready = (await client.get("/readyz")).json()["data"]
    assert ready["status"] == "ready"
    assert [each["tax_year"] for each in ready["rules"]] == list(supported_years())
    for each in ready["rules"]:
        assert f"{each['edition']}-{each['fingerprint']}" == rulebook_of(each["tax_year"]).version
        assert each["released"] == rulebook_of(each["tax_year"]).released.isoformat()
        assert each["age_days"] >= 0


@pytest.mark.parametrize("path", ["/", "/docs/"])
async def test_where_people_try_the_door(client: httpx.AsyncClient, path: str) -> None:
    """`/` and `/docs/` lead to the documentation."""
    response = await client.get(path, follow_redirects=True)
    assert response.status_code == 200
    assert response.url.path == "/docs"


async def test_the_transfer_is_gone(account: Account, new_key: NewKey) -> None:
    """`POST /ach/transfer` is 410 `gone` always, 401 without a key, and points to `POST /payroll/run`."""
    narrow = await new_key("Small", plan="free", scopes=("documents",))
    for caller in (account.live, account.test, narrow):
        for body in (b"", b"{", b'{"amount": 100, "direction": "debit"}'):
            error = refusal(await caller.post_raw("/ach/transfer", body), 410, "gone")
            assert "POST /api/v1/payroll/run" in error["message"]
    refusal(await account.live.client.post("/api/v1/ach/transfer"), 401, "authentication_required")


@pytest.mark.parametrize("path", ["/", "/healthz", "/docs", "/api/v1/payrolls", "/api/v1/nothing"])
async def test_head_is_get_without_the_body(address: str, account: Account, path: str) -> None:
    """HEAD answers like GET, without the body, over a real socket."""
    async with httpx.AsyncClient(base_url=address, headers=account.live.headers()) as client:
        got, head = await client.get(path), await client.head(path)
    assert head.status_code == got.status_code
    assert head.content == b""
    assert head.headers.get("content-length") == got.headers.get("content-length")
    assert head.headers.get("content-type") == got.headers.get("content-type")


async def test_head_is_allowed_where_get_is(address: str, account: Account) -> None:
    """An address without GET refuses HEAD; where there is GET, `Allow` names HEAD too."""
    async with httpx.AsyncClient(base_url=address, headers=account.live.headers()) as client:
        assert (await client.head("/api/v1/payroll/run")).status_code == 405
        allowed = (await client.put("/api/v1/payrolls")).headers["Allow"]
    assert allowed == "GET, HEAD"


async def test_the_interface_has_a_version(app: FastAPI) -> None:
    """The version of the interface stands in the OpenAPI, and what it brought in `docs/reference/api-changelog.md`."""
    assert app.openapi()["info"]["version"] == INTERFACE_VERSION
    newest = next(line for line in CHANGELOG.read_text("utf-8").splitlines() if line.startswith("## "))
    assert newest.split()[1] == INTERFACE_VERSION
