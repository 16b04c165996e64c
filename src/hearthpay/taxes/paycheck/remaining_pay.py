"""Limits set by the remaining pay: income tax that exceeds it is cut, and earlier wages are corrected from it."""

from hearthpay.taxes.messages import message
from hearthpay.taxes.paycheck.lines import Lines
from hearthpay.taxes.paycheck.result import Correction


def limit_to_pay(lines: Lines, gross: int, income_taxes: int) -> None:
    """Cut income tax withholding, the first ``income_taxes`` lines, to the pay that is left: net pay is never
    negative.

    Local and state tax are cut first, then the federal tax by certificate, last the flat tax on supplemental pay.

    Extra withholding or other income on a certificate can ask for more than a short period's pay. Contributions come
    first, and the employee settles what can't be withheld with the return.
    """
    withheld = [place for place in range(income_taxes) if lines.entries[place].payer == "employee"]
    federal = [place for place in withheld if lines.entries[place].code.startswith("US-")]
    elsewhere = [place for place in withheld if not lines.entries[place].code.startswith("US-")]
    for position in (*reversed(elsewhere), *federal):
        cut = max(0, min(lines.entries[position].amount_cents, lines.employee - gross))
        lines.change(position, 0, -cut)
    lines.limitations.append(message("withholding_limited_to_pay"))


def settle_arrears(lines: Lines, gross: int) -> None:
    """Correct the employee's lines: excess withholding is refunded, and missing amounts are deducted from net pay.

    An overcollection that is repaid before the year's return is filed isn't reported, section 31.6413(a)-1(a)(1) of
    the Treasury Regulations; an undercollection is the household's to correct, section 31.6205-1, and what becomes
    due when a threshold is reached is collected from the employee, section 31.3102-1(c). Income tax and the
    paycheck's own contributions come first, and net pay is never negative: the rest is carried to the next paycheck.
    """
    positions = lines.positions()
    for code, missing, owed in sorted(lines.arrears, key=lambda entry: entry[2] > 0):
        position = positions[code]
        line = lines.entries[position]
        charged, taxed = owed, missing
        left = max(0, gross - lines.employee)
        if owed > left:
            charged = left
            taxed = missing * left // owed
        lines.change(position, taxed, charged)
        lines.corrections.append(Correction(code, line.name, line.payer, taxed, charged, owed - charged))
