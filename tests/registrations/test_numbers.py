"""What is said of a number without giving it away."""

import re

from hearthpay.registrations.accounts import accounts_of
from hearthpay.registrations.numbers import format_warning
from hearthpay.taxes.jurisdictions import STATES
from tests.cases import every_case


def test_a_number_as_printed_draws_no_warning_with_or_without_separators():
    with every_case() as case:
        for state in STATES:
            with case(state):
                for number in accounts_of(state).numbers:
                    if number.shape is not None:
                        printed = number.shape.replace("#", "1")
                        assert format_warning(printed, number) is None
                        assert format_warning(f"  {printed.lower()} ", number) is None
                        assert format_warning(re.sub(r"[-. /]", "", printed), number) is None


def test_another_number_draws_a_warning_that_does_not_repeat_it():
    edd = accounts_of("CA").numbers[0]
    for other in ("12345", "123-4567-89", "ABC-4567-8", "１２３-4567-8", ""):
        warning = format_warning(other, edd)
        assert warning is not None
        assert "###-####-#" in warning
        assert not other or other not in warning


def test_a_number_of_no_known_shape_draws_none():
    (policy,) = (number for number in accounts_of("NY").numbers if number.id == "policy")
    assert format_warning("whatever the insurer prints", policy) is None
