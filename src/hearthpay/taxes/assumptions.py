"""What a paycheck takes for granted where its input left something open, for the household to see and settle.

Nothing here is part of the calculation: `calculate_paycheck` never asks, and who does not ask pays nothing for it.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.local import CertificatePlace, LocalTax, MonthlyFee, NotOwed, Unchosen, is_first_payday
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.paycheck import PaycheckInput, is_withheld
from hearthpay.taxes.rulebook import rulebook_for
from hearthpay.taxes.state import StateRules


class Assumption(NamedTuple):
    """One thing taken for granted: a stable ``code`` for programs, a plain sentence for people."""

    code: str
    message: str


class _Place(NamedTuple):
    """A state whose local taxes an employee may bear, and what is known of the employee there."""

    rules: StateRules
    #: The entries that the employee's certificate states.
    stated: frozenset[str]
    certificate: StateCertificate
    chosen: tuple[LocalTax | CertificatePlace, ...]
    #: Whether the state's tax is withheld, and whether it is the tax on the paycheck's state line.
    withheld: bool
    on_line: bool


def assumptions_of(paycheck_input: PaycheckInput, *, city: str | None = None) -> tuple[Assumption, ...]:
    """Return what `calculate_paycheck` takes for granted about this input; mostly nothing.

    The codes: ``county_not_chosen``, ``county_rate_assumed``, ``municipality_not_chosen`` and ``city_not_chosen``
    where the state has such a tax and neither a locality nor the certificate says which (a rule file's ``unchosen``);
    ``home_locality_not_withheld`` under a reciprocity agreement; ``month_taken_from_first_payday`` and
    ``month_without_first_payday`` for a tax of the calendar month. With ``city``, the place of residence as an
    address names it: ``city_tax_voluntary``, ``city_tax_not_owed`` and ``city_tax_unknown`` where naming it
    withholds nothing. Whether the period's length fits is `hearthpay.taxes.pay_periods.check_period`'s to say.

    Raises `TaxInputError` as `calculate_paycheck` does for localities and certificates that cannot be.
    """
    rules = rulebook_for(paycheck_input.pay_date).state(paycheck_input.work_state)
    tax = rules.income_tax
    certificate = tax.form.read(paycheck_input.state) if tax is not None else {}
    localities = paycheck_input.localities
    certificate, taxes = rules.local_taxes.choose(localities, certificate, paycheck_input.pay_date)
    home = _home(paycheck_input, rules, certificate)
    work = _Place(
        rules,
        _stated(paycheck_input.state),
        certificate,
        tuple(rules.local_taxes.find(name, f"localities[{i}]") for i, name in enumerate(localities)),
        withheld=tax is not None and is_withheld(tax, paycheck_input.federal, certificate),
        on_line=home is None,
    )
    found = [*_about_city(work, city)] if city is not None else []
    found += _unchosen(work, city_said=city is not None)
    if home is not None:
        found += _at_home(paycheck_input, home)
    found += _of_the_month(paycheck_input, taxes)
    return tuple(dict.fromkeys(found))


def _stated(entries: Mapping[str, object]) -> frozenset[str]:
    return frozenset(name for name, value in entries.items() if value is not None)


def _home(request: PaycheckInput, rules: StateRules, certificate: StateCertificate) -> StateRules | None:
    """Return the state of residence where an agreement moves the income tax there."""
    if not request.residence_state or not certificate.get("reciprocity_certificate_on_file"):
        return None
    residence = request.residence_state.strip().upper()
    if residence not in rules.reciprocity:
        return None
    home = rulebook_for(request.pay_date).state(residence, "residence_state")
    return home if home.income_tax is not None else None


def _unchosen(place: _Place, *, city_said: bool) -> Iterator[Assumption]:
    """Yield what is assumed of a place that nobody named; a city that was named has had its say."""
    for unchosen in place.rules.local_taxes.unchosen:
        if city_said and unchosen.cities:
            continue
        if _matters(unchosen, place) and not _settled(unchosen, place):
            yield Assumption(unchosen.code, unchosen.message)


def _matters(unchosen: Unchosen, place: _Place) -> bool:
    if unchosen.only_if is not None and not place.certificate.get(unchosen.only_if):
        return False
    match unchosen.goes_with:
        case "state_line":
            return place.withheld and place.on_line
        case "state_tax":
            return place.withheld
        case _:
            return True


def _settled(unchosen: Unchosen, place: _Place) -> bool:
    if place.stated.intersection(unchosen.certificate_fields):
        return True
    if not unchosen.groups:
        return bool(place.chosen)
    return any(isinstance(entry, LocalTax) and entry.group in unchosen.groups for entry in place.chosen)


def _at_home(request: PaycheckInput, home: StateRules) -> Iterator[Assumption]:
    """Yield what is assumed where an agreement moves the state's tax, but no local tax, to the state of residence."""
    tax = home.income_tax
    if tax is None:
        return
    certificate = tax.form.read(request.residence, "residence")
    withheld = is_withheld(tax, request.federal, certificate)
    place = _Place(home, _stated(request.residence), certificate, (), withheld=withheld, on_line=True)
    for unchosen in home.local_taxes.unchosen:
        if not _matters(unchosen, place):
            continue
        if unchosen.goes_with == "state_line" and not _settled(unchosen, place):
            yield Assumption(unchosen.code, unchosen.message)
        elif unchosen.goes_with == "state_tax":
            yield Assumption(
                "home_locality_not_withheld",
                f"Income tax is withheld for {home.name}, where the employee lives, but not that of a county or city "
                f"there: the employee settles it with the return.",
            )


def _about_city(place: _Place, city: str) -> Iterator[Assumption]:
    """Yield why naming a city of residence withholds nothing there."""
    taxes = place.rules.local_taxes
    found = taxes.named(city)
    if isinstance(found, NotOwed):
        yield Assumption("city_tax_not_owed", f"{city}: no {found.name} is owed. {found.reason}")
    elif isinstance(found, LocalTax):
        chosen = any(
            isinstance(entry, LocalTax) and entry.locality == found.locality for entry in place.chosen
        )
        if found.household == "voluntary" and not chosen:
            yield Assumption(
                "city_tax_voluntary",
                f"{city}: the {found.name} ({found.method.describe()}) is not withheld, for a household need not; "
                f"the employee settles it with the city. The locality {found.locality} withholds it.",
            )
    elif found is None and any(unchosen.cities == "some" for unchosen in taxes.unchosen) and not place.chosen:
        yield Assumption(
            "city_tax_unknown",
            f"{city} is none of the places in {place.rules.name} whose payroll tax is known here: nothing is "
            f"withheld for it. Whether it has one, its tax office says.",
        )


def _of_the_month(request: PaycheckInput, taxes: list[LocalTax]) -> Iterator[Assumption]:
    """Yield what is assumed of a month by one of its paydays, where that payday alone does not settle it."""
    wages = to_cents(request.regular_wages, "regular_wages") + to_cents(
        request.supplemental_wages, "supplemental_wages"
    )
    for tax in taxes:
        if not isinstance(tax.method, MonthlyFee):
            continue
        if is_first_payday(request.pay_date, request.pay_frequency):
            if wages < tax.method.minimum:
                yield Assumption(
                    "month_taken_from_first_payday",
                    f"{tax.name}: it is owed for a month with wages of {from_cents(tax.method.minimum):,} or more, and "
                    f"the pay of this first payday stands for the month's. Check a month of uneven work.",
                )
        elif not request.ytd_tax.get(tax.code):
            yield Assumption(
                "month_without_first_payday",
                f"{tax.name}: it is taken on a month's first payday, and this is a later one. Where work began in the "
                f"month and its wages reach {from_cents(tax.method.minimum):,}, the month's tax is still owed.",
            )
