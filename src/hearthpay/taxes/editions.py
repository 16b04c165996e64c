"""The editions of each year's rules: when each was released, what it changed, and the digests of its files.

``rules/editions/<year>.toml`` lists them, newest first. `tools/release_rules.py` records the digests.
"""

import datetime
import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from hearthpay.taxes import rulebook
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.thresholds import canonical_thresholds

THRESHOLDS = "household_thresholds.toml"
"""The file of which an edition has only the entries of its year."""

_DIGITS = 12


class EditionChange(NamedTuple):
    """What an edition changed in the law of one jurisdiction."""

    jurisdiction: str
    codes: tuple[str, ...]
    """The lines affected; empty if all are."""

    what: str
    effective_from: datetime.date
    """The first pay date with the changed figures."""

    concerns: str
    """Whose paychecks it can change."""


class Edition(NamedTuple):
    """An edition of a year's rules."""

    name: str
    released: datetime.date
    digests: Mapping[str, str]
    """The digest of each rule file of the year as of this edition, by its path below ``rules/``."""

    changes: tuple[EditionChange, ...]


def editions_of(tax_year: int) -> tuple[Edition, ...]:
    """Return the editions of a year's rules, newest first; raises `RuleError` for an invalid file."""
    table = RuleTable.load(rulebook.RULES / "editions" / f"{tax_year}.toml")
    editions = tuple(_edition(entry) for entry in table.tables("edition"))
    table.close()
    if not editions:
        raise table.error("edition", "must list at least one edition")
    return editions


def file_digests(tax_year: int) -> dict[str, str]:
    """Return the current digests of a year's rule files, by path below ``rules/``, sorted."""
    digests = {
        path.relative_to(rulebook.RULES).as_posix(): _digest(path.read_bytes())
        for path in sorted((rulebook.RULES / str(tax_year)).rglob("*.toml"))
    }
    return digests | {THRESHOLDS: _digest(canonical_thresholds(tax_year))}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _edition(table: RuleTable) -> Edition:
    digests = table.table("digests")
    edition = Edition(
        name=table.text("name"),
        released=table.date("released"),
        digests={file: digests.text(file) for file in digests},
        changes=tuple(_change(entry) for entry in table.tables("change")),
    )
    table.close()
    return edition


def _change(table: RuleTable) -> EditionChange:
    change = EditionChange(
        jurisdiction=table.text("jurisdiction"),
        codes=table.texts("codes"),
        what=table.text("what"),
        effective_from=table.date("effective_from"),
        concerns=table.text("concerns"),
    )
    table.close()
    return change
