"""The pay stub on paper says every figure of the stub, in both languages, and no number that is nobody's business."""

from dataclasses import replace

import pytest

from hearthpay.documents.figures.stub import PayStub, stub_of
from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers import page_count, pay_stub
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.documents.papers.writing import money, number, percent
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from tests.documents.household import Household
from tests.documents.papers.family import HOME, MILLERS, ROSA, lines_of, stub_with_everything, text_of


def drawn(stub: PayStub, **changes: object) -> bytes:
    return pay_stub(stub, **{"household": MILLERS, "employee": ROSA} | changes)


def figures_of(stub: PayStub) -> list[str]:
    """The end of each line of the stub, as it has to stand there."""
    rows = []
    for row in stub.earnings:
        hours = [number(row.hours), number(row.rate)] if row.hours is not None else []
        rows.append([*hours, money(row.current), money(row.year_to_date)])
    for line in stub.withheld:
        rate = [percent(line.rate)] if line.rate is not None else []
        rows.append([money(line.taxable_wages), *rate, money(line.current), money(line.year_to_date)])
    rows += [
        [money(stub.gross_pay), money(stub.gross_pay_year)],
        [money(stub.withheld_total), money(stub.withheld_year)],
        [money(-stub.withheld_total.cents)],
        [money(-stub.set_aside.cents)],
        [money(stub.set_aside_balance)],
        [money(stub.net_pay)],
        [money(stub.net_pay_year)],
    ]
    return [" ".join(row) for row in rows]


@pytest.mark.parametrize("language", ["en", "es"])
def test_each_figure_of_the_stub_ends_a_line_of_the_paper(language: str) -> None:
    stub = stub_with_everything()
    text = " ".join(lines_of(drawn(stub, language=language), page=0))
    assert len(stub.withheld) >= 6
    for ending in (*figures_of(stub), "32.00 h", "4.00 h", "8.50 h", "40.00 h", "160.00"):
        assert f" {ending} " in text, ending


def test_both_parties_dates_and_a_masked_number_stand_on_it() -> None:
    pdf = drawn(stub_with_everything(), letterhead="The Miller home", note="Thank you, Rosa.")
    text = text_of(pdf)
    for said in (
        "The Miller home", "Dana and Chris Miller", "12 Maple Street", "(718) 555-0143", "Rosa Díaz",
        "Hoboken, NJ 07030-1234",
        "XXX-XX-6780", "Dec 5, 2025", "by the hour, weekly", "check", "Thank you, Rosa.", "is not filed",
    ):  # fmt: skip
        assert said in text, said
    assert "123-45" not in text
    assert "3456789" not in text
    assert page_count(pdf) == 1


def test_a_spanish_stub_keeps_the_words_that_laws_name() -> None:
    text = text_of(drawn(stub_with_everything(), language="es"))
    for said in (
        "Recibo de pago",
        "Horas regulares (regular hours)",
        "Horas extra (overtime hours)",
        "5 de diciembre de 2025",
    ):
        assert said in text, said
    assert "Seguro Social (Social Security)" in text


def test_the_household_s_page_has_its_cost_and_the_employee_s_has_not() -> None:
    stub = stub_with_everything()
    ours = drawn(stub, file_copy=True)
    assert page_count(ours) == 2
    lines = lines_of(ours, page=1)
    for line in stub.household:
        ending = " ".join(
            [
                money(line.taxable_wages),
                *([percent(line.rate)] if line.rate is not None else []),
                money(line.current),
            ]
        )
        assert any(ending in each for each in lines), line.name
    pots = (stub.net_pay.cents + stub.set_aside.cents, stub.withheld_total.cents, stub.household_total.cents)
    assert sum(pots) == stub.total_cost.cents
    for name, cents in zip(("Held for taxes", "Your own taxes"), pots[1:], strict=True):
        assert f"{name} {money(cents)}" in lines
    assert any(each.startswith("To ") and each.endswith(f" {money(pots[0])}") for each in lines)
    assert f"This pay costs you {money(stub.total_cost)}" in lines
    assert "You file and pay the taxes held and your own." in text_of(ours, page=1)
    assert "Labor Law 195" in text_of(ours, page=1)
    hers = text_of(drawn(stub))
    assert money(stub.total_cost) not in hers
    assert "FUTA" not in hers
    assert "Your own taxes" not in hers


def test_a_void_is_stamped_and_so_is_a_sandbox() -> None:
    stub = stub_with_everything()
    assert "VOID" not in text_of(drawn(stub))
    assert "VOID" in text_of(drawn(replace(stub, voided=True)))
    assert "ANULADO" in text_of(drawn(replace(stub, voided=True), language="es"))
    test = text_of(drawn(stub, marks=PaperMarks(test=True, version=3)))
    assert "TEST: made in a sandbox" in test
    assert "version 3" in test
    assert "TEST" not in text_of(drawn(stub))


def test_what_is_not_known_has_no_box() -> None:
    stub = replace(stub_with_everything(), sick_leave=None)
    text = text_of(drawn(stub, household=replace(MILLERS, address=None, phone=None)))
    assert "sick leave" not in text.lower()
    assert "Maple" not in text
    assert "Business number" not in text_of(
        drawn(stub, household=replace(MILLERS, business_number="1234567-8"))
    )


def test_oregon_s_number_of_the_business_stands_on_its_stubs() -> None:
    household = Household(2025)
    paid = household.pay(household.hire("OR"), 800, "2025-03-07")
    pdf = drawn(stub_of(household.books(), paid.id), household=replace(MILLERS, business_number="1234567-8"))
    assert "Business number 1234567-8" in text_of(pdf)
    assert "agreed amount, weekly" in text_of(pdf)


def test_a_refund_says_so_with_its_minus() -> None:
    household = Household(2025)
    nanny = household.hire("TX")
    household.pay(nanny, 800, "2025-03-07")
    refund = household.refund(nanny)
    stub = stub_of(household.books(), refund.id)
    pdf = drawn(stub)
    assert "Statement of a refund" in text_of(pdf)
    assert stub.withheld_total.cents < 0
    assert any(line.endswith(f" {money(-stub.withheld_total.cents)}") for line in lines_of(pdf))
    assert f"−{money(-stub.withheld_total.cents)}" in text_of(pdf)


def test_words_of_the_household_that_are_too_long_are_refused() -> None:
    stub = stub_with_everything()
    with pytest.raises(ValueError, match="letterhead has at most 60"):
        drawn(stub, letterhead="x" * 61)
    with pytest.raises(ValueError, match="note has at most 300"):
        drawn(stub, note="x" * 301)
    with pytest.raises(ValueError, match="language"):
        drawn(stub, language="fr")
    with pytest.raises(ValueError, match="nine digits"):
        replace(ROSA, ssn="12345")
    assert HOME.line2 is not None


@pytest.mark.completeness
@pytest.mark.parametrize("year", supported_years())
def test_every_tax_has_a_spanish_name(year: int) -> None:
    book = rulebook_of(year)
    lines = [(line.code, line.name) for line in book.contributions]
    for state in book.supported_states:
        rules = book.state(state)
        lines += [(line.code, line.name) for line in rules.contributions]
        lines += [(tax.code, tax.name) for tax in rules.local_taxes]
        lines += [(rules.income_tax.code, rules.income_tax.name)] if rules.income_tax is not None else []
    assert len(lines) > 100
    assert [code for code, name in lines if code != "US-MED-EE" and line_name(code, name, "es") == name] == []
