"""What people read: amounts, days, hours, rates and states, in both languages."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import get_args

import pytest

from hearthpay.autopilot.schemas import EnrollmentStatus
from hearthpay.banking.schemas import AccountStatus
from hearthpay.duties.rules import KINDS
from hearthpay.employees.commands import PaymentMethod
from hearthpay.employees.schemas import EmployeeStatus, OnboardingStatus
from hearthpay.employers.schemas import EinStatus
from hearthpay.payroll.display_status import TO_HAND_OVER
from hearthpay.payroll.issues.payment_status import PaymentStatus, RefundStatus
from hearthpay.payroll.ledger.costs import MonthlyCost
from hearthpay.payroll.lifecycle import STATUSES
from hearthpay.registrations.derivation import RegistrationStatus
from hearthpay.taxes.vocabulary import ThresholdStatus
from hearthpay.web.household.charts import Month, bar_chart
from hearthpay.web.household.taxes.year_costs import compare_years
from hearthpay.web.presentation import day_text, dollars_text, hours_text, money_text, percent_text
from hearthpay.web.status_words import STATUS_WORDS


def test_amounts() -> None:
    assert money_text(148216) == "$1,482.16"
    assert money_text(0) == "$0.00"
    assert money_text(-5) == "−$0.05"
    assert money_text(123456789000) == "$1,234,567,890.00"
    assert money_text(None) == "—"
    assert dollars_text(Decimal("28.5")) == "$28.50"
    with pytest.raises(ValueError, match="cent"):
        dollars_text(Decimal("0.005"))


def test_days() -> None:
    friday = date(2026, 11, 27)
    assert day_text("en", "weekday", friday) == "Fri, Nov\u00a027"
    assert day_text("es", "weekday", friday) == "viernes, 27\u00a0de\u00a0noviembre"
    assert day_text("en", "date", friday) == "Nov 27, 2026"
    assert day_text("es", "date", friday) == "27 nov 2026"
    assert day_text("en", "day", None) == "—"
    # an instant belongs to the day that it is in the eastern United States
    assert day_text("en", "day", datetime(2026, 11, 28, 3, tzinfo=UTC)) == "Nov 27"


def test_hours_and_rates() -> None:
    assert hours_text("en", Decimal("64.0")) == "64 hours"
    assert hours_text("en", 1) == "1 hour"
    assert hours_text("es", Decimal("7.5")) == "7.5 horas"
    assert percent_text(Decimal("0.0765")) == "7.65%"
    assert percent_text(Decimal("0.10")) == "10%"
    assert percent_text(None) == "—"


def test_every_state_has_its_word() -> None:
    states = {
        "payroll": (*STATUSES, TO_HAND_OVER),
        "payment": (*get_args(PaymentStatus), TO_HAND_OVER),
        "refund": get_args(RefundStatus),
        "method": get_args(PaymentMethod),
        "employee": get_args(EmployeeStatus),
        "onboarding": get_args(OnboardingStatus),
        "bank_account": get_args(AccountStatus),
        "autopilot": get_args(EnrollmentStatus),
        "registration": (*get_args(RegistrationStatus), "coming"),
        "ein": get_args(EinStatus),
        "duty": KINDS,
        "threshold": get_args(ThresholdStatus),
    }
    for kind, known in states.items():
        assert STATUS_WORDS[kind].keys() == set(known), kind


def test_bars_stand_on_each_other_and_reach_as_far_as_their_amount() -> None:
    chart = bar_chart([Month("Oct", (200_000, 40_000)), Month("Nov", (0, 0))])
    low, high = chart.bars
    assert (low.series, high.series) == (0, 1)
    assert high.y + high.height == pytest.approx(low.y, abs=0.2)
    assert low.height / high.height == pytest.approx(5, rel=0.01)
    assert [line.label for line in chart.lines] == ["$0", "$1k", "$2k", "$3k"]
    assert low.y + low.height == pytest.approx(chart.bottom, abs=0.2)
    assert bar_chart([]).bars == ()
    with pytest.raises(ValueError, match="came back"):
        bar_chart([Month("Oct", (-1,))])


@pytest.mark.parametrize(
    ("cents", "labels"),
    [
        (0, ["$0", "$1"]),
        (180_000, ["$0", "$500", "$1,000", "$1,500", "$2,000"]),
        (240_000, ["$0", "$1k", "$2k", "$3k"]),
        (900_000, ["$0", "$5k", "$10k"]),
        (250_000_000, ["$0", "$1M", "$2M", "$3M"]),
    ],
)
def test_labels_of_the_axis_are_of_one_kind(cents: int, labels: list[str]) -> None:
    chart = bar_chart([Month("Oct", (cents,))])
    assert [line.label for line in chart.lines] == labels


def test_bars_of_two_years_stand_side_by_side() -> None:
    chart = bar_chart([Month("Jan", (200_000, 100_000)), Month("Feb", (0, 50_000))], side_by_side=True)
    this, before, later = chart.bars
    assert [bar.series for bar in chart.bars] == [0, 1, 1]
    assert this.x + this.width == pytest.approx(before.x, abs=0.2)
    assert this.height == pytest.approx(2 * before.height, abs=0.2)
    assert {round(bar.y + bar.height) for bar in chart.bars} == {round(chart.bottom)}
    assert later.x > before.x
    assert chart.lines[-1].label == "$2,000", "the higher of the two counts, not their sum"


def test_years_are_compared_month_by_month() -> None:
    costs = [
        MonthlyCost(date(2025, 3, 1), 100, 20, 10),
        MonthlyCost(date(2026, 3, 1), 200, 40, 20),
        MonthlyCost(date(2026, 4, 1), 200, 40, 20),
    ]
    compared = compare_years("en", 2026, costs)
    assert compared is not None
    assert (compared.total, compared.before) == (520, 130)
    assert compared.rows[2:5] == (("Mar", (260, 130)), ("Apr", (260, 0)), ("May", (0, 0)))
    assert len(compared.rows) == 12
    assert compare_years("en", 2026, costs[1:]) is None, "one year has nothing to be compared with"
