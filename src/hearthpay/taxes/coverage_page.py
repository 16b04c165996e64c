"""The coverage page of the documentation, generated from the rule files only."""

from hearthpay.taxes.coverage import CoverageRow, coverage
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import rulebook_of, supported_years

HEAD = (
    "Made from the rule files by `hearthpay coverage --markdown`; do not edit. "
    "`hearthpay explain-line CODE` prints the figures behind a line.\n"
)


def coverage_page() -> str:
    """Return ``docs/reference/coverage.md``: every year, jurisdiction, tax, version, confidence and source."""
    years = [rulebook_of(year) for year in supported_years()]
    parts = [
        "# Coverage\n",
        HEAD,
    ]
    for rulebook in reversed(years):
        rows: dict[str, list[CoverageRow]] = {}
        for row in coverage(rulebook):
            rows.setdefault(row.jurisdiction, []).append(row)
        missing = [code for code in STATES if code not in rows]
        parts.append(f"## {rulebook.tax_year}\n")
        if not rulebook.is_final:
            parts.append(
                "Not all figures of this year are published. *Carried*: the law carries last year's figure on "
                "until it's changed. *Provisional*: the year's figure is awaited, and the one shown is used until it's "
                "out. *Unknown*: nothing can stand in for the figure. Payrolls with such a line are refused.\n"
            )
        if missing:
            parts.append(f"Not covered: {', '.join(missing)}.\n")
        parts.append("| | tax | from | to | confidence | source |\n|---|---|---|---|---|---|")
        for jurisdiction, listed in rows.items():
            parts += [_line(jurisdiction, row) for row in listed]
        parts.append("")
    return "\n".join(parts)


def _line(jurisdiction: str, row: CoverageRow) -> str:
    sources = "; ".join(
        f"[{_plain(source.title)}]({source.url}) {source.date}"
        if source.url
        else f"{_plain(source.title)} {source.date}"
        for source in row.sources
    )
    until = row.effective_to or ""
    tax = f"`{row.code}` {_plain(row.name)}"
    known = row.finality
    standing: str = row.confidence
    if known is not None:
        awaited = f" (awaited {known.awaited})" if known.awaited else ""
        basis = f": {_plain(known.basis)}" if known.basis else ""
        standing = f"*{known.status}*{awaited}{basis}"
    return f"| {jurisdiction} | {tax} | {row.effective_from} | {until} | {standing} | {sources} |"


def _plain(text: str) -> str:
    return text.replace("|", "/").replace("[", "(").replace("]", ")")
