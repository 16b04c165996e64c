"""Titles of deadlines name the period that they are for, from its dates, in English and Spanish."""

import datetime
from dataclasses import replace

import pytest

from hearthpay.duties.calendar import CalendarItem, calendar_of_duties
from hearthpay.duties.ical import summary_of
from hearthpay.duties.periods import HALF_YEARS, MONTHLY, QUARTERS, YEARS, CoveredDays
from hearthpay.duties.rules import duties_of
from hearthpay.duties.titles import covered_days_text, title_of_item, with_period
from hearthpay.languages.catalogue import say_in
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.todos.duty_rows import to_dos_of_calendar
from hearthpay.todos.wording import action_text, action_with_amount_text, title_text
from tests.cases import every_case
from tests.duties.household import HOUSEHOLD, everywhere
from tests.duties.years import year_of

NOVEMBER_20 = datetime.date(2026, 11, 20)
YEAR = (datetime.date(2026, 1, 1), datetime.date(2027, 12, 31))

PERIODS = {
    (1, 1, 12, 31): ("2026", "2026"),
    (4, 1, 6, 30): ("April–June 2026", "abril–junio de 2026"),
    (1, 1, 6, 30): ("January–June 2026", "enero–junio de 2026"),
    (9, 1, 12, 31): ("September–December 2026", "septiembre–diciembre de 2026"),
    (10, 1, 10, 31): ("October 2026", "octubre de 2026"),
}


def test_months_are_named_by_the_first_and_the_last() -> None:
    for (first_month, first, last_month, last), told in PERIODS.items():
        covered = CoveredDays(datetime.date(2026, first_month, first), datetime.date(2026, last_month, last))
        assert (covered_days_text(covered, "en"), covered_days_text(covered, "es")) == told


@pytest.mark.parametrize(
    ("first", "english", "spanish"),
    [
        (20, "payday of Nov 20, 2026", "día de pago del 20 de noviembre de 2026"),
        (
            14,
            "paydays Nov 14 to Nov 20, 2026",
            "días de pago del 14 de noviembre al 20 de noviembre de 2026",
        ),
    ],
)
def test_paydays_that_are_paid_together_are_named_by_their_days(
    first: int, english: str, spanish: str
) -> None:
    covered = CoveredDays(NOVEMBER_20.replace(day=first), NOVEMBER_20, of_paydays=True)
    assert covered_days_text(covered, "en") == english
    assert covered_days_text(covered, "es") == spanish


def _kinds_of_periods() -> set[str]:
    """The words of all partitions into months, and `payday`, that duties have."""
    found = set()
    for jurisdiction in ("US", *STATES):
        for duty in duties_of(jurisdiction).duties:
            if duty.partition is not None:
                found.add(getattr(duty.partition, "word", "payday"))
    return found


def test_every_kind_of_period_is_in_the_table() -> None:
    known = {partition.word for partition in (YEARS, HALF_YEARS, QUARTERS, MONTHLY)}
    assert _kinds_of_periods() == known | {"I", "payday"}


def test_each_item_of_each_state_names_its_period_and_nothing_else_does() -> None:
    """A hire, a policy and an election have no period of their own."""
    seen: set[str] = set()
    with every_case() as case:
        households = [
            everywhere(),
            everywhere("monthly"),
            year_of("CA", "nanny"),
            year_of("NY", "two-nannies"),
        ]
        for number, household in enumerate(households):
            for item in calendar_of_duties(household, *YEAR):
                with case(f"{number} {item.key}"):
                    seen.add(_check_title(item))
    assert seen == {"months", "paydays", "none"}


def _check_title(item: CalendarItem) -> str:
    english, spanish = title_of_item(item, "en"), title_of_item(item, "es")
    if (item.employee_id is not None and "/hire-" in item.key) or item.kind == "election":
        assert (english, spanish) == (item.what, say_in("es")(item.what))
        return "none"
    assert item.covers is not None
    period = covered_days_text(item.covers, "en")
    assert str(item.period_end.year) in period
    assert english == f"{item.what}: {period}"
    assert spanish == f"{say_in('es')(item.what)}: {covered_days_text(item.covers, 'es')}"
    assert summary_of(item).endswith(
        english if item.employee_name is None else f"{english} ({item.employee_name})"
    )
    return "paydays" if item.covers.of_paydays else "months"


def _item(key: str) -> CalendarItem:
    return next(item for item in calendar_of_duties(everywhere(), *YEAR) if item.key == key)


def test_a_to_do_names_the_period_after_the_amount() -> None:
    item = replace(
        _item("CA/wages-quarterly/2026-Q2"), amount=43620, open=43620, next_step="file", payment_status="late"
    )
    today = item.due + datetime.timedelta(days=20)
    [filed] = to_dos_of_calendar(HOUSEHOLD, [replace(item, open=0)], today, today)
    assert action_text(filed, "en", today) == "File with the EDD: April–June 2026"
    assert action_text(filed, "es", today) == "Presente su declaración ante el EDD: abril–junio de 2026"
    [paid] = to_dos_of_calendar(HOUSEHOLD, [replace(item, next_step="pay")], today, today)
    assert action_with_amount_text(paid, "en", today) == "Pay the EDD $436.20: April–June 2026"
    assert title_text(paid, "en", today) == "Pay the EDD $436.20: April–June 2026, 20 days late"
    assert with_period("Pay", None, "en") == "Pay"
