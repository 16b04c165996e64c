"""Loads the law of a year from ``rules/``, checks and freezes it, and selects what is in force on a date."""

import datetime
import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hearthpay.taxes.agencies import FEDERAL
from hearthpay.taxes.agencies import FILE as AGENCIES
from hearthpay.taxes.contribution import Contribution, read_contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.federal import FederalIncomeTax, read_federal_income_tax
from hearthpay.taxes.finality import Finality, read_finality
from hearthpay.taxes.jurisdictions import STATES, state_suggestion
from hearthpay.taxes.local import LocalTaxes, read_local_taxes
from hearthpay.taxes.projection import Projection, project, project_local
from hearthpay.taxes.rule_file import RuleTable, read_toml, read_with_shared
from hearthpay.taxes.state import StateRules, read_state
from hearthpay.taxes.thresholds import canonical_thresholds

RULES = Path(__file__).parent / "rules"


class Rulebook:
    """The rules of one tax year; states are read when first requested.

    A year that isn't fully published has the published figures; the rest are the year before's, with what they are
    based on.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        path = folder / "us.toml"
        content = read_toml(path)
        # Read before another year's file is merged in: the date is this edition's only. The day on which this
        # edition was released.
        self.released = RuleTable.of(path.name, content).date("released")
        kept: frozenset[str] = frozenset()
        base_year = content.pop("projected_from", None)
        self._base = folder.parent / str(base_year) if base_year is not None else None
        #: Whether all figures are in the year's own files.
        self.is_final = self._base is None
        if self._base is not None:
            content, kept = project(content, read_toml(self._base / "us.toml"), int(content["tax_year"]))
        content.pop("released")
        # Substitutes for unpublished figures are older by design.
        self._year = int(folder.name) if self._base is None else None
        table = RuleTable.of(path.name, content, self._year)
        self.tax_year = table.integer("tax_year")
        if self.tax_year != int(folder.name):
            raise table.error("tax_year", f"must be {folder.name}, as the folder is named")
        #: The edition's name, such as ``2027.1``.
        self.edition = table.text("edition")
        periods = table.table("pay_periods")
        self.pay_periods: Mapping[str, int] = {name: periods.integer(name) for name in periods}
        for name, count in self.pay_periods.items():
            if count < 1:
                raise periods.error(name, "must be at least 1")
        self.income_tax: FederalIncomeTax = read_federal_income_tax(
            table.table("income_tax"), self.pay_periods
        )
        self.contributions: tuple[Contribution, ...] = tuple(
            read_contribution(entry, FEDERAL, self.pay_periods) for entry in table.tables("contribution")
        )
        tax = self.income_tax
        codes = {tax.code, tax.supplemental_code, *(line.code for line in self.contributions)}
        #: What the federal lines with unpublished figures are based on, by code.
        self.finality: Mapping[str, Finality] = read_finality(table, FEDERAL, codes, kept)
        table.close()
        self._states: dict[str, StateRules] = {}

    @property
    def version(self) -> str:
        """The edition's name and its fingerprint, such as ``2026.1-3f9a2c41d07b``."""
        return f"{self.edition}-{self.fingerprint}"

    @functools.cached_property
    def fingerprint(self) -> str:
        """A digest of everything that determines the year's charges: its rule files and its household thresholds."""
        digest = hashlib.sha256()
        for folder in self._folders():
            for path in sorted(folder.rglob("*.toml")):
                digest.update(str(path.relative_to(folder.parent)).encode())
                digest.update(path.read_bytes())
        digest.update(AGENCIES.read_bytes())
        digest.update(canonical_thresholds(self.tax_year))
        return digest.hexdigest()[:12]

    @functools.cached_property
    def supported_states(self) -> tuple[str, ...]:
        """The states that this year's rulebook covers, in alphabetical order."""
        files = [path for folder in self._folders() for path in (folder / "states").glob("*.toml")]
        return tuple(sorted({path.stem for path in files}))

    def _folders(self) -> tuple[Path, ...]:
        return (self._folder,) if self._base is None else (self._folder, self._base)

    def state(self, code: str, field: str = "work_state") -> StateRules:
        """Return the rules of a state; ``code`` in any case.

        Raises `TaxInputError`: ``validation_error`` for an unknown state, ``unsupported_jurisdiction`` for a state
        that this year's rulebook doesn't cover.
        """
        rules = self._states.get(code)
        if rules is not None:
            return rules
        upper = code.strip().upper()
        if upper not in STATES:
            raise TaxInputError(field, f"{code!r} is not a US state or DC{state_suggestion(code)}")
        if upper not in self._states:
            if upper not in self.supported_states:
                raise TaxInputError(
                    field,
                    f"{STATES[upper]} has no rules for {self.tax_year} yet; "
                    f"supported: {', '.join(self.supported_states)}",
                    "unsupported_jurisdiction",
                )
            self._states[upper] = self._read_state(upper)
        return self._states[upper]

    def _read_state(self, state: str) -> StateRules:
        content, kept = self._content(f"states/{state}.toml", project)
        local, kept_local = self._content(f"local/{state}.toml", project_local)
        return read_state(
            RuleTable.of(f"{state}.toml", content, self._year),
            federal=self.contributions,
            income_tax_codes=(self.income_tax.code, self.income_tax.supplemental_code),
            pay_periods=self.pay_periods,
            local_taxes=self._local_taxes(state, local, kept_local),
            kept=kept,
            federal_finality=self.finality,
        )

    def _content(self, name: str, lay_over: Callable[..., Projection]) -> Projection:
        """Return the content of a rule file of the year, applied over the year before's if it isn't final."""
        path = self._folder / name
        own = read_with_shared(path) if path.is_file() else {}
        if self._base is None:
            return Projection(own, frozenset())
        base = self._base / name
        return lay_over(own, read_with_shared(base) if base.is_file() else {}, self.tax_year)

    def _local_taxes(self, state: str, content: Mapping[str, Any], kept: frozenset[str]) -> LocalTaxes:
        if "state" not in content:
            return LocalTaxes(state)
        table = RuleTable.of(f"local/{state}.toml", content, self._year)
        return read_local_taxes(state, table, self.pay_periods, kept)


@functools.cache
def _load(year: int) -> Rulebook | None:
    folder = RULES / str(year)
    return Rulebook(folder) if (folder / "us.toml").is_file() else None


@functools.cache
def supported_years() -> tuple[int, ...]:
    """Return the tax years that have a rulebook, ascending."""
    return tuple(sorted(int(path.parent.name) for path in RULES.glob("[0-9]*/us.toml")))


def latest_day_with_rules(day: datetime.date) -> datetime.date:
    """Return the day; where it lies after the last year that has rules, the last day of that year."""
    return min(day, datetime.date(supported_years()[-1], 12, 31))


def rulebook_of(year: int) -> Rulebook:
    """Return the rulebook of a tax year; raises `TaxInputError` with code ``unsupported_tax_year``."""
    return rulebook_for(datetime.date(year, 1, 1), "tax_year")


def rulebook_for(pay_date: datetime.date, field: str = "pay_date") -> Rulebook:
    """Return the rulebook of the year in which wages are paid.

    Raises `TaxInputError` with code ``unsupported_tax_year`` for a year without rules: figures of another year are
    never used instead.
    """
    rulebook = _load(pay_date.year)
    if rulebook is None:
        years = ", ".join(str(year) for year in supported_years())
        raise TaxInputError(
            field, f"no tax rules for {pay_date.year}; supported: {years}", "unsupported_tax_year"
        )
    return rulebook
