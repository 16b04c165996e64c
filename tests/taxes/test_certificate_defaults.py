"""What a certificate that was not given, or an entry left empty, means; and deductions that end within a year."""

from datetime import date
from decimal import Decimal

from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck


def state_tax(state: str, wages: str, frequency: str = "weekly", **entries: object) -> Decimal:
    request = PaycheckInput(
        pay_date=date(2026, 6, 5),
        pay_frequency=frequency,
        regular_wages=Decimal(wages),
        work_state=state,
        federal=FederalCertificate(elected=False),
        state={"elected": True, **entries},
    )
    return next(
        line.amount for line in calculate_paycheck(request).lines if line.category == "state_income_tax"
    )


def test_maryland_assumes_one_exemption_where_no_mw507_is_on_file():
    assert state_tax("MD", "1000") == state_tax("MD", "1000", exemptions=1)
    assert state_tax("MD", "1000") < state_tax("MD", "1000", exemptions=0)


def test_colorado_tells_an_allowance_of_zero_from_none_filed():
    filed = state_tax("CO", "1000", dr0004_annual_withholding_allowance=0)
    assert filed == Decimal("44.00")  # 4.4 % of everything
    assert state_tax("CO", "1000") < filed


def test_massachusetts_deducts_two_thousand_dollars_of_fica_a_year():
    def tax(ytd: dict[str, Decimal]) -> Decimal:
        request = PaycheckInput(
            pay_date=date(2026, 6, 5),
            pay_frequency="weekly",
            regular_wages=Decimal(1000),
            work_state="MA",
            federal=FederalCertificate(elected=False),
            state={"elected": True},
            ytd=ytd,
        )
        return next(line.amount for line in calculate_paycheck(request).lines if line.code == "MA-SIT")

    # 1,000 - 76.50 of FICA, at 5 %; once 2,000 are deducted (26,143.79 of wages), the whole 1,000 at 5 %.
    assert tax({}) == Decimal("46.18")
    earlier = Decimal("30000")
    assert tax({"US-SS-EE": earlier, "US-MED-EE": earlier}) == Decimal("50.00")


def test_reciprocity_moves_the_income_tax_to_the_state_of_residence():
    def lines(**entries: object) -> dict[str, Decimal]:
        request = PaycheckInput(
            pay_date=date(2026, 6, 5),
            pay_frequency="weekly",
            regular_wages=Decimal(1000),
            work_state="PA",
            residence_state="NJ",
            federal=FederalCertificate(elected=False),
            state={"reciprocity_certificate_on_file": True},
            residence=entries,
        )
        return {line.code: line.amount for line in calculate_paycheck(request).lines}

    # New Jersey follows the federal election; its own certificate may agree to withholding all the same.
    assert lines()["NJ-SIT"] == 0
    agreed = lines(elected=True, filing_status="married_joint")
    assert "PA-SIT" not in agreed
    assert agreed["NJ-SIT"] == Decimal("18.34")  # rate B: 17.31 + 2.7 % of 38
    assert agreed["PA-SUI-EE"] == Decimal("0.70")  # the work state decides unemployment


def test_the_federal_tax_a_state_deducts_can_be_told():
    """The Alabama booklet's example: 850 a week, code M, two dependents, 35.19 of federal tax."""
    entries = {"exemption_code": "M", "dependents": 2}
    told = state_tax("AL", "850", **entries, federal_income_tax_withheld_this_period=Decimal("35.19"))
    assert told == Decimal("29.59")
    assert state_tax("AL", "850", **entries) > told


def test_a_percentage_may_be_handed_in_as_a_number():
    for percent in (Decimal("0.025"), Decimal("0.0"), 0):
        assert state_tax("AZ", "1000", withholding_percent=percent) == 0  # prohibited for domestic service
