"""The changelog of the rules, generated from the editions' own files."""

from hearthpay.taxes.editions import Edition, EditionChange, editions_of
from hearthpay.taxes.rulebook import supported_years

_HEAD = (
    "# Changelog of the rules\n\n"
    "Made from `rules/editions/` by `hearthpay rules changelog --markdown`; do not edit. "
    "`GET /readyz` names the editions that an installation uses.\n"
)


def changelog_page() -> str:
    """Return ``docs/reference/rules-changelog.md``: every edition of every year, the latest year first."""
    parts = [_HEAD]
    for year in reversed(supported_years()):
        parts.append(f"## {year}\n")
        parts += [_section(edition) for edition in editions_of(year)]
    return "\n".join(parts)


def changelog_lines(tax_year: int | None = None) -> list[str]:
    """Return the changelog as lines to read in a terminal, for one year or for all."""
    lines = []
    for year in reversed(supported_years()) if tax_year is None else (tax_year,):
        for edition in editions_of(year):
            lines.append(f"{edition.name}, released {edition.released}")
            lines += [
                f"  {change.jurisdiction}  from {change.effective_from}  {_codes(change)}{change.what} "
                f"Concerns: {change.concerns}"
                for change in edition.changes
            ]
    return lines


def _codes(change: EditionChange) -> str:
    return f"{', '.join(change.codes)}: " if change.codes else ""


def _section(edition: Edition) -> str:
    rows = [
        f"| {change.jurisdiction} | {', '.join(f'`{code}`' for code in change.codes)} | {change.what} "
        f"| {change.effective_from} | {change.concerns} |"
        for change in edition.changes
    ]
    return "\n".join(
        [
            f"### {edition.name}, released {edition.released}\n",
            "| | lines | what changed | from | concerns |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
