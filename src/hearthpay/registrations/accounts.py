"""The accounts a state keeps for household employers, and their numbers, read from ``states/<state>.toml``."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast, get_args

from hearthpay.taxes.agencies import Agency, agencies
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable, read_toml, with_places
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

RegistrationType = Literal["sui", "withholding", "sdi", "pfml", "other", "local"]
"""Unemployment insurance, income tax withholding, disability insurance, paid family and medical leave, others, and
taxes of a city, county or school district."""

REGISTRATION_TYPES: Final[tuple[RegistrationType, ...]] = get_args(RegistrationType)
"""The types in the order in which a state's accounts are listed."""

FOLDER: Final = Path(__file__).with_name("states")

_CODE: Final = re.compile(r"[A-Z]{2}-[A-Z-]+-(EE|ER)")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A number that an agency or insurer assigns, used for one or several accounts."""

    id: str
    """The number's name within the state."""

    shape: str | None
    """How it is printed, ``#`` for a digit and ``A`` for a letter; None if no format is known."""

    pattern: re.Pattern[str] | None
    """The expected pattern, separators optional. Agencies change their formats: a mismatch warns and never refuses."""

    note: str
    confidence: Confidence
    """How certain the format is."""


@dataclass(frozen=True, slots=True)
class StateAccount:
    """One account, or policy, that a household employer may need in a state."""

    state: str
    id: str
    """The account's name within the state: its type, or for a local tax the name of the agency that collects it."""

    type: RegistrationType
    agency: Agency
    label: str
    url: str
    """Where the household registers."""

    number: NumberFormat
    """The account's number; accounts that share one refer to the same number."""

    lines: tuple[str, ...]
    """The tax lines reported under it. A household whose employees are exempt from all of them needs no account;
    empty for withholding and unemployment insurance, which have rules of their own."""

    insurance: bool
    """Whether it is an insurance policy: needed as long as someone is employed, with nothing to report afterward."""

    voluntary: bool
    """Whether only households that agreed with an employee to withhold income tax there need it."""

    apply_with: str
    """The form or service with which the household registers; empty if unknown."""

    timing: str
    """How long the agency takes, and from when or by when to register, in words; empty if unknown."""

    note: str
    confidence: Confidence
    """How certain the agency, label and address are."""


@dataclass(frozen=True, slots=True)
class StateAccounts:
    """All accounts of one state."""

    state: str
    numbers: tuple[NumberFormat, ...]
    accounts: tuple[StateAccount, ...]
    """At most one of each type except ``local``, in the order of `REGISTRATION_TYPES`."""

    sources: tuple[Source, ...]

    def account(self, account_id: str) -> StateAccount | None:
        """Return the account with the given name, which is its type except for local taxes; None if the state has
        none.
        """
        return next((account for account in self.accounts if account.id == account_id), None)


@functools.cache
def accounts_of(state: str) -> StateAccounts:
    """Return the accounts of a state (two capital letters).

    Raises `ValueError` for an unknown state, `RuleError` for an invalid file.
    """
    if state not in STATES:
        raise ValueError(f"{state!r} is not a US state or DC")
    return read_accounts(state, _load(FOLDER / f"{state}.toml"))


def _load(path: Path) -> RuleTable:
    return RuleTable.of(path.name, with_places(read_toml(path)))


def lines_of_number(state: str, number_id: str, year: int) -> frozenset[str]:
    """Return the codes of the lines that are reported under the accounts with a number.

    Raises what `accounts_of` and `rulebook_of` raise.
    """
    own = (account for account in accounts_of(state).accounts if account.number.id == number_id)
    return frozenset[str]().union(*(lines_of_account(account, year) for account in own))


def lines_of_account(account: StateAccount, year: int) -> frozenset[str]:
    """Return the codes of the lines that are reported under one account.

    Raises what `accounts_of` and `rulebook_of` raise.
    """
    state = account.state
    rules = rulebook_of(min(max(year, supported_years()[0]), supported_years()[-1])).state(state)
    elsewhere = {line for each in accounts_of(state).accounts for line in each.lines}
    codes = set(account.lines)
    if account.type == "withholding" and rules.income_tax is not None:
        codes.add(rules.income_tax.code)
        codes |= {tax.code for tax in rules.local_taxes} - elsewhere
    if account.type == "sui":
        codes |= {line.code for line in rules.contributions if line.code.startswith(f"{state}-")} - elsewhere
    return frozenset(codes)


def read_accounts(state: str, table: RuleTable) -> StateAccounts:
    """Return the accounts in the file of ``state``; raises `RuleError` naming what is wrong."""
    if table.text("state") != state:
        raise table.error("state", f"must be {state}")
    sources = table.sources()
    numbers: dict[str, NumberFormat] = {}
    for entry in table.tables("number"):
        number = _read_number(entry)
        if number.id in numbers:
            raise entry.error("id", f"{number.id!r} is listed twice")
        numbers[number.id] = number
    accounts: list[StateAccount] = []
    for entry in table.tables("account"):
        account = _read_account(state, entry, numbers)
        if any(account.id == other.id for other in accounts):
            raise entry.error("type", f"{account.id!r} is listed twice")
        accounts.append(account)
    unused = numbers.keys() - {account.number.id for account in accounts}
    if unused:
        raise table.error("number", f"no account goes by {min(unused)!r}")
    if not any(account.type == "sui" for account in accounts):
        raise table.error("account", "the state needs an account for unemployment insurance (sui)")
    # The table itself has already read the contents of [sources].
    table.table("sources")
    table.close()
    accounts.sort(key=lambda account: (REGISTRATION_TYPES.index(account.type), account.label))
    return StateAccounts(state, tuple(numbers.values()), tuple(accounts), sources)


def _read_number(entry: RuleTable) -> NumberFormat:
    shape = entry.optional_text("format")
    text = entry.optional_text("pattern")
    if (shape is None) != (text is None):
        raise entry.error("pattern", "needs a format, and a format a pattern")
    pattern = None
    if text is not None and shape is not None:
        try:
            pattern = re.compile(text, re.ASCII)
        except re.error as error:
            raise entry.error("pattern", str(error)) from error
        if pattern.fullmatch(shape.replace("#", "1")) is None:
            raise entry.error("pattern", f"does not match the format {shape}")
    number = NumberFormat(
        id=entry.text("id"),
        shape=shape,
        pattern=pattern,
        note=entry.text("note", default=""),
        confidence=entry.confidence(),
    )
    entry.close()
    return number


def _read_account(state: str, entry: RuleTable, numbers: Mapping[str, NumberFormat]) -> StateAccount:
    account_type = cast("RegistrationType", entry.choice("type", REGISTRATION_TYPES))
    agency = agencies().get(entry.text("agency"))
    if agency is None or agency.state != state:
        raise entry.error("agency", f"is not the id of an agency of {state}")
    number = numbers.get(entry.text("number"))
    if number is None:
        raise entry.error("number", "is not the id of a number of this file")
    lines = entry.texts("lines")
    if (account_type in ("sui", "withholding")) == bool(lines):
        raise entry.error("lines", "belong to every account but sui and withholding")
    for line in lines:
        if not line.startswith(f"{state}-") or (account_type != "local" and _CODE.fullmatch(line) is None):
            raise entry.error("lines", f"{line!r} is not the code of a line of {state}")
    account_id = entry.text("id", default=account_type)
    if (account_type == "local") == (account_id == account_type):
        raise entry.error("id", "belongs to local accounts, and each of them has one")
    voluntary = entry.flag("voluntary", default=False)
    if voluntary and account_type != "withholding":
        raise entry.error("voluntary", "is for withholding alone")
    url = entry.text("url")
    if not url.startswith("https://"):
        raise entry.error("url", "must begin with https://")
    account = StateAccount(
        state=state,
        id=account_id,
        type=account_type,
        agency=agency,
        label=entry.text("label"),
        url=url,
        number=number,
        lines=lines,
        insurance=entry.flag("insurance", default=False),
        voluntary=voluntary,
        apply_with=entry.text("apply_with", default=""),
        timing=entry.text("timing", default=""),
        note=entry.text("note", default=""),
        confidence=entry.confidence(),
    )
    entry.close()
    return account
