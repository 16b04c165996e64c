"""The state's income tax line of a paycheck, followed by the local lines: which state's tax, and whether it is
withheld.
"""

from collections.abc import Mapping

from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD, FederalCertificate, StateCertificate
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.local import LocalTax
from hearthpay.taxes.messages import message
from hearthpay.taxes.money import RATE_SCALE
from hearthpay.taxes.paycheck.federal_income_tax import tax_on_regular_wages
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.local_taxes import add_local_taxes
from hearthpay.taxes.paycheck.other_pay import CountedPay
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.paycheck.supplemental_wages import is_local_flat, is_state_flat
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import Rulebook
from hearthpay.taxes.state import ReciprocityRule, StateIncomeTax, StateRules, WithholdingVersion
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.year import Year


def add_state_and_local_income_tax(
    lines: Lines,
    request: PaycheckInput,
    rulebook: Rulebook,
    rules: StateRules,
    year: Year | None,
    pay: PeriodPay,
    supplemental: int,
    counted: CountedPay,
) -> ReciprocityRule | None:
    """Append the state and local income tax; return the reciprocity agreement if one applies.

    ``supplemental`` is the part of the pay, in cents, that is supplemental wages. The pay includes what is ``counted``
    with the paycheck.
    """
    own_certificate, local = _certificate_of_work(request, rules)
    tax, certificate, agreement = rules.income_tax, own_certificate, None
    if request.residence_state and request.residence_state != rules.state:
        tax, certificate, agreement = _by_residence(lines, request, rulebook, rules, own_certificate)
    #: None if the state's tax isn't withheld.
    state_tax: int | None = None
    if tax is not None:
        withheld = is_withheld(tax, request.federal, certificate)
        regular_tax = 0
        if supplemental and is_state_flat(request, tax):
            regular_tax = tax_on_regular_wages(request, rulebook.income_tax, pay.wages - supplemental)
        state_tax = _add_state_tax(lines, request, tax, certificate, withheld, pay, supplemental, regular_tax)
    if local:
        if tax is not None and rules.income_tax is not None and tax is not rules.income_tax:
            # A reciprocity agreement removes only the work state's own tax, not the local taxes there.
            agreed = is_withheld(rules.income_tax, request.federal, own_certificate)
            state_tax = 0 if agreed else None
        flat = is_local_flat(request, rules.income_tax)
        add_local_taxes(
            lines,
            request,
            year,
            local,
            own_certificate,
            pay,
            supplemental if flat else 0,
            state_tax,
            counted,
        )
    return agreement


def taxes_supplemental_apart(request: PaycheckInput, rulebook: Rulebook, rules: StateRules) -> bool:
    """Return whether supplemental wages bear flat rates alone in the states that may tax them."""
    home = request.residence_state
    if home and home.strip().upper() != rules.state:
        at_home = rulebook.state(home, "residence_state").income_tax
        if not is_local_flat(request, at_home):
            return False
    return is_local_flat(request, rules.income_tax)


def is_withheld(tax: StateIncomeTax, federal: FederalCertificate, certificate: Mapping[str, object]) -> bool:
    """Return whether the state's tax is withheld: its household rule first, then what was agreed."""
    if certificate.get("exempt"):
        return False
    household = tax.household
    if household == "required":
        return True
    if household == "prohibited":
        return False
    if household == "follows_federal" and federal.elected:
        return True
    elected = certificate.get("elected")
    return federal.elected if elected is None else bool(elected)


def _certificate_of_work(
    request: PaycheckInput, rules: StateRules
) -> tuple[StateCertificate, list[LocalTax]]:
    """Return the work state's certificate, and the local taxes that it or the localities choose."""
    certificate: StateCertificate = {}
    if rules.income_tax is not None:
        certificate = rules.income_tax.form.read(request.state)
    elif request.state:
        _refuse_entries(request.state, rules)
    if request.localities or (request.state and rules.local_taxes.on_certificate):
        return rules.local_taxes.choose(request.localities, certificate, request.pay_date)
    return certificate, []


def _refuse_entries(entries: Mapping[str, object], rules: StateRules) -> None:
    """Refuse certificate entries in a state without income tax, except those that request nothing."""
    for name, value in entries.items():
        if name in ("elected", "exempt", "reciprocity_certificate_on_file") and isinstance(value, bool):
            continue
        raise TaxInputError(f"state.{name}", f"{rules.name} has no income tax and no certificate")


def _by_residence(
    lines: Lines,
    request: PaycheckInput,
    rulebook: Rulebook,
    rules: StateRules,
    certificate: StateCertificate,
) -> tuple[StateIncomeTax | None, StateCertificate, ReciprocityRule | None]:
    """Return whose tax is withheld from an employee with a given residence, and by which certificate and agreement."""
    residence = (request.residence_state or "").strip().upper()
    if residence == rules.state:
        return rules.income_tax, certificate, None
    home = rulebook.state(residence, "residence_state")
    agreement: ReciprocityRule | None = None
    if certificate.get("reciprocity_certificate_on_file"):
        agreement = rules.reciprocity.get(residence)
        if agreement is None:
            raise TaxInputError(
                "state.reciprocity_certificate_on_file",
                f"{rules.state} has no reciprocity agreement with {residence}",
            )
    if home.income_tax is None:
        return rules.income_tax, certificate, agreement
    if agreement is not None:
        return home.income_tax, home.income_tax.form.read(request.residence, "residence"), agreement
    lines.limitations.append(message("other_state_not_withheld", home=home.name, state=rules.name))
    return rules.income_tax, certificate, None


def _add_state_tax(
    lines: Lines,
    request: PaycheckInput,
    tax: StateIncomeTax,
    certificate: StateCertificate,
    withheld: bool,
    pay: PeriodPay,
    supplemental: int,
    federal_tax_on_regular: int,
) -> int | None:
    """Append the state's line; return its tax on regular pay in cents, None if it isn't withheld."""
    version = tax.version(request.pay_date, request.period_start, request.period_end)
    trace = lines.trace()
    amount = 0
    regular_tax: int | None = None
    if withheld:
        told = certificate.get(FEDERAL_TAX_TOLD)
        if told is not None:
            pay = pay._replace(federal_income_tax=int(told))
        # As with the federal tax: what the certificate requests for each pay period isn't withheld a second
        # time.
        apart = False
        if is_state_flat(request, tax):
            apart = pay.wages == supplemental
            # Separately: regular pay with the federal tax on regular pay, the bonus with its flat rate.
            federal_tax = federal_tax_on_regular if told is None else int(told)
            regular_tax, amount = _with_flat_part(
                version, pay, federal_tax, certificate, supplemental, apart, trace
            )
        else:
            regular_tax = amount = version.method.withhold(pay, certificate, trace)
        extra = 0 if apart else certificate.get("additional_withholding")
        if extra:
            if trace is not None:
                trace.cents("additional withholding", int(extra))
            amount += int(extra)
    elif trace is not None:
        trace.text("nothing is withheld", f"household rule: {tax.household}; {tax.household_note}")
    lines.add(tax.heading, pay.wages, pay.wages if withheld else 0, None, amount)
    if version.confidence == "low":
        lines.limitations.append(
            message("figures_of_version_not_verified", line=tax.code, day=version.effective_from)
        )
    if trace is not None:
        trace.text("version effective from", version.effective_from)
        trace.cents("tax of the period", amount)
        lines.explain(tax.code, trace, version.sources, version.confidence, version.note)
    return regular_tax


def _with_flat_part(
    version: WithholdingVersion,
    pay: PeriodPay,
    federal_tax_on_regular: int,
    certificate: StateCertificate,
    supplemental: int,
    apart: bool,
    trace: Trace | None,
) -> tuple[int, int]:
    """Return the tax on regular pay, and that plus the flat-rate tax on supplemental pay, if the state has one."""
    rate = version.supplemental_rate
    if not supplemental or rate is None:
        tax = version.method.withhold(pay, certificate, trace)
        return tax, tax
    tax = 0
    if not apart:
        regular_pay = pay._replace(wages=pay.wages - supplemental, federal_income_tax=federal_tax_on_regular)
        tax = version.method.withhold(regular_pay, certificate, trace)
    if trace is not None:
        trace.cents("supplemental wages at the flat rate", supplemental)
        trace.rate("flat supplemental rate", rate)
    return tax, tax + half_up(supplemental * rate, RATE_SCALE)
