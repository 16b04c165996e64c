"""The field types of request bodies."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from hearthpay.wire.fields import Day, Email, Identifier, PersonName, StateCode
from hearthpay.wire.paging import decode_cursor, encode_cursor
from hearthpay.wire.secrecy import holds_a_secret, names_a_secret


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        (Day, ["2026-02-28", "2024-02-29"]),
        (StateCode, ["CA", "ca", "Dc"]),
        (PersonName, ["Rosa", " Ana María ", "Ng", "O'Brien-Smith", "李", "J. R.", "J.R.", "St. Clair"]),
        (PersonName, ["Zoë 👩\u200d🍳", "❤\ufe0f", "می\u200cخواهم", "क्\u200dष"]),
        (Email, ["a@example.com", "maria+payroll@bücher.example", "x" * 64 + "@example.com"]),
        (Identifier, ["019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e", "019A9E2C-6B6E-7C31-9D0E-4F6A2B8C1D5E"]),
    ],
)
def test_good_values(kind: Any, good: list[object]) -> None:
    for value in good:
        TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        (
            Day,
            [
                "2026-02-30",
                "2026-13-01",
                "20260220",
                "2026-W01-1",
                "2026-2-3",
                "2026-02-20T00:00:00",
                "0000-01-01",
                "٢٠٢٦-٠١-٠١",
                1_767_225_600,
                "",
                "2026-02-20\n",
            ],
        ),
        (StateCode, ["XX", "PR", "California", "", 6, None, "C A", "ß"]),
        (PersonName, ["", "   ", "x" * 101, "a\x00b", "a\nb", "a\x1bb", 5, "078-05-1120", "\ud800"]),
        (PersonName, ["a\x85b", "a\u2028b", "a\u2029b", "a\u202eb", "a\u2066b", "a\u200fb", "a\x9fb"]),
        (
            PersonName,
            ["=?utf-8?b?U21pdGg=?=", "=?", "x?=", "http://a", "www.a", "evil.com", "a@b", "evil。com"],
        ),
        (
            PersonName,
            ["\u200b", "Ro\u200bsa", "Ro\u200dsa", "Rosa\u200d", "\u200cRosa", "Ro\u00adsa", "Ro\u2060sa"],
        ),
        (
            PersonName,
            [
                "\ufeffRosa",
                "Rosa\ufe0f",
                "\u3164",
                "\u2800",
                "\uffa0",
                "Rosa\U000e0041",
                "Ро\u200dза",
                "\u034f",
            ],
        ),
        (Email, ["=?utf-8?b?QUJD?=@example.com", "a@example.com\u2028b", "x" * 65 + "@example.com"]),
        (Email, ["", "nobody", "a@", "@b.example", "a b@example.com", "x" * 250 + "@example.com", 7]),
        (
            Identifier,
            ["", "1", "019a9e2c6b6e7c319d0e4f6a2b8c1d5e", "{019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e}", 5],
        ),
    ],
)
def test_bad_values(kind: Any, bad: list[object]) -> None:
    for value in bad:
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    "text", ["078-05-1120", "SSN 078051120.", "078 05 1120", "12-3456789", "routing 021000021 please"]
)
def test_text_with_a_secret_number_is_seen(text: str) -> None:
    assert holds_a_secret(text)


@pytest.mark.parametrize(
    "text",
    ["555-0100", "2026-01-05", "12345", "019a9e2c-6b6e-7c31-9d0e-123456789012", "Flat 12-3"],
)
def test_harmless_numbers_pass(text: str) -> None:
    assert not holds_a_secret(text)


def test_field_names_that_would_carry_a_secret() -> None:
    for name in (
        "ssn",
        "SSN",
        "employee_ssn",
        "itin",
        "social_security_number",
        "account_number",
        "accountNumber",
    ):
        assert names_a_secret(name), name
    for name in ("routing_number", "bank_account", "tax_id", "taxpayer_id", "ein", "iban"):
        assert names_a_secret(name), name
    for name in ("first_name", "state", "hours", "bonus", "frequency", "being", "meeting_notes"):
        assert not names_a_secret(name), name


@given(st.uuids())
def test_a_cursor_leads_back_to_the_id_it_was_made_of(identity: Any) -> None:
    assert decode_cursor(encode_cursor(identity)) == identity


@given(st.text(alphabet=string.printable + "é\ud800", max_size=40))
def test_any_other_text_is_no_cursor(text: str) -> None:
    try:
        identity = decode_cursor(text)
    except ValueError:
        return
    assert encode_cursor(identity) == text
