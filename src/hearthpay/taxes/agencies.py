"""The agencies to which taxes are paid, from ``rules/agencies.toml``: rule files name them by id."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hearthpay.taxes.rule_file import RuleTable, parse_toml
from hearthpay.taxes.trace import Source

FILE = Path(__file__).with_name("rules").joinpath("agencies.toml")

FEDERAL = "US"
"""The value in place of a state for a federal agency, which every state's rule file may name."""


class Agency(NamedTuple):
    """An agency, or another collector of a tax."""

    id: str
    state: str
    """The postal code of its state, or ``US``."""

    name: str
    """The name shown on a paycheck's lines."""

    full_name: str
    site: str | None
    source: Source | None
    """The source of the agency's site."""


@functools.cache
def agencies() -> Mapping[str, Agency]:
    """Return all agencies by id; raises `RuleError` for an invalid entry."""
    table = RuleTable.load(FILE)
    return {name: _read(name, table.table(name)) for name in table}


def _read(agency_id: str, table: RuleTable) -> Agency:
    name = table.text("name")
    source = None
    if "source" in table:
        printed = table.table("source")
        source = Source(printed.text("title"), printed.text("url"), printed.text("date"))
        printed.close()
    agency = Agency(
        id=agency_id,
        state=table.text("state"),
        name=name,
        full_name=table.text("full_name", default=name),
        site=table.optional_text("site"),
        source=source,
    )
    table.close()
    if (agency.site is None) != (agency.source is None):
        raise table.error("site", "needs a source, and a source a site")
    return agency


@functools.cache
def _text() -> str:
    return FILE.read_text("utf-8")


@functools.cache
def _agency(agency_id: str) -> Agency | None:
    """Read only one table of the file: one state needs a handful, and reading all would take ten times as long."""
    text = _text()
    start = text.find(f"\n[{agency_id}]\n")
    if start < 0:
        return None
    end = text.find("\n[", start + 1)
    content = parse_toml(FILE.name, text[start:] if end < 0 else text[start:end])
    return _read(agency_id, RuleTable.of(FILE.name, content).table(agency_id))


def read_agency(table: RuleTable, state: str) -> str:
    """Return the name of the agency whose id a rule of ``state`` gives as ``agency``.

    Raises `RuleError` for an id that isn't listed, or is an agency of another state.
    """
    agency_id = table.text("agency")
    agency = _agency(agency_id)
    if agency is None:
        raise table.error("agency", f"{agency_id!r} is not listed in {FILE.name}")
    if agency.state not in (state, FEDERAL):
        raise table.error("agency", f"{agency_id!r} is an agency of {agency.state}")
    return agency.name
