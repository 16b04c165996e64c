"""How each state's law withholds income tax from supplemental wages, such as a bonus: flat, or with regular wages."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, cast

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

SupplementalLaw = Literal["flat", "aggregate", "none"]
_METHODS: tuple[SupplementalLaw, ...] = ("flat", "aggregate", "none")

_FILE = Path(__file__).parent.joinpath("rules", "supplemental_wages.toml")


class SupplementalRule(NamedTuple):
    """A state's method, which is the same whether a bonus is paid alone, with regular wages or after them."""

    state: str
    method: SupplementalLaw
    """``none`` in a state that taxes no wages. The flat rate is that of the year's income tax."""

    needs_withholding: bool
    """Whether the flat rate is allowed only if the state's tax was withheld from regular wages this year or last."""

    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


def supplemental_rule(state: str) -> SupplementalRule:
    """Return a state's rule (upper case); raises KeyError for an unknown one."""
    return _load()[state]


def read_supplemental_rules(table: RuleTable) -> dict[str, SupplementalRule]:
    """Return the rule of each state; raises `RuleError` for a mistake or a missing state."""
    rules: dict[str, SupplementalRule] = {}
    for entry in table.tables("state"):
        rule = SupplementalRule(
            state=entry.choice("state", tuple(STATES)),
            method=cast("SupplementalLaw", entry.choice("method", _METHODS)),
            needs_withholding=entry.flag("needs_withholding", default=False),
            note=entry.text("note", default=""),
            sources=entry.sources(),
            confidence=entry.confidence(),
        )
        if rule.needs_withholding and rule.method != "flat":
            raise entry.error("needs_withholding", "is about the flat rate")
        if rule.state in rules:
            raise entry.error("state", f"{rule.state} stands here twice")
        entry.close()
        rules[rule.state] = rule
    table.close()
    if missing := STATES.keys() - rules.keys():
        raise table.error("state", f"{min(missing)} is missing")
    return rules


@functools.cache
def _load() -> Mapping[str, SupplementalRule]:
    return read_supplemental_rules(RuleTable.load(_FILE))
