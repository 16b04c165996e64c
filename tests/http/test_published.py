"""The documentation is rendered once and then only sent."""

import httpx
import pytest
from fastapi import FastAPI


@pytest.mark.parametrize("path", ["/openapi.json", "/llms.txt", "/docs"])
async def test_it_is_rendered_once_and_known_again(
    app: FastAPI, client: httpx.AsyncClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await client.get(path)
    assert first.status_code == 200
    monkeypatch.setattr(app, "openapi", None)
    again = await client.get(path)
    assert again.content == first.content
    tag = first.headers["ETag"]
    for condition in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        unchanged = await client.get(path, headers={"If-None-Match": condition})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert unchanged.headers["ETag"] == tag
    assert (await client.get(path, headers={"If-None-Match": '"other"'})).status_code == 200
