"""Local taxes on pay, chosen for each employee by locality: city and county taxes, service fees, head taxes."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, NamedTuple, Protocol, cast

from hearthpay.taxes.certificates import CertificateValue, StateCertificate
from hearthpay.taxes.contribution import Payer
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE, from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import Confidence, RuleTable
from hearthpay.taxes.trace import Source, Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period

#: Whether a household must withhold or pay a local tax. ``follows_state``: where the state's tax is withheld.
#: ``voluntary``: the employee owes it, the household withholds it only because the locality was chosen.
LocalHouseholdRule = Literal["required", "voluntary", "follows_state"]
LOCAL_HOUSEHOLD_RULES = ("required", "voluntary", "follows_state")

#: Whom a local tax is about; empty where its name says so.
APPLIES_TO = ("", "residents", "nonresidents", "workers", "residents and workers")

#: The last day of the month on which a month's first payday falls, where paydays are regular.
FIRST_PAYDAY_UNTIL: Mapping[str, int] = {"weekly": 7, "biweekly": 14, "semimonthly": 15, "monthly": 31}

MONTHS = 12


def _percent(rate: int) -> str:
    """Return a rate in billionths as a percentage, such as ``1.25 %``."""
    return f"{Decimal(rate).scaleb(-7).normalize():f} %"


class LocalMethod(Protocol):
    """A local withholding method with its figures."""

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """Return the tax in cents; ``state_tax`` is the state's, before any additional withholding."""
        ...

    def describe(self) -> str:
        """Return the rate or amount in words."""
        ...


@dataclass(frozen=True, slots=True)
class OwnTables:
    """A city with percentage tables of its own (New York City)."""

    tables: PerPeriod

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`."""
        del state_tax
        return self.tables.withhold(pay, certificate, trace)

    def describe(self) -> str:
        """See `LocalMethod`."""
        return "by the city's tables"


@dataclass(frozen=True, slots=True)
class StateTaxSurcharge:
    """A share of the state's tax (residents of Yonkers)."""

    rate: int

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`."""
        del pay, certificate
        if trace is not None:
            trace.cents("state tax before additional withholding", state_tax)
            trace.rate("surcharge", self.rate)
        return half_up(state_tax * self.rate, RATE_SCALE)

    def describe(self) -> str:
        """See `LocalMethod`."""
        return f"{_percent(self.rate)} of the state's tax"


@dataclass(frozen=True, slots=True)
class ExclusionBands:
    """A rate on gross wages less an exclusion that shrinks as wages rise (working in Yonkers)."""

    rate: int
    #: Frequency → rows of (wages from, exclusion or None where nothing is due), highest first.
    bands: Mapping[str, tuple[tuple[int, int | None], ...]]
    periods: Mapping[str, int]

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`. A frequency without printed bands is annualized."""
        del certificate, state_tax
        bands = self.bands.get(pay.frequency)
        scale = 1
        if bands is None:
            bands = self.bands["annual"]
            scale = self.periods[pay.frequency]
        for lower, exclusion in bands:
            if pay.wages * scale >= lower:
                if trace is not None:
                    trace.text("exclusion", "no tax") if exclusion is None else trace.cents(
                        "exclusion", exclusion
                    )
                    trace.rate("rate", self.rate)
                if exclusion is None:
                    return 0
                return half_up((pay.wages * scale - exclusion) * self.rate, RATE_SCALE * scale)
        return 0

    def describe(self) -> str:
        """See `LocalMethod`."""
        return f"{_percent(self.rate)} of wages above an exclusion"


@dataclass(frozen=True, slots=True)
class FlatRate:
    """A rate on wages, in some places after exemptions counted on the state's certificate."""

    rate: int
    #: Certificate entry that counts a kind of exemption → cents a year for each.
    exemptions: Mapping[str, int]
    #: True where the value of one exemption is rounded to the cent, false where that of all of a kind is.
    each_rounded: bool
    periods: Mapping[str, int]

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`."""
        del state_tax
        taxable = pay.wages
        if self.exemptions:
            periods = self.periods[pay.frequency]
            for name, amount in self.exemptions.items():
                count = int(certificate[name] or 0)
                if count:
                    each = self.each_rounded
                    free = count * half_up(amount, periods) if each else half_up(count * amount, periods)
                    if trace is not None:
                        trace.cents(name.replace("_", " "), free)
                    taxable -= free
            taxable = max(0, taxable)
        if trace is not None:
            trace.cents("taxed wages", taxable)
            trace.rate("rate", self.rate)
        return half_up(taxable * self.rate, RATE_SCALE)

    def describe(self) -> str:
        """See `LocalMethod`."""
        if not self.exemptions:
            return f"{_percent(self.rate)} of wages"
        amounts = " or ".join(f"${from_cents(amount):f}" for amount in sorted(set(self.exemptions.values())))
        return f"{_percent(self.rate)} of wages after {amounts} a year for each exemption"


@dataclass(frozen=True, slots=True)
class Fee:
    """A fixed amount of the year or week, spread evenly over the year's paydays."""

    annual: int
    weekly: int | None
    #: True where a payday's share loses its fraction of a cent.
    rounded_down: bool
    periods: Mapping[str, int]

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`. Nothing is due on a payday without pay."""
        del certificate, state_tax
        periods = self.periods[pay.frequency]
        if trace is not None:
            trace.cents("amount of the year", self.annual)
            trace.text("pay periods a year", periods)
        if not pay.wages:
            return 0
        return self.annual // periods if self.rounded_down else half_up(self.annual, periods)

    def describe(self) -> str:
        """See `LocalMethod`."""
        if self.weekly is not None:
            return f"${from_cents(self.weekly):f} a week"
        return f"${from_cents(self.annual):f} a year"


@dataclass(frozen=True, slots=True)
class MonthlyFee:
    """A fixed amount for each calendar month in which wages reach a minimum."""

    amount: int
    minimum: int
    periods: Mapping[str, int]

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """See `LocalMethod`. The pay of one period stands for the month's; `LocalTax` picks the payday."""
        del certificate, state_tax
        if trace is not None:
            trace.cents("wages of a month, at least", self.minimum)
            trace.cents("amount of the month", self.amount)
        return self.amount if pay.wages * self.periods[pay.frequency] >= self.minimum * MONTHS else 0

    def describe(self) -> str:
        """See `LocalMethod`."""
        return f"${from_cents(self.amount):f} a month with wages of ${from_cents(self.minimum):f} or more"


class LocalPay(NamedTuple):
    """What a local tax may look at besides the certificate; amounts in cents."""

    pay: PeriodPay
    pay_date: datetime.date
    #: The part of the wages that is paid as flat-rate supplemental pay.
    supplemental: int
    #: The state's tax on this pay before additional withholding; 0 where none is withheld.
    state_tax: int
    #: The same tax withheld earlier in the year; None where that is not known.
    tax_before: int | None


@dataclass(frozen=True, slots=True)
class LocalTax:
    """One local tax in force during a span of pay dates."""

    state: str
    locality: str
    aliases: tuple[str, ...]
    code: str
    name: str
    agency: str
    payer: Payer
    household: LocalHouseholdRule
    applies_to: str
    #: Only one locality of a group can be an employee's: a county of residence, resident or nonresident.
    group: str | None
    note: str
    #: The certificate entries of which the first that is filled in chooses the locality, and the value that does.
    certificate_fields: tuple[str, ...]
    certificate_value: CertificateValue
    #: True where the rate is lowered by that of another city in which the employee works.
    less_city_of_work: bool
    additional_field: str | None
    supplemental_rate: int | None
    #: The most that a year may bear, in cents.
    year_maximum: int | None
    effective_from: datetime.date
    effective_to: datetime.date | None
    sources: tuple[Source, ...]
    confidence: Confidence
    method: LocalMethod

    def in_force(self, day: datetime.date) -> bool:
        """Tell whether the tax applies to a pay date."""
        return self.effective_from <= day and (self.effective_to is None or day <= self.effective_to)

    def lowered_by(self, taxes: Sequence["LocalTax"]) -> "LocalTax":
        """Return the tax at its rate less that of the other city of ``taxes`` where the employee works; not below 0."""
        method = self.method
        if not isinstance(method, FlatRate):
            return self
        elsewhere = sum(
            tax.method.rate
            for tax in taxes
            if tax.applies_to == "nonresidents"
            and tax.group != self.group
            and isinstance(tax.method, FlatRate)
        )
        if not elsewhere:
            return self
        rate = max(0, method.rate - elsewhere)
        supplemental = None if self.supplemental_rate is None else max(0, self.supplemental_rate - elsewhere)
        return replace(self, method=replace(method, rate=rate), supplemental_rate=supplemental)

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of the state's certificate that the tax looks at."""
        counted = tuple(self.method.exemptions) if isinstance(self.method, FlatRate) else ()
        additional = (self.additional_field,) if self.additional_field else ()
        return (*self.certificate_fields, *additional, *counted)

    def withhold(self, local: LocalPay, certificate: StateCertificate, trace: Trace | None) -> int:
        """Return the tax in cents on one payday, the certificate's additional amount included.

        Raises `TaxInputError` naming ``pay_frequency`` where a tax of the month has no payday to fall on.
        """
        pay = local.pay
        if isinstance(self.method, MonthlyFee) and not is_first_payday(local.pay_date, pay.frequency):
            if trace is not None:
                trace.text("already due", "on the month's first payday")
            return 0
        flat = local.supplemental if self.supplemental_rate is not None else 0
        if flat:
            pay = pay._replace(wages=pay.wages - flat)
        amount = self.method.withhold(pay, certificate, local.state_tax, trace)
        if flat and self.supplemental_rate is not None:
            amount += half_up(flat * self.supplemental_rate, RATE_SCALE)
            if trace is not None:
                trace.cents("supplemental wages", flat)
                trace.rate("rate on supplemental wages", self.supplemental_rate)
        apart = bool(local.supplemental) and local.supplemental == local.pay.wages
        if self.additional_field is not None and not apart:  # it is asked for each pay period
            amount += int(certificate[self.additional_field] or 0)
        if self.year_maximum is not None and local.tax_before is not None:
            amount = min(amount, max(0, self.year_maximum - local.tax_before))
        return amount


def _stated(certificate: StateCertificate, fields: tuple[str, ...]) -> CertificateValue:
    """Return the first of the entries that is filled in."""
    for field in fields:
        value = certificate.get(field)
        if value is not None and value is not False and value != "none":
            return value
    return None


def is_first_payday(day: datetime.date, frequency: str) -> bool:
    """Tell whether ``day`` is the month's first payday where paydays are regular.

    Raises `TaxInputError` naming ``pay_frequency`` for a frequency that has no payday in every month.
    """
    until = FIRST_PAYDAY_UNTIL.get(frequency)
    if until is None:
        raise TaxInputError("pay_frequency", f"a local tax of the month cannot be taken from {frequency} pay")
    return day.day <= until


def _read_bands(figures: RuleTable, periods: Mapping[str, int]) -> ExclusionBands:
    table = figures.table("bands")
    bands: dict[str, tuple[tuple[int, int | None], ...]] = {}
    for frequency in table:
        rows: list[tuple[int, int | None]] = []
        for row in table.tables(frequency):
            rows.append((row.cents("from"), row.optional_cents("exclusion")))
            row.close()
        bands[frequency] = tuple(reversed(rows))
    return ExclusionBands(figures.rate("rate"), bands, periods)


def _read_fee(figures: RuleTable, periods: Mapping[str, int]) -> Fee:
    weekly = figures.optional_cents("weekly")
    annual = figures.cents("annual") if weekly is None else weekly * periods["weekly"]
    return Fee(annual, weekly, figures.flag("rounded_down", default=False), periods)


def _read_method(kind: str, figures: RuleTable, periods: Mapping[str, int]) -> LocalMethod:
    method: LocalMethod
    match kind:
        case "per_period":
            return OwnTables(read_per_period(figures, periods))
        case "state_tax_surcharge":
            method = StateTaxSurcharge(figures.rate("rate"))
        case "exclusion_bands":
            method = _read_bands(figures, periods)
        case "fee":
            method = _read_fee(figures, periods)
        case "monthly_fee":
            method = MonthlyFee(figures.cents("amount"), figures.cents("minimum"), periods)
        case _:
            exemptions = figures.cents_by_key("exemptions") if "exemptions" in figures else {}
            each_rounded = figures.flag("each_exemption_rounded", default=False)
            method = FlatRate(figures.rate("rate"), exemptions, each_rounded, periods)
    figures.close()
    return method


METHODS = ("flat_rate", "fee", "monthly_fee", "per_period", "state_tax_surcharge", "exclusion_bands")


def read_local_tax(state: str, table: RuleTable, periods: Mapping[str, int]) -> LocalTax:
    """Compile one ``[[local]]`` of a local rule file; raises `RuleError` naming what is wrong."""
    method = _read_method(table.choice("method", METHODS), table.table("figures"), periods)
    by_flag = "certificate_flag" in table
    single_field = table.optional_text("certificate_flag" if by_flag else "certificate_field")
    tax = LocalTax(
        state=state,
        locality=table.text("locality"),
        aliases=table.texts("aliases"),
        code=table.text("code"),
        name=table.text("name"),
        agency=table.text("agency"),
        payer=cast("Payer", table.choice("payer", ("employee", "employer"), default="employee")),
        household=cast(
            "LocalHouseholdRule", table.choice("household", LOCAL_HOUSEHOLD_RULES, default="follows_state")
        ),
        applies_to=table.choice("applies_to", APPLIES_TO, default=""),
        group=table.optional_text("group"),
        note=table.text("note", default=""),
        certificate_fields=(single_field,) if single_field else table.texts("certificate_fields"),
        certificate_value=True if by_flag else table.optional_text("certificate_value"),
        less_city_of_work=table.flag("less_city_of_work", default=False),
        additional_field=table.optional_text("additional_field"),
        supplemental_rate=table.optional_rate("supplemental_rate"),
        year_maximum=table.optional_cents("year_maximum"),
        effective_from=table.effective_from(),
        effective_to=table.optional_date("effective_to"),
        sources=table.sources(),
        confidence=table.confidence(),
        method=method,
    )
    table.close()
    if tax.less_city_of_work and not isinstance(method, FlatRate):
        raise table.error("less_city_of_work", "only a flat rate can be lowered by another")
    return tax


class CertificatePlace(NamedTuple):
    """A place whose tax is part of the state's line: choosing it fills in an entry of the certificate."""

    locality: str
    aliases: tuple[str, ...]
    field: str
    value: str


class NotOwed(NamedTuple):
    """A local payroll tax that a household owes nothing of, and why."""

    locality: str
    aliases: tuple[str, ...]
    name: str
    reason: str
    sources: tuple[Source, ...]


#: What an assumption about the place goes with: the state's own line, the state's tax, or nothing.
GOES_WITH = ("state_line", "state_tax", "nothing")

#: Whether the cities of the rule file are all that tax, or some; empty where the tax is none of cities.
CITIES = ("", "all", "some")


class Unchosen(NamedTuple):
    """What is taken for granted of an employee whose place nobody named."""

    code: str
    message: str
    #: Entries of the certificate of which any settles the place, also by saying that there is none.
    certificate_fields: tuple[str, ...]
    #: Groups of localities of which one settles it; empty where any locality does.
    groups: tuple[str, ...]
    goes_with: str
    #: A flag of the certificate that must be set for the assumption to matter.
    only_if: str | None
    cities: str


def _read_unchosen(table: RuleTable) -> Unchosen:
    unchosen = Unchosen(
        table.text("code"),
        table.text("message"),
        table.texts("certificate_fields"),
        table.texts("groups"),
        table.choice("goes_with", GOES_WITH),
        table.optional_text("only_if"),
        table.choice("cities", CITIES, default=""),
    )
    table.close()
    return unchosen


def _read_place(table: RuleTable) -> CertificatePlace:
    place = CertificatePlace(
        table.text("locality"), table.texts("aliases"), table.text("field"), table.text("value")
    )
    table.close()
    return place


def _read_not_owed(table: RuleTable) -> NotOwed:
    tax = NotOwed(
        table.text("locality"),
        table.texts("aliases"),
        table.text("name"),
        table.text("reason"),
        table.sources(),
    )
    table.close()
    return tax


def _with_city_of_work(taxes: list[LocalTax]) -> list[LocalTax]:
    """Return the taxes of an employee with that of the city of residence lowered by that of the city of work."""
    at_home = [tax.locality for tax in taxes if tax.less_city_of_work]
    if len(at_home) > 1:
        raise TaxInputError(
            "localities", f"{at_home[0]} and {at_home[1]} tax residents, and an employee lives in one of them"
        )
    return [tax.lowered_by(taxes) if tax.less_city_of_work else tax for tax in taxes]


class LocalTaxes:
    """The local taxes of a state for a year, found by name or by what the state's certificate says."""

    def __init__(
        self,
        state: str,
        taxes: tuple[LocalTax, ...] = (),
        places: tuple[CertificatePlace, ...] = (),
        not_owed: tuple[NotOwed, ...] = (),
        unchosen: tuple[Unchosen, ...] = (),
    ) -> None:
        self.state = state
        self.taxes = taxes
        self.places = places
        self.not_owed = not_owed
        self.unchosen = unchosen
        self._by_name: dict[str, LocalTax | CertificatePlace | NotOwed] = {}
        #: Locality → positions of its taxes: versions, and the employer's beside the employee's.
        self._positions: dict[str, tuple[int, ...]] = {}
        chosen: dict[tuple[str, ...], dict[CertificateValue, tuple[int, ...]]] = {}
        for position, tax in enumerate(taxes):
            self._positions[tax.locality] = (*self._positions.get(tax.locality, ()), position)
            if tax.certificate_fields:
                by_value = chosen.setdefault(tax.certificate_fields, {})
                value = tax.certificate_value
                by_value[value] = (*by_value.get(value, ()), position)
        entries: tuple[LocalTax | CertificatePlace | NotOwed, ...] = (*taxes, *places, *not_owed)
        for entry in entries:
            for name in (entry.locality, f"{state}-{entry.locality}", *entry.aliases):
                self._by_name.setdefault(name, entry)
        self._by_certificate = tuple(chosen.items())
        #: True where a tax falls on calendar months.
        self.by_month = any(isinstance(tax.method, MonthlyFee) for tax in taxes)
        #: True where the certificate alone may choose a tax.
        self.on_certificate = bool(chosen)

    def __iter__(self) -> Iterator[LocalTax]:
        """Iterate over the taxes in the order of the rule file."""
        return iter(self.taxes)

    def __len__(self) -> int:
        """Return how many taxes there are."""
        return len(self.taxes)

    def find(self, name: str, field: str) -> LocalTax | CertificatePlace:
        """Return what ``name`` (code or alias in any case) means; of several versions any.

        Raises `TaxInputError` naming ``field`` for what is no locality of the state, or one whose payroll tax
        a household does not owe.
        """
        found = self._by_name.get(name) or self._by_name.get(name.strip().upper())
        if found is None:
            known = ", ".join(dict.fromkeys([*self._positions, *(place.locality for place in self.places)]))
            raise TaxInputError(
                field, f"{name!r} is not a locality with a payroll tax here; known: {known or 'none'}"
            )
        if isinstance(found, NotOwed):
            raise TaxInputError(field, f"nothing is owed: {found.name}. {found.reason}")
        return found

    def due_at(self, city: str) -> tuple[str, ...]:
        """Return the locality that a place of residence stands for, unless its tax is voluntary; mostly none."""
        found = self._by_name.get(city.strip().upper())
        if isinstance(found, LocalTax) and found.household != "voluntary":
            return (found.locality,)
        return ()

    def named(self, name: str) -> LocalTax | CertificatePlace | NotOwed | None:
        """Return what a place's name stands for, in any case; None for a place that is not known here."""
        return self._by_name.get(name) or self._by_name.get(name.strip().upper())

    def choose(
        self, names: tuple[str, ...], certificate: StateCertificate, day: datetime.date
    ) -> tuple[StateCertificate, list[LocalTax]]:
        """Return the taxes in force that an employee bears, and the certificate with chosen places filled in.

        A named locality goes before another of its group that the certificate chooses.
        Raises `TaxInputError` naming ``localities[i]`` for an unknown place, or one that excludes another.
        """
        positions: set[int] = set()
        for index, name in enumerate(names):
            # The code as it is stored needs no message, in any other spelling it is looked for.
            found = self._by_name.get(name)
            if found is None or isinstance(found, NotOwed):
                found = self.find(name, f"localities[{index}]")
            if isinstance(found, CertificatePlace):
                stated = certificate.get(found.field)
                if stated is not None and stated != found.value:
                    raise TaxInputError(
                        f"localities[{index}]",
                        f"disagrees with the certificate's {found.field} or another place",
                    )
                certificate = {**certificate, found.field: found.value}
            else:
                positions.update(self._positions[found.locality])
        if len(names) > 1:
            self._refuse_exclusive(names)
        for fields, by_value in self._by_certificate:
            for position in by_value.get(_stated(certificate, fields), ()):
                if not self._outdone(position, positions):
                    positions.add(position)
        taxes = [tax for position in sorted(positions) if (tax := self.taxes[position]).in_force(day)]
        if len(taxes) > 1:
            taxes = _with_city_of_work(taxes)
        return certificate, taxes

    def _outdone(self, position: int, named: set[int]) -> bool:
        """Tell whether a named locality stands in for the one that the certificate chooses."""
        tax = self.taxes[position]
        return tax.group is not None and any(
            self.taxes[other].group == tax.group and self.taxes[other].locality != tax.locality
            for other in named
        )

    def _refuse_exclusive(self, names: tuple[str, ...]) -> None:
        locality_of: dict[str, str] = {}
        for index, name in enumerate(names):
            found = self.find(name, f"localities[{index}]")
            if isinstance(found, LocalTax) and found.group is not None:
                other = locality_of.setdefault(found.group, found.locality)
                if other != found.locality:
                    raise TaxInputError(
                        f"localities[{index}]", f"{other} and {found.locality} exclude each other"
                    )


def read_local_taxes(state: str, table: RuleTable, periods: Mapping[str, int]) -> LocalTaxes:
    """Compile a local rule file; raises `RuleError` naming what is wrong."""
    if table.text("state") != state:
        raise table.error("state", f"must be {state}, as the file is named")
    taxes = LocalTaxes(
        state,
        tuple(read_local_tax(state, entry, periods) for entry in table.tables("local")),
        tuple(_read_place(entry) for entry in table.tables("certificate_place")),
        tuple(_read_not_owed(entry) for entry in table.tables("not_owed")),
        tuple(_read_unchosen(entry) for entry in table.tables("unchosen")),
    )
    table.close()
    return taxes
