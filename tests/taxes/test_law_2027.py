"""The law of 2027: what is published or enacted, worked out by hand, and on what every other line rests."""

import datetime
import tomllib
from decimal import Decimal

import pytest

from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rulebook import RULES, rulebook_of
from hearthpay.taxes.thresholds import check_thresholds
from tests.cases import every_case

NOT_WITHHELD = FederalCertificate(elected=False)


def _lines(state: str, wages: str = "1000", /, **entries):
    given = {
        "pay_date": datetime.date(2027, 3, 5),
        "pay_frequency": "weekly",
        "regular_wages": Decimal(wages),
        "work_state": state,
        "federal": NOT_WITHHELD,
    }
    paycheck = calculate_paycheck(PaycheckInput(**(given | entries)))
    return {line.code: line for line in paycheck.lines}


def _finality(code: str):
    """Federal lines stand with every state's; the credit reduction is California's."""
    state = "CA" if code.startswith("US") else code[:2]
    return rulebook_of(2027).state(state).finality.get(code)


def _codes_in_force() -> set[str]:
    book = rulebook_of(2027)
    codes = {book.income_tax.code, *(line.code for line in book.contributions)}
    for state in STATES:
        rules = book.state(state)
        codes |= {line.code for line in rules.contributions} | {tax.code for tax in rules.local_taxes}
        if rules.income_tax is not None:
            codes.add(rules.income_tax.code)
    return codes


# --- figures ------------------------------------------------------------------------------------------------------


A_THOUSAND_DOLLARS = [
    ("CO-FAMLI-EE", "4.30"),  # half of 0.86 %
    ("CT-PFML-EE", "5.00"),
    ("MA-PFML-EE", "4.60"),  # 0.28 and 0.18 %, as in 2026
    ("MD-FAMLI-EE", "4.50"),  # half of 0.90 %
    ("ME-PFML-EE", "5.00"),
    ("OR-PFML-EE", "6.00"),
    ("WA-PFML-EE", "8.48"),  # 1.20 % x 70.70 % = 0.8484 %
    ("WA-CARES-EE", "5.80"),
    ("MN-PFML-EE", "4.40"),
    ("MN-PFML-ER", "2.20"),
    ("GA-SUI-ER", "27.00"),
    ("NV-SUI-ER", "29.50"),
    ("NV-CEP-ER", "0.50"),
    ("NJ-SUI-ER", "26.83"),  # 26.825
    ("NJ-WF-ER", "1.18"),  # 1.175
    ("NJ-TDI-ER", "5.00"),
    ("NY-PFL-EE", "4.52"),
    ("US-FUTA-CR", "18.00"),  # 1.5 % of 2026 and 0.3 more
]


def test_a_thousand_dollars_of_2027():
    with every_case() as case:
        for code, amount in A_THOUSAND_DOLLARS:
            with case(code, amount):
                state = "CA" if code == "US-FUTA-CR" else code[:2]
                assert str(_lines(state)[code].amount) == amount


WAGE_BASES = [
    # Social Security's base of 192,300, and the programs whose law takes it over.
    ("US-SS-EE", "192000", "300"),
    ("US-SS-ER", "192000", "300"),
    ("CO-FAMLI-EE", "192000", "300"),
    ("CT-PFML-EE", "192000", "300"),
    ("MA-PFML-EE", "192000", "300"),
    ("MD-FAMLI-EE", "192000", "300"),
    ("ME-PFML-EE", "192000", "300"),
    ("OR-PFML-EE", "192000", "300"),
    ("WA-PFML-EE", "192000", "300"),
    # 192,300 to the nearest thousand.
    ("MN-PFML-EE", "191500", "500"),
    ("MN-PFML-ER", "191500", "500"),
    # Unemployment.
    ("DE-SUI-ER", "16200", "300"),
    ("GA-SUI-ER", "9400", "100"),
    ("IL-SUI-ER", "14250", "342"),  # 14,592
    ("NV-SUI-ER", "45000", "400"),
    ("NV-CEP-ER", "45000", "400"),
    ("WA-SUI-ER", "81500", "500"),
    ("WY-SUI-ER", "34000", "900"),
    ("NJ-SUI-EE", "46000", "400"),
    ("NJ-WF-EE", "46000", "400"),
    ("NJ-SUI-ER", "46000", "400"),
    ("NJ-WF-ER", "46000", "400"),
    ("NJ-TDI-ER", "46000", "400"),
    ("NJ-TDI-EE", "177000", "100"),
    ("NJ-FLI-EE", "177000", "100"),
]


def test_the_wage_base_of_2027():
    with every_case() as case:
        for code, paid_before, taxable in WAGE_BASES:
            with case(code, paid_before, taxable):
                state = "NY" if code.startswith("US") else code[:2]
                assert _lines(state, ytd={code: Decimal(paid_before)})[code].taxable_wages == Decimal(taxable)


def test_georgia_charges_new_employers_in_one_line():
    assert "GA-ADMIN-ER" not in _lines("GA")


@pytest.mark.parametrize(
    ("state", "frequency", "wages", "tax"),
    [
        # 2.90 % of wages, without a WH-4 no exemption.
        ("IN", "weekly", "1000", "29.00"),
        ("IN", "monthly", "4321", "125.31"),  # 125.309
        # 52,000 less 2,300, 3.75 % above 10,000: 39,700 x 0.0375 = 1,488.75.
        ("MS", "annual", "52000", "1489.00"),
        ("MS", "annual", "12300", "0.00"),
    ],
)
def test_a_flat_rate_of_2027_comes_from_the_code(state, frequency, wages, tax):
    lines = _lines(state, wages, pay_frequency=frequency, state={"elected": True})
    assert str(lines[f"{state}-SIT"].amount) == tax
    assert _finality(f"{state}-SIT") is None


def test_a_household_owes_social_security_from_3100():
    """1,000 x 72,800.33 / 23,132.67 = 3,147.08, down to the next hundred (IRC 3121(x))."""
    computed = Decimal(1000) * Decimal("72800.33") / Decimal("23132.67") // 100 * 100
    assert computed == 3100
    assert check_thresholds("TX", Decimal(3000), 2027).fica_threshold == computed


# --- on what it rests ---------------------------------------------------------------------------------------------


def test_every_line_is_written_for_2027_or_says_on_what_it_rests():
    written = set()
    for path in (RULES / "2027").rglob("*.toml"):
        content = tomllib.loads(path.read_text("utf-8"))
        written |= {line["code"] for line in content.get("contribution", [])}
        written |= {tax["code"] for tax in content.get("local", [])}
        if "version" in content.get("income_tax", {}):
            written.add(f"{content['state']}-SIT")
    for code in _codes_in_force() - written:
        finality = _finality(code)
        assert finality is not None, code
        assert finality.basis, code
        assert finality.sources, code


def test_no_line_of_2027_refuses_a_payroll():
    assert [code for code in _codes_in_force() if (f := _finality(code)) and f.status == "unknown"] == []


AWAITED = [
    ("US-FIT", ("tables",), "2026-12"),
    ("US-FUTA-CR", ("rate",), "2027-11"),
    ("CA-SIT", ("tables",), "2026-12"),
    ("CA-SDI-EE", ("rate",), "2026-12"),
    ("GA-SIT", ("rate", "tables"), "2026-12"),
    ("HI-TDI-EE", ("weekly_maximum",), "2026-12"),
    ("IL-SUI-ER", ("rate",), "2026-12"),
    ("IN-49-LIT", ("rate",), "2026-12"),
    ("MA-PFML-EE", ("rate",), "2026-10"),
    ("MI-SIT", ("rate", "tables"), "2027-01"),
    ("MT-SIT", ("tables",), "2026-12"),
    ("NC-SIT", ("rate", "tables"), "2026-12"),
    ("NC-SUI-ER", ("wage_base",), "2026-11"),
    ("NE-SIT", ("tables",), "2026-12"),
    ("NJ-TDI-EE", ("rate",), "2026-12"),
    ("NY-NYC-LIT", ("tables",), "2026-12"),
    ("NY-SUI-ER", ("rate", "wage_base"), "2026-12"),
    ("OR-PFML-EE", ("rate",), "2026-11"),
    ("VA-SIT", ("tables",), "2026-12"),
    ("WA-SUI-ER", ("rate",), "2026-12"),
]


def test_what_is_awaited_and_when():
    with every_case() as case:
        for code, figures, awaited in AWAITED:
            with case(code, figures, awaited):
                finality = _finality(code)
                assert (finality.status, finality.figures, finality.awaited) == (
                    "provisional",
                    figures,
                    awaited,
                )


CARRIED_ON = [
    ("AZ-SIT", "43-403"),
    ("CA-SUI-ER", "Unemployment Insurance Code"),
    ("DC-PFL-ER", "32-541.03"),
    ("FL-SUI-ER", "443.131"),
    ("KS-SIT", "August 15"),
    ("MI-DETROIT-LIT", "141.501"),
    ("NJ-SIT", "54A:2-1"),
    ("OH-TCSF-ER", "H.B. 96"),
    ("OK-SIT", "2028"),
    ("PA-SIT", "3.07 %"),
    ("WA-CARES-EE", "50B.04.080"),
    ("WI-SIT", "W-166"),
]


def test_what_the_law_carries_on():
    with every_case() as case:
        for code, statute in CARRIED_ON:
            with case(code, statute):
                finality = _finality(code)
                assert finality.status == "carried"
                assert statute in finality.basis


FINAL = [
    *(
        "US-SS-EE",
        "US-MED-EE",
        "US-FUTA",
        "CO-FAMLI-EE",
        "CT-PFML-EE",
        "GA-SUI-ER",
        "IN-SIT",
        "MD-FAMLI-EE",
    ),
    *(
        "ME-PFML-EE",
        "MN-PFML-EE",
        "MS-SIT",
        "NJ-SUI-EE",
        "NJ-SUI-ER",
        "NV-SUI-ER",
        "NY-PFL-EE",
        "WA-PFML-EE",
    ),
]


def test_what_is_final():
    with every_case() as case:
        for code in FINAL:
            with case(code):
                assert _finality(code) is None
