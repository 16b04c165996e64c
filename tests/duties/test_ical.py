"""The feed, read back with the library's parser, which keeps what it could not read in `errors`."""

import datetime
from dataclasses import replace

import pytest
from icalendar import Calendar

from hearthpay.duties.calendar import calendar_of_duties
from hearthpay.duties.household import EmploymentSpell
from hearthpay.duties.ical import feed_of
from tests.duties.household import HOUSEHOLD, MARIA
from tests.duties.test_calendar import IN_CA_AND_NY, LAST, MARIA_HIRED, NEW_YEAR

AS_OF = datetime.datetime(2026, 11, 22, 12, 0, tzinfo=datetime.UTC)


def _feed(household, as_of=AS_OF):
    return feed_of(household.id, calendar_of_duties(household, NEW_YEAR, LAST), as_of)


def _read(feed):
    calendar = Calendar.from_ical(feed)
    for component in calendar.walk():
        assert component.errors == [], component
    return calendar


def _days(household):
    return {str(event["UID"]): event.start for event in _read(_feed(household)).events}


def test_what_is_read_back_is_what_was_written():
    items = calendar_of_duties(IN_CA_AND_NY, NEW_YEAR, LAST)
    feed = feed_of(HOUSEHOLD, items, AS_OF)
    calendar = _read(feed)
    assert (calendar["VERSION"], calendar["METHOD"], str(calendar["UID"])) == (
        "2.0",
        "PUBLISH",
        str(HOUSEHOLD),
    )
    assert str(calendar["PRODID"]) == "-//Hearthpay//Calendar of duties//EN"
    assert len(calendar.events) == len(items) == 24
    for event, item in zip(calendar.events, items, strict=True):
        assert str(event["UID"]) == str(item.uid)
        assert (event.start, event.end) == (item.due, item.due + datetime.timedelta(days=1))
        assert event["DTSTAMP"].dt == AS_OF
        assert event["TRANSP"] == "TRANSPARENT"
        assert item.what in event["SUMMARY"]
        assert item.agency in event["DESCRIPTION"]
        assert str(event.get("URL", "")) == (item.link or "")
    assert len({str(event["UID"]) for event in calendar.events}) == len(items)
    assert calendar.to_ical() == feed


def test_the_bytes_are_lines_as_the_standard_has_them():
    feed = _feed(IN_CA_AND_NY)
    assert feed == _feed(IN_CA_AND_NY)
    lines = feed.split(b"\r\n")
    assert lines[-1] == b""
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    assert max(map(len, lines)) <= 75
    feed.decode("utf-8")


def test_a_payment_shows_its_amount_and_a_moved_day_its_own():
    texts = {
        str(event["SUMMARY"]): str(event["DESCRIPTION"])
        for event in _read(_feed(IN_CA_AND_NY)).events
        if event.start == datetime.date(2026, 11, 2)
    }
    (text,) = (text for summary, text in texts.items() if summary.startswith("CA: "))
    *lines, source = text.splitlines()
    assert lines[:-1] == [
        "To: California Employment Development Department",
        "Form: DE 9 + DE 9C, paid with DE 88",
        "For: 2026-Q3 (2026-07-01 to 2026-09-30)",
        "Amount so far: $300.00",
        "The law names 2026-10-31, a day on which offices are closed.",
    ]
    assert lines[-1].startswith("Due on the first of the month after the quarter, late after its last day.")
    assert source.startswith("Source (high confidence): EDD, Payroll Tax Calendar")


def test_a_changed_date_moves_its_entry():
    maria, john = IN_CA_AND_NY.employees
    later = replace(
        IN_CA_AND_NY,
        employees=(
            replace(maria, employments=(EmploymentSpell("CA", MARIA_HIRED + datetime.timedelta(days=7)),)),
            john,
        ),
    )
    before, after = _days(IN_CA_AND_NY), _days(later)
    assert before.keys() == after.keys()
    moved = {uid: (before[uid], after[uid]) for uid in before if before[uid] != after[uid]}
    assert sorted(moved.values()) == [
        (datetime.date(2026, 2, 5), datetime.date(2026, 2, 12)),
        (datetime.date(2026, 2, 22), datetime.date(2026, 3, 1)),
    ]


def test_two_households_share_no_entry():
    other = replace(IN_CA_AND_NY, id=MARIA)
    assert not _days(IN_CA_AND_NY).keys() & _days(other).keys()


def test_what_is_done_says_so_and_stays():
    key = "NY/wages-quarterly/2026-Q2"
    done = replace(IN_CA_AND_NY, done={key: datetime.date(2026, 7, 20)})
    assert _days(done) == _days(IN_CA_AND_NY)
    marked = [event for event in _read(_feed(done)).events if str(event["SUMMARY"]).startswith("Done: ")]
    assert [event.start for event in marked] == [datetime.date(2026, 7, 31)]
    assert "Marked as done on 2026-07-20." in marked[0]["DESCRIPTION"]


NAMES = ["Ana\r\nBEGIN:VALARM", 'Łucja; \\n, "x":y', "名" * 60, "\u2028Ana\t"]


@pytest.mark.parametrize("name", NAMES)
def test_no_name_breaks_out_of_its_entry(name):
    maria, john = IN_CA_AND_NY.employees
    named = replace(IN_CA_AND_NY, employees=(replace(maria, name=name), john))
    feed = _feed(named)
    calendar = _read(feed)
    assert len(calendar.events) == 24
    assert all(not event.subcomponents for event in calendar.events)
    assert max(map(len, feed.split(b"\r\n"))) <= 75


def test_an_instant_needs_a_timezone():
    with pytest.raises(ValueError, match="timezone"):
        _feed(IN_CA_AND_NY, datetime.datetime(2026, 11, 22))  # noqa: DTZ001
