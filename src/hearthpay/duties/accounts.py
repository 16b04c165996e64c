"""The accounts under which a household files, and how the law sets their frequency: by amounts withheld, or not."""

from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

LimitMeasure = Literal["assigned", "month", "quarter", "quarter_before", "year", "year_before", "july_june"]
"""What an account's limits are compared with: the tax of any month of the quarter, of the quarter, of the quarter
before, of the calendar year, of the calendar year before, or of the twelve months that end on June 30 before the
year. ``assigned``: the agency alone decides, and nothing is compared."""

MEASURES: Final[tuple[LimitMeasure, ...]] = get_args(LimitMeasure)

HouseholdSchedule = Literal["no", "always", "without_number"]
"""Whether the first frequency of an account is a rule for household employers, whatever they withhold, or only for
those without a number for the account."""

FREQUENCIES: Final = (
    "own_return",
    "annual",
    "semiannual",
    "quarterly",
    "monthly",
    "monthly_early",
    "semimonthly",
    "quarter_monthly",
    "eighth_monthly",
    "semiweekly",
    "weekly",
    "payday",
    "daily",
    "instalments",
    "own_withholding",
)
"""From rarest to most frequent; the last two are for estimated tax. ``own_return``: with the household's own income
tax return."""


@dataclass(frozen=True, slots=True)
class Band:
    """A frequency, and the amount (in cents) from which it no longer applies; None if there is no limit."""

    frequency: str
    below: int | None


@dataclass(frozen=True, slots=True)
class Account:
    """An account under which a household files."""

    name: str
    frequencies: tuple[str, ...]
    """All that the agency has; the first applies unless the ledger or the household determines another."""

    retired: tuple[str, ...] = ()
    """Frequencies once listed and chosen by households, but not offered by the agency; they don't count."""

    measure: LimitMeasure = "assigned"
    bands: tuple[Band, ...] = ()
    """From rarest to most frequent; empty if the ledger doesn't decide."""

    measured_lines: tuple[str, ...] = ()
    """Codes of the lines that count; empty if all lines of the account do."""

    new_account: str | None = None
    """The rarest frequency of an account that has no look-back yet; None if the first months alone decide."""

    household_rule: HouseholdSchedule = "no"
    label: str = ""
    """The name of a local tax; empty for the accounts that every state has."""

    note: str = ""
    sources: tuple[Source, ...] = ()
    confidence: Confidence | None = None


def read_account(name: str, table: RuleTable) -> Account:
    """Read an account from a duties file; raises `RuleError`."""
    frequencies = table.texts("frequencies")
    if not frequencies:
        raise table.error("frequencies", "Choose at least one.")
    for frequency in frequencies:
        if frequency not in FREQUENCIES:
            raise table.error("frequencies", f"{frequency!r} is not one of {', '.join(FREQUENCIES)}")
    measure = cast("LimitMeasure", table.choice("measure", MEASURES, default="assigned"))
    new_account = table.optional_text("new_account")
    if new_account is not None and new_account not in frequencies:
        raise table.error("new_account", "must be one of the frequencies")
    named = "source" in table
    account = Account(
        name=name,
        frequencies=frequencies,
        retired=table.texts("retired"),
        measure=measure,
        bands=_read_bands(table, measure, frequencies),
        measured_lines=table.texts("measured_lines"),
        new_account=new_account,
        household_rule=cast(
            "HouseholdSchedule", table.choice("household_rule", get_args(HouseholdSchedule), default="no")
        ),
        label=table.text("label", default=""),
        note=table.text("note", default=""),
        sources=table.sources() if named else (),
        confidence=table.confidence() if named else None,
    )
    if not named and (len(frequencies) > 1 and frequencies[0] not in ("instalments",)):
        raise table.error("source", "is missing: frequencies need one")
    table.close()
    return account


def _read_bands(table: RuleTable, measure: LimitMeasure, frequencies: tuple[str, ...]) -> tuple[Band, ...]:
    """Read ``bands`` and the ``limits`` between them, in dollars."""
    names = table.texts("bands")
    limits = table.cents_list("limits") if "limits" in table else ()
    if bool(names) == (measure == "assigned"):
        raise table.error("bands", "belong to a measure, and a measure to bands")
    if names and len(limits) != len(names) - 1:
        raise table.error("limits", "must have one fewer than the bands")
    if list(limits) != sorted(set(limits)):
        raise table.error("limits", "must ascend")
    for name in names:
        if name not in frequencies:
            raise table.error("bands", f"{name!r} is not one of the frequencies")
    if list(names) != sorted(names, key=FREQUENCIES.index):
        raise table.error("bands", "must go from the rarest to the most frequent")
    return (
        tuple(Band(name, below) for name, below in zip(names, (*limits, None), strict=True)) if names else ()
    )
