"""What was done within a week: payments, filings and paychecks, the latest first, and nothing that isn't paid yet."""

import datetime
from dataclasses import replace
from datetime import date
from typing import Any, cast
from uuid import uuid4

from hearthpay.duties.calendar import CalendarItem
from hearthpay.languages.catalogue import say_in
from hearthpay.payroll.ledger.costs import LatestPaycheck
from hearthpay.web.household.done_rows import just_done

TODAY = date(2026, 12, 7)
_ITEM = CalendarItem(
    key="CA/wages-quarterly/2026-Q3",
    uid=uuid4(),
    kind="payment",
    jurisdiction="CA",
    what="Quarterly report of wages",
    agency="California Employment Development Department",
    form=None,
    employee_id=None,
    employee_name=None,
    period="2026-Q3",
    period_start=date(2026, 7, 1),
    period_end=date(2026, 9, 30),
    due=date(2026, 11, 2),
    due_unmoved=date(2026, 10, 31),
    amount=28_120,
    earlier=0,
    reason=None,
    link=None,
    done_on=None,
    note="",
    sources=(),
    confidence=cast(Any, "high"),
)


def paycheck(status: str, pay_date: date) -> LatestPaycheck:
    return LatestPaycheck(uuid4(), status, pay_date, uuid4(), "Ana López", 96_944, 122_721)


def shown(
    *items: CalendarItem, paychecks: tuple[LatestPaycheck, ...] = ()
) -> list[tuple[str, str, int | None]]:
    rows = just_done(items, paychecks, TODAY, say_in("en"), "en")
    return [(each.text, each.details.replace("\N{NO-BREAK SPACE}", " "), each.cents) for each in rows]


def test_the_latest_comes_first_with_what_was_paid() -> None:
    assert shown(
        replace(_ITEM, paid=28_120, paid_on=date(2026, 12, 1)),
        replace(_ITEM, kind="return", amount=None, filed_on=date(2026, 12, 3)),
        replace(_ITEM, kind="notice", what="Give Form I-9", amount=None, marked_on=date(2026, 12, 2)),
        paychecks=(paycheck("completed", date(2026, 12, 4)),),
    ) == [
        ("Paid Ana López", "Fri, Dec 4", 96_944),
        ("Filed with the EDD", "Thu, Dec 3 · Quarterly report of wages: July–September 2026", None),
        ("Give Form I-9: July–September 2026", "Wed, Dec 2", None),
        ("Paid the EDD", "Tue, Dec 1 · Quarterly report of wages: July–September 2026", 28_120),
    ]


def test_nothing_is_done_that_is_older_than_a_week_or_not_paid_yet() -> None:
    before = TODAY - datetime.timedelta(days=8)
    assert (
        shown(
            _ITEM,
            replace(_ITEM, paid=28_120, paid_on=before),
            replace(_ITEM, paid=0, paid_on=TODAY),  # reversed
            paychecks=(
                paycheck("completed", before),
                paycheck("completed", TODAY + datetime.timedelta(days=1)),
                paycheck("processing", TODAY),
            ),
        )
        == []
    )
