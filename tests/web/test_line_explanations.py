"""Each line that a paycheck can have is explained by a plain sentence, in both languages, by the figures of the law."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from decimal import Decimal

import pytest

from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.ledger.estimates import EstimatedLine
from hearthpay.taxes import PaycheckInput, calculate_paycheck
from hearthpay.taxes.coverage import coverage
from hearthpay.taxes.line_sentences import line_sentences
from hearthpay.taxes.paycheck.result import LineExplanation
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.web.household.payrolls.explanation import LineReason, given_name, line_reason
from hearthpay.web.message_text import message_text

DAY = datetime.date(2026, 11, 20)
_ENGLISH = re.compile(r"\b(pay|year|week|the|less|comes)\b")
_GAP = re.compile(r"[{}]|None|\bline_")


def _lines(year: int) -> Iterator[tuple[str, str]]:
    """Yield every line that the law of a year can put on a paycheck: its state and its code."""
    rulebook = rulebook_of(year)
    yield from {(each.jurisdiction, each.code) for each in coverage(rulebook)}
    yield "US", rulebook.income_tax.supplemental_code


@pytest.mark.completeness
@pytest.mark.parametrize("year", supported_years())
@pytest.mark.parametrize("language", ["en", "es"])
def test_each_line_of_every_state_has_a_plain_sentence(year: int, language: str) -> None:
    rulebook, say = rulebook_of(year), say_in(language)
    lines = list(_lines(year))
    assert len(lines) > 300
    assert {state for state, _ in lines} - {"US"} == set(rulebook.supported_states)
    for state, code in lines:
        where = "CA" if state == "US" else state
        found = line_sentences(code, rulebook, where, datetime.date(year, 11, 20), "Ana")
        shown = [message_text(say, language, each) for each in found]
        assert len(shown) >= 2, code
        assert shown[0][-1] == shown[-1][-1] == ".", (code, shown)
        assert not _GAP.search(" ".join(shown)), (code, shown)
        assert ("Ana" in " ".join(shown)) or "line_on_top" in {each.code for each in found}, (code, shown)
        if language == "es":
            assert not _ENGLISH.search(shown[0].rpartition(": ")[2]), (code, shown)


def _sentences(code: str, state: str, rate: str | None = None, language: str = "en") -> str:
    found = line_sentences(
        code, rulebook_of(2026), state, DAY, "Ana", None if rate is None else Decimal(rate)
    )
    return " ".join(message_text(say_in(language), language, each) for each in found)


@pytest.mark.parametrize(
    ("code", "state", "sentence"),
    [
        (
            "US-SS-EE",
            "CA",
            "Social Security is 6.2% of Ana's pay, up to $184,500 a year. It comes out of Ana's pay,",
        ),
        (
            "US-MED-ER",
            "CA",
            "Medicare is 1.45% of Ana's pay. You pay it on top of the pay, to the tax agency (IRS).",
        ),
        ("US-ADDMED-EE", "CA", "Additional Medicare Tax is 0.9% of Ana's pay above $200,000 a year."),
        ("US-FIT", "CA", "Federal income tax comes from the IRS tables, by Ana's pay and Form W-4."),
        ("CA-SDI-EE", "CA", "California disability and family leave (SDI) is 1.3% of Ana's pay."),
        ("NY-DBL-EE", "NY", "New York disability (DBL) is 0.5% of Ana's pay, at most $0.60 a week."),
        ("CA-SIT", "CA", "comes from California's tables, by Ana's pay and certificate (DE 4)."),
        ("PA-SIT", "PA", "Pennsylvania income tax is 3.07% of Ana's pay."),
        (
            "IL-SIT",
            "IL",
            "is 4.95% of Ana's pay, less the deductions, allowances and credits that Illinois gives.",
        ),
        ("KY-SIT", "KY", "Kentucky income tax is 3.5% of Ana's pay, less the deductions"),
        ("NY-YONKERS-LIT", "NY", "of the state's income tax."),
        ("CO-DENVER-OPT-EE", "CO", "is $5.75 for each month with pay of $500 or more."),
        ("PA-LST", "PA", "is $52 a year, spread over the paydays."),
    ],
)
def test_sentence_names_the_figures_of_the_law(code: str, state: str, sentence: str) -> None:
    assert sentence in _sentences(code, state)


def test_sentence_tells_a_households_own_rate_from_that_of_new_employers() -> None:
    assert "is 3.4% of Ana's pay, up to $7,000 a year. This is the rate for new employers." in _sentences(
        "CA-SUI-ER", "CA"
    )
    own = _sentences("CA-SUI-ER", "CA", "0.021")
    assert "is 2.1% of Ana's pay, up to $7,000 a year. This is your own rate" in own


def test_sentence_in_spanish() -> None:
    assert _sentences("US-SS-EE", "CA", language="es").startswith(
        "Seguro Social (Social Security): 6.2% del pago de Ana, hasta $184,500 al año."
    )


def _reason(code: str, language: str = "en", **request: object) -> LineReason:
    asked = PaycheckInput(
        **{"pay_date": DAY, "pay_frequency": "biweekly", "work_state": "CA", "regular_wages": Decimal(1140)}  # type: ignore[arg-type]
        | request
    )
    paycheck = calculate_paycheck(asked, explain=True)
    line = next(each for each in paycheck.lines if each.code == code)
    explanation: LineExplanation = next(each for each in paycheck.explanations if each.code == code)
    shown = EstimatedLine(code, line.name, line.payer, 0, line.rate, 0, 0)
    return line_reason(
        say_in(language),
        language,
        shown,
        explanation,
        day=DAY,
        frequency=asked.pay_frequency,
        states=(asked.work_state,),
        who="Ana",
    )


def test_table_of_a_flat_tax_marks_the_share_of_the_line() -> None:
    table = _reason("US-SS-EE").table
    assert table is not None
    assert [(row.name, *row.figures, row.applies) for row in table.rows] == [
        ("Ana", "6.2%", "$184,500", True),
        ("You", "6.2%", "$184,500", False),
    ]
    table = _reason("US-MED-ER", language="es").table
    assert table is not None
    assert [(row.name, row.figures[1], row.applies) for row in table.rows] == [
        ("Ana", "Sin límite", False),
        ("Usted", "Sin límite", True),
    ]


def test_table_of_federal_income_tax_marks_the_row_of_the_paycheck() -> None:
    table = _reason("US-FIT").table
    assert table is not None
    steps = {step.label: step.value for step in _reason("US-FIT").steps}
    (row,) = [row for row in table.rows if row.applies]
    assert row.name == steps["row of the annual table from"].removesuffix(".00")
    assert row.figures[1] == steps["rate of the row"]
    assert len(table.rows) == len(rulebook_of(2026).income_tax.standard["single"].lowers)


@pytest.mark.parametrize(
    ("state", "column"),
    [
        ("OH", ""),
        ("NJ", "A biweekly"),
        ("DE", ""),
        ("RI", "any biweekly"),
        ("OK", "single biweekly"),
        ("MA", ""),
    ],
)
def test_table_of_a_state_is_the_one_that_was_applied(state: str, column: str) -> None:
    table = _reason(f"{state}-SIT", work_state=state).table
    assert table is not None
    assert table.column == column
    assert [row.applies for row in table.rows].count(True) == 1


def test_formula_without_rows_has_no_table() -> None:
    assert _reason("PA-SIT", work_state="PA").table is None


@pytest.mark.parametrize(("name", "given"), [("Ana Lopez", "Ana"), ("Ana", "Ana"), ("", "")])
def test_sentences_call_a_person_by_the_given_name(name: str, given: str) -> None:
    assert given_name(name) == given
