"""Messages: every code has English and Spanish words with its parameters, and survives being stored."""

import datetime
import json
import re
from decimal import Decimal

import orjson
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.languages.catalogue import say_in
from hearthpay.taxes.message_texts import CODES, ENGLISH
from hearthpay.taxes.messages import (
    DollarAmount,
    Joined,
    Message,
    english,
    message,
    of_json,
    parameters,
    to_json,
)
from hearthpay.web.message_text import ON_PAGES, message_text
from tests.cases import every_case

_GAP = re.compile(r"\{(\w+)[^}]*\}")
_FROM_RULES = {"text", "note", "law", "name", "noun", "field", "line", "lines", "home", "state", "period"}
"""Parameters that are words of the law or of a field; everything else is a number, a day, an amount or a message."""

_VALUES = st.one_of(
    st.text(max_size=20),
    st.integers(-(10**6), 10**6),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-10000, max_value=10000),
    st.dates(),
    st.builds(DollarAmount, st.integers(-(10**9), 10**9)),
)
_MESSAGES = st.builds(
    Message,
    st.sampled_from(CODES),
    st.dictionaries(
        st.sampled_from(["amount", "day", "hours", "text"]),
        _VALUES | st.lists(st.builds(message, st.sampled_from(CODES), amount=_VALUES), max_size=3).map(tuple),
        max_size=4,
    ).map(lambda params: tuple(params.items())),
)


def test_every_code_has_english_words_and_nothing_else_has():
    assert set(ENGLISH) == set(CODES)


def _example(code: str) -> Message:
    names = {name for words in (ENGLISH[code], ON_PAGES.get(code, "")) for name in _GAP.findall(words)}
    values: dict[str, object] = dict.fromkeys(sorted(names), Decimal("1.5"))
    for name in names:
        if name in ("day", "asked", "earliest", "start", "end", "since"):
            values[name] = datetime.date(2026, 11, 24)
        elif name in ("lines", "thresholds", "parts") and "{lines}" not in ENGLISH[
            "figures_not_published"
        ] * (code == "figures_not_published"):
            values[name] = (message("part_bonus", amount=DollarAmount(123456)), message("part_salary"))
        elif name in _FROM_RULES:
            values[name] = "regular_hours"
    return Message(code, tuple(values.items()))  # type: ignore[arg-type]


def test_each_code_is_rendered_with_all_its_parameters():
    with every_case() as case:
        for language in ["en", "es"]:
            for code in CODES:
                with case(language, code):
                    _check_rendered(code, language)


def _check_rendered(code: str, language: str):
    said = _example(code)
    if code == "hours_rounded":
        said = message(
            "hours_rounded", field="regular_hours", asked=Decimal("7.12345"), paid=Decimal("7.123")
        )
    for words in (english(said), message_text(say_in(language), language, said)):
        assert words
        assert "{" not in words
        assert "}" not in words
    shown = message_text(say_in(language), language, said)
    assert "employees[" not in shown
    if language == "es" and len(shown) > 30 and "{text}" not in ENGLISH[said.code] and code != "recorded":
        assert shown != message_text(say_in("en"), "en", said)


def test_a_message_says_its_parts():
    said = message(
        "paid_beside",
        payroll="p1",
        day=datetime.date(2026, 11, 20),
        parts=(
            message("part_hours", hours=Decimal("40.000")),
            message("part_bonus", amount=DollarAmount(5000)),
        ),
        start=datetime.date(2026, 11, 9),
        end=datetime.date(2026, 11, 15),
    )
    assert english(said) == (
        "This paycheck comes on top of another of the same time: payroll p1, with the pay date 2026-11-20, pays "
        "40 hours and a bonus of 50.00 for 2026-11-09 to 2026-11-15."
    )
    assert parameters(said)["parts"] == [
        {"code": "part_hours", "params": {"hours": Decimal("40.000")}},
        {"code": "part_bonus", "params": {"amount": Decimal("50.00")}},
    ]
    assert f"{Joined(['a', 'b'])}" == "a, b"


@given(_MESSAGES)
def test_what_is_stored_is_read_again(said: Message):
    assert of_json(json.loads(orjson.dumps(to_json(said)))) == said


def test_words_from_before_there_were_codes_stay():
    old = of_json("Less was set aside than asked for: net pay cannot be negative.")
    assert old.code == "recorded"
    assert old.text == "Less was set aside than asked for: net pay cannot be negative."
    assert message_text(say_in("es"), "es", old) == old.text
