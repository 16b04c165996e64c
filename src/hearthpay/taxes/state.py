"""One state's rules for one year: its income tax versions, contributions, reciprocity and local taxes."""

import datetime
import importlib.util
import itertools
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, cast

from hearthpay.taxes.agencies import read_agency
from hearthpay.taxes.certificates import (
    CERTIFICATE_KINDS,
    COMMON_FIELDS,
    CertificateField,
    CertificateForm,
    CertificateKind,
    CertificateValue,
)
from hearthpay.taxes.contribution import Contribution, read_contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.federal import STATUSES
from hearthpay.taxes.finality import Finality, read_finality
from hearthpay.taxes.heading import Heading
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.local import LocalTaxes
from hearthpay.taxes.messages import Message, of_rule
from hearthpay.taxes.place_names import plain_name
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.thresholds import known_liabilities
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence
from hearthpay.taxes.withholding import Method, MethodReader, PeriodPay
from hearthpay.taxes.withholding.annualized import read_annualized
from hearthpay.taxes.withholding.flat import read_flat
from hearthpay.taxes.withholding.per_period import read_per_period

SHARED_METHODS: Mapping[str, MethodReader] = {
    "annualized": read_annualized,
    "flat": read_flat,
    "per_period": read_per_period,
}


def _method_reader(table: RuleTable) -> MethodReader:
    """Return the reader that ``method`` names: a shared method, or a module of `withholding.special`."""
    name = table.text("method")
    if name in SHARED_METHODS:
        return SHARED_METHODS[name]
    module = f"hearthpay.taxes.withholding.special.{name}"
    if not name.isidentifier() or importlib.util.find_spec(module) is None:
        raise table.error(
            "method", f"must be one of {', '.join(SHARED_METHODS)} or a module of withholding.special"
        )
    return cast("MethodReader", importlib.import_module(module).read)


HouseholdRule = Literal["voluntary", "follows_federal", "required", "prohibited"]
"""Whether a household must withhold the state's income tax. ``follows_federal``: if federal is withheld."""

HOUSEHOLD_RULES = ("voluntary", "follows_federal", "required", "prohibited")
SELECTED_BY = ("pay_date", "period_end", "period_start")


@dataclass(frozen=True, slots=True)
class WithholdingVersion:
    """The withholding tables of a state in force from a date on."""

    effective_from: datetime.date
    method: Method
    method_name: str
    """The method's name and its figures as in the rule file, to explain the law behind the line."""

    figures: Mapping[str, object]
    supplemental_rate: int | None
    sources: tuple[Source, ...]
    confidence: Confidence
    note: str


@dataclass(frozen=True, slots=True)
class StateIncomeTax:
    """A state's income tax withholding through a year."""

    code: str
    name: str
    agency: str
    household: HouseholdRule
    household_note: str
    selected_by: str
    """The date that selects the version: pay date, or the end or start of the pay period."""

    form: CertificateForm
    versions: tuple[WithholdingVersion, ...]
    heading: Heading = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Create the heading of the line."""
        heading = Heading(self.code, self.name, "employee", self.agency, "state_income_tax")
        object.__setattr__(self, "heading", heading)

    def version(
        self, pay_date: datetime.date, start: datetime.date | None, end: datetime.date | None
    ) -> WithholdingVersion:
        """Return the version in force; a missing period date falls back to the pay date."""
        day = pay_date
        if self.selected_by == "period_end":
            day = end or pay_date
        elif self.selected_by == "period_start":
            day = start or pay_date
        chosen = self.versions[0]
        for version in self.versions:
            if version.effective_from <= day:
                chosen = version
        return chosen


@dataclass(frozen=True, slots=True)
class ReciprocityRule:
    """An agreement: residents of ``residence`` who file ``certificate`` owe the work state no income tax."""

    residence: str
    certificate: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class StateRules:
    """Everything a year's rule files say about one state."""

    state: str
    name: str
    income_tax: StateIncomeTax | None
    contributions: tuple[Contribution, ...]
    reciprocity: Mapping[str, ReciprocityRule]
    local_taxes: LocalTaxes
    limitations: tuple[Message, ...]
    finality: Mapping[str, Finality]
    """What the lines with unpublished figures are based on, federal and local ones included; by code."""

    unsettled: frozenset[str]
    """Codes of the lines that are provisional or unknown."""

    known_codes: frozenset[str]
    """Every line code that a paycheck of the year can have here."""

    _dates: tuple[datetime.date, ...] = ()
    _in_force: list[tuple[Contribution, ...]] = field(default_factory=list)
    _by_code: list[Mapping[str, Contribution]] = field(default_factory=list)
    _floored: list[tuple[Contribution, ...]] = field(default_factory=list)

    def contributions_on(self, day: datetime.date) -> tuple[Contribution, ...]:
        """Return the flat-rate lines in force on a pay date, federal credit reduction included."""
        return self._in_force[bisect_right(self._dates, day)]

    def contributions_by_code(self, day: datetime.date) -> Mapping[str, Contribution]:
        """Return the flat-rate lines in force on a pay date by line code."""
        return self._by_code[bisect_right(self._dates, day)]

    def floored_on(self, day: datetime.date) -> tuple[Contribution, ...]:
        """Return the flat-rate lines in force on a pay date that begin above a floor of the year's wages."""
        return self._floored[bisect_right(self._dates, day)]


def timeline(
    contributions: tuple[Contribution, ...],
) -> tuple[tuple[datetime.date, ...], list[tuple[Contribution, ...]]]:
    """Return the dates at which the set of lines changes, and the sets before, between and after them."""
    days = {line.effective_from for line in contributions}
    days |= {line.effective_to + datetime.timedelta(days=1) for line in contributions if line.effective_to}
    dates = tuple(sorted(days))
    spans = [datetime.date.min, *dates]
    sets = [
        tuple(
            line
            for line in contributions
            if line.effective_from <= day and (line.effective_to is None or day <= line.effective_to)
        )
        for day in spans
    ]
    return dates, sets


_COUNTY = " COUNTY"
"""The suffix that may be omitted from a county's name."""


def _names_of(field_name: str, choices: Mapping[str, str], local_taxes: LocalTaxes) -> dict[str, str]:
    """Return the values of a choice by plain names: its own spellings, and those of the places that select them."""
    names = {plain_name(spelling): value for spelling, value in choices.items()}
    for tax in local_taxes:
        value = tax.certificate_value
        if field_name in tax.certificate_fields and isinstance(value, str) and value in choices:
            _add_names(names, (tax.locality, *tax.aliases), value)
    for place in local_taxes.places:
        if place.field == field_name:
            _add_names(names, (place.locality, *place.aliases), place.value)
    return names


def _add_names(names: dict[str, str], spellings: Iterable[str], value: str) -> None:
    for spelling in map(plain_name, spellings):
        names.setdefault(spelling, value)
        names.setdefault(spelling.removesuffix(_COUNTY), value)


def _read_choices(entry: RuleTable) -> dict[str, str]:
    """Return the accepted spellings of a choice: its values, and its aliases."""
    choices = {value: value for value in entry.texts("values")}
    if "aliases" in entry:
        aliases = entry.table("aliases")
        for alias in aliases:
            meant = aliases.text(alias)
            if meant not in choices:
                raise entry.error("aliases", f"{meant!r} is not one of the values")
            choices[alias] = meant
    return choices


def _read_default(entry: RuleTable, kind: str, choices: Mapping[str, str]) -> CertificateValue:
    """Return the value of a certificate entry that isn't filled in."""
    match kind:
        case "choice":
            default = entry.optional_text("default")
            if default is not None and default not in choices:
                raise entry.error("default", f"{default!r} is not one of the values")
            return default
        case "flag":
            return entry.flag("default", default=False)
        case "count":
            return entry.integer("default") if "default" in entry else 0
        case "money":
            # Optional: the form distinguishes an empty entry from zero.
            return None if entry.flag("optional", default=False) else 0
        case _:
            return None


def _read_field(name: str, entry: RuleTable, local_taxes: LocalTaxes) -> CertificateField:
    kind = entry.choice("kind", CERTIFICATE_KINDS)
    choices = _read_choices(entry) if kind == "choice" else {}
    default = _read_default(entry, kind, choices)
    # A refused entry must say why.
    note = entry.text("note") if kind == "refused" else entry.text("note", default="")
    entry.close()
    names = _names_of(name, choices, local_taxes) if choices else {}
    return CertificateField(name, cast("CertificateKind", kind), default, choices, note, names)


def _read_from_federal(
    table: RuleTable, status_field: str, fields: Mapping[str, CertificateField]
) -> dict[str, str]:
    """Return the value of each federal filing status in the state's own entry."""
    if status_field not in fields:
        raise table.error("status_field", f"{status_field!r} is not one of the fields")
    mapping = table.table("from_federal")
    from_federal = {status: mapping.text(status) for status in STATUSES}
    mapping.close()
    for status, meant in from_federal.items():
        if meant not in fields[status_field].choices.values():
            raise table.error("from_federal", f"{status}: {meant!r} is not a value of {status_field}")
    return from_federal


def _read_certificate(table: RuleTable, state: str, local_taxes: LocalTaxes) -> CertificateForm:
    form = table.text("form")
    fields = {entry.name: entry for entry in COMMON_FIELDS}
    if "fields" in table:
        listed = table.table("fields")
        fields |= {name: _read_field(name, listed.table(name), local_taxes) for name in listed}
    status_field = table.optional_text("status_field")
    from_federal = _read_from_federal(table, status_field, fields) if status_field is not None else {}
    table.close()
    return CertificateForm(
        state=state,
        form=form,
        fields=fields,
        defaults={name: entry.default for name, entry in fields.items()},
        status_field=status_field,
        from_federal=from_federal,
    )


_TRIAL_CENTS = 100_000
"""Wages of the trial run: a thousand dollars."""


def _try_out(table: RuleTable, position: int, method: Method, form: CertificateForm) -> None:
    """Calculate once for every choice of the certificate, so that an invalid name is found when the file is loaded."""
    choices: list[dict[str, CertificateValue]] = [{}]
    for entry in form.fields.values():
        choices += [{entry.name: value} for value in dict.fromkeys(entry.choices.values())]
    for chosen in choices:
        try:
            method.withhold(PeriodPay(_TRIAL_CENTS, "weekly", 0, 0), {**form.defaults, **chosen}, None)
        except KeyError as error:
            given = ", ".join(f"{name} = {value}" for name, value in chosen.items()) or "no certificate"
            raise table.error(
                f"version[{position}].figures", f"with {given}: {error} leads nowhere"
            ) from error
        except TaxInputError:
            continue  # A certificate that makes no sense alone is refused when it is used.


def _read_income_tax(
    table: RuleTable, state: str, pay_periods: Mapping[str, int], local_taxes: LocalTaxes
) -> StateIncomeTax:
    versions = []
    own_periods = dict(pay_periods)
    if "pay_periods" in table:
        own = table.table("pay_periods")
        own_periods |= {name: own.integer(name) for name in own}
    for entry in table.tables("version"):
        read_method = _method_reader(entry)
        figures = entry.table("figures")
        versions.append(
            WithholdingVersion(
                effective_from=entry.effective_from(),
                method=read_method(figures, own_periods),
                method_name=entry.text("method"),
                figures=figures.raw,
                supplemental_rate=entry.optional_rate("supplemental_rate"),
                sources=entry.sources(),
                confidence=entry.confidence(),
                note=entry.text("note", default=""),
            )
        )
        entry.close()
    if not versions:
        raise table.error("version", "at least one version is needed")
    if table.year is not None and versions[0].effective_from > datetime.date(table.year, 1, 1):
        raise table.error("version", f"no version is in force on 1 January {table.year}")
    for before, after in itertools.pairwise(versions):
        if before.effective_from >= after.effective_from:
            raise table.error("version", "versions must follow each other by effective_from")
    code = table.text("code")
    if code != f"{state}-SIT":
        raise table.error("code", f"must be {state}-SIT")
    form = _read_certificate(table.table("certificate"), state, local_taxes)
    for position, version in enumerate(versions):
        _try_out(table, position, version.method, form)
    tax = StateIncomeTax(
        code=code,
        name=table.text("name"),
        agency=read_agency(table, state),
        household=cast("HouseholdRule", table.choice("household", HOUSEHOLD_RULES)),
        household_note=table.text("household_note", default=""),
        selected_by=table.choice("selected_by", SELECTED_BY, default="pay_date"),
        form=form,
        versions=tuple(versions),
    )
    table.close()
    return tax


def _read_reciprocity(table: RuleTable, state: str) -> dict[str, ReciprocityRule]:
    """Return the agreements with other states, by state of residence."""
    reciprocity: dict[str, ReciprocityRule] = {}
    for entry in table.tables("reciprocity"):
        agreement = ReciprocityRule(entry.text("residence"), entry.text("certificate"), entry.sources())
        if agreement.residence not in STATES or agreement.residence == state:
            raise entry.error("residence", f"{agreement.residence!r} is not another state")
        if agreement.residence in reciprocity:
            raise entry.error("residence", f"there are two agreements with {agreement.residence}")
        entry.close()
        reciprocity[agreement.residence] = agreement
    return reciprocity


def read_state(
    table: RuleTable,
    *,
    federal: tuple[Contribution, ...],
    income_tax_codes: tuple[str, ...],
    pay_periods: Mapping[str, int],
    local_taxes: LocalTaxes,
    kept: frozenset[str] = frozenset(),
    federal_finality: Mapping[str, Finality] = MappingProxyType({}),
) -> StateRules:
    """Compile a state's rule file; ``federal`` contributions come first in its list of lines, ``income_tax_codes``
    are federal.

    ``kept`` are the codes whose figures are from the year before. Raises `RuleError` naming file and key for anything
    that is missing, unknown or impossible.
    """
    state = table.text("state")
    contributions = tuple(
        read_contribution(entry, state, pay_periods) for entry in table.tables("contribution")
    )
    _check_contributions(table, state, contributions, federal)
    reciprocity = _read_reciprocity(table, state)
    income_tax = (
        _read_income_tax(table.table("income_tax"), state, pay_periods, local_taxes)
        if "income_tax" in table
        else None
    )
    _check_local_taxes(table, state, local_taxes, income_tax)
    everything = federal + contributions
    own_codes = {line.code for line in contributions}
    if income_tax is not None:
        own_codes.add(income_tax.code)
    own = read_finality(table, state, own_codes, kept)
    finality = {**federal_finality, **own, **local_taxes.finality}
    dates, in_force = timeline(everything)
    rules = StateRules(
        state=state,
        name=table.text("name"),
        income_tax=income_tax,
        contributions=contributions,
        reciprocity=reciprocity,
        local_taxes=local_taxes,
        limitations=tuple(of_rule("state_limitation", each) for each in table.texts("limitations")),
        finality=finality,
        unsettled=frozenset(code for code, each in finality.items() if each.status != "carried"),
        known_codes=frozenset(
            own_codes
            | {line.code for line in everything}
            | {tax.code for tax in local_taxes}
            | set(income_tax_codes)
        ),
        _dates=dates,
        _in_force=in_force,
        _by_code=[{line.code: line for line in lines} for lines in in_force],
        _floored=[_with_floor(lines) for lines in in_force],
    )
    if rules.name != STATES.get(state):
        raise table.error("name", f"must be {STATES.get(state)}")
    table.close()
    return rules


def _with_floor(lines: tuple[Contribution, ...]) -> tuple[Contribution, ...]:
    return tuple(line for line in lines if line.wage_floor)


def _check_contributions(
    table: RuleTable, state: str, contributions: tuple[Contribution, ...], federal: tuple[Contribution, ...]
) -> None:
    """Refuse lines of another state, overlapping versions, and liabilities and wages that don't exist."""
    codes = {line.code for line in contributions + federal}
    for line in contributions:
        if not line.code.startswith((f"{state}-", "US-")):
            raise table.error("contribution", f"the code {line.code} does not belong to {state}")
        if line.liability not in known_liabilities(state):
            raise table.error(
                "contribution", f"{line.code}: {line.liability!r} is not a liability of {state}"
            )
        if line.ytd_code not in codes:
            raise table.error("contribution", f"{line.code}: there is no line {line.ytd_code}")
        _check_follows(table, line, federal)
    for code in codes:
        versions = sorted(
            (line for line in contributions if line.code == code), key=lambda line: line.effective_from
        )
        for before, after in itertools.pairwise(versions):
            if before.effective_to is None or before.effective_to >= after.effective_from:
                raise table.error("contribution", f"two versions of {code} overlap: set effective_to")


def _check_follows(table: RuleTable, line: Contribution, federal: tuple[Contribution, ...]) -> None:
    """Refuse a line that follows any but a federal one, which a paycheck calculates first."""
    if line.follows is not None and line.follows not in {each.code for each in federal}:
        raise table.error("contribution", f"{line.code}: there is no federal line {line.follows}")


def _check_local_taxes(
    table: RuleTable, state: str, taxes: LocalTaxes, income_tax: StateIncomeTax | None
) -> None:
    """Refuse local lines of another state, and certificate entries that the state's form doesn't have."""
    entries = income_tax.form.fields if income_tax is not None else {}
    for tax in taxes:
        if not tax.code.startswith(f"{state}-"):
            raise table.error("local", f"the code {tax.code} does not belong to {state}")
        for entry in tax.entries:
            if entry not in entries:
                raise table.error("local", f"{tax.code}: {entry!r} is not an entry of the certificate")
    for place in taxes.places:
        if place.field not in entries:
            raise table.error("certificate_place", f"{place.field!r} is not an entry of the certificate")
    groups = {tax.group for tax in taxes}
    for unchosen in taxes.unchosen:
        only_if = (unchosen.only_if,) if unchosen.only_if is not None else ()
        for entry in (*unchosen.certificate_fields, *only_if):
            if entry not in entries:
                raise table.error("unchosen", f"{entry!r} is not an entry of the certificate")
        for group in unchosen.groups:
            if group not in groups:
                raise table.error("unchosen", f"{group!r} is not a group of localities")
