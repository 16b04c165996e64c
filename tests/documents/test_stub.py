"""Pay stubs: earnings, lines with the year to date, set-asides, voids, and what each state asks."""

from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

import pytest

from hearthpay.documents.figures.stub import PayStub, SickLeave, StubParties, stub_of
from hearthpay.documents.figures.stub_law import STUB_FIELDS, stub_laws
from hearthpay.payroll.orders import SalaryShare
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.prior_wages import PriorLine
from tests.cases import every_case
from tests.documents.household import Household


def earnings(stub: PayStub) -> list[tuple[str, str | None, str | None, str, str]]:
    return [
        (
            row.kind,
            None if row.hours is None else str(row.hours),
            None if row.rate is None else str(row.rate),
            str(row.current.dollars),
            str(row.year_to_date.dollars),
        )
        for row in stub.earnings
    ]


def test_hours_rates_and_the_year_to_date():
    household = Household(2026)
    nanny = household.hire("IL", income_tax="20")
    household.pay(nanny, 0, "2026-01-09", hours="38.5", overtime="2")
    booked = household.pay(nanny, "45.50", "2026-01-16", hours="40", overtime="1.25")
    stub = stub_of(household.books(), booked.id)
    assert earnings(stub) == [
        ("regular", "40", "20.00", "800.00", "1570.00"),
        ("overtime", "1.25", "30.00", "37.50", "97.50"),
        ("other_earnings", None, None, "45.50", "45.50"),
    ]
    assert (stub.gross_pay.cents, stub.gross_pay_year.cents) == (88_300, 171_300)
    by_code = {line.code: (line.current.cents, line.year_to_date.cents) for line in stub.withheld}
    assert by_code["US-FIT"] == (2_000, 4_000)
    assert by_code["US-SS-EE"] == (5_475, 5_475 + 5_146)
    assert stub.withheld_total.cents == sum(line.current.cents for line in stub.withheld)
    assert stub.withheld_year.cents == sum(line.year_to_date.cents for line in stub.withheld)
    assert stub.net_pay.cents == 88_300 - stub.withheld_total.cents
    assert stub.household_total.cents == sum(line.current.cents for line in stub.household)
    assert stub.total_cost.cents == 88_300 + stub.household_total.cents
    assert {part.row for part in stub.gross_pay.parts} == {booked.id}


def test_a_rate_of_more_than_cents_is_shown_as_it_was():
    household = Household(2026)
    booked = household.pay(household.hire("TX", pay_rate=Decimal("17.33")), 0, "2026-01-09", hours="33.333")
    [row] = stub_of(household.books(), booked.id).earnings
    assert (str(row.rate), str(row.current.dollars)) == ("17.33", "577.66")


def test_what_is_set_aside_and_its_balance():
    household = Household(2026)
    nanny = household.hire("TX")
    household.pay(nanny, 1000, "2026-01-09", set_aside=2_500)
    booked = household.pay(nanny, 1000, "2026-01-16", set_aside=1_500)
    stub = stub_of(household.books(), booked.id)
    assert (stub.set_aside.cents, stub.set_aside_balance.cents, stub.set_aside_source) == (
        1_500,
        4_000,
        "override",
    )
    assert stub.net_pay.cents == 100_000 - stub.withheld_total.cents - 1_500


def test_the_year_to_date_goes_by_pay_date_in_whatever_order_it_was_recorded():
    household = Household(2026)
    nanny = household.hire("IL", income_tax="20")
    second = household.pay(nanny, 500, "2026-01-16")
    third = household.pay(nanny, 300, "2026-01-23")
    first = household.pay(nanny, 1000, "2026-01-09")
    bonus = household.pay(nanny, 40, "2026-01-16")
    stubs = {each.id: stub_of(household.books(), each.id) for each in (first, second, bonus, third)}
    assert [stub.gross_pay_year.cents for stub in stubs.values()] == [100_000, 150_000, 154_000, 184_000]
    assert [stub.earnings[0].year_to_date.cents for stub in stubs.values()] == [
        *(100_000, 150_000, 154_000, 184_000),
    ]
    assert [stub.withheld[0].code for stub in stubs.values()] == ["US-FIT"] * 4
    assert [stub.withheld[0].year_to_date.cents for stub in stubs.values()] == [2_000, 4_000, 6_000, 8_000]
    for stub in stubs.values():
        assert stub.withheld_year.cents == sum(line.year_to_date.cents for line in stub.withheld)
        assert stub.household_year.cents == sum(line.year_to_date.cents for line in stub.household)
        assert stub.net_pay_year.cents == stub.gross_pay_year.cents - stub.withheld_year.cents
    assert stubs[first.id].net_pay_year == stubs[first.id].net_pay
    assert {part.row for part in stubs[second.id].gross_pay_year.parts} == {first.id, second.id}


def test_prior_wages_count_from_the_day_up_to_which_they_were_told():
    household = Household(2026)
    nanny = household.hire("TX")
    early = household.pay(nanny, 100, "2026-01-30")
    late = household.pay(nanny, 200, "2026-02-13")
    household.bring(nanny, "2026-01-31", 30_000, [PriorLine("US-SS-EE", 30_000, 30_000, 1_860)])
    before, after = (stub_of(household.books(), each.id) for each in (early, late))
    assert (before.gross_pay_year.cents, after.gross_pay_year.cents) == (10_000, 60_000)
    assert (before.withheld[1].code, before.withheld[1].year_to_date.cents) == ("US-SS-EE", 620)
    assert after.withheld[1].year_to_date.cents == 620 + after.withheld[1].current.cents + 1_860


def test_what_was_voided_is_out_of_the_year_to_date_of_other_stubs():
    household = Household(2026)
    nanny = household.hire("TX")
    first = household.pay(nanny, 1000, "2026-01-09")
    second = household.pay(nanny, 1000, "2026-01-16")
    before = [stub_of(household.books(), each.id) for each in (first, second)]
    household.void(first)
    after = [stub_of(household.books(), each.id) for each in (first, second)]
    assert [stub.voided for stub in after] == [True, False]
    assert [stub.gross_pay_year.cents for stub in before] == [100_000, 200_000]
    assert [stub.gross_pay_year.cents for stub in after] == [100_000, 100_000]
    assert [stub.withheld_year for stub in after] == [stub.withheld_total for stub in after]
    assert after[0].earnings[0].year_to_date.cents == 100_000
    latest = household.pay(nanny, 1000, "2026-01-23")
    third = stub_of(household.books(), latest.id)
    assert (third.gross_pay_year.cents, earnings(third)[0][4]) == (200_000, "2000.00")
    with pytest.raises(LookupError):
        stub_of(household.books(), household.posted[2].id)
    with pytest.raises(LookupError):
        stub_of(household.books(), uuid4())


def test_the_year_is_the_persons_by_all_records_and_payrolls():
    household = Household(2026)
    first = household.hire("TX")
    household.bring(first, "2026-01-31", 30_000, [PriorLine("US-SS-EE", 30_000, 30_000, 1_860)])
    household.pay(first, 200, "2026-02-13")
    again = household.hire("TX", again=first)
    booked = household.pay(again, 100, "2026-09-11")
    stub = stub_of(household.books(), booked.id)
    assert earnings(stub) == [
        ("other_earnings", None, None, "100.00", "300.00"),
        ("other_payrolls", None, None, "0.00", "300.00"),
    ]
    assert stub.gross_pay_year.cents == 60_000


def test_a_refund_has_no_earnings():
    household = Household(2026)
    nanny = household.hire("CA")
    household.pay(nanny, 600, "2026-02-13")
    booked = household.refund(nanny)
    stub = stub_of(household.books(), booked.id)
    assert stub.is_refund
    assert (stub.gross_pay.cents, stub.net_pay.cents, stub.missing) == (0, 4_590, ())
    assert [(line.code, line.current.cents) for line in stub.withheld] == [
        ("US-SS-EE", -3_720),
        ("US-MED-EE", -870),
    ]


def test_what_the_state_asks_and_nobody_told():
    household = Household(2026)
    booked = household.pay(household.hire("CA"), 0, "2026-02-13", hours="40")
    stub = stub_of(household.books(), booked.id)
    assert stub.missing == (STUB_FIELDS["er_addr"], STUB_FIELDS["sick_avail"])
    told = stub_of(household.books(), booked.id, StubParties(True), SickLeave(Decimal("12.5")))
    assert told.missing == ()
    assert told.law.confidence == "low"


def test_hours_are_missing_where_only_an_amount_was_paid():
    household = Household(2026)
    booked = household.pay(household.hire("NH"), 800, "2026-02-13")
    assert stub_of(household.books(), booked.id).missing == (STUB_FIELDS["rate"], STUB_FIELDS["hours"])


def test_every_state_says_what_it_asks():
    laws = stub_laws()
    assert laws.keys() == STATES.keys()
    for law in laws.values():
        assert (law.category == "none") == (not law.fields), law.state
        assert law.statute
        # None was read whole in its official text: nobody may quote it as sure.
        assert law.confidence != "high"


def test_a_stub_with_everything_told_meets_every_state():
    with every_case() as case:
        for state in sorted(STATES):
            with case(state):
                household = Household(2026)
                booked = household.pay(household.hire(state), 0, "2026-02-13", hours="40", overtime="2")
                leave = SickLeave(Decimal(1), Decimal(1), Decimal(1), Decimal(1), 100)
                assert (
                    stub_of(household.books(), booked.id, StubParties(True, True, True), leave).missing == ()
                )


def test_a_salary_is_a_line_of_its_own_beside_earlier_hours():
    household = Household(2026)
    nanny = household.hire("IL")
    household.pay(nanny, 0, "2026-01-09", hours="40")
    booked = household.pay(nanny, 0, "2026-01-16", hours="40")
    share = SalaryShare(
        amount=4_160_000,
        per="year",
        frequency="weekly",
        full_period=80_000,
        working_days=5,
        paid_days=Decimal(5),
        unpaid_days=Decimal(0),
        weekly_hours=None,
        regular_rate=2_000,
        pay=80_000,
    )
    books = household.books()
    salaried = replace(booked, paycheck=replace(booked.paycheck, salary=share))
    books = replace(books, paychecks=tuple(salaried if each is booked else each for each in books.paychecks))
    stub = stub_of(books, booked.id)
    assert earnings(stub) == [
        ("regular", None, None, "0.00", "800.00"),
        ("salary", "40", None, "800.00", "800.00"),
    ]
    assert not stub.missing or "rate" not in " ".join(stub.missing)
