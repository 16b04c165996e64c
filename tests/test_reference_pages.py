"""The generated reference pages match the code, and the words of their tables cover every code."""

from typing import get_args

import pytest
from tools import reference

from hearthpay.access.refusal import RefusalCode
from hearthpay.payroll.issues.failures import FailureKind
from hearthpay.payroll.issues.payment_status import PaymentStatus, RefundStatus
from hearthpay.payroll.lifecycle import PayrollStatus
from hearthpay.registrations.derivation import RegistrationStatus


def test_generated_pages_match_the_code() -> None:
    assert list(reference.stale()) == [], "run: python -m tools.reference"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("errors", RefusalCode),
        ("payroll", PayrollStatus),
        ("payment", PaymentStatus),
        ("refund", RefundStatus),
        ("failure", FailureKind),
        ("registration", RegistrationStatus),
    ],
)
def test_each_code_has_a_meaning_and_no_other(kind: str, values: object) -> None:
    assert set(reference.words()[kind]) == set(get_args(values))


def test_every_command_is_listed_once() -> None:
    page = reference.commands_page()
    assert page.count("| `hearthpay payroll") == 0
    for command in ("serve", "keys create", "rules", "rules impact", "documents w2", "calendar EMPLOYER"):
        assert page.count(f"| `hearthpay {command}") == 1 + (command == "rules") * 2, command


def test_permissions_page_lists_every_permission() -> None:
    page = reference.permissions_page()
    assert len(reference.all_permissions()) > 40
    for permission in reference.all_permissions():
        assert f"| `{permission.name}` | " in page
