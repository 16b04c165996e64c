"""The federal income tax lines of a paycheck: by the certificate, and at the flat rate on supplemental wages."""

from hearthpay.taxes.federal import FederalIncomeTax
from hearthpay.taxes.money import to_cents
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.paycheck.supplemental_wages import is_flat
from hearthpay.taxes.trace import Trace
from hearthpay.taxes.year import Year


def add_federal_income_tax(
    lines: Lines,
    request: PaycheckInput,
    tax: FederalIncomeTax,
    year: Year | None,
    regular: int,
    supplemental: int,
) -> None:
    """Append the withholding on regular and supplemental wages (cents).

    They include those of other pay that is counted together with the paycheck.
    """
    certificate = request.federal
    withheld = certificate.elected and not certificate.exempt
    trace = lines.trace()
    subject = regular + supplemental
    flat = over_limit = amount = 0
    if withheld:
        if supplemental:
            earlier = year.taxable(tax.supplemental_code) if year is not None else 0
            over_limit = min(supplemental, max(0, earlier + supplemental - tax.supplemental_limit))
            flat = supplemental if is_flat(request, tax.code, tax.supplemental_code) else over_limit
            subject -= flat
        # The entries of step 4 are for each pay period, so they apply to regular wages. Supplemental wages
        # paid separately are taxed only at the flat rate (Publication 15, section 7).
        if subject or not flat:
            amount = _by_certificate(request, tax, subject, trace)
        elif trace is not None:
            trace.text("nothing by the certificate", "supplemental wages paid apart bear the flat rate alone")
    elif trace is not None:
        exempt = "the certificate claims exemption"
        trace.text(
            "nothing is withheld",
            exempt if certificate.exempt else "employee and household did not agree",
        )
    lines.add(tax.heading, subject, subject if withheld else 0, None, amount)
    if trace is not None:
        trace.cents("tax of the period", amount)
        lines.explain(tax.code, trace, tax.sources, tax.confidence, "Publication 15-T, Worksheet 1A")
    if flat:
        _add_flat(lines, tax, flat, over_limit)


def tax_on_regular_wages(request: PaycheckInput, tax: FederalIncomeTax, regular: int) -> int:
    """Return the tax in cents on regular wages alone, as a state needs it that deducts it; 0 if none is withheld."""
    certificate = request.federal
    if not certificate.elected or certificate.exempt or not regular:
        return 0
    return _by_certificate(request, tax, regular, None)


def _by_certificate(request: PaycheckInput, tax: FederalIncomeTax, wages: int, trace: Trace | None) -> int:
    """Return the tax on wages of the period with the extra withholding that the certificate requests."""
    certificate = request.federal
    amount = tax.withhold(wages, request.pay_frequency, certificate, trace)
    if certificate.extra_withholding:
        extra = to_cents(certificate.extra_withholding, "federal.extra_withholding")
        if trace is not None:
            trace.cents("extra withholding (4a)", extra)
        amount += extra
    return amount


def _add_flat(lines: Lines, tax: FederalIncomeTax, flat: int, over_limit: int) -> None:
    """Append the flat-rate line of supplemental wages, of which ``over_limit`` exceed the year's limit."""
    rate = None if over_limit else tax.supplemental_rate
    lines.add(tax.supplemental_heading, flat, flat, rate, tax.supplemental(flat, over_limit))
    trace = lines.trace()
    if trace is not None:
        trace.cents("supplemental wages at the flat rate", flat - over_limit)
        trace.rate("flat rate", tax.supplemental_rate)
        trace.cents("supplemental wages above the yearly limit", over_limit)
        trace.rate("rate above the limit", tax.supplemental_rate_over_limit)
        note = "Publication 15-T, supplemental wages"
        lines.explain(tax.supplemental_code, trace, tax.sources, tax.confidence, note)
