"""Loads the law of a year from ``rules/``, checks and freezes it, and picks what is in force on a date."""

import datetime
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path

from hearthpay.taxes.contribution import Contribution, read_contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.federal import FederalIncomeTax, read_federal_income_tax
from hearthpay.taxes.local import LocalTax, read_local_tax
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.state import StateRules, read_state

RULES = Path(__file__).parent / "rules"

#: Postal codes of the 50 states and the District of Columbia, with their names.
STATES: Mapping[str, str] = {
    "AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California",
    "CO": "Colorado", "CT": "Connecticut", "DE": "Delaware", "DC": "District of Columbia", "FL": "Florida",
    "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "IA": "Iowa",
    "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
    "MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi", "MO": "Missouri",
    "MT": "Montana", "NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire", "NJ": "New Jersey",
    "NM": "New Mexico", "NY": "New York", "NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio",
    "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "RI": "Rhode Island", "SC": "South Carolina",
    "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VT": "Vermont", "VA": "Virginia",
    "WA": "Washington", "WV": "West Virginia", "WI": "Wisconsin", "WY": "Wyoming",
}  # fmt: skip


class Rulebook:
    """The rules of one tax year; states are read when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        table = RuleTable.load(folder / "us.toml")
        self.tax_year = table.integer("tax_year")
        self._edition = table.text("edition")
        periods = table.table("pay_periods")
        self.pay_periods: Mapping[str, int] = {name: periods.integer(name) for name in periods}
        self.income_tax: FederalIncomeTax = read_federal_income_tax(
            table.table("income_tax"), self.pay_periods
        )
        self.contributions: tuple[Contribution, ...] = tuple(
            read_contribution(entry, self.pay_periods) for entry in table.tables("contribution")
        )
        table.close()
        self._states: dict[str, StateRules] = {}

    @functools.cached_property
    def version(self) -> str:
        """The rulebook's name and the fingerprint of every rule file in it, such as ``2026.1-3f9a2c41d07b``."""
        digest = hashlib.sha256()
        for path in sorted(self._folder.rglob("*.toml")):
            digest.update(str(path.relative_to(self._folder)).encode())
            digest.update(path.read_bytes())
        return f"{self._edition}-{digest.hexdigest()[:12]}"

    @functools.cached_property
    def supported_states(self) -> tuple[str, ...]:
        """The states that this year's rulebook has a file for, in alphabetical order."""
        return tuple(sorted(path.stem for path in (self._folder / "states").glob("*.toml")))

    def state(self, code: str, field: str = "work_state") -> StateRules:
        """Return the rules of a state; ``code`` in any case.

        Raises `TaxInputError`: ``validation_error`` for what is no state, ``unsupported_jurisdiction`` for a
        state that this year's rulebook does not hold.
        """
        rules = self._states.get(code)
        if rules is not None:
            return rules
        upper = code.strip().upper()
        if upper not in STATES:
            raise TaxInputError(field, f"{code!r} is not a US state or DC")
        if upper not in self._states:
            path = self._folder / "states" / f"{upper}.toml"
            if not path.is_file():
                raise TaxInputError(
                    field,
                    f"{STATES[upper]} has no rules for {self.tax_year} yet; "
                    f"supported: {', '.join(self.supported_states)}",
                    "unsupported_jurisdiction",
                )
            self._states[upper] = read_state(
                RuleTable.load(path),
                federal=self.contributions,
                pay_periods=self.pay_periods,
                local_taxes=self._local_taxes(upper),
            )
        return self._states[upper]

    def _local_taxes(self, state: str) -> tuple[LocalTax, ...]:
        path = self._folder / "local" / f"{state}.toml"
        if not path.is_file():
            return ()
        table = RuleTable.load(path)
        if table.text("state") != state:
            raise table.error("state", f"must be {state}, as the file is named")
        taxes = tuple(read_local_tax(state, entry, self.pay_periods) for entry in table.tables("local"))
        table.close()
        return taxes


@functools.cache
def _load(year: int) -> Rulebook | None:
    folder = RULES / str(year)
    return Rulebook(folder) if (folder / "us.toml").is_file() else None


@functools.cache
def supported_years() -> tuple[int, ...]:
    """Return the tax years that have a rulebook, ascending."""
    return tuple(sorted(int(path.parent.name) for path in RULES.glob("[0-9]*/us.toml")))


def rulebook_for(pay_date: datetime.date, field: str = "pay_date") -> Rulebook:
    """Return the rulebook of the year in which wages are paid.

    Raises `TaxInputError` with code ``unsupported_tax_year`` for a year without rules: figures of another year
    are never used in their place.
    """
    rulebook = _load(pay_date.year)
    if rulebook is None:
        years = ", ".join(str(year) for year in supported_years())
        raise TaxInputError(
            field, f"no tax rules for {pay_date.year}; supported: {years}", "unsupported_tax_year"
        )
    return rulebook
