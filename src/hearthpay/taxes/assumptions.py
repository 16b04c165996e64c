"""What a paycheck assumes when its input leaves something open, for the household to see and settle.

Nothing here is part of the calculation: `calculate_paycheck` never uses it, so it costs nothing unless requested.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from hearthpay.taxes.certificates import FederalCertificate
from hearthpay.taxes.local import LocalTax, LocalTaxes, MonthlyFee, NotOwed, Unchosen, is_first_payday
from hearthpay.taxes.message_texts import MessageCode
from hearthpay.taxes.messages import DollarAmount, Message, message, of_rule
from hearthpay.taxes.money import from_cents, to_cents
from hearthpay.taxes.paycheck import PaycheckInput, is_withheld
from hearthpay.taxes.rulebook import rulebook_for
from hearthpay.taxes.state import StateRules


class Assumption(NamedTuple):
    """One assumption: a stable ``code`` for programs, a plain sentence for people."""

    code: str
    message: str
    coded_message: Message
    """The assumption with its parameters, to say it in another language."""


def assumption(coded_message: Message) -> Assumption:
    """Return a message as an assumption."""
    return Assumption(coded_message.code, coded_message.text, coded_message)


@functools.cache
def _not_chosen(code: str, text: str) -> Assumption:
    """Return the assumption of a rule file about a place that is not chosen."""
    return assumption(of_rule(cast("MessageCode", code), text))


def assumptions_of(paycheck_input: PaycheckInput, *, city: str | None = None) -> tuple[Assumption, ...]:
    """Return what `calculate_paycheck` assumes about an input that it can calculate; usually nothing.

    The codes: ``county_not_chosen``, ``county_rate_assumed``, ``municipality_not_chosen`` and ``city_not_chosen`` if
    the state has such a tax and neither a locality nor the certificate names the place (a rule file's ``unchosen``);
    ``home_locality_not_withheld`` under a reciprocity agreement; ``month_taken_from_first_payday`` and
    ``month_without_first_payday`` for a tax of the calendar month. With ``city``, the place of residence as in an
    address: ``city_tax_voluntary``, ``city_tax_not_owed`` and ``city_tax_unknown`` if naming it withholds nothing.
    Whether the period's length fits is checked by `hearthpay.taxes.pay_periods.check_period`.

    Raises `TaxInputError` for a year without rules or an unknown state.
    """
    request = paycheck_input
    rules = rulebook_for(request.pay_date).state(request.work_state)
    taxes = rules.local_taxes
    found: list[Assumption] = []
    if city is not None:
        found += _about_city(request, rules, city)
    home = _home(request, rules) if request.residence_state else None
    for unchosen in taxes.unchosen:
        if (
            # A named city has already been covered, unlike a county.
            not (city is not None and unchosen.cities)
            and not _settled(unchosen, request.state, request.localities, taxes)
            and _matters(unchosen, rules, request.federal, request.state)
            # Under an agreement the state's line is that of the state of residence.
            and not (home is not None and unchosen.goes_with == "state_line")
        ):
            found.append(_not_chosen(unchosen.code, unchosen.message))
    if home is not None:
        found += _at_home(request, home)
    if request.localities and taxes.by_month:
        found += _of_the_month(request, taxes)
    return tuple(dict.fromkeys(found)) if found else ()


def _settled(
    unchosen: Unchosen, entries: Mapping[str, object], localities: tuple[str, ...], taxes: LocalTaxes
) -> bool:
    """Return whether an entry of the certificate or a locality says which place it is, or that it is none."""
    for field in unchosen.certificate_fields:
        if entries.get(field) is not None:
            return True
    if not unchosen.groups:
        return bool(localities)
    return any(
        isinstance(place := taxes.named(name), LocalTax) and place.group in unchosen.groups
        for name in localities
    )


def _matters(
    unchosen: Unchosen, rules: StateRules, federal: FederalCertificate, entries: Mapping[str, object]
) -> bool:
    """Return whether anything depends on the place: the certificate's flag is set, the state's tax withheld."""
    tax = rules.income_tax
    if unchosen.only_if is not None and tax is not None:
        flag = entries.get(unchosen.only_if)
        if not (tax.form.defaults[unchosen.only_if] if flag is None else flag):
            return False
    return unchosen.goes_with == "nothing" or (tax is not None and is_withheld(tax, federal, entries))


def _home(request: PaycheckInput, rules: StateRules) -> StateRules | None:
    """Return the state of residence if an agreement moves the income tax there."""
    if not request.residence_state or not request.state.get("reciprocity_certificate_on_file"):
        return None
    residence = request.residence_state.strip().upper()
    if residence not in rules.reciprocity:
        return None
    home = rulebook_for(request.pay_date).state(residence, "residence_state")
    return home if home.income_tax is not None else None


def _at_home(request: PaycheckInput, home: StateRules) -> Iterator[Assumption]:
    """Yield the assumptions if an agreement moves the state's tax, but no local tax, to the state of residence."""
    taxes = home.local_taxes
    for unchosen in taxes.unchosen:
        if not _matters(unchosen, home, request.federal, request.residence):
            continue
        if unchosen.goes_with == "state_line" and not _settled(unchosen, request.residence, (), taxes):
            yield _not_chosen(unchosen.code, unchosen.message)
        elif unchosen.goes_with == "state_tax":
            text = (
                f"Income tax is withheld for {home.name}, where the employee lives, but not that of a county or city "
                f"there: the employee settles it with the return."
            )
            yield assumption(message("home_locality_not_withheld", text=text, state=home.name))


def _about_city(request: PaycheckInput, rules: StateRules, city: str) -> Iterator[Assumption]:
    """Yield why naming a city of residence withholds nothing there."""
    taxes = rules.local_taxes
    found = taxes.named(city)
    if isinstance(found, NotOwed):
        reason = of_rule("city_tax_not_owed", found.reason, "reason", city=city, tax=found.name)
        yield assumption(
            Message(
                reason.code, (("text", f"{city}: no {found.name} is owed. {found.reason}"), *reason.params)
            )
        )
    elif isinstance(found, LocalTax):
        certificate = rules.income_tax.form.read(request.state) if rules.income_tax is not None else {}
        _, chosen = taxes.choose(request.localities, certificate, request.pay_date)
        if found.household == "voluntary" and found.locality not in {tax.locality for tax in chosen}:
            text = (
                f"{city}: the {found.name} ({found.method.describe()}) is not withheld, for a household need not; "
                f"the employee settles it with the city. The locality {found.locality} withholds it."
            )
            yield assumption(
                message(
                    "city_tax_voluntary",
                    text=text,
                    city=city,
                    line=found.code,
                    tax=found.name,
                    locality=found.locality,
                )
            )
    elif found is None and any(
        unchosen.cities == "some"
        and not _settled(unchosen, request.state, request.localities, taxes)
        and _matters(unchosen, rules, request.federal, request.state)
        for unchosen in taxes.unchosen
    ):
        text = (
            f"{city} is none of the places in {rules.name} whose payroll tax is known here: nothing is withheld for "
            f"it. Whether it has one, its tax office says."
        )
        yield assumption(message("city_tax_unknown", text=text, city=city, state=rules.name))


def _of_the_month(request: PaycheckInput, taxes: LocalTaxes) -> Iterator[Assumption]:
    """Yield what one payday of a month assumes about the month, if that payday alone doesn't settle it."""
    wages = to_cents(request.regular_wages, "regular_wages") + to_cents(
        request.supplemental_wages, "supplemental_wages"
    )
    _, chosen = taxes.choose(request.localities, {}, request.pay_date)
    for tax in chosen:
        if not isinstance(tax.method, MonthlyFee):
            continue
        if is_first_payday(request.pay_date, request.pay_frequency):
            if wages < tax.method.minimum:
                text = (
                    f"{tax.name}: it is owed for a month with wages of {from_cents(tax.method.minimum):,} or more, and "
                    f"the pay of this first payday stands for the month's. Check a month of uneven work."
                )
                yield _about_month("month_taken_from_first_payday", text, tax, tax.method)
        elif not request.ytd_tax.get(tax.code):
            text = (
                f"{tax.name}: it is taken on a month's first payday, and this is a later one. Where work began in the "
                f"month and its wages reach {from_cents(tax.method.minimum):,}, the month's tax is still owed."
            )
            yield _about_month("month_without_first_payday", text, tax, tax.method)


def _about_month(code: MessageCode, text: str, tax: LocalTax, fee: MonthlyFee) -> Assumption:
    # The same for employee and household, so that it is shown once.
    place = tax.locality.replace("-", " ").title()
    return assumption(message(code, text=text, place=place, amount=DollarAmount(fee.minimum)))
