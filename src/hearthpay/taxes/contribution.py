"""Taxes that are a flat rate of wages up to a base: Social Security, FUTA, unemployment, disability, leave."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from hearthpay.taxes.agencies import read_agency
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.money import HALF_RATE, RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence, Payer

CATEGORIES = (
    "federal_income_tax",
    "state_income_tax",
    "social_security",
    "medicare",
    "futa",
    "state_unemployment",
    "other",
)
"""The total of the wire contract to which a line belongs."""

RELATIONSHIPS = (
    "none",
    "spouse",
    "parent",
    "parent_caring_for_grandchild",
    "child_under_18",
    "child_18_to_20",
    "child_under_21",
    "student_under_18",
)
"""Family ties that the law treats separately. ``parent_caring_for_grandchild`` is the parent who, under Publication
926, is still subject to Social Security and Medicare."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """One flat-rate tax in force for a range of pay dates, compiled to cents and billionths."""

    code: str
    name: str
    payer: Payer
    agency: str
    category: str
    liability: str
    """The liability that makes it due: ``fica``, ``futa``, ``sui``, another threshold, or ``always``."""

    rate: int
    wage_base: int | None
    """The most wages of the year that are taxed; None without a cap."""

    wage_floor: int
    """Wages of the year that are exempt before the tax begins (Additional Medicare Tax)."""

    ytd_code: str
    """The line whose year-to-date wages measure the base and floor."""

    follows: str | None
    """The federal line whose wages this one taxes too, as far as they were paid for work in its state."""

    period_maximum: Mapping[str, int] | None
    """The most per pay period, by pay frequency; None without such a cap."""

    exempt_relationships: frozenset[str]
    assigned_rate: bool
    """True if the household's own assigned rate replaces ``rate``."""

    waivable: bool
    """True if a household may have the line left out (coverage not required or waived)."""

    always_shown: bool
    """False for a line that appears only when something is due."""

    effective_from: datetime.date
    effective_to: datetime.date | None
    sources: tuple[Source, ...]
    confidence: Confidence
    note: str
    heading: Heading = field(init=False, repr=False, compare=False)
    is_capped: bool = field(init=False, repr=False, compare=False)
    """Whether the tax depends on the wages of the year: a base that ends it, or a floor that begins it.

    One that `follows` another has no separate limit.
    """

    is_measured: bool = field(init=False, repr=False, compare=False)
    """Whether it depends on what was paid earlier in the year: it is capped, or follows a line that is."""

    is_employees_fica: bool = field(init=False, repr=False, compare=False)
    """Whether it is the employee's share of Social Security or Medicare."""

    is_noted: bool = field(init=False, repr=False, compare=False)
    """Whether a paycheck notes more about it than its line: the employee's FICA, or figures of low confidence."""

    def __post_init__(self) -> None:
        """Compute once what every paycheck needs."""
        own_limit = self.wage_base is not None or self.wage_floor > 0
        heading = Heading(self.code, self.name, self.payer, self.agency, self.category)
        fica = self.payer == "employee" and self.category in ("social_security", "medicare")
        object.__setattr__(self, "heading", heading)
        object.__setattr__(self, "is_capped", own_limit and self.follows is None)
        object.__setattr__(self, "is_measured", own_limit or self.follows is not None)
        object.__setattr__(self, "is_employees_fica", fica)
        object.__setattr__(self, "is_noted", fica or self.confidence == "low")

    def tax(self, taxable: int, rate: int) -> int:
        """Return the tax on ``taxable`` cents: the product rounded to the nearest cent, per payment of wages."""
        return (taxable * rate + HALF_RATE) // RATE_SCALE

    def due(self, subject: int) -> int:
        """Return the part of a year's ``subject`` cents that is taxed: up to the base, or above the floor."""
        if self.wage_floor:
            return subject - self.wage_floor if subject > self.wage_floor else 0
        base = self.wage_base
        return subject if base is None or subject <= base else base


def read_contribution(table: RuleTable, state: str, pay_periods: Mapping[str, int]) -> Contribution:
    """Compile one ``[[contribution]]`` of the rule file of ``state``, which is ``US`` for the federal file.

    Raises `RuleError` naming what is wrong.
    """
    code = table.text("code")
    relationships = table.texts("exempt_relationships")
    ties = RELATIONSHIPS[1:]  # What is due for no relative isn't due at all.
    for relationship in relationships:
        if relationship not in ties:
            raise table.error("exempt_relationships", f"{relationship!r} is not one of {', '.join(ties)}")
    weekly_maximum = table.optional_cents("weekly_maximum")
    period_maximum = None
    if weekly_maximum is not None:
        weeks = pay_periods["weekly"]
        period_maximum = {name: half_up(weekly_maximum * weeks, count) for name, count in pay_periods.items()}
    contribution = Contribution(
        code=code,
        name=table.text("name"),
        payer=cast("Payer", table.choice("payer", ("employee", "employer"))),
        agency=read_agency(table, state),
        category=table.choice("category", CATEGORIES),
        liability=table.text("liability"),
        rate=table.rate("rate"),
        wage_base=table.optional_cents("wage_base"),
        wage_floor=table.optional_cents("wage_floor") or 0,
        ytd_code=table.text("ytd_code", default=code),
        follows=table.text("follows", default="") or None,
        period_maximum=period_maximum,
        exempt_relationships=frozenset(relationships),
        assigned_rate=table.flag("assigned_rate", default=False),
        waivable=table.flag("waivable", default=False),
        always_shown=table.flag("always_shown", default=True),
        effective_from=table.effective_from(),
        effective_to=table.optional_date("effective_to"),
        sources=table.sources(),
        confidence=table.confidence(),
        note=table.text("note", default=""),
    )
    table.close()
    if contribution.wage_base is not None and contribution.wage_floor:
        raise table.error("wage_floor", "a line has a base or a floor, not both")
    if contribution.follows is not None and (contribution.wage_base is None or not contribution.rate):
        raise table.error("follows", "a line that follows another has its base, and a rate")
    until = contribution.effective_to
    if until is not None and until < contribution.effective_from:
        raise table.error("effective_to", "must not be before effective_from")
    return contribution
