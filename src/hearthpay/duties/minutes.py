"""About how long a duty takes, from ``minutes.toml``: a guess, which pages say."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from hearthpay.duties.rules import KINDS, Kind
from hearthpay.taxes.rule_file import RuleTable

FILE: Final = Path(__file__).with_name("minutes.toml")


class Minutes(NamedTuple):
    """Minutes of a duty; ``guess``: nobody has measured them."""

    minutes: int
    guess: bool


class _Known(NamedTuple):
    kinds: Mapping[str, int]
    duties: Mapping[str, int]
    guess: bool


def minutes_of(key: str, kind: Kind) -> Minutes:
    """Return about how long the duty takes that a calendar item's ``key`` begins with (``US/schedule-h/2026``)."""
    known = _read()
    duty = "/".join(key.split("/")[:2])
    return Minutes(known.duties.get(duty, known.kinds[kind]), known.guess)


@functools.cache
def _read() -> _Known:
    """Return the file's figures. Raises `RuleError` for a kind without minutes, or minutes that aren't a number."""
    table = RuleTable.load(FILE)
    kinds, duties = table.table("kinds"), table.table("duties")
    known = _Known(
        {kind: kinds.integer(kind) for kind in KINDS},
        {duty: duties.integer(duty) for duty in duties},
        table.flag("guess", default=True),
    )
    kinds.close()
    duties.close()
    table.close()
    return known
