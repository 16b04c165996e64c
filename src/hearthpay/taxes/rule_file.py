"""Reads a TOML rule file strictly: every mistake is reported with the file and the key."""

import datetime
import itertools
import tomllib
from collections.abc import Container, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from hearthpay.taxes.brackets import BracketTable
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.money import RATE_SCALE, scaled_rate
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence


def read_toml(path: Path) -> dict[str, Any]:
    """Return a rule file's content with exact decimals; raises `RuleError` if it isn't TOML."""
    return parse_toml(path.name, path.read_text("utf-8"))


def parse_toml(file: str, text: str) -> dict[str, Any]:
    """Return the content of ``text``, taken from a rule file, in the same way."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(file, "(whole file)", str(error)) from error


def read_with_shared(path: Path) -> dict[str, Any]:
    """Return a rule file's content with shared keys filled in.

    A rule with ``like = "x"`` gets the keys of ``[shared.x]`` that it doesn't state itself; so does a table in it,
    such as its figures. Raises `RuleError` for a name that isn't shared, and for a shared one that no rule uses.
    """
    content = read_toml(path)
    shared = content.pop("shared", {})
    unused = set(shared)
    for key, rules in content.items():
        if isinstance(rules, list):
            content[key] = [_filled_in(rule, shared, unused, path.name, key) for rule in rules]
    if unused:
        raise RuleError(path.name, f"shared.{min(unused)}", "no rule is like it")
    return content


def _filled_in(rule: Any, shared: Mapping[str, Any], unused: set[str], file: str, key: str) -> Any:
    if not isinstance(rule, dict) or "like" not in rule:
        return rule
    own = {name: value for name, value in rule.items() if name != "like"}
    common = shared.get(rule["like"])
    if not isinstance(common, dict):
        raise RuleError(file, f"{key}.like", f"{rule['like']!r} is not a table under [shared]")
    unused.discard(rule["like"])
    for name, value in common.items():
        if isinstance(value, dict) and isinstance(own.get(name), dict):
            own[name] = value | own[name]
        else:
            own.setdefault(name, value)
    return own


def with_places(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a rule file's content with each table that names ``places`` copied once for each of them.

    In the copies, ``{PLACE}`` stands for the place as the file writes it (``BATTLE-CREEK``), ``{place}`` for the same
    in lower case, ``{Place}`` for its name (``Battle Creek``); in the names of tables too.
    """
    expanded: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
            expanded[key] = [copy for entry in value for copy, _ in _at_places(entry)]
        elif isinstance(value, dict) and any(
            isinstance(entry, dict) and "places" in entry for entry in value.values()
        ):
            expanded[key] = {
                _with_place(name, place): copy
                for name, entry in value.items()
                for copy, place in _at_places(entry)
            }
        else:
            expanded[key] = value
    return expanded


def _at_places(entry: Mapping[str, Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield a table, or its copies with each place filled in."""
    places = entry.get("places")
    if places is None:
        yield entry, None
        return
    own = {name: value for name, value in entry.items() if name != "places"}
    for place in places:
        yield _with_place(own, place), place


def _with_place(value: Any, place: str | None) -> Any:
    if place is None:
        return value
    if isinstance(value, str):
        name = place.replace("-", " ").title()
        return value.replace("{PLACE}", place).replace("{place}", place.lower()).replace("{Place}", name)
    if isinstance(value, list):
        return [_with_place(entry, place) for entry in value]
    if isinstance(value, dict):
        return {name: _with_place(entry, place) for name, entry in value.items()}
    return value


_JOINT_CENTS = 300
"""How far a printed base may be from the tax at the end of the row before: three dollars, on a year's table."""


class RuleTable:
    """A table of a rule file, read key by key; `close` refuses keys that were never read."""

    def __init__(
        self,
        file: str,
        path: str,
        data: Mapping[str, object],
        sources: Mapping[str, Source],
        year: int | None = None,
    ) -> None:
        self.file = file
        self.year = year
        self.path = path
        self._data = data
        self._unread = set(data)
        self._sources = sources

    @classmethod
    def load(cls, path: Path) -> "RuleTable":
        """Read the file and its ``[sources]``; raises `RuleError` on invalid TOML or an incomplete source."""
        return cls.of(path.name, read_toml(path))

    @classmethod
    def of(cls, file: str, data: Mapping[str, object], year: int | None = None) -> "RuleTable":
        """Return the table for the content of a rule file; raises `RuleError` for an invalid source.

        With ``year``, the file belongs to that tax year and `effective_from` refuses dates of another year.
        """
        sources: dict[str, Source] = {}
        table = cls(file, "", data, sources, year)
        if table.has("sources"):
            listed = table.table("sources")
            for name in listed:
                entry = listed.table(name)
                sources[name] = Source(entry.text("title"), entry.text("url", default=""), entry.text("date"))
                entry.close()
        return table

    @property
    def raw(self) -> Mapping[str, object]:
        """The table as the file states it."""
        return self._data

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def has(self, key: str) -> bool:
        """Return whether the table has ``key``."""
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        """Iterate over the table's keys, all of which count as read."""
        self._unread.clear()
        return iter(self._data)

    def error(self, key: str, message: str) -> RuleError:
        """Return the error to raise about ``key`` of this table."""
        return RuleError(self.file, f"{self.path}.{key}" if self.path else key, message)

    def _take(self, key: str) -> object:
        if key not in self._data:
            raise self.error(key, "is missing")
        self._unread.discard(key)
        return self._data[key]

    def close(self) -> None:
        """Raise `RuleError` for the first key that was never read: a typo would change the law."""
        if self._unread:
            raise self.error(min(self._unread), "is not a key of this table")

    def text(self, key: str, *, default: str | None = None) -> str:
        """Return a text."""
        if default is not None and key not in self._data:
            return default
        value = self._take(key)
        if not isinstance(value, str):
            raise self.error(key, "must be a text")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or None if the key is absent."""
        return self.text(key) if key in self._data else None

    def choice(self, key: str, allowed: tuple[str, ...], *, default: str | None = None) -> str:
        """Return a text that must be one of ``allowed``."""
        value = self.text(key, default=default)
        if value not in allowed:
            raise self.error(key, f"must be one of {', '.join(allowed)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty if the key is absent."""
        if key not in self._data:
            return ()
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, "must be a list of texts")
        return tuple(cast("list[str]", value))

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        if key not in self._data:
            return default
        value = self._take(key)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false")
        return value

    def integer(self, key: str) -> int:
        """Return a whole number."""
        value = self._take(key)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(key, "must be a whole number")
        return value

    def integers(self, key: str) -> tuple[int, ...]:
        """Return the whole numbers of a list."""
        value = self._take(key)
        if not isinstance(value, list) or not all(type(entry) is int for entry in value):
            raise self.error(key, "must be a list of whole numbers")
        return tuple(value)

    def date(self, key: str) -> datetime.date:
        """Return a date."""
        value = self._take(key)
        if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
            raise self.error(key, "must be a date like 2026-01-01")
        return value

    def optional_date(self, key: str) -> datetime.date | None:
        """Return a date, or None if the key is absent."""
        return self.date(key) if key in self._data else None

    def effective_from(self) -> datetime.date:
        """Return the day from which the table is in force.

        In the file of a tax year it must be in that year: figures that have applied since earlier say so with
        ``carried_over = true``, so that no year is carried into the next unnoticed.
        """
        day = self.date("effective_from")
        carried_over = self.flag("carried_over", default=False)
        if self.year is not None and (day.year > self.year or (day.year < self.year and not carried_over)):
            raise self.error(
                "effective_from",
                f"must lie in {self.year}; what stands since earlier needs carried_over = true",
            )
        return day

    def cents(self, key: str) -> int:
        """Return an amount of dollars as whole cents."""
        return self._cents(self._take(key), key)

    def optional_cents(self, key: str) -> int | None:
        """Return an amount as cents, or None if the key is absent."""
        return self.cents(key) if key in self._data else None

    def cents_by_key(self, key: str, known: Container[str] | None = None) -> dict[str, int]:
        """Return a table of amounts as cents by name; with ``known``, any other name is an error."""
        table = self.table(key)
        for name in table:
            if known is not None and name not in known:
                raise table.error(name, "is not known here")
        return {name: table.cents(name) for name in table}

    def cents_list(self, key: str) -> tuple[int, ...]:
        """Return a list of amounts as cents."""
        value = self._take(key)
        if not isinstance(value, list):
            raise self.error(key, "must be a list of amounts")
        return tuple(self._cents(item, key) for item in value)

    def rate(self, key: str) -> int:
        """Return a rate (0.062) in billionths."""
        return self._rate(self._take(key), key)

    def optional_rate(self, key: str) -> int | None:
        """Return a rate in billionths, or None if the key is absent."""
        return self.rate(key) if key in self._data else None

    def table(self, key: str) -> "RuleTable":
        """Return the sub-table ``key``."""
        value = self._take(key)
        if not isinstance(value, dict):
            raise self.error(key, "must be a table")
        path = f"{self.path}.{key}" if self.path else key
        return RuleTable(self.file, path, value, self._sources, self.year)

    def tables(self, key: str) -> list["RuleTable"]:
        """Return the array of tables ``key``; empty if it is absent."""
        if key not in self._data:
            return []
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, "must be an array of tables")
        path = f"{self.path}.{key}" if self.path else key
        return [
            RuleTable(self.file, f"{path}[{position}]", item, self._sources, self.year)
            for position, item in enumerate(value)
        ]

    def brackets(self, key: str, *, over: bool = False, joined: bool = True) -> BracketTable:
        """Return rows ``[lower, rate, base]`` (dollars) as a compiled table, lower bounds ascending from 0.

        In a tax table the rows connect: each base is the tax at the end of the row before, apart from rounding to
        printed whole dollars. ``joined`` is False for a list of steps.
        """
        value = self._take(key)
        if not isinstance(value, list) or not value:
            raise self.error(key, "must be a list of rows [lower, rate, base]")
        lowers, rates, bases = [], [], []
        for row in value:
            if not isinstance(row, list) or len(row) != 3:
                raise self.error(key, f"row {row!r} must be [lower, rate, base]")
            lowers.append(self._cents(row[0], key))
            rates.append(self._rate(row[1], key))
            bases.append(self._cents(row[2], key))
        if lowers[0] != 0:
            raise self.error(key, "the first row must begin at 0")
        for before, after in itertools.pairwise(lowers):
            if before >= after:
                raise self.error(key, f"lower bounds must ascend, {after / 100:.2f} does not")
        for row in range(1, len(lowers)) if joined else ():
            tax = bases[row - 1] + half_up(rates[row - 1] * (lowers[row] - lowers[row - 1]), RATE_SCALE)
            if abs(tax - bases[row]) > _JOINT_CENTS:
                raise self.error(
                    key,
                    f"base {bases[row] / 100:.2f} does not join the row before, which ends at {tax / 100:.2f}",
                )
        return BracketTable(tuple(lowers), tuple(rates), tuple(bases), over)

    def sources(self, key: str = "source") -> tuple[Source, ...]:
        """Return the sources that ``key`` names (one name or a list); each must be defined under ``[sources]``."""
        value = self._take(key)
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not names:
            raise self.error(key, "must name at least one source")
        for name in names:
            if name not in self._sources:
                raise self.error(key, f"{name!r} is not listed under [sources]")
        return tuple(self._sources[name] for name in names)

    def confidence(self) -> Confidence:
        """Return how certain the figures of this table are."""
        return cast("Confidence", self.choice("confidence", ("high", "medium", "low")))

    def _cents(self, value: object, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise self.error(key, "must be an amount of dollars")
        amount = Decimal(value)
        if not amount.is_finite() or amount < 0 or amount.adjusted() > 12:
            raise self.error(key, "must be a non-negative amount of dollars")
        scaled = amount.scaleb(2)
        if scaled != int(scaled):
            raise self.error(key, "must have at most two decimals")
        return int(scaled)

    def _rate(self, value: object, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise self.error(key, "must be a rate like 0.062")
        rate = Decimal(value)
        if not rate.is_finite() or not 0 <= rate < 1:
            raise self.error(key, f"rates are fractions from 0 to 1, {value} is not: 6.2 % is 0.062")
        try:
            return scaled_rate(rate)
        except ValueError as error:
            raise self.error(key, str(error)) from error
