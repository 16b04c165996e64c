"""Figures of law that were once wrong or unsure: what a paycheck must say of each, and how sure the rule file is."""

import datetime
from decimal import Decimal

import pytest

from hearthpay.taxes import FederalCertificate, PaycheckInput, calculate_paycheck
from hearthpay.taxes.coverage import law_behind
from hearthpay.taxes.rulebook import rulebook_of
from tests.cases import every_case

UNELECTED = FederalCertificate(elected=False)


def _paycheck(day: str, state: str, wages: str = "1000", /, *, explain: bool = False, **entries):
    given = {
        "pay_date": datetime.date.fromisoformat(day),
        "pay_frequency": "weekly",
        "regular_wages": Decimal(wages),
        "work_state": state,
        "federal": UNELECTED,
    }
    return calculate_paycheck(PaycheckInput(**(given | entries)), explain=explain)


def _amounts(paycheck) -> dict[str, str]:
    return {line.code: str(line.amount) for line in paycheck.lines}


def _law(code: str, year: int):
    """Return the contribution's versions of a year, oldest first."""
    rules = rulebook_of(year).state(code[:2])
    return sorted(
        (line for line in rules.contributions if line.code == code), key=lambda line: line.effective_from
    )


# --- rates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "state", "expected"),
    [
        # 1.5 % is employer and employee together: the state's table adds 1.00 and 0.50 to "total".
        ("2025-03-07", "AK", {"AK-SUI-ER": "10.00", "AK-SUI-EE": "5.00"}),
        ("2026-03-06", "AK", {"AK-SUI-ER": "10.00", "AK-SUI-EE": "5.00"}),
        # The contingency assessment is a column of its own beside the base rate.
        ("2025-03-07", "SC", {"SC-SUI-ER": "10.00", "SC-CONT-ER": "0.60"}),
        ("2026-03-06", "SC", {"SC-SUI-ER": "10.00", "SC-CONT-ER": "0.60"}),
        ("2026-03-06", "NH", {"NH-SUI-ER": "17.00"}),
        ("2026-07-03", "NH", {"NH-SUI-ER": "17.00"}),
        ("2026-03-06", "KS", {"KS-SUI-ER": "17.50"}),
        ("2026-03-06", "VA", {"VA-SUI-ER": "25.00"}),
        ("2027-01-08", "CO", {"CO-FAMLI-EE": "4.30"}),
        ("2027-01-08", "MD", {"MD-FAMLI-EE": "4.50"}),
    ],
)
def test_a_thousand_dollars_a_week(day, state, expected):
    amounts = _amounts(_paycheck(day, state))
    assert {code: amounts.get(code) for code in expected} == expected


def test_an_assigned_rate_of_south_carolina_leaves_the_assessment_apart():
    from hearthpay.taxes import EmployerProfile

    paycheck = _paycheck("2026-03-06", "SC", employer=EmployerProfile(sui_rate=Decimal("0.02")))
    amounts = _amounts(paycheck)
    assert (amounts["SC-SUI-ER"], amounts["SC-CONT-ER"]) == ("20.00", "0.60")


@pytest.mark.parametrize(
    ("day", "resident", "nonresident"),
    [
        ("2026-06-30", "374.00", "343.00"),
        ("2026-07-01", "373.50", "342.50"),
        ("2026-12-31", "373.50", "342.50"),
        ("2027-06-04", "373.50", "342.50"),
    ],
)
def test_philadelphia_lowers_its_wage_tax_in_july(day, resident, nonresident):
    lived = _amounts(_paycheck(day, "PA", "10000", localities=("PHILADELPHIA",)))
    worked = _amounts(_paycheck(day, "PA", "10000", localities=("PHILADELPHIA-NONRESIDENT",)))
    assert lived["PA-PHILADELPHIA-LIT"] == resident
    assert worked["PA-PHILADELPHIA-NR-LIT"] == nonresident


# --- 2027 ---------------------------------------------------------------------------------------------------------


def test_2027_delaware_taxes_16500_for_unemployment_and_training():
    paycheck = _paycheck(
        "2027-06-04",
        "DE",
        ytd={"DE-SUI-ER": Decimal("15900"), "DE-TRAIN-ER": Decimal("15900")},
    )
    taxable = {line.code: line.taxable_wages for line in paycheck.lines}
    assert taxable["DE-SUI-ER"] == Decimal("600.00")
    assert taxable["DE-TRAIN-ER"] == Decimal("600.00")
    assert {"DE-SUI-ER", "DE-TRAIN-ER"} <= set(paycheck.provisional)


@pytest.mark.parametrize(
    ("status", "frequency", "wages", "tax"),
    [
        # 81,100 is the deduction in the table, 16,100, and the 65,000 taxed at 4.7 %: 3,055 and 5.4 % of the rest.
        ("single", "annual", "16100", "0.00"),
        ("single", "annual", "81100", "3055.00"),
        ("single", "annual", "91100", "3595.00"),
        ("married_joint", "annual", "172200", "6650.00"),
        ("head_of_household", "annual", "131650", "5123.00"),
        # Weekly: 0.047 x (1,000 - 310) = 32.43; 59 + 0.054 x (2,000 - 1,560) = 82.76.
        ("single", "weekly", "1000", "32.00"),
        ("single", "weekly", "2000", "83.00"),
    ],
)
def test_2027_montana_has_a_wider_lower_band_and_5_4_percent(status, frequency, wages, tax):
    paycheck = _paycheck(
        "2027-03-05",
        "MT",
        wages,
        pay_frequency=frequency,
        state={"elected": True, "filing_status": status},
    )
    assert _amounts(paycheck)["MT-SIT"] == tax


@pytest.mark.parametrize(
    ("status", "wages", "tax"),
    [
        # Up to 21,810 (married 32,400) as in 2026: 560.35 and 733.29; above it 3.99 % instead of 4.21 to 4.60 %.
        ("single", "21810", "560.35"),
        ("single", "31810", "959.35"),
        ("single", "121810", "4550.35"),
        ("married", "132400", "4723.29"),
    ],
)
def test_2027_nebraska_withholds_no_more_than_3_99_percent(status, wages, tax):
    paycheck = _paycheck(
        "2027-03-05",
        "NE",
        wages,
        pay_frequency="annual",
        state={"elected": True, "filing_status": status},
    )
    assert _amounts(paycheck)["NE-SIT"] == tax
    assert any("NE-SIT" in limitation for limitation in paycheck.limitations)


def test_2027_maine_says_that_its_deduction_becomes_the_federal_one():
    paycheck = _paycheck("2027-03-05", "ME", state={"elected": True})
    assert "ME-SIT" in paycheck.provisional
    assert any("5124-C" in limitation for limitation in paycheck.limitations)


# --- how sure ------------------------------------------------------------------------------------------------------


CONFIDENCES = [
    ("AK-SUI-ER", 2026, ["low"]),
    ("SC-SUI-ER", 2026, ["medium"]),
    ("SC-CONT-ER", 2026, ["medium"]),
    ("VA-SUI-ER", 2026, ["low"]),
    ("NH-SUI-ER", 2026, ["medium", "low"]),
    ("KS-SUI-ER", 2026, ["medium"]),
    ("PA-SUI-ER", 2026, ["high"]),
    ("IL-SUI-ER", 2026, ["medium"]),
    ("WV-SUI-ER", 2026, ["medium", "medium"]),
    ("NJ-WF-ER", 2026, ["medium"]),
    ("NJ-TDI-ER", 2026, ["medium"]),
    ("AR-SUI-ER", 2026, ["high"]),
    ("AR-ADMIN-ER", 2026, ["high"]),
    ("MA-SUI-ER", 2026, ["high"]),
    ("ME-SUI-ER", 2026, ["low"]),
    ("MT-SUI-ER", 2026, ["low"]),
    ("MN-SUI-ER", 2026, ["low"]),
    ("LA-SUI-ER", 2026, ["low"]),
    ("MD-FAMLI-EE", 2027, ["medium"]),
    ("CO-FAMLI-EE", 2027, ["high"]),
    ("MA-PFML-EE", 2027, ["low"]),
    ("DE-SUI-ER", 2027, ["low"]),
]


def test_how_sure_a_figure_is():
    with every_case() as case:
        for code, year, confidences in CONFIDENCES:
            with case(code, year, confidences):
                assert [line.confidence for line in _law(code, year)] == confidences


@pytest.mark.parametrize("code", ["US-SS-EE", "US-SS-ER"])
def test_the_social_security_base_of_2027_is_announced(code):
    (law,) = law_behind(code, rulebook_of(2027), None)
    facts = dict(law.facts)
    assert facts["Wage base of a year"] == "192,300.00"
    assert facts["Confidence"] == "high"


@pytest.mark.parametrize(
    ("code", "year", "words"),
    [
        ("CO-FAMLI-EE", 2027, "Half of 0.86 %"),
        ("MD-FAMLI-EE", 2027, "fewer than 15"),
        ("VA-SUI-ER", 2026, "2.73 %"),
        ("NH-SUI-ER", 2026, "2.7 %"),
        ("KS-SUI-ER", 2026, "14,000"),
        ("AK-SUI-ER", 2026, "0.50 %"),
        ("DE-SUI-ER", 2027, "benefit ratio"),
    ],
)
def test_a_doubt_is_told_in_the_note(code, year, words):
    assert words in _law(code, year)[-1].note


def test_a_doubtful_rate_is_a_limitation_of_the_result():
    assert any("VA-SUI-ER" in limitation for limitation in _paycheck("2026-03-06", "VA").limitations)
    assert not any("PA-SUI-ER" in limitation for limitation in _paycheck("2026-03-06", "PA").limitations)


# --- whole dollars --------------------------------------------------------------------------------------------------


def test_the_tax_of_a_period_is_whole_dollars_where_the_guide_prints_it():
    """Also where a year is one period: the one frequency that some programs leave in cents."""
    with every_case() as case:
        for state in ["ID", "MO", "MT", "NC", "ND", "WV"]:
            for frequency in ["daily", "weekly", "monthly", "annual"]:
                for year in [2025, 2026]:
                    with case(state, frequency, year):
                        _check_whole_dollars(state, frequency, year)


def _check_whole_dollars(state, frequency, year):
    periods = rulebook_of(year).pay_periods[frequency]
    for annual in (98_765, 161_234, 298_431):
        wages = (Decimal(annual) / periods).quantize(Decimal("0.01"))
        for day in (f"{year}-03-06", f"{year}-09-04"):
            paycheck = _paycheck(day, state, str(wages), pay_frequency=frequency, state={"elected": True})
            tax = next(line.amount for line in paycheck.lines if line.code == f"{state}-SIT")
            assert tax > 0
            assert tax == tax.to_integral_value()


# --- Maryland's two methods ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "county", "printed", "calculated"),
    [
        # 60,000 - 3,400 = 56,600: 4.75 % and 3.10 %; by the calculator 90 + 4.75 % above 3,000 and 3.06 %.
        ("single", "13", "4443.10", "4367.96"),
        # The same county rate in both: 52.50 apart.
        ("single", "16", "4499.70", "4447.20"),
        # The calculator's joint deduction of 6,850 leaves 53,150.
        ("married_joint_or_surviving_spouse_or_hoh", "22", "4386.50", "4040.05"),
    ],
)
def test_maryland_withholds_by_the_print_and_tells_what_the_calculator_gives(
    status, county, printed, calculated
):
    state = {"elected": True, "exemptions": 0, "filing_status": status, "county_of_residence": county}
    request = PaycheckInput(
        pay_date=datetime.date(2026, 3, 6),
        pay_frequency="annual",
        regular_wages=Decimal("60000"),
        work_state="MD",
        federal=UNELECTED,
        state=state,
    )
    paycheck = calculate_paycheck(request, explain=True)
    assert _amounts(paycheck)["MD-SIT"] == printed
    (told,) = [
        step.value
        for explanation in paycheck.explanations
        for step in explanation.steps
        if "calculator" in step.label
    ]
    assert str(told) == calculated
    assert any("calculator" in source.title for source in paycheck.explanations[1].sources)
    assert calculate_paycheck(request).lines == paycheck.lines


def test_federal_income_tax_is_explained_by_each_entry_of_worksheet_1a():
    """By hand: 41,700 of a year is 22,400 above the row from 19,300; 10 % less 520, by 52, and 3 on top."""
    request = PaycheckInput(
        pay_date=datetime.date(2026, 6, 5),
        pay_frequency="weekly",
        regular_wages=Decimal(1000),
        work_state="TX",
        federal=FederalCertificate(
            filing_status="married",
            other_income=Decimal(5200),
            deductions=Decimal(2600),
            dependents_credit=Decimal(520),
            extra_withholding=Decimal(3),
        ),
    )
    explanations = calculate_paycheck(request, explain=True).explanations
    (steps,) = [explanation.steps for explanation in explanations if explanation.code == "US-FIT"]
    assert [(step.label, str(step.value)) for step in steps] == [
        ("wages of the period (1a)", "1000.00"),
        ("pay periods a year (1b)", "52"),
        ("annual wages (1c)", "52000.00"),
        ("filing status", "married"),
        ("Step 2 box checked", "False"),
        ("other income (1d)", "5200"),
        ("deductions (1f)", "2600"),
        ("line 1g", "12900.00"),
        ("adjusted annual wage amount (2a)", "41700.00"),
        ("row of the annual table from", "19300.00"),
        ("base tax of the row", "0.00"),
        ("rate of the row", "0.1"),
        ("annual tax credit", "520.00"),
        ("pay periods a year", "52"),
        ("extra withholding (4a)", "3.00"),
        ("tax of the period", "36.08"),
    ]


@pytest.mark.parametrize(
    ("earlier", "steps", "tax"),
    [
        ("0", ("2000.00", "0.22", "0.00", "0.37"), "440.00"),
        # 1,500 of it above 1,000,000 of a year: 22 % of 500 and 37 % of 1,500.
        ("999500", ("500.00", "0.22", "1500.00", "0.37"), "665.00"),
    ],
)
def test_a_bonus_paid_alone_bears_the_flat_rate_and_nothing_of_the_certificate(earlier, steps, tax):
    """Publication 15, section 7: the extra withholding of step 4 is taken from regular wages."""
    request = PaycheckInput(
        pay_date=datetime.date(2026, 6, 5),
        pay_frequency="weekly",
        regular_wages=Decimal(0),
        supplemental_wages=Decimal(2000),
        supplemental_method="flat",
        work_state="TX",
        federal=FederalCertificate(extra_withholding=Decimal(15)),
        ytd={"US-FIT-SUP": Decimal(earlier)},
    )
    paycheck = calculate_paycheck(request, explain=True)
    amounts = _amounts(paycheck)
    assert (amounts["US-FIT"], amounts["US-FIT-SUP"]) == ("0.00", tax)
    explained = {explanation.code: explanation.steps for explanation in paycheck.explanations}
    labels = (
        "supplemental wages at the flat rate",
        "flat rate",
        "supplemental wages above the yearly limit",
        "rate above the limit",
    )
    told = [(step.label, str(step.value)) for step in explained["US-FIT-SUP"]]
    assert told == list(zip(labels, steps, strict=True))
    assert explained["US-FIT"][0].label == "nothing by the certificate"


def test_without_wages_no_extra_is_withheld():
    paycheck = _paycheck("2026-06-05", "TX", "0", federal=FederalCertificate(extra_withholding=Decimal(15)))
    assert _amounts(paycheck)["US-FIT"] == "0.00"
    assert paycheck.net_pay == 0


def test_georgia_explains_its_flat_rate_on_a_bonus():
    paycheck = _paycheck(
        "2026-06-05",
        "GA",
        "0",
        supplemental_wages=Decimal(2000),
        supplemental_method="flat",
        state={"elected": True},
        explain=True,
    )
    (steps,) = [each.steps for each in paycheck.explanations if each.code == "GA-SIT"]
    told = {step.label: str(step.value) for step in steps}
    assert told["supplemental wages at the flat rate"] == "2000.00"
    assert told["flat supplemental rate"] == "0.0499"
    assert told["tax of the period"] == _amounts(paycheck)["GA-SIT"] == "99.80"


@pytest.mark.parametrize(
    ("wages", "claimed", "counted"), [("1000", 0, 0), ("1000", 2, 2), ("1000", 99, 10), ("9000", 2, 0)]
)
def test_rhode_island_explains_how_many_exemptions_count(wages, claimed, counted):
    """At most ten, and none above the wages at which they end."""
    state = {"elected": True, "exemptions": claimed}
    paycheck = _paycheck("2026-06-05", "RI", wages, state=state, explain=True)
    (steps,) = [each.steps for each in paycheck.explanations if each.code == "RI-SIT"]
    assert ("exemptions that count", str(counted)) in [(step.label, str(step.value)) for step in steps]
