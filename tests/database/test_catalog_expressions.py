"""A definition has one form, whether PostgreSQL read it once or again after a dump."""

from __future__ import annotations

import pytest

from hearthpay.database.catalog.expressions import normalize


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("CHECK ((((a >= 0) AND (a <= 9)) AND (b = 1)))", "CHECK (((a >= 0) AND (a <= 9) AND (b = 1)))"),
        ("CHECK (((a >= 0) AND (a <= 9) AND (b = 1)))", "CHECK (((a >= 0) AND (a <= 9) AND (b = 1)))"),
        ("CHECK ((((a) OR (b)) OR (c)) AND (d))", "CHECK (((a) OR (b) OR (c)) AND (d))"),
        ("CHECK (((a) AND (b)) OR (c))", "CHECK (((a) AND (b)) OR (c))"),
        ("CHECK ((x = ') AND ((') AND ((y) AND (z)))", "CHECK ((x = ') AND ((') AND (y) AND (z))"),
        ("CHECK (f((a) AND (b)) AND (c))", "CHECK (f((a) AND (b)) AND (c))"),
        ("CHECK (x\n   = E' \t\n')", "CHECK (x = E' \\t\\n')"),
    ],
)
def test_a_definition_has_one_form(written: str, form: str) -> None:
    assert normalize(written) == form
