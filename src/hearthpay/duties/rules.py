"""Reads the duties of each jurisdiction from ``rules/``, strictly: a mistake is a `RuleError` naming file and key."""

import datetime
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from hearthpay.duties.accounts import Account, read_account
from hearthpay.duties.household import FEDERAL
from hearthpay.duties.office_days import Offices
from hearthpay.duties.periods import (
    HALF_YEARS,
    MONTH_END,
    MONTHLY,
    MONTHS,
    QUARTERS,
    YEARS,
    AfterHire,
    AfterPayday,
    AfterPeriod,
    DayOfYear,
    Partition,
    Paydays,
)
from hearthpay.taxes.agencies import agencies, read_agency
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable, read_toml, with_places
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

FOLDER: Final = Path(__file__).with_name("rules")

Kind = Literal["return", "payment", "statement", "report", "election", "notice"]
KINDS: Final = ("return", "payment", "statement", "report", "election", "notice")
"""A ``return`` is filed and, if it has lines, paid; a ``payment`` is only paid; a ``statement`` goes to the employee;
a ``report`` informs an agency and pays nothing; an ``election`` is optional; a ``notice`` is given or kept."""

PAID: Final = frozenset({"return", "payment"})

WITHHOLDING: Final = "withholding"
EMPLOYEE: Final = "employee"
EXEMPTION: Final = "exemption"
LOCAL: Final = "local"
ANY_WITHHOLDING: Final = "any_withholding"
CONDITIONS: Final = ("fica", "futa", "sui", "sdi", WITHHOLDING, ANY_WITHHOLDING, EMPLOYEE, EXEMPTION, LOCAL)
"""When a duty applies: a threshold of the jurisdiction is crossed, its income tax is withheld (``any_withholding``:
of any jurisdiction), somebody works there (``employee``), claims to be exempt (``exemption``), or owes one of its
lines by the place chosen (``local``)."""

_PARTITIONS: Final = {"year": YEARS, "halfyear": HALF_YEARS, "quarter": QUARTERS, "month": MONTHLY}
_LONGEST_DELAY: Final = 366
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Moving:
    """How an agency moves a due date on which it is closed: to its next open day, or not at all."""

    moves: bool
    offices: Offices
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class PremiumPayee:
    """Who is paid a line's amount on a date that no law sets: an insurer bills its premium."""

    lines: tuple[str, ...]
    name: str
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class HouseholdDuty:
    """A duty as the law defines it, for every household that meets one of its conditions."""

    jurisdiction: str
    id: str
    kind: Kind
    what: str
    form: str | None
    agency: str
    link: str | None
    when: tuple[str, ...]
    partition: Partition | Paydays | None
    """None if it is due at a hire."""

    due: AfterPeriod | DayOfYear | AfterHire | AfterPayday
    moving: Moving
    account: str | None
    frequencies: tuple[str, ...]
    """The frequencies of filing under the account for which this duty exists."""

    months: tuple[int, ...]
    """It is due only at these months' ends (a quarter's return may pay its last month's tax); empty for any."""

    over: int | None
    """It is due only above this amount for a month, in cents."""

    less: tuple[str, ...]
    """Ids of the duties whose payments for the same months are subtracted from what it pays."""

    nil: bool
    """Whether it is due even for a period in which nothing was paid, as long as the account is open."""

    each_employee: bool
    lines: tuple[str, ...]
    """Codes of the paycheck lines that it settles; ``*`` stands for any text."""

    without_lines: tuple[str, ...]
    """Lines that must have no amount in the period."""

    exempt_relationships: frozenset[str]
    wages_at_most: int | None
    """Wages of the year, in cents, above which there is nothing to elect."""

    rehired_after: int | None
    """Days of absence after which a returning employee counts as newly hired; None for never."""

    effective_from: datetime.date | None
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Duties:
    """The duties of one jurisdiction."""

    jurisdiction: str
    accounts: tuple[Account, ...]
    duties: tuple[HouseholdDuty, ...]
    payees: tuple[PremiumPayee, ...] = ()
    prohibited: tuple[str, ...] = ()
    """Codes of lines that a household may not withhold; nothing is ever owed under them."""

    retired: tuple[str, ...] = ()
    """Ids of former duties that households may have marked as done."""

    def account(self, name: str) -> Account:
        """Return an account by its name; raises KeyError if there is none."""
        for account in self.accounts:
            if account.name == name:
                return account
        raise KeyError(name)

    def paid_lines(self, account_name: str) -> tuple[str, ...]:
        """Return the codes of the lines that are paid under an account."""
        own = (duty for duty in self.duties if duty.account == account_name and duty.kind in PAID)
        return tuple(sorted({line for duty in own for line in duty.lines}))

    def measured_lines(self, account: Account) -> tuple[str, ...]:
        """Return the codes of the lines that count toward an account's limits."""
        return account.measured_lines or self.paid_lines(account.name)

    def lines_by_payday(self) -> tuple[str, ...]:
        """Return the codes of the lines whose paydays matter: paid payday by payday, or measured across months."""
        lines = {line for duty in self.duties if isinstance(duty.partition, Paydays) for line in duty.lines}
        for account in self.accounts:
            if account.bands and account.measure not in ("month", "quarter_before"):
                lines.update(self.measured_lines(account))
        return tuple(sorted(lines))


@functools.cache
def duties_of(jurisdiction: str) -> Duties:
    """Return the duties of ``US`` or of a state.

    Raises KeyError for a jurisdiction that has none, `RuleError` for an invalid file.
    """
    if jurisdiction == FEDERAL:
        return read_duties(_load(FOLDER / "us.toml"), jurisdiction)
    if jurisdiction not in STATES:
        raise KeyError(jurisdiction)
    return read_duties(_load(FOLDER / "states" / f"{jurisdiction}.toml"), jurisdiction)


def _load(path: Path) -> RuleTable:
    return RuleTable.of(path.name, with_places(read_toml(path)))


def read_duties(table: RuleTable, jurisdiction: str) -> Duties:
    """Read a duties file; raises `RuleError`."""
    if table.text("state") != jurisdiction:
        raise table.error("state", f"must be {jurisdiction}")
    moving = _read_moving(table.table("moving"))
    accounts: list[Account] = []
    if "accounts" in table:
        listed = table.table("accounts")
        accounts.extend(read_account(name, listed.table(name)) for name in listed)
    duties = tuple(
        _read_duty(entry, jurisdiction, moving, {account.name: account for account in accounts})
        for entry in table.tables("duty")
    )
    payees = tuple(_read_payee(entry) for entry in table.tables("payee"))
    prohibited = table.texts("prohibited")
    retired = table.texts("retired_duties")
    table.close()
    ids = [duty.id for duty in duties]
    for duty in duties:
        for other in duty.less:
            if other not in ids or other == duty.id:
                raise table.error("duty", f"{duty.id}: {other!r} is not the id of another duty")
    for twice in ids:
        if ids.count(twice) > 1:
            raise table.error("duty", f"{twice!r} stands twice")
    return Duties(jurisdiction, tuple(accounts), duties, payees, prohibited, retired)


def _read_moving(table: RuleTable) -> Moving:
    moving = Moving(
        moves=table.choice("to", ("next", "stays")) == "next",
        offices=cast("Offices", table.choice("offices", ("federal", "dc"))),
        sources=table.sources(),
        confidence=table.confidence(),
    )
    table.close()
    return moving


def _read_payee(table: RuleTable) -> PremiumPayee:
    payee = PremiumPayee(
        lines=table.texts("lines"),
        name=table.text("name"),
        note=table.text("note", default=""),
        sources=table.sources(),
        confidence=table.confidence(),
    )
    table.close()
    if not payee.lines:
        raise table.error("lines", "Choose at least one.")
    return payee


def _read_duty(
    table: RuleTable, jurisdiction: str, moving: Moving, accounts: dict[str, Account]
) -> HouseholdDuty:
    kind = cast("Kind", table.choice("kind", KINDS))
    partition = _read_partition(table)
    account, frequencies = table.optional_text("account"), _read_frequencies(table)
    if (account is None) != (not frequencies):
        raise table.error("account", "needs a frequency, and a frequency an account")
    if account is not None and (
        account not in accounts or not set(frequencies) <= set(accounts[account].frequencies)
    ):
        raise table.error("frequency", f"{', '.join(frequencies)} is not of the account {account!r}")
    stays = table.flag("stays", default=False)
    duty = HouseholdDuty(
        jurisdiction=jurisdiction,
        id=table.text("id"),
        kind=kind,
        what=table.text("what"),
        form=table.optional_text("form"),
        agency=_read_office(table, jurisdiction),
        link=table.optional_text("link"),
        when=_read_conditions(table),
        partition=partition,
        due=_read_due(table.table("due"), partition),
        moving=Moving(False, moving.offices, moving.sources, moving.confidence) if stays else moving,
        account=account,
        frequencies=frequencies,
        months=_read_months(table),
        over=table.optional_cents("over"),
        less=table.texts("less"),
        nil=table.flag("nil", default=True),
        each_employee=table.flag("each_employee", default=partition is None),
        lines=table.texts("lines"),
        without_lines=table.texts("without_lines"),
        exempt_relationships=frozenset(table.texts("exempt_relationships")),
        wages_at_most=table.optional_cents("wages_at_most"),
        rehired_after=table.integer("rehired_after_days") if "rehired_after_days" in table else None,
        effective_from=table.optional_date("effective_from"),
        note=table.text("note", default=""),
        sources=table.sources(),
        confidence=table.confidence(),
    )
    table.close()
    if duty.link is not None and not duty.link.startswith("https://"):
        raise table.error("link", "must begin with https://")
    return duty


def _read_office(table: RuleTable, jurisdiction: str) -> str:
    """Return the recipient's name: an agency by its id, or by its name an office to which no tax is paid."""
    if "agency" not in table:
        return table.text("office")
    name = read_agency(table, jurisdiction)
    return (
        next(agency.full_name for agency in agencies().values() if agency.id == table.text("agency")) or name
    )


def _read_conditions(table: RuleTable) -> tuple[str, ...]:
    when = table.texts("when")
    if not when:
        raise table.error("when", "must name at least one condition")
    for condition in when:
        if condition not in CONDITIONS:
            raise table.error("when", f"{condition!r} is not one of {', '.join(CONDITIONS)}")
    return when


def _read_frequencies(table: RuleTable) -> tuple[str, ...]:
    """Return the one frequency of a duty, or its list of them."""
    if "frequencies" in table:
        return table.texts("frequencies")
    one = table.optional_text("frequency")
    return () if one is None else (one,)


def _read_partition(table: RuleTable) -> Partition | Paydays | None:
    period = table.choice("period", ("hire", "instalments", "payday", *_PARTITIONS))
    if period == "hire":
        return None
    if period == "payday":
        return _read_paydays(table)
    if period == "instalments":
        ends = []
        for instalment in table.tables("instalment"):
            ends.append(instalment.integer("ends_in_month"))
            instalment.close()
        if not ends or ends != sorted(set(ends)) or ends[-1] != MONTHS or ends[0] < 1:
            raise table.error("instalment", "must end in ascending months, the last in December")
        return Partition(tuple(ends), "I")
    return _PARTITIONS[period]


def _read_paydays(table: RuleTable) -> Paydays:
    ends = table.integers("ends") if "ends" in table else ()
    if ends and (list(ends) != sorted(set(ends)) or ends[0] < 1 or ends[-1] != MONTH_END):
        raise table.error("ends", "must ascend to 31")
    weekday = table.optional_text("week_ends_on")
    if weekday is not None and weekday not in _WEEKDAYS:
        raise table.error("week_ends_on", f"must be one of {', '.join(_WEEKDAYS)}")
    if ends and weekday is not None:
        raise table.error("week_ends_on", "does not go with ends")
    return Paydays(
        ends=ends,
        weekday=None if weekday is None else _WEEKDAYS.index(weekday),
        reached=table.optional_cents("reached"),
        reached_lines=table.texts("reached_lines"),
    )


def _read_months(table: RuleTable) -> tuple[int, ...]:
    months = table.integers("months") if "months" in table else ()
    if list(months) != sorted(set(months)) or not set(months) <= set(range(1, MONTHS + 1)):
        raise table.error("months", "must ascend from 1 to 12")
    return months


def _read_due(
    table: RuleTable, partition: Partition | Paydays | None
) -> AfterPeriod | DayOfYear | AfterHire | AfterPayday:
    due: AfterPeriod | DayOfYear | AfterHire | AfterPayday
    if isinstance(partition, Paydays):
        if "midweek" in table:
            due = AfterPayday(midweek=table.flag("midweek", default=False))
        elif "on_days" in table:
            days = table.integers("on_days")
            if len(days) != len(partition.ends) or not set(days) <= set(range(1, MONTH_END + 1)):
                raise table.error("on_days", "must name a day of the month for each of the ends")
            due = AfterPayday(on_days=tuple(zip(partition.ends, days, strict=True)))
        else:
            key = "office_days_after" if "office_days_after" in table else "days_after"
            due = AfterPayday(_whole(table, key, 0, _LONGEST_DELAY), key == "office_days_after")
    elif partition is None:
        key = "office_days_after" if "office_days_after" in table else "days_after"
        due = AfterHire(_whole(table, key, 0, _LONGEST_DELAY), key == "office_days_after")
    elif "months_after" in table:
        due = AfterPeriod(_whole(table, "months_after", 1, MONTHS), _whole(table, "day", 1, 31))
    else:
        years = _whole(table, "years_after", -1, 2)
        due = DayOfYear(years, _whole(table, "month", 1, MONTHS), _whole(table, "day", 1, 31))
    table.close()
    return due


def _whole(table: RuleTable, key: str, least: int, most: int) -> int:
    value = table.integer(key)
    if not least <= value <= most:
        raise table.error(key, f"must lie between {least} and {most}")
    return value
