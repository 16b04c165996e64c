"""Minutes of a duty: each kind has some, a duty's own replace them, and all are marked as a guess."""

import tomllib

import pytest

from hearthpay.duties.household import FEDERAL
from hearthpay.duties.minutes import FILE, minutes_of
from hearthpay.duties.rules import KINDS, Kind, duties_of
from hearthpay.taxes.jurisdictions import STATES


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_minutes_that_are_a_guess(kind: Kind) -> None:
    found = minutes_of("CA/anything/2026-Q3", kind)
    assert 0 < found.minutes <= 60
    assert found.guess


def test_minutes_of_a_duty_replace_those_of_its_kind() -> None:
    assert minutes_of("US/schedule-h/2026", "return").minutes == 45
    assert minutes_of("CA/schedule-h/2026", "return").minutes == 15


def test_each_duty_with_minutes_exists() -> None:
    known = {f"{each}/{duty.id}" for each in (FEDERAL, *STATES) for duty in duties_of(each).duties}
    named = tomllib.loads(FILE.read_text("utf-8"))["duties"].keys()
    assert named - known <= {"US/i9"}, "the form of a hire is a rule of employment"
