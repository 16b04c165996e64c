"""Local income taxes that are withheld from pay, chosen for each employee by locality."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hearthpay.taxes.certificates import CertificateValue, StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rule_file import Confidence, RuleTable
from hearthpay.taxes.trace import Source, Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod, read_per_period


class LocalMethod(Protocol):
    """A local withholding method with its figures."""

    def withhold(
        self, pay: PeriodPay, certificate: StateCertificate, state_tax: int, trace: Trace | None
    ) -> int:
        """Return the tax in cents; ``state_tax`` is the state's, before any additional withholding."""
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


@dataclass(frozen=True, slots=True)
class LocalTax:
    """One local tax in force during a span of pay dates."""

    state: str
    locality: str
    aliases: tuple[str, ...]
    code: str
    name: str
    agency: str
    note: str
    #: The certificate entry and value that choose the locality as its code in ``localities`` does.
    certificate_field: str | None
    certificate_value: CertificateValue
    additional_field: str | None
    supplemental_rate: int | None
    effective_from: datetime.date
    effective_to: datetime.date | None
    sources: tuple[Source, ...]
    confidence: Confidence
    method: LocalMethod

    def chosen_by(self, certificate: StateCertificate) -> bool:
        """Tell whether the state certificate says that the employee is subject to this tax."""
        return (
            self.certificate_field is not None
            and certificate.get(self.certificate_field) == self.certificate_value
        )


def _read_bands(figures: RuleTable, periods: Mapping[str, int]) -> ExclusionBands:
    table = figures.table("bands")
    bands: dict[str, tuple[tuple[int, int | None], ...]] = {}
    for frequency in table:
        rows: list[tuple[int, int | None]] = []
        for row in table.tables(frequency):
            rows.append((row.cents("from"), row.optional_cents("exclusion")))
            row.close()
        bands[frequency] = tuple(reversed(rows))
    method = ExclusionBands(figures.rate("rate"), bands, periods)
    figures.close()
    return method


def read_local_tax(state: str, table: RuleTable, periods: Mapping[str, int]) -> LocalTax:
    """Compile one ``[[local]]`` of a local rule file; raises `RuleError` naming what is wrong."""
    figures = table.table("figures")
    kind = table.choice("method", ("per_period", "state_tax_surcharge", "exclusion_bands"))
    method: LocalMethod
    if kind == "per_period":
        method = OwnTables(read_per_period(figures, periods))
    elif kind == "state_tax_surcharge":
        method = StateTaxSurcharge(figures.rate("rate"))
        figures.close()
    else:
        method = _read_bands(figures, periods)
    by_flag = "certificate_flag" in table
    tax = LocalTax(
        state=state,
        locality=table.text("locality"),
        aliases=table.texts("aliases"),
        code=table.text("code"),
        name=table.text("name"),
        agency=table.text("agency"),
        note=table.text("note", default=""),
        certificate_field=table.text("certificate_flag")
        if by_flag
        else table.optional_text("certificate_field"),
        certificate_value=True if by_flag else table.optional_text("certificate_value"),
        additional_field=table.optional_text("additional_field"),
        supplemental_rate=table.optional_rate("supplemental_rate"),
        effective_from=table.date("effective_from"),
        effective_to=table.optional_date("effective_to"),
        sources=table.sources(),
        confidence=table.confidence(),
        method=method,
    )
    table.close()
    return tax


def find_locality(name: str, taxes: tuple[LocalTax, ...], field: str) -> str:
    """Return the locality code that ``name`` means; raises `TaxInputError` if the state has none such."""
    wanted = name.strip().upper()
    for tax in taxes:
        if wanted in (tax.locality, f"{tax.state}-{tax.locality}", *tax.aliases):
            return tax.locality
    known = ", ".join(dict.fromkeys(tax.locality for tax in taxes)) or "none"
    raise TaxInputError(field, f"{name!r} is not a locality with a payroll tax here; known: {known}")
