"""The local lines of a paycheck."""

from hearthpay.taxes.certificates import StateCertificate
from hearthpay.taxes.local import LocalPay, LocalTax
from hearthpay.taxes.messages import of_rule
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.other_pay import CountedPay
from hearthpay.taxes.paycheck.request import PaycheckInput
from hearthpay.taxes.withholding import PeriodPay
from hearthpay.taxes.year import Year


def add_local_taxes(
    lines: Lines,
    request: PaycheckInput,
    year: Year | None,
    taxes: list[LocalTax],
    certificate: StateCertificate,
    pay: PeriodPay,
    flat: int,
    state_tax: int | None,
    counted: CountedPay,
) -> None:
    """Append the local taxes of the work state; ``state_tax`` is None if no state tax was agreed on.

    ``flat`` is the part of the pay, in cents, that bears a flat rate on supplemental wages where there is one.
    """
    for tax in taxes:
        trace = lines.trace()
        amount = taxable = 0
        if state_tax is not None or tax.household != "follows_state":
            before = year.tax(tax.code) if year is not None else None
            if before is not None and counted.taxes:
                before -= counted.taxes.get(tax.code, 0)
            local = LocalPay(pay, request.pay_date, flat, state_tax or 0, before)
            amount = tax.withhold(local, certificate, trace)
            taxable = pay.wages
        elif trace is not None:
            trace.text("nothing is withheld", "it goes with the state's tax, which is not withheld")
        lines.add(tax.heading, pay.wages, taxable, None, amount)
        if tax.confidence == "low":
            lines.limitations.append(
                of_rule(
                    "figures_not_verified",
                    tax.note or "the figures could not be fully verified.",
                    "note",
                    line=tax.code,
                )
            )
        if trace is not None:
            trace.cents("tax of the period", amount)
            lines.explain(tax.code, trace, tax.sources, tax.confidence, tax.note)
