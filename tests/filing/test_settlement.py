"""What is open of a calendar: worked cases of payments, filings and marks, with the amounts to the cent."""

import datetime
from dataclasses import replace
from uuid import UUID

import pytest

from hearthpay.duties.calendar import CalendarItem
from hearthpay.duties.household import (
    EmploymentSpell,
    Filing,
    Household,
    HouseholdEmployee,
    LedgerAmount,
    Liability,
    PaydayAmount,
    RecordedFiling,
    RecordedPayment,
    Withholding,
)
from hearthpay.duties.payment_accounts import payment_accounts
from hearthpay.duties.settlement import settled_calendar
from hearthpay.filing.balances import agency_balances, keep_aside
from hearthpay.taxes.agencies import agencies
from tests.duties.household import HOUSEHOLD, MARIA

SINCE = datetime.date(2026, 1, 1)
FIRST, LAST = datetime.date(2026, 1, 1), datetime.date(2027, 12, 31)
Q3, Q4 = "CA/wages-quarterly/2026-Q3", "CA/wages-quarterly/2026-Q4"
I2, I3, I4 = (f"US/estimated-tax/2026-I{number}" for number in (2, 3, 4))
SCHEDULE_H = "US/schedule-h/2026"


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(f"2026-{text}")


def household(*amounts: tuple[str, int, int], today: str = "11-20") -> Household:
    """A household in California; ``amounts`` are line, month of 2026, and cents."""
    maria = HouseholdEmployee(
        MARIA,
        "Maria",
        (EmploymentSpell("CA", SINCE),),
        withholding=(Withholding("US", SINCE), Withholding("CA", SINCE)),
    )
    return Household(
        HOUSEHOLD,
        (maria,),
        (Liability("CA", "sui", SINCE), Liability("US", "futa", SINCE)),
        tuple(LedgerAmount(MARIA, line, 2026, month, cents) for line, month, cents in amounts),
        paydays=tuple(
            PaydayAmount(line, datetime.date(2026, month, 20), cents) for line, month, cents in amounts
        ),
        as_of=day(today),
    )


PAID = household(
    ("US-FIT", 4, 100_00), ("US-FIT", 7, 502_62), ("US-SS-ER", 11, 200_00), ("CA-SDI-EE", 8, 281_20)
)


def payment(period: str, cents: int, paid_on: str, number: int = 1, account: str = "estimated-tax"):
    jurisdiction, agency = ("US", "us-irs") if account == "estimated-tax" else ("CA", "ca-edd")
    known = payment_accounts(jurisdiction)[account].period(period, agencies()[agency])
    assert known is not None
    return RecordedPayment(
        UUID(int=number),
        jurisdiction,
        account,
        period,
        known.start,
        known.end,
        cents,
        day(paid_on),
        agency,
    )


def settle(*payments: RecordedPayment, of: Household = PAID, **facts) -> dict[str, CalendarItem]:
    items = settled_calendar(replace(of, payments=payments, **facts), FIRST, LAST).items
    return {item.key: item for item in items}


def money(item: CalendarItem) -> tuple[int | None, int | None, int | None]:
    return item.amount, item.paid, item.open


# Worked by hand: owed, paid and open of each item, and how it stands.
@pytest.mark.parametrize(
    ("payments", "expected"),
    [
        (
            (),
            {
                I2: (100_00, 0, 100_00, "late", "pay"),
                I3: (502_62, 0, 502_62, "late", "pay"),
                I4: (200_00, 0, 200_00, "open", "pay"),
                SCHEDULE_H: (0, 0, 0, "nothing_owed", "file"),
                Q3: (281_20, 0, 281_20, "late", "file_and_pay"),
            },
        ),
        (
            (("2026-I3", 502_62, "09-14"),),
            {
                I2: (100_00, 0, 100_00, "late", "pay"),
                I3: (502_62, 502_62, 0, "paid", "none"),
                I4: (200_00, 0, 200_00, "open", "pay"),
            },
        ),
        (
            (("2026-I3", 502_62, "09-16"),),
            {I3: (502_62, 502_62, 0, "paid_late", "none")},
        ),
        (
            (("2026-I3", 500_00, "09-14"),),
            {I3: (502_62, 500_00, 2_62, "late", "pay")},
        ),
        # What is too much for one installment counts for the earliest that is open, and then for the next.
        (
            (("2026-I3", 650_00, "09-14"),),
            {
                I2: (100_00, 100_00, 0, "paid_late", "none"),
                I3: (502_62, 502_62, 0, "paid", "none"),
                I4: (200_00, 47_38, 152_62, "short", "pay"),
            },
        ),
        # Paid with the return, whose own amount is nothing, for what the installments left open.
        (
            (("2026", 802_62, "11-20"),),
            {
                I2: (100_00, 100_00, 0, "paid_late", "none"),
                I3: (502_62, 502_62, 0, "paid_late", "none"),
                I4: (200_00, 200_00, 0, "paid", "none"),
                SCHEDULE_H: (0, 0, 0, "nothing_owed", "file"),
            },
        ),
        (
            (("2026-I2", 1000_00, "06-15"),),
            {
                I2: (100_00, 297_38, -197_38, "overpaid", "claim_refund"),
                I3: (502_62, 502_62, 0, "paid", "none"),
                I4: (200_00, 200_00, 0, "paid", "none"),
            },
        ),
    ],
)
def test_payments_to_the_irs(payments, expected) -> None:
    items = settle(*(payment(*each, number) for number, each in enumerate(payments, 1)))
    found = {key: (*money(items[key]), items[key].payment_status, items[key].next_step) for key in expected}
    assert found == expected


def test_a_return_is_done_once_it_is_filed_and_paid() -> None:
    pays = payment("2026-Q3", 281_20, "10-28", account="sui")
    filed = {Q3: RecordedFiling(day("10-27"), 281_20)}
    assert settle()[Q3].done_on is None
    assert settle(pays)[Q3].done_on is None
    assert settle(pays)[Q3].next_step == "file"
    assert settle(filed=filed)[Q3].done_on is None
    assert settle(filed=filed)[Q3].next_step == "pay"
    item = settle(pays, filed=filed)[Q3]
    assert (item.done_on, item.filed_on, item.paid_on) == (day("10-28"), day("10-27"), day("10-28"))
    assert item.next_step == "none"


def test_a_mark_without_amounts_counts_as_done() -> None:
    marked = settle(done={Q3: day("10-30"), I3: day("09-10")})
    assert (marked[Q3].done_on, marked[I3].done_on) == (day("10-30"), day("09-10"))
    assert (marked[Q3].next_step, marked[I3].next_step) == ("none", "none")
    assert money(marked[Q3]) == (281_20, 0, 281_20)


def test_once_a_payment_is_recorded_the_amounts_decide_and_not_the_mark() -> None:
    done = {Q3: day("10-30")}
    short = settle(payment("2026-Q3", 281_00, "10-30", account="sui"), done=done)[Q3]
    assert (short.done_on, short.open, short.next_step) == (None, 20, "pay")
    whole = settle(payment("2026-Q3", 281_20, "11-03", account="sui"), done=done)[Q3]
    assert (whole.done_on, whole.open, whole.next_step) == (day("11-03"), 0, "none")


def test_what_is_paid_too_much_is_no_payment_of_what_was_marked_as_done() -> None:
    items = settle(payment("2026-I3", 600_00, "09-14"), done={I2: day("06-15")})
    assert (items[I2].done_on, items[I2].paid) == (day("06-15"), 0)
    assert money(items[I4]) == (200_00, 97_38, 102_62)


def test_a_period_that_goes_on_is_not_done_though_all_is_paid_so_far() -> None:
    item = settle(payment("2026-I4", 200_00, "11-20"))[I4]
    assert (item.open, item.payment_status, item.done_on) == (0, "paid", None)
    assert settle(payment("2026-I4", 200_00, "11-20"), as_of=datetime.date(2027, 1, 1))[I4].done_on == day(
        "11-20"
    )


def test_a_late_payroll_opens_a_period_by_the_difference_and_a_void_is_paid_too_much() -> None:
    pays = payment("2026-Q3", 281_20, "10-28", account="sui")
    filed = {Q3: RecordedFiling(day("10-27"), 281_20)}
    more = replace(PAID, amounts=(*PAID.amounts, LedgerAmount(MARIA, "CA-SDI-EE", 2026, 9, 10_01)))
    item = settle(pays, of=more, filed=filed)[Q3]
    assert (item.done_on, item.open, item.payment_status, item.next_step) == (None, 10_01, "late", "pay")
    topped_up = settle(pays, payment("2026-Q3", 10_01, "11-20", 2, "sui"), of=more, filed=filed)[Q3]
    assert (topped_up.open, topped_up.next_step) == (0, "amend")
    less = replace(PAID, amounts=(*PAID.amounts, LedgerAmount(MARIA, "CA-SDI-EE", 2026, 8, -81_20)))
    item = settle(pays, of=less, filed=filed)[Q3]
    assert (item.open, item.payment_status, item.next_step) == (-81_20, "overpaid", "amend")
    item = settle(pays, of=less, filed={Q3: RecordedFiling(day("10-27"), 200_00)})[Q3]
    assert item.next_step == "claim_refund"


def test_deposits_of_a_quarter_count_for_its_return() -> None:
    # Income tax reaches 350 dollars in August: deposited by September 15, and the quarter's return pays the rest.
    of = household(("CA-SIT", 7, 200_00), ("CA-SIT", 8, 200_00), ("CA-SUI-ER", 9, 50_00))
    deposit = "CA/withholding-deposit/2026-08-31"
    items = settle(payment("2026-08-31", 410_00, "09-14", account="sui"), of=of)
    assert money(items[deposit]) == (400_00, 400_00, 0)
    assert money(items[Q3]) == (50_00, 10_00, 40_00)
    # A void takes the deposit away: what was paid then counts for the quarter's return.
    of = household(("CA-SIT", 7, 200_00), ("CA-SUI-ER", 9, 50_00))
    items = settle(payment("2026-08-31", 410_00, "09-14", account="sui"), of=of)
    assert deposit not in items
    assert money(items[Q3]) == (250_00, 410_00, -160_00)


def test_only_what_was_paid_counts_for_other_items() -> None:
    """A period whose taxes come to less than nothing passes on its payment, and no cent that was never paid."""
    of = household(("US-FIT", 1, -30_00), ("US-FIT", 4, 100_00))
    items = settle(payment("2026-I1", 10_00, "04-15"), of=of)
    assert money(items["US/estimated-tax/2026-I1"]) == (-30_00, 0, -30_00)
    assert money(items[I2]) == (100_00, 10_00, 90_00)


def test_a_change_of_frequency_loses_no_payment() -> None:
    quarterly = payment("2026-Q3", 281_20, "10-28", account="sui")
    annual = settle(quarterly, filings=(Filing("CA", "sui", "annual", 2026),))
    assert money(annual["CA/wages-annual/2026"]) == (281_20, 281_20, 0)
    of = household(("CA-SDI-EE", 5, 100_00), ("CA-SDI-EE", 8, 281_20))
    items = settle(payment("2026", 300_00, "10-28", account="sui"), of=of)
    assert money(items["CA/wages-quarterly/2026-Q2"]) == (100_00, 100_00, 0)
    assert money(items[Q3]) == (281_20, 200_00, 81_20)


def test_balances_by_agency_are_owed_less_paid() -> None:
    facts = replace(
        PAID,
        payments=(payment("2026-I3", 502_62, "09-14"), payment("2026-Q2", 7_00, "07-31", 2, "sui")),
        done={Q3: day("11-02")},
    )
    # In the second quarter nothing was paid that California taxes: its return is filed all the same.
    irs, edd = agency_balances(settled_calendar(facts, FIRST, LAST))
    assert (irs.agency.id, irs.owed, irs.paid, irs.open) == ("us-irs", 802_62, 502_62, 300_00)
    assert (irs.late, irs.keep_aside, irs.next_due) == (100_00, 300_00, day("06-15"))
    assert (edd.agency.id, edd.owed, edd.paid, edd.open) == ("ca-edd", 281_20, 7_00, 274_20)
    # The third quarter is done by the household's word: nothing is kept aside for it.
    assert (edd.late, edd.keep_aside, edd.next_due) == (0, 0, None)
    assert keep_aside((irs, edd)) == {"us-irs": 300_00}


def test_a_payment_for_which_nothing_is_owed_stays_in_the_balance() -> None:
    nobody = Household(HOUSEHOLD, as_of=day("11-20"), payments=(payment("2026-I3", 502_62, "09-14"),))
    calendar = settled_calendar(nobody, FIRST, LAST)
    assert [each.id for each in calendar.unplaced] == [UUID(int=1)]
    (irs,) = agency_balances(calendar)
    assert (irs.owed, irs.paid, irs.open, irs.keep_aside) == (0, 502_62, -502_62, 0)
    assert (irs.periods[0].status, irs.periods[0].next_step) == ("overpaid", "claim_refund")
