"""The details of every refusal in the product keep to the row of their code."""

import ast
import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import hearthpay
from hearthpay.access.refusal import Refusal, RefusalCode
from hearthpay.access.refusal_details import DETAILS
from tests.cases import every_case

SOURCES = Path(hearthpay.__file__).parent
DAY = datetime.date(2026, 11, 20)


def _refusals() -> Iterator[tuple[str, str, ast.expr | None]]:
    """Every refusal that the code makes with a code of its own: where, which, and its details."""
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Refusal(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and ast.unparse(node.func) in ("Refusal", "HttpRefusal")):
                continue
            code = node.args[0]
            if isinstance(code, ast.Constant):
                details = next((each.value for each in node.keywords if each.arg == "details"), None)
                yield f"{path.relative_to(SOURCES)}:{node.lineno}", str(code.value), details


def test_every_refusal_in_the_code_has_the_details_of_its_code() -> None:
    refusals = list(_refusals())
    assert len(refusals) > 200
    known = get_args(RefusalCode)
    for place, code, details in refusals:
        assert code in known, place
        row = DETAILS.get(code)  # type: ignore[call-overload]
        if details is None:
            assert row is None or not row.always, f"{place}: {code} always carries details"
        elif code != "validation_error":
            assert row is not None, f"{place}: {code} has no row in DETAILS"
            if isinstance(details, ast.Dict) and None not in details.keys:
                names = {each.value for each in details.keys if isinstance(each, ast.Constant)}
                assert names <= row.kind.__annotations__.keys(), place
                assert row.kind.__required_keys__ <= names, place


def test_every_row_is_of_a_code_that_carries_details() -> None:
    carrying = {code for _, code, details in _refusals() if details is not None}
    of_the_engine = {"unsupported_tax_year", "unsupported_jurisdiction"}
    assert DETAILS.keys() == (carrying | of_the_engine) - {"validation_error"}


def test_other_details_are_refused_where_a_refusal_is_made() -> None:
    whole = {"pay_date": DAY, "next_valid_pay_date": DAY}
    assert Refusal("pay_date_past_deadline", "No.", details=whole).details == whole
    wrong: list[tuple[RefusalCode, dict[str, Any], str]] = [
        ("pay_date_past_deadline", whole | {"other": 1}, "have no other"),
        ("pay_date_past_deadline", {"pay_date": DAY}, "next_valid_pay_date"),
        ("pay_date_past_deadline", whole | {"pay_date": "soon"}, "pay_date"),
        ("validation_error", {"field": "a"}, "carries no details"),
        ("internal_error", {"a": 1}, "carries no details"),
    ]
    with every_case() as case:
        for code, details, why in wrong:
            with case(code, why), pytest.raises(TypeError, match=why):
                Refusal(code, "No.", details=details)
