"""Salaries over hires, ends, unpaid days and frequencies: a year of full periods pays the salary to the cent."""

import calendar
import datetime
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.employees.salaries import PERIODS_A_YEAR, WEEKDAYS
from hearthpay.payroll.calculation import calculate_payroll
from hearthpay.payroll.ledger.rows import PaycheckRow
from hearthpay.payroll.ledger.years import NO_HISTORY
from hearthpay.payroll.orders import Payee, PayrollEntry, SettledOrder, with_salaries
from hearthpay.payroll.orders.pay_dates import PayDates
from hearthpay.payroll.orders.salary_shares import full_share
from hearthpay.taxes import TaxInputError

ANA = UUID("019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11")
DAY = datetime.timedelta(days=1)
FREQUENCIES = st.sampled_from(sorted(PERIODS_A_YEAR))
SALARIES = st.integers(min_value=1, max_value=40_000_000)
DAYS = st.dates(datetime.date(2024, 1, 1), datetime.date(2027, 12, 31))


def periods_from(frequency: str, first: datetime.date) -> Iterator[tuple[datetime.date, datetime.date]]:
    """Full periods one after another; those of months begin with the month."""
    start = first if frequency in ("weekly", "biweekly") else first.replace(day=1)
    while True:
        last_of_month = start.replace(day=calendar.monthrange(start.year, start.month)[1])
        if frequency == "weekly":
            end = start + 6 * DAY
        elif frequency == "biweekly":
            end = start + 13 * DAY
        elif frequency == "semimonthly" and start.day <= 15:
            end = start.replace(day=15)
        else:
            end = last_of_month
        yield start, end
        start = end + DAY


def ana(salary: int, per: str, frequency: str, start: datetime.date, **changes: object) -> Payee:
    settled = {
        "id": ANA,
        "first_name": "Ana",
        "last_name": "Diaz",
        "work_state": "TX",
        "residence_state": "TX",
        "localities": (),
        "pay_rate": None,
        "overtime_rate": None,
        "payment_method": "check",
        "relationship": "none",
        "federal_withholding": {},
        "state_withholding": {},
        "pay_type": "salary",
        "salary": Decimal(salary).scaleb(-2),
        "salary_per": per,
        "pay_frequency": frequency,
        "start_date": start,
    }
    return Payee(**(settled | changes))  # type: ignore[arg-type]


def order_of(
    period: tuple[datetime.date, datetime.date], frequency: str, unpaid: Decimal = Decimal(0)
) -> SettledOrder:
    nothing = Decimal(0)
    entry = PayrollEntry(ANA, "check", nothing, nothing, nothing, nothing, unpaid_days=unpaid)
    dates = PayDates(*period, period[1], defaulted=False)
    return SettledOrder(UUID(int=1), dates, frequency, None, (entry,))


def paid(
    payee: Payee,
    period: tuple[datetime.date, datetime.date],
    frequency: str,
    unpaid: Decimal = Decimal(0),
) -> int:
    (entry,) = with_salaries(order_of(period, frequency, unpaid), {ANA: payee}).entries
    assert entry.salary is not None
    return entry.salary.pay


@given(SALARIES, FREQUENCIES, DAYS)
def test_as_many_full_periods_as_a_year_has_pay_the_salary(
    salary: int, frequency: str, first: datetime.date
) -> None:
    payee = ana(salary, "year", frequency, first - 40 * DAY)
    found = periods_from(frequency, first)
    shares = [paid(payee, next(found), frequency) for _ in range(PERIODS_A_YEAR[frequency])]
    assert sum(shares) == salary
    assert max(shares) - min(shares) <= 1


@given(SALARIES, FREQUENCIES, DAYS)
def test_a_salary_of_each_period_is_paid_as_it_is(salary: int, frequency: str, first: datetime.date) -> None:
    payee = ana(salary, "period", frequency, first - 40 * DAY)
    found = periods_from(frequency, first)
    assert {paid(payee, next(found), frequency) for _ in range(60)} == {salary}


@given(
    SALARIES,
    FREQUENCIES,
    DAYS,
    st.integers(0, 30),
    st.sets(st.sampled_from(WEEKDAYS), min_size=1).map(sorted),
)
def test_who_leaves_and_who_follows_are_paid_one_period_together(
    salary: int, frequency: str, first: datetime.date, days: int, weekdays: list[str]
) -> None:
    """One leaves on a day, another begins the day after: together they are paid what one would be, to a cent."""
    period = next(periods_from(frequency, first))
    last = min(period[0] + days * DAY, period[1] - DAY)
    before = ana(
        salary, "year", frequency, period[0] - 400 * DAY, end_date=last, working_days=tuple(weekdays)
    )
    after = ana(salary, "year", frequency, last + DAY, working_days=tuple(weekdays))
    whole = full_share(salary, "year", frequency, period[1])
    assert abs(paid(before, period, frequency) + paid(after, period, frequency) - whole) <= 1


@given(SALARIES, FREQUENCIES, DAYS, st.integers(0, 62))
def test_unpaid_days_and_paid_ones_come_to_the_share(
    salary: int, frequency: str, first: datetime.date, halves: int
) -> None:
    payee, period = (
        ana(salary, "year", frequency, first - 400 * DAY),
        next(periods_from(frequency, first)),
    )
    working = sum(
        (period[0] + number * DAY).weekday() < 5 for number in range((period[1] - period[0]).days + 1)
    )
    unpaid = Decimal(halves) / 2
    whole = full_share(salary, "year", frequency, period[1])
    if unpaid > working:
        with pytest.raises(TaxInputError, match="unpaid_days"):
            paid(payee, period, frequency, unpaid)
        return
    left_out = paid(payee, period, frequency, working - unpaid)
    assert abs(paid(payee, period, frequency, unpaid) + left_out - whole) <= 1


@given(FREQUENCIES, DAYS, st.integers(0, 30))
def test_a_period_named_from_the_first_day_of_work_is_prorated_alike(
    frequency: str, first: datetime.date, days: int
) -> None:
    """Whether the whole period is named or only its days of work, no more than a full period is paid."""
    period = next(periods_from(frequency, first))
    began = min(period[0] + days * DAY, period[1])
    payee = ana(5_200_000, "year", frequency, began)
    named, short = (
        paid(payee, period, frequency),
        paid(payee, (began, period[1]), frequency),
    )
    assert 0 <= named <= full_share(5_200_000, "year", frequency, period[1])
    if (period[1] - began).days < 4 and named:
        assert abs(named - short) <= 1


@pytest.mark.parametrize("frequency", sorted(PERIODS_A_YEAR))
@pytest.mark.parametrize("salary", [5_200_001, 25_000_000])
def test_a_year_of_paychecks_comes_to_the_salary_its_taxes_and_its_caps(frequency: str, salary: int) -> None:
    """Gross pay is the salary; Social Security is withheld of it up to the wage base, on every paycheck by 6.2%."""
    payee = ana(salary, "year", frequency, datetime.date(2025, 1, 1))
    history, checks = NO_HISTORY, list[PaycheckRow]()
    for period in periods_from(frequency, datetime.date(2026, 1, 1)):
        if len(checks) == PERIODS_A_YEAR[frequency]:
            break
        record = calculate_payroll(order_of(period, frequency), {ANA: payee}, {ANA: history}, {})
        history = history.with_paycheck(record.paychecks[0])
        checks += record.paychecks
    assert sum(each.gross_pay for each in checks) == salary == checks[-1].ytd.gross_pay
    social_security = sum(line.amount for each in checks for line in each.lines if line.code == "US-SS-EE")
    assert abs(social_security - min(1_143_900, salary * 62 / 1_000)) <= len(checks) / 2
    if salary > 18_450_000:
        assert social_security == 1_143_900


def test_53_weeks_pay_one_share_more() -> None:
    payee = ana(5_200_000, "year", "weekly", datetime.date(2020, 1, 1))
    found = periods_from("weekly", datetime.date(2026, 1, 2))
    assert sum(paid(payee, next(found), "weekly") for _ in range(53)) == 5_300_000
