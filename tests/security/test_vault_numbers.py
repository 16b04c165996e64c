"""Which numbers can exist, and that a number never shows itself unasked."""

from __future__ import annotations

import copy
import json
import pickle
import traceback

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearthpay.security.vault_numbers import InvalidNumberError, NumberKind, SecretNumber, parse_number
from tests.cases import every_case

GOOD: list[tuple[NumberKind, str, str]] = [
    ("ssn", "536-22-8145", "536228145"),
    ("ssn", " 536 22 8145 ", "536228145"),
    ("ssn", "536228145", "536228145"),
    ("ssn", "001-01-0001", "001010001"),
    ("ssn", "899-99-9999", "899999999"),
    ("itin", "900-50-0000", "900500000"),
    ("itin", "912-70-1234", "912701234"),
    ("itin", "999-99-9999", "999999999"),
    ("ein", "12-3456789", "123456789"),
    ("ein", "123456789", "123456789"),
    ("bank_routing", "021000021", "021000021"),
    ("bank_routing", "121000358", "121000358"),
    ("bank_routing", "322271627", "322271627"),
    ("bank_account", "0042", "0042"),
    ("bank_account", "12345678901234567", "12345678901234567"),
    ("state_account", " 123-4567-8 ", "123-4567-8"),
    ("state_account", "036-123456789F-01", "036-123456789F-01"),
    ("state_account", "WH-123-456-7890-01", "WH-123-456-7890-01"),
    ("state_account", "12-34567 8", "12-34567 8"),
    ("state_account", "DBL 1234567/2026", "DBL 1234567/2026"),
    ("state_account", "7", "7"),
    ("state_account", "1" * 40, "1" * 40),
]
BAD: list[tuple[NumberKind, str]] = [
    ("ssn", "536-22-814"),
    ("ssn", "536-228145"),
    ("ssn", "5362-2-8145"),
    ("ssn", "000-22-8145"),
    ("ssn", "666-22-8145"),
    ("ssn", "900-22-8145"),
    ("ssn", "536-00-8145"),
    ("ssn", "536-22-0000"),
    ("ssn", "078-05-1120"),
    ("ssn", "219-09-9999"),
    ("ssn", "٥٣٦٢٢٨١٤٥"),
    ("ssn", "536-22-8145\x00"),
    ("itin", "899-70-1234"),
    ("itin", "912-49-1234"),
    ("itin", "912-66-1234"),
    ("itin", "912-69-1234"),
    ("itin", "912-89-1234"),
    ("itin", "912-93-1234"),
    ("ein", "00-3456789"),
    ("ein", "49-3456789"),
    ("ein", "12-0000000"),
    ("ein", "12-345678"),
    ("ein", "123-456789"),
    ("bank_routing", "021000022"),
    ("bank_routing", "000000000"),
    ("bank_routing", "800000006"),
    ("bank_routing", "02100002"),
    ("bank_routing", "0210-0002-1"),
    ("bank_account", "123"),
    ("bank_account", "123456789012345678"),
    ("bank_account", "12 34 56"),
    ("bank_account", "DE123456"),
    ("bank_account", "0000"),
    ("bank_account", ""),
    ("state_account", ""),
    ("state_account", "---"),
    ("state_account", "1" * 41),
    ("state_account", "123-4567-8\n9"),
    ("state_account", "１２３"),
    ("state_account", "<b>1</b>"),
]


def test_a_number_may_be_written_with_its_hyphens() -> None:
    with every_case() as case:
        for kind, text, digits in GOOD:
            with case(kind, text, digits):
                number = parse_number(kind, text)
                assert number.kind == kind
                assert number.reveal() == digits


def test_an_impossible_number_is_refused_without_repeating_it() -> None:
    with every_case() as case:
        for kind, text in BAD:
            with case(kind, text):
                with pytest.raises(InvalidNumberError) as refusal:
                    parse_number(kind, text)
                assert refusal.value.kind == kind
                report = "".join(traceback.format_exception(refusal.value, limit=0))
                assert not text or text not in report


@given(st.integers(0, 8), st.integers(1, 9))
def test_every_single_wrong_digit_of_a_routing_number_is_noticed(position: int, by: int) -> None:
    digits = list("121000358")
    digits[position] = str((int(digits[position]) + by) % 10)
    with pytest.raises(InvalidNumberError):
        parse_number("bank_routing", "".join(digits))


@pytest.mark.parametrize(
    ("digits", "shown"),
    [("1234", "34"), ("12345", "45"), ("123456", "3456"), ("1234567", "4567"), ("123456789012", "9012")],
)
def test_four_digits_are_shown_of_six_or_more_and_two_of_fewer(digits: str, shown: str) -> None:
    assert parse_number("bank_account", digits).last_four == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("123-4567-8", "5678"),
        ("1234567-AB", "67AB"),
        ("036-123456789F-01", "9F01"),
        ("123456", "3456"),
        ("12-34567", "4567"),
        ("12345", "45"),
        ("12-3", "3"),
        ("1", ""),
    ],
)
def test_of_an_agencys_number_the_last_letters_and_digits_are_shown(number: str, shown: str) -> None:
    assert parse_number("state_account", number).last_four == shown


def test_a_number_hides_itself() -> None:
    number = parse_number("ssn", "536-22-8145")
    assert number.last_four == "8145"
    for shown in (
        repr(number),
        str(number),
        f"{number}",
        f"{number!r:>40}",
        repr([number]),
        repr({"ssn": number}),
    ):
        assert "8145" not in shown
    for serialize in (json.dumps, orjson.dumps, pickle.dumps, copy.copy, copy.deepcopy, vars):
        with pytest.raises(TypeError) as refusal:
            serialize(number)
        assert "8145" not in str(refusal.value)


def test_numbers_are_compared_by_nobody() -> None:
    assert SecretNumber("ssn", "536228145") != SecretNumber("ssn", "536228145")
