"""What `hearthpay doctor` says of rules that are not final: how many pay dates are under them, and what to do."""

import datetime

import orjson
import pytest

from hearthpay.cli.doctor import _print_awaited, _print_json
from hearthpay.payroll.provisional_law.pay_dates import (
    ProvisionalPayDates,
    ProvisionalRules,
    find_provisional,
)

DECEMBER = datetime.date(2026, 12, 1)


def test_it_counts_pay_dates_under_rules_that_are_not_final(capsys: pytest.CaptureFixture[str]) -> None:
    ahead = [
        ProvisionalPayDates("enrollment", 2027, ("CA",), 2),
        ProvisionalPayDates("payroll", 2031, ("NY",), 1),
    ]
    _print_awaited(find_provisional(ahead, DECEMBER))
    first, paid, held, to_do = capsys.readouterr().out.splitlines()
    assert first == (
        "RULES   2 enrollments and 1 scheduled payroll have pay dates under rules that are not final."
    )
    assert paid.endswith("are published: 2 enrollments and 0 scheduled payrolls.")
    assert held.endswith("are installed: 0 enrollments and 1 scheduled payroll.")
    assert "pip install --upgrade hearthpay" in to_do


def test_it_says_nothing_where_all_is_final(capsys: pytest.CaptureFixture[str]) -> None:
    _print_awaited(find_provisional([ProvisionalPayDates("enrollment", 2026, ("CA",), 2)], DECEMBER))
    assert capsys.readouterr().out == ""


def test_it_is_no_difference_of_the_books(capsys: pytest.CaptureFixture[str]) -> None:
    _print_json([], [], find_provisional([ProvisionalPayDates("payroll", 2031, ("NY",), 1)], DECEMBER), [])
    document = orjson.loads(capsys.readouterr().out)
    assert document["sound"] is True
    assert document["open_matters"] == []
    assert document["awaited_rules"]["held"] == {"enrollments": 0, "payrolls": 1}
    assert document["awaited_rules"]["jurisdictions"][0]["tax_year"] == 2031
    _print_json([], [], ProvisionalRules(), [])
    assert orjson.loads(capsys.readouterr().out)["awaited_rules"]["jurisdictions"] == []
