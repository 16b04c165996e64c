"""The pure sums of the reports: whatever the ledger says, parts and totals agree."""

import csv
import io
from datetime import date
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from hearthpay.reports.routes import prefers_csv
from hearthpay.reports.state_wages import (
    EarnedInQuarter,
    ReportedPerson,
    TaxedInQuarter,
    WagesOfLine,
    state_wages,
    unemployment_line,
)
from hearthpay.reports.tax_liability import LineInMonth, months_of, tax_liability
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.wire.csv_text import csv_text
from tests.cases import every_case

IDS = [uuid4() for _ in range(4)]
#: Four records of three people.
PEOPLE = {
    each: ReportedPerson(IDS[min(position, 2)], "Rosa", f"Diaz {min(position, 2)}", None)
    for position, each in enumerate(IDS)
}
cents = st.integers(-500_000, 5_000_000)
records = st.sampled_from(IDS)
quarters = st.integers(1, 4)
codes = st.sampled_from(("CA-SUI-ER", "CA-ETT-ER", "CA-SDI-EE", "CA-SIT"))


def line(code: str, subject: int, taxable: int, amount: int) -> WagesOfLine:
    return WagesOfLine(code, code, code[-2:], "California EDD", "other", subject, taxable, amount)


earned = st.lists(st.builds(EarnedInQuarter, records, quarters, cents), max_size=12)
taxed = st.lists(
    st.builds(TaxedInQuarter, records, quarters, st.builds(line, codes, cents, cents, cents)), max_size=20
)


@settings(max_examples=60, deadline=None)
@given(earned=earned, taxed=taxed)
def test_four_quarters_are_the_year_and_people_are_the_totals(earned, taxed):
    def of(quarter: int | None):
        return state_wages(
            "CA", 2026, quarter, people=PEOPLE, earned=earned, taxed=taxed, prior_gross={IDS[0]: 7}
        )

    year, parts = of(None), [of(quarter) for quarter in (1, 2, 3, 4)]
    assert year.gross == sum(part.gross for part in parts) == sum(each.cents for each in earned)
    for code in ("CA-SUI-ER", "CA-ETT-ER", "CA-SDI-EE", "CA-SIT"):
        for what in ("subject", "taxable", "excess", "amount"):

            def total(report):
                return sum(getattr(each, what) for each in report.lines if each.code == code)  # noqa: B023

            assert total(year) == sum(map(total, parts))
            assert total(year) == sum(getattr(each.line, what) for each in taxed if each.line.code == code)
    for report in (year, *parts):
        for each in report.people:
            assert each.gross or each.lines
            assert all(row.subject == row.excess + row.taxable for row in each.lines)
        assert len({each.person.id for each in report.people}) == len(report.people) <= 3


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.dates(date(2025, 11, 1), date(2026, 10, 31)),
            st.sampled_from((("IRS", "US-SS-EE", "employee"), ("California EDD", "CA-SUI-ER", "employer"))),
            cents,
        ),
        max_size=30,
    )
)
def test_a_span_is_the_sum_of_its_months(rows):
    taxed = [
        LineInMonth(day.replace(day=1), agency, code, code, payer, "other", amount)
        for day, (agency, code, payer), amount in rows
    ]
    first, last = date(2025, 11, 1), date(2026, 10, 31)
    whole = tax_liability(first, last, taxed)
    assert whole.months == months_of(first, last)
    assert len(whole.months) == 12
    alone = [
        tax_liability(month, month, (each for each in taxed if each.month == month)) for month in whole.months
    ]
    assert whole.by_month == tuple(each.total for each in alone)
    assert whole.total == sum(whole.by_month) == sum(each.amount for each in taxed)
    assert whole.total == whole.of_payer("employee") + whole.of_payer("employer")
    assert whole.total == sum(each.total for each in whole.agencies)


def test_every_state_has_one_unemployment_line():
    assert len(STATES) == 51
    assert {unemployment_line(state, 2026) for state in STATES} == {f"{state}-SUI-ER" for state in STATES}


TEXTS = [
    ("=1+1", "'=1+1"),
    ("+1", "'+1"),
    ("-Ana", "'-Ana"),
    ("@SUM(A1)", "'@SUM(A1)"),
    ("\tx", "'\tx"),
    ("  =1", "'  =1"),
    ("＝1", "'＝1"),
    ('O"Neil, Ana', 'O"Neil, Ana'),
    ("two\r\nlines", "two\r\nlines"),
    ("Ana-Maria", "Ana-Maria"),
]


def test_csv_is_read_back_and_no_text_is_a_formula():
    with every_case() as case:
        for text, told in TEXTS:
            with case(text, told):
                written = csv_text([["name", "amount"], [text, None]])
                assert written.startswith("name,amount\r\n")
                assert written.endswith("\r\n")
                assert list(csv.reader(io.StringIO(written, newline="")))[1] == [told, ""]


ACCEPTED = [
    ("", False),
    ("*/*", False),
    ("application/json", False),
    ("text/csv", True),
    ("Text/CSV; q=0.9, */*;q=0.1", True),
    ("text/csv;q=0.5, application/json", False),
    ("application/json;q=0.5, text/csv", True),
    ("text/csv, application/json", False),
    ("text/csv;q=0", False),
    ("text/csv;q=nan", False),
    ("text/csv;q=much", False),
    ("text/*", False),
]


def test_who_wants_csv():
    with every_case() as case:
        for accept, csv_is_wanted in ACCEPTED:
            with case(accept, csv_is_wanted):
                assert prefers_csv(accept) is csv_is_wanted
