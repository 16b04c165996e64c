"""The form of API keys."""

import re

import pytest

from hearthpay.security.api_keys import generate, parse


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_generated_key_has_the_documented_form_and_is_parsed_back(mode: str) -> None:
    key = generate(mode)
    assert re.fullmatch(rf"hp_{mode}_[0-9A-Za-z]{{49}}", key.text)
    assert parse(key.text) == key
    assert key.last_four == key.text[-4:]
    assert len(key.hash) == 32


def test_no_two_keys_are_equal_and_none_shows_itself() -> None:
    keys = [generate("live") for _ in range(200)]
    assert len({key.text for key in keys}) == 200
    assert keys[0].text not in repr(keys[0])


def test_one_changed_character_is_noticed_anywhere() -> None:
    text = generate("live").text
    for position in range(len("hp_live_"), len(text)):
        changed = "A" if text[position] != "A" else "B"
        assert parse(text[:position] + changed + text[position + 1 :]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hp_live_",
        "hp_live_" + "0" * 48,
        "hp_demo_" + "0" * 49,
        "hp_live_" + "é" * 49,
        "Bearer",
        "\x00" * 57,
    ],
)
def test_what_is_no_key_is_refused(text: str) -> None:
    assert parse(text) is None


def test_a_live_key_is_not_a_test_key_with_another_name() -> None:
    assert parse(generate("live").text.replace("hp_live_", "hp_test_")) is None
