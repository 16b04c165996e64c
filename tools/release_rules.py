"""Record an edition of a year's rules: `python tools/release_rules.py YEAR`.

Records the digests of the year's files under its newest edition, drafts an entry for each file that changed since,
and writes docs/reference/coverage.md and docs/reference/rules-changelog.md. The drafts say "TODO" and are to be
finished by hand; the suite refuses them. For a new edition, first add its `[[edition]]` with name and released at the
top of rules/editions/YEAR.toml, and the same name and date to the year's us.toml.
"""

import re
import sys
from pathlib import Path

from hearthpay.taxes import rulebook
from hearthpay.taxes.coverage_page import coverage_page
from hearthpay.taxes.editions import THRESHOLDS, editions_of, file_digests
from hearthpay.taxes.rules_changelog import changelog_page

DOCS = Path(__file__).parents[1] / "docs" / "reference"


def main(year: int) -> None:
    """Record the year's newest edition and write the pages made from the rule files."""
    path = rulebook.RULES / "editions" / f"{year}.toml"
    newest, *older = editions_of(year)
    now = file_digests(year)
    before = newest.digests or (older[0].digests if older else {})
    changed = [
        file for file, digest in now.items() if before.get(file, digest) != digest or file not in before
    ]
    changed = changed if before else []
    changed += [file for file in before if file not in now]
    text = path.read_text("utf-8")
    table = "[edition.digests]\n" + "".join(f'"{file}" = "{digest}"\n' for file, digest in now.items())
    text = re.sub(
        r"(?m)^\[edition\.digests\]\n(?:\".*\n)*", lambda _: table + _drafts(changed, year), text, count=1
    )
    path.write_text(text, "utf-8")
    (DOCS / "coverage.md").write_text(coverage_page(), "utf-8")
    (DOCS / "rules-changelog.md").write_text(changelog_page(), "utf-8")
    print(f"{newest.name}: {len(now)} files, {len(changed)} changed")
    for file in changed:
        print(f"  {file}: finish or delete its draft in {path.name}, then run this again")


def _drafts(changed: list[str], year: int) -> str:
    """Return an entry to be finished for each changed file."""
    return "".join(
        f"\n[[edition.change]]\n"
        f'jurisdiction = "{"US" if file == THRESHOLDS else Path(file).stem.upper()}"\n'
        f'codes = []\nwhat = "TODO: {file}"\neffective_from = {year}-01-01\nconcerns = "TODO"\n'
        for file in changed
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
