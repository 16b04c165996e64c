"""The local taxes of a state, and which of them apply to an employee."""

import datetime
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from hearthpay.taxes.certificates import CertificateValue, StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.local.methods import MonthlyFee
from hearthpay.taxes.local.places import CertificatePlace, NotOwed, Unchosen
from hearthpay.taxes.local.tax import LocalTax
from hearthpay.taxes.place_names import plain_name


def _stated(certificate: StateCertificate, fields: tuple[str, ...]) -> CertificateValue:
    """Return the first of the entries that is filled in."""
    for field in fields:
        value = certificate.get(field)
        if value is not None and value is not False and value != "none":
            return value
    return None


def _with_city_of_work(taxes: list[LocalTax]) -> list[LocalTax]:
    """Return an employee's taxes, with that of the city of residence reduced by that of the city of work."""
    at_home = [tax.locality for tax in taxes if tax.less_city_of_work]
    if len(at_home) > 1:
        raise TaxInputError(
            "localities", f"{at_home[0]} and {at_home[1]} tax residents, and an employee lives in one of them"
        )
    return [tax.lowered_by(taxes) if tax.less_city_of_work else tax for tax in taxes]


class LocalTaxes:
    """The local taxes of a state for a year, found by name or by the entries of the state's certificate."""

    def __init__(
        self,
        state: str,
        taxes: tuple[LocalTax, ...] = (),
        places: tuple[CertificatePlace, ...] = (),
        not_owed: tuple[NotOwed, ...] = (),
        unchosen: tuple[Unchosen, ...] = (),
        finality: Mapping[str, Finality] = MappingProxyType({}),
    ) -> None:
        self.state = state
        self.taxes = taxes
        self.places = places
        self.not_owed = not_owed
        self.unchosen = unchosen
        self.finality = finality
        self._by_name: dict[str, LocalTax | CertificatePlace | NotOwed] = {}
        #: Locality → positions of its taxes: versions, and the employer's in addition to the employee's.
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
        self._by_plain_name = {plain_name(name): entry for name, entry in reversed(self._by_name.items())}
        self._by_certificate = tuple(chosen.items())
        #: True if a tax applies to calendar months.
        self.by_month = any(isinstance(tax.method, MonthlyFee) for tax in taxes)
        #: Entries of the certificate by which a place may be chosen.
        self.certificate_fields = frozenset(
            [*(field for fields in chosen for field in fields), *(place.field for place in places)]
        )
        #: True if the certificate alone may choose a tax.
        self.on_certificate = bool(chosen)

    def __iter__(self) -> Iterator[LocalTax]:
        """Iterate over the taxes in the order of the rule file."""
        return iter(self.taxes)

    def __len__(self) -> int:
        """Return how many taxes there are."""
        return len(self.taxes)

    def find(self, name: str, field: str) -> LocalTax | CertificatePlace:
        """Return the tax or place that ``name`` (code or alias, in any case and punctuation) refers to; of several
        versions any.

        Raises `TaxInputError` naming ``field`` for a name that isn't a locality of the state, or one whose payroll
        tax a household doesn't owe.
        """
        found = self.named(name)
        if found is None:
            known = ", ".join(dict.fromkeys([*self._positions, *(place.locality for place in self.places)]))
            raise TaxInputError(
                field, f"{name!r} is not a locality with a payroll tax here; known: {known or 'none'}"
            )
        if isinstance(found, NotOwed):
            raise TaxInputError(field, f"nothing is owed: {found.name}. {found.reason}")
        return found

    def due_at(self, city: str) -> tuple[str, ...]:
        """Return the locality of a place of residence, unless its tax is voluntary; usually none."""
        found = self.named(city)
        if isinstance(found, LocalTax) and found.household != "voluntary":
            return (found.locality,)
        return ()

    def named(self, name: str) -> LocalTax | CertificatePlace | NotOwed | None:
        """Return what a place's name refers to, in any case and punctuation; None for an unknown place."""
        return self._by_name.get(name) or self._by_plain_name.get(plain_name(name))

    def choose(
        self, names: tuple[str, ...], certificate: StateCertificate, day: datetime.date
    ) -> tuple[StateCertificate, list[LocalTax]]:
        """Return the certificate with chosen places filled in, and the taxes in force for an employee.

        A named locality takes precedence over another of its group that the certificate chooses. Raises
        `TaxInputError` naming ``localities[i]`` for an unknown place, or one that excludes another.
        """
        positions: set[int] = set()
        for index, name in enumerate(names):
            # The stored code needs no message; any other spelling is looked up.
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
        """Return whether a named locality replaces the one that the certificate chooses."""
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
