"""Addresses: whatever is typed is kept in one form, and no other address can look like it."""

import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.people.identity import read_address


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (" Maria@EXAMPLE.com ", "maria@example.com"),
        ("maria@ｅｘａｍｐｌｅ.com", "maria@example.com"),
        ("maria@exаmple.com", "maria@xn--exmple-4nf.com"),
        ("maria@münchen.example", "maria@xn--mnchen-3ya.example"),
        ("mаria@example.com", None),
        ("marıa@example.com", None),
        ("ｍaria@example.com", None),
        ("maria@example.com\r\nBcc: x@example.com", None),
        ("maria@example.com,x@example.com", None),
        ("Maria <maria@example.com>", None),
        ("maria\u200b@example.com", None),
    ],
)
def test_an_address_has_one_form_and_nothing_looks_like_it(typed: str, kept: str | None) -> None:
    if kept is None:
        with pytest.raises(Refusal) as caught:
            read_address(typed)
        assert caught.value.code == "validation_error"
    else:
        assert read_address(typed) == kept
        assert kept.isascii()
