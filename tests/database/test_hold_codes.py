"""What held a payment before there were codes is given one by the migration that adds them."""

from __future__ import annotations

import importlib
import re

import psycopg
import pytest

from tests.database.household import Household

_MIGRATION = importlib.import_module("hearthpay.database.migrations.versions.0061_message_codes")
[_CONVERSION] = re.findall(r"UPDATE bank_entries SET hold_code.*?;", _MIGRATION.HOLDS, re.DOTALL)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("the bank account is failed", "account_failed"),
        ("the bank account is verifying", "account_verifying"),
        ("the bank account is disconnected", "account_not_usable"),
        ("the household has not authorized debits of this account for the payroll", "not_authorized"),
        ("the name has no letter that banks can read", "name_not_readable"),
        ("it would arrive on 2027-01-04, but its paycheck belongs to 2026", "arrives_in_other_year"),
        ("the key 'k1' is missing", "internal"),
        (None, None),
    ],
)
def test_each_reason_of_before_has_a_code(
    owner: psycopg.Connection, smiths: Household, reason: str | None, code: str | None
) -> None:
    assert smiths is not None
    owner.execute(
        "UPDATE bank_entries SET held_reason = %s, held_since = CASE WHEN %s THEN now() END, hold_code = NULL",
        (reason, reason is not None),
    )
    owner.execute(_CONVERSION)
    assert owner.execute("SELECT DISTINCT held_reason, hold_code FROM bank_entries").fetchall() == [
        (reason, code)
    ]
