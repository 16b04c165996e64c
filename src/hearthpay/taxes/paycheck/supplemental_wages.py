"""Which method taxes a paycheck's supplemental wages: the flat rate, or together with regular wages."""

from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.state import StateIncomeTax
from hearthpay.taxes.supplemental_wages import supplemental_rule


def is_flat(request: PaycheckInput, code: str, supplemental_code: str) -> bool:
    """Return whether supplemental wages bear the federal flat rate.

    By rule it is used if income tax was withheld from regular wages this year or last (Treas. Reg. 31.3402(g)-1(a)(7)),
    and for all supplemental wages of a period alike.
    """
    if request.supplemental_method != "by_rule":
        return request.supplemental_method == "flat"
    other = request.other_pay
    if other is not None and other.supplemental_wages:
        return supplemental_code in other.taxes
    return code in request.withheld_before


def is_state_flat(request: PaycheckInput, tax: StateIncomeTax) -> bool:
    """Return whether supplemental wages bear the state's flat rate, in a state that has one."""
    if request.supplemental_method != "by_rule":
        return request.supplemental_method == "flat"
    rule = supplemental_rule(tax.code[:2])
    return rule.method == "flat" and (not rule.needs_withholding or tax.code in request.withheld_before)


def is_local_flat(request: PaycheckInput, state_tax: StateIncomeTax | None) -> bool:
    """Return whether supplemental wages bear the flat rates of local taxes: where they bear the state's."""
    if request.supplemental_method != "by_rule":
        return request.supplemental_method == "flat"
    return state_tax is None or is_state_flat(request, state_tax)
