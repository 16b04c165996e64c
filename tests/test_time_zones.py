"""Where a household's times are shown: by its state or its choice, on pages and in emails; deadlines stay Eastern."""

import datetime
from datetime import UTC, date
from zoneinfo import ZoneInfo

import pytest

from hearthpay.clock import BUSINESS_TIME
from hearthpay.languages.catalogue import hour_in, moment_in, time_zone_in
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.time_zones import (
    TIME_ZONES,
    day_there,
    set_shown_time_zone,
    shown_in,
    shown_time_zone,
    state_times,
    time_zone_of,
)
from hearthpay.web.presentation import day_text

NOON = datetime.datetime(2026, 11, 24, 17, 5, tzinfo=UTC)
PACIFIC = ZoneInfo("America/Los_Angeles")


def test_every_state_has_its_usual_zone_and_every_zone_is_some_states() -> None:
    assert state_times().keys() == set(STATES)
    assert {each.zone for each in state_times().values()} == set(TIME_ZONES)


@pytest.mark.parametrize(
    ("state", "chosen", "zone"),
    [
        ("CA", None, "America/Los_Angeles"),
        ("AZ", None, "America/Phoenix"),
        ("TN", None, "America/Chicago"),
        ("TN", "America/New_York", "America/New_York"),
        ("TX", "America/Denver", "America/Denver"),
        # What a later version may have stored doesn't break a page.
        ("CA", "Europe/Paris", "America/New_York"),
    ],
)
def test_the_choice_comes_before_the_state(state: str, chosen: str | None, zone: str) -> None:
    assert time_zone_of(state, chosen).key == zone


def test_moments_and_their_days_are_shown_where_the_household_is() -> None:
    assert moment_in("en", NOON) == "Nov 24, 2026, 12:05 PM ET"
    with shown_in(PACIFIC):
        assert moment_in("en", NOON) == "Nov 24, 2026, 9:05 AM PT"
        assert hour_in("en", NOON) == "Tuesday, November 24, at 9:05 AM Pacific time"
        assert hour_in("es", NOON).endswith("hora del Pacífico")
        assert moment_in("es", NOON) == "24 nov 2026, 9:05 a.m. PT"
        early = datetime.datetime(2026, 11, 25, 6, tzinfo=UTC)
        assert day_text("en", "date", early) == "Nov 24, 2026"
        with shown_in(ZoneInfo("Pacific/Honolulu")):
            assert moment_in("en", NOON).endswith("7:05 AM HST")
        assert moment_in("en", NOON).endswith("PT")
    assert day_text("en", "date", datetime.datetime(2026, 11, 25, 6, tzinfo=UTC)) == "Nov 25, 2026"


def test_a_zone_can_be_set_only_within_a_block() -> None:
    set_shown_time_zone(PACIFIC)
    assert shown_time_zone() == BUSINESS_TIME
    with shown_in():
        assert shown_time_zone() == BUSINESS_TIME
        set_shown_time_zone(PACIFIC)
        assert shown_time_zone() == PACIFIC
    assert shown_time_zone() == BUSINESS_TIME


def test_every_zone_has_a_name_in_both_languages() -> None:
    names = {(time_zone_in("en", zone), time_zone_in("es", zone)) for zone in TIME_ZONES}
    assert len(names) == len(TIME_ZONES)
    for zone in TIME_ZONES:
        with shown_in(ZoneInfo(zone)):
            assert moment_in("es", NOON)


def test_the_evening_of_the_west_is_tomorrow_in_the_east() -> None:
    evening = datetime.datetime(2026, 11, 25, 6, tzinfo=UTC)
    assert day_there(PACIFIC, evening) == date(2026, 11, 24)
    assert day_there(BUSINESS_TIME, evening) == date(2026, 11, 25)
