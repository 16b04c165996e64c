"""The links of the documentation lead somewhere."""

import re
from pathlib import Path

from tests.cases import every_case

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def _prose(page: Path) -> str:
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def test_links_lead_to_files_and_headings() -> None:
    with every_case() as case:
        for page in PAGES:
            with case(page.relative_to(ROOT).as_posix()):
                broken = []
                for link in LINK.findall(_prose(page)):
                    if "://" in link or link.startswith("mailto:"):
                        continue
                    path, _, anchor = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    if not target.exists() or (anchor and anchor not in _anchors(target)):
                        broken.append(link)
                assert broken == []
