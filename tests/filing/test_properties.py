"""What holds of every ledger: each cent of a payment counts once, whatever was paid, voided, filed or marked."""

import datetime
from dataclasses import replace
from uuid import UUID

from hypothesis import strategies as st

from hearthpay.duties.household import LedgerAmount, PaydayAmount, RecordedFiling, RecordedPayment
from hearthpay.duties.payment_accounts import payment_accounts
from hearthpay.duties.settlement import settled_calendar
from hearthpay.filing.balances import agency_balances
from hearthpay.filing.figures import figures_of
from hearthpay.reports.paid import paid_by_agency
from hearthpay.reports.tax_liability import LineInMonth, tax_liability
from hearthpay.taxes.agencies import agencies
from tests.duties.household import MARIA
from tests.filing.test_settlement import household
from tests.properties import on_examples

FIRST, LAST = datetime.date(2025, 1, 1), datetime.date(2028, 12, 31)
LINES = {
    line: agencies()[agency].name
    for line, agency in (
        ("US-FIT", "us-irs"),
        ("US-SS-ER", "us-irs"),
        ("CA-SIT", "ca-edd"),
        ("CA-SUI-ER", "ca-edd"),
        ("NY-SIT", "ny-nys-tax"),
        ("NY-SUI-ER", "ny-nys-dol"),
    )
}
PERIODS = (
    *(("US", "estimated-tax", "us-irs", f"2026-I{number}") for number in (1, 2, 3, 4)),
    ("US", "estimated-tax", "us-irs", "2026"),
    ("CA", "sui", "ca-edd", "2026-Q1"),
    ("CA", "sui", "ca-edd", "2026-Q3"),
    ("CA", "sui", "ca-edd", "2026"),
    ("CA", "sui", "ca-edd", "2026-08-31"),
    ("NY", "sui", "ny-nys-dol", "2026-Q2"),
    ("NY", "withholding", "ny-nys-tax", "2026-05-20"),
)

months = st.integers(1, 12)
days = st.dates(datetime.date(2026, 1, 1), datetime.date(2027, 4, 15))
#: What a payroll adds to a line in a month, or a void takes away.
changes = st.lists(
    st.tuples(st.sampled_from(sorted(LINES)), months, st.integers(-300_00, 900_00)), max_size=14
)


@st.composite
def payments(draw):
    found = []
    for number in range(draw(st.integers(0, 8))):
        jurisdiction, account, agency, label = draw(st.sampled_from(PERIODS))
        period = payment_accounts(jurisdiction)[account].period(label, agencies()[agency])
        found.append(
            RecordedPayment(
                UUID(int=number),
                jurisdiction,
                account,
                label,
                period.start,
                period.end,
                draw(st.integers(1, 1200_00)),
                draw(days),
                agency,
            )
        )
    return tuple(found)


@st.composite
def households(draw):
    base = household()
    changed = draw(changes)
    amounts = tuple(LedgerAmount(MARIA, line, 2026, month, cents) for line, month, cents in changed)
    paydays = tuple(
        PaydayAmount(line, datetime.date(2026, month, 20), cents) for line, month, cents in changed
    )
    facts = replace(base, amounts=amounts, paydays=paydays, payments=draw(payments()), as_of=draw(days))
    items = settled_calendar(facts, FIRST, LAST).items
    some = st.sets(st.sampled_from([item.key for item in items]), max_size=4)
    return replace(
        facts,
        done={key: draw(days) for key in draw(some)},
        filed={key: RecordedFiling(draw(days), draw(st.integers(0, 900_00))) for key in draw(some)},
    )


FEW, MANY = 30, 200


@on_examples(households(), few=FEW, many=MANY)
def test_owed_less_paid_is_open_and_each_cent_of_a_payment_counts_once(facts):
    calendar = settled_calendar(facts, FIRST, LAST)
    paid = sum(payment.cents for payment in facts.payments)
    assert (
        sum(item.paid or 0 for item in calendar.items) + sum(payment.cents for payment in calendar.unplaced)
        == paid
    )
    balances = agency_balances(calendar)
    owed = sum(item.amount or 0 for item in calendar.items)
    assert sum(each.owed for each in balances) == owed
    assert sum(each.open for each in balances) == owed - paid
    for item in calendar.items:
        assert (item.amount is None) == (item.open is None) == (item.payment_status is None)
        if item.amount is not None:
            assert item.open == item.amount - item.paid
            assert item.paid >= 0
        if item.next_step in ("pay", "file", "file_and_pay"):
            assert item.done_on is None


@on_examples(households(), few=FEW, many=MANY)
def test_calendar_and_report_agree(facts):
    """What all agencies are owed, were paid, and what is open is the same in both."""
    calendar = settled_calendar(facts, FIRST, LAST)
    taxed = [
        LineInMonth(
            datetime.date(each.year, each.month, 1),
            LINES[each.line],
            each.line,
            "",
            "employee",
            "",
            each.cents,
        )
        for each in facts.amounts
    ]
    paid = paid_by_agency(taxed, facts.payments)
    report = tax_liability(datetime.date(2026, 1, 1), datetime.date(2026, 12, 31), taxed, paid)
    balances = agency_balances(calendar)
    assert report.paid == sum(each.paid for each in balances) == sum(each.cents for each in facts.payments)
    assert report.total - report.paid == report.open == sum(each.open for each in report.agencies)
    # Nothing is paid for a payment that would be negative; all else of the ledger stands on one item.
    if all(each.cents >= 0 for each in facts.amounts):
        assert report.total == sum(each.owed for each in balances)
        assert report.open == sum(each.open for each in balances)


@on_examples(households(), days, few=FEW, many=MANY)
def test_neither_the_range_nor_the_order_of_payments_changes_what_is_open(facts, between):
    whole = settled_calendar(facts, FIRST, LAST).items
    turned = replace(facts, payments=tuple(reversed(facts.payments)))
    assert settled_calendar(turned, FIRST, LAST).items == whole
    after = between + datetime.timedelta(days=1)
    parts = settled_calendar(facts, FIRST, between).items + settled_calendar(facts, after, LAST).items
    assert parts == whole


@on_examples(households(), few=FEW, many=MANY)
def test_the_figures_of_a_return_are_what_is_paid_for_its_period(facts):
    for item in settled_calendar(facts, FIRST, LAST).items:
        if item.amount is not None:
            figures = figures_of(facts, item)
            assert figures.total == item.amount + item.earlier == sum(figures.lines.values())
            assert type(figures).from_json(figures.as_json()) == figures
