"""Writes `docs/reference/glossary.md` from the catalog of terms: `python -m tools.glossary`."""

from pathlib import Path
from typing import Final

from hearthpay.languages.glossary import glossary_page

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "reference" / "glossary.md"

if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(glossary_page(), encoding="utf-8")
