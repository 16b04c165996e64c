"""The reasons for which banks return payments: how each is handled and explained to the household."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, cast

from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source

Handling = Literal["retry", "fail", "stop"]
"""What follows a return: the debit may be presented again, it failed, or the account must not be used until its owner
authorizes it again."""

_FILE: Final = Path(__file__).with_name("return_codes.toml")
_HANDLINGS: Final = ("retry", "fail", "stop")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What happened and what to do now, in words for the household."""

    happened: str
    action: str
    again: str | None = None
    """What to do while a debit is presented again; only if the code allows it."""


@dataclass(frozen=True, slots=True)
class ReturnReason:
    """One return reason code."""

    code: str
    title: str
    handling: Handling
    debit: Explanation
    credit: Explanation
    sources: tuple[Source, ...]

    def explain(self, *, debit: bool) -> Explanation:
        """Return the explanation for a debit of the household, or else for a payment to an employee."""
        return self.debit if debit else self.credit


@dataclass(frozen=True, slots=True)
class ReturnCodes:
    """The table of codes. A debit whose code says `retry` may be presented `attempts` more times, all within
    `within_days` days of its first settlement, as `RETRY` (Nacha Operating Rules, 2.12.4). `disputes` are the titles of
    the codes with which banks dispute a return among themselves: they decide nothing about a payment.
    """

    attempts: int
    within_days: int
    reasons: Mapping[str, ReturnReason]
    changes: Mapping[str, str]
    disputes: Mapping[str, str]
    other: ReturnReason

    def reason(self, code: str) -> ReturnReason:
        """Return the meaning of a code; an unlisted code is a failed entry, explained in general words."""
        known = self.reasons.get(code)
        if known is not None:
            return known
        other = self.other
        return ReturnReason(code, other.title, other.handling, other.debit, other.credit, ())


@cache
def return_codes() -> ReturnCodes:
    """Return the table, read once; raises RuleError if its file is invalid."""
    return read_return_codes(_FILE)


def read_return_codes(path: Path) -> ReturnCodes:
    """Read a table of codes strictly; raises RuleError naming the file and the key."""
    file = RuleTable.load(path)
    again = file.table("again")
    attempts, within_days = again.integer("attempts"), again.integer("within_days")
    again.sources()
    again.close()
    other = _reason("", file.table("other"), None)
    codes = file.table("codes")
    reasons = {code: _reason(code, codes.table(code), other) for code in codes}
    listed = file.table("changes")
    listed.sources()
    changes = {code: listed.text(code) for code in listed if code != "source"}
    disputed = file.table("disputes")
    disputed.sources()
    disputes = {code: disputed.text(code) for code in disputed if code != "source"}
    file.close()
    return ReturnCodes(attempts, within_days, reasons, changes, disputes, other)


def _reason(code: str, table: RuleTable, other: ReturnReason | None) -> ReturnReason:
    reason = ReturnReason(
        code=code,
        title=table.text("title"),
        handling=cast("Handling", table.choice("handling", _HANDLINGS)),
        debit=_explanation(table, "debit", other.debit if other else None),
        credit=_explanation(table, "credit", other.credit if other else None),
        sources=table.sources() if other else (),
    )
    table.close()
    return reason


def _explanation(table: RuleTable, key: str, other: Explanation | None) -> Explanation:
    if other is not None and not table.has(key):
        return other
    words = table.table(key)
    again = words.text("again") if words.has("again") else None
    explanation = Explanation(words.text("happened"), words.text("action"), again)
    words.close()
    return explanation
