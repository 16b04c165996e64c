"""Local withholding methods: rates, surcharges and fees, each with its figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.money import RATE_SCALE, from_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.withholding.per_period import PerPeriod

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
    """A city with its own percentage tables (New York City)."""

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
    bands: Mapping[str, tuple[tuple[int, int | None], ...]]
    """Frequency → rows of (wages from, exclusion or None if nothing is due), highest first."""

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
    exemptions: Mapping[str, int]
    """Certificate entry that counts a kind of exemption → cents a year for each."""

    each_rounded: bool
    """True if the value of one exemption is rounded to the cent, False if that of all of a kind is."""

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
    """A fixed amount per year or week, spread evenly over the year's paydays."""

    annual: int
    weekly: int | None
    rounded_down: bool
    """True if a payday's share drops its fraction of a cent."""

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
        """See `LocalMethod`. The pay of one period represents the month's; `LocalTax` picks the payday."""
        del certificate, state_tax
        if trace is not None:
            trace.cents("wages of a month, at least", self.minimum)
            trace.cents("amount of the month", self.amount)
        return self.amount if pay.wages * self.periods[pay.frequency] >= self.minimum * MONTHS else 0

    def describe(self) -> str:
        """See `LocalMethod`."""
        return f"${from_cents(self.amount):f} a month with wages of ${from_cents(self.minimum):f} or more"
