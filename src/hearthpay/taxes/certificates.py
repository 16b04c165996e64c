"""The employee's withholding forms: the federal Form W-4 and the state's own certificate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.money import to_cents
from hearthpay.taxes.place_names import plain_name
from hearthpay.taxes.vocabulary import FilingStatus

PreFilingStatus = Literal["single", "married", "married_withhold_at_single_rate"]

ZERO = Decimal(0)

MAX_COUNT = 999
"""The most allowances a certificate may claim; more are treated as a mistake."""


@dataclass(frozen=True, slots=True)
class Pre2020Certificate:
    """Entries of a Form W-4 of 2019 or earlier, still valid if no newer one was given."""

    marital_status: PreFilingStatus = "single"
    """Line 3 of the form."""

    allowances: int = 0
    """Line 5: the number of allowances."""


@dataclass(frozen=True, slots=True)
class FederalCertificate:
    """Form W-4, and whether federal income tax is withheld at all.

    ``elected`` is False if employee and household haven't agreed on withholding, which is voluntary for household
    work (IRC 3401(a)(3), Publication 926). Amounts are dollars: ``dependents_credit`` (Step 3), ``other_income``
    (4(a)) and ``deductions`` (4(b)) a year, ``extra_withholding`` (4(c)) a pay period.
    """

    elected: bool = True
    filing_status: FilingStatus = "single"
    multiple_jobs: bool = False
    dependents_credit: Decimal = ZERO
    other_income: Decimal = ZERO
    deductions: Decimal = ZERO
    extra_withholding: Decimal = ZERO
    exempt: bool = False
    pre_2020: Pre2020Certificate | None = None
    nonresident_alien: bool = False
    """Whether the form says so below Step 4(c): then the wages used to read the tables are increased."""


CertificateValue = str | int | bool | None
"""The values of a state certificate: choices as text, counts and cents as whole numbers, flags as bools."""

StateCertificate = Mapping[str, CertificateValue]


CertificateKind = Literal["choice", "count", "money", "flag", "text", "refused"]
"""``refused``: an entry of the form that isn't supported here; its note says why and what to do."""

CERTIFICATE_KINDS = ("choice", "count", "money", "flag", "text", "refused")


@dataclass(frozen=True, slots=True)
class CertificateField:
    """One entry of a state's withholding certificate."""

    name: str
    kind: CertificateKind
    default: CertificateValue
    choices: Mapping[str, str]
    """For a choice: accepted spelling (the state's value or a common alias) → the state's value."""

    note: str
    names: Mapping[str, str] = field(default_factory=dict)
    """For a choice: names of places and of choices, normalized by `plain_name` → the state's value."""


COMMON_FIELDS = (
    CertificateField("elected", "flag", None, {}, "withholding agreed between employee and household"),
    CertificateField("exempt", "flag", False, {}, "claims exemption from withholding"),
    CertificateField("additional_withholding", "money", 0, {}, "extra amount each pay period"),
    CertificateField(
        "reciprocity_certificate_on_file", "flag", False, {}, "certificate of a reciprocal state's resident"
    ),
)
"""Entries that every state accepts, whatever its form asks for."""


@dataclass(frozen=True, slots=True)
class CertificateForm:
    """The entries of a state's certificate, with their defaults when none is on file."""

    state: str
    form: str
    fields: Mapping[str, CertificateField]
    defaults: StateCertificate = field(default_factory=dict)
    status_field: str | None = None
    """The entry that states the filing status, and the value for a federal status in it."""

    from_federal: Mapping[str, str] = field(default_factory=dict)

    @property
    def known(self) -> tuple[str, ...]:
        """The entries that may be filled in, in alphabetical order."""
        return tuple(sorted(name for name, entry in self.fields.items() if entry.kind != "refused"))

    @property
    def refused(self) -> tuple[CertificateField, ...]:
        """The entries of the form that aren't supported here."""
        return tuple(entry for entry in self.fields.values() if entry.kind == "refused")

    def read(self, entries: Mapping[str, object], path: str = "state") -> StateCertificate:
        """Check ``entries`` against the form and fill in the defaults; amounts become cents.

        Raises `TaxInputError` naming ``path``.``entry`` for an unknown entry or an impossible value.
        """
        if not entries:
            return self.defaults
        certificate = dict(self.defaults)
        for name, value in entries.items():
            entry = self.fields.get(name)
            if entry is None:
                known = ", ".join(self.known) or "none"
                raise TaxInputError(
                    f"{path}.{name}",
                    f"is not an entry of {self.state}'s certificate ({self.form}); known: {known}",
                )
            certificate[name] = entry.default if value is None else _READERS[entry.kind](entry, value, path)
        return certificate


FEDERAL_TAX_TOLD = "federal_income_tax_withheld_this_period"
"""The entry by which a caller gives the federal tax withheld, if a state deducts it."""


def _spelled(value: object) -> str:
    """Return a number as a form spells a choice: a percentage may be given as 0.02."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and Decimal(value).is_finite():
        return f"{Decimal(value):f}"
    return ""


def _read_flag(entry: CertificateField, value: object, path: str) -> bool:
    if isinstance(value, bool):
        return value
    raise TaxInputError(f"{path}.{entry.name}", "must be true or false")


def _read_count(entry: CertificateField, value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TaxInputError(f"{path}.{entry.name}", "must be a whole number")
    if not 0 <= value <= MAX_COUNT:
        raise TaxInputError(f"{path}.{entry.name}", f"must be between 0 and {MAX_COUNT}")
    return value


def _read_money(entry: CertificateField, value: object, path: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise TaxInputError(f"{path}.{entry.name}", "must be an amount of money")
    return to_cents(Decimal(value), path, entry.name)


def _read_choice(entry: CertificateField, value: object, path: str) -> str:
    spelled = value if isinstance(value, str) else _spelled(value)
    chosen = entry.choices.get(spelled) or entry.names.get(plain_name(spelled))
    if chosen is None:
        allowed = ", ".join(sorted(set(entry.choices.values())))
        raise TaxInputError(f"{path}.{entry.name}", f"must be one of {allowed}")
    return chosen


def _read_text(entry: CertificateField, value: object, path: str) -> str:
    if isinstance(value, str) and len(value) <= 100:
        return value
    raise TaxInputError(f"{path}.{entry.name}", "must be a text of at most 100 characters")


def _refuse(entry: CertificateField, value: object, path: str) -> CertificateValue:
    del value
    raise TaxInputError(f"{path}.{entry.name}", entry.note)


_READERS: Mapping[CertificateKind, Callable[[CertificateField, object, str], CertificateValue]] = {
    "flag": _read_flag,
    "count": _read_count,
    "money": _read_money,
    "choice": _read_choice,
    "text": _read_text,
    "refused": _refuse,
}
