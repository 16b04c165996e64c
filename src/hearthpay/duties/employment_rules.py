"""Reads what a household does at a hire and at the end of an employment, besides the duties in its state's file."""

import datetime
import functools
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from hearthpay.duties.rules import FOLDER
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.place_names import plain_name
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

Whichever = Literal["first", "last"]
_WHICHEVER: Final[tuple[Whichever, ...]] = get_args(Whichever)

LAST_WAGES: Final = "last-wages"
"""The id of the duty to pay what is owed at the end of an employment."""


@dataclass(frozen=True, slots=True)
class HireDuty:
    """A contract or notice that is due on the first day of work in a state, or only in certain places."""

    id: str
    state: str
    places: frozenset[str]
    """As `plain_name` spells them; empty for the whole state."""

    what: str
    contract: bool
    weekly_hours: int | None
    effective_from: datetime.date | None
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class LastWages:
    """When the last wages are due if the household ends the employment: within some days, by the next payday, or by
    one of both.
    """

    state: str
    days: int | None
    office_days: int | None
    payday: bool
    whichever: Whichever | None
    """Which of the two days it is; None if there is only one."""

    quit: str
    """When they are due if the employee quits, in words."""

    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class CertificateDuty:
    """The duty that the employee completes Form W-4 by the first day of work, if federal income tax is withheld."""

    what: str
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class EmploymentRules:
    """All rules, by state."""

    w4: CertificateDuty

    at_hire: tuple[HireDuty, ...]
    last_wages: dict[str, LastWages]


@functools.cache
def employment_rules() -> EmploymentRules:
    """Return the rules; raises `RuleError` for an invalid file."""
    return read_employment_rules(RuleTable.load(FOLDER / "employment.toml"))


def read_employment_rules(table: RuleTable) -> EmploymentRules:
    """Read the file; raises `RuleError` naming what is wrong."""
    entry = table.table("w4")
    w4 = CertificateDuty(entry.text("what"), entry.text("note"), entry.sources(), entry.confidence())
    entry.close()
    at_hire = tuple(_read_hire_duty(entry) for entry in table.tables("at_hire"))
    last_wages: dict[str, LastWages] = {}
    for entry in table.tables("last_wages"):
        rule = _read_last_wages(entry)
        if rule.state in last_wages:
            raise table.error("last_wages", f"{rule.state} stands twice")
        last_wages[rule.state] = rule
    table.close()
    names = [(duty.state, duty.id) for duty in at_hire]
    if len(set(names)) != len(names):
        raise table.error("at_hire", "an id stands twice in a state")
    return EmploymentRules(w4, at_hire, last_wages)


def _read_hire_duty(entry: RuleTable) -> HireDuty:
    duty = HireDuty(
        id=entry.text("id"),
        state=entry.choice("state", tuple(STATES)),
        places=frozenset(plain_name(place) for place in entry.texts("places")),
        what=entry.text("what"),
        contract=entry.flag("contract", default=False),
        weekly_hours=entry.integer("weekly_hours") if entry.has("weekly_hours") else None,
        effective_from=entry.optional_date("effective_from"),
        note=entry.text("note", default=""),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    return duty


def _read_last_wages(entry: RuleTable) -> LastWages:
    rule = LastWages(
        state=entry.choice("state", tuple(STATES)),
        days=entry.integer("days") if entry.has("days") else None,
        office_days=entry.integer("office_days") if entry.has("office_days") else None,
        payday=entry.flag("payday", default=False),
        whichever=cast("Whichever", entry.choice("whichever", _WHICHEVER))
        if entry.has("whichever")
        else None,
        quit=entry.text("quit"),
        sources=entry.sources(),
        confidence=entry.confidence(),
    )
    entry.close()
    named = [rule.days is not None, rule.office_days is not None, rule.payday].count(True)
    if named != (1 if rule.whichever is None else 2) or (rule.whichever is not None and not rule.payday):
        raise entry.error(
            "days", "needs one of days, office_days and payday, or one and payday with whichever"
        )
    return rule
