"""What earlier paychecks of the year left untaxed, or taxed too much, to the cent: FUTA at 0.6 percent of $7,000."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck

D = Decimal
CODE = "US-FUTA"


@pytest.mark.parametrize(
    ("subject", "taxed", "tax", "amount"),
    [
        # $100.91 are missing, of which the tax is 60.546 cents; of $100.41 it is 60.246 cents.
        ("200.91", "100.00", "0.60", "0.61"),
        ("200.41", "100.00", "0.60", "0.60"),
        # The tax of what was taxed isn't told, so it was at this rate, and so is what comes back.
        ("200.91", "100.00", None, "0.61"),
        ("200.41", "100.00", None, "0.60"),
        ("100.00", "200.91", None, "-0.61"),
        ("100.00", "200.41", None, "-0.60"),
        # $7,000 were taxed at 1.2 percent and $500 are due: $78 of $84 come back, whatever the rate is now.
        ("500.00", "7000.00", "84.00", "-78.00"),
        # What stays is 500 of 7,000 parts of $84.06, 600.4 cents, and of $84.07, 600.5 cents.
        ("500.00", "7000.00", "84.06", "-78.06"),
        ("500.00", "7000.00", "84.07", "-78.06"),
        # Nothing was taxed, but a tax was withheld: it counts toward what is due.
        ("500.00", "0.00", "1.00", "2.00"),
        # All of the year's wages that can be taxed are due: the year ends at exactly $42.
        ("8000.00", "6999.00", "41.00", "1.00"),
    ],
)
def test_what_earlier_wages_lack(subject: str, taxed: str, tax: str | None, amount: str) -> None:
    paycheck = calculate_paycheck(
        PaycheckInput(
            pay_date=datetime.date(2026, 10, 2),
            pay_frequency="weekly",
            regular_wages=D(0),
            work_state="TX",
            federal=FederalCertificate(elected=False),
            ytd={CODE: D(taxed)},
            ytd_subject={CODE: D(subject)},
            ytd_tax={} if tax is None else {CODE: D(tax)},
        )
    )
    [line] = [each for each in paycheck.lines if each.code == CODE]
    assert (line.taxable_wages, line.amount) == (min(D(subject), D(7000)) - D(taxed), D(amount))
