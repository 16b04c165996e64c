"""The documentation in the repository is the documentation of this code."""

import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest

from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.docs_page import static_docs, write_docs
from tests.openapi.document import Document

PUBLISHED = Path(__file__).parents[2] / "docs" / "api"
VOID = {"meta", "br", "th"}  # a table's headings stay open, as HTML allows


@pytest.mark.parametrize("name", ["openapi.json", "index.html", "llms.txt"])
def test_the_published_documentation_is_up_to_date(document: Document, name: str) -> None:
    published = PUBLISHED / name
    assert published.is_file(), f"docs/api/{name} is missing: run `python -m tests.openapi.publish`"
    fresh = published.read_text(encoding="utf-8") == static_docs(document.openapi)[name]
    assert fresh, f"docs/api/{name} is stale: run `python -m tests.openapi.publish`"


def test_writing_the_documentation_again_changes_nothing(document: Document, tmp_path: Path) -> None:
    directory = tmp_path / "docs" / "api"
    for _ in range(2):
        write_docs(document.openapi, directory)
        written = {path.name: path.read_text(encoding="utf-8") for path in directory.iterdir()}
        assert written == static_docs(document.openapi)


def test_the_page_is_well_formed_and_needs_only_its_neighbour(document: Document) -> None:
    class Page(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.targets: set[str | None] = set()
            self.anchors: set[str | None] = set()

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag not in VOID:
                self.open.append(tag)
            found = dict(attrs)
            self.targets |= {found[name] for name in ("href", "src") if name in found}
            self.anchors |= {found["id"]} if "id" in found else set()

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    page = Page()
    page.feed(static_docs(document.openapi)["index.html"])
    page.close()
    assert page.open == []
    operations = {operation["operationId"] for _, _, operation in document.operations()}
    assert page.anchors == operations
    assert page.targets == {"openapi.json"} | {f"#{name}" for name in operations}


def test_the_page_shows_a_table_of_every_kind_of_answer(document: Document) -> None:
    page = static_docs(document.openapi)["index.html"]
    assert "<th>Meaning</tr></table>" not in page
    for name, schema in document.openapi["components"]["schemas"].items():
        if name.startswith(("Created", "Deleted", "Reset")):
            for field in schema["properties"]:
                assert f"<code>{field}</code>" in page, (name, field)


async def test_llms_txt_links_to_every_operation(document: Document, client: httpx.AsyncClient) -> None:
    """As llmstxt.org has it: a title, a summary, then lists of links under headings."""
    served = await client.get("/llms.txt")
    assert served.headers["Content-Type"] == "text/plain; charset=utf-8"
    title, _, summary, *rest = served.text.splitlines()
    assert title == f"# Hearthpay API {document.openapi['info']['version']}"
    assert summary.startswith("> ")
    links = [line for line in rest if line.startswith("- ")]
    assert all(re.fullmatch(r"- \[[^\]]+\]\(/[\w./#]+\): .+", line) for line in links)
    linked = {line.split("](/docs#")[1].split(")")[0] for line in links if "(/docs#" in line}
    assert linked == {operation["operationId"] for _, _, operation in document.operations()}
    headings = [line.removeprefix("## ") for line in rest if line.startswith("## ")]
    assert headings == ["Documents", *(tag["name"] for tag in document.openapi["tags"])]
    for code in document.openapi["components"]["schemas"]["ErrorCode"]["enum"]:
        assert f"`{code}`" in served.text


async def test_llms_txt_names_the_address_where_it_is_known(database: Database, clock: FixedClock) -> None:
    app = create_app(database, clock, AppSettings(public_url="https://pay.example"))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="https://pay.example"
    ) as client:
        text = (await client.get("/llms.txt")).text
    assert "](https://pay.example/openapi.json)" in text
    assert "](https://pay.example/docs#runPayroll)" in text
