"""Tax of a closed year is never told as charged by the next paycheck: what is to be filed is named."""

import pytest

from hearthpay.doctor.closed_years import to_file


@pytest.mark.parametrize(
    ("code", "form"),
    [
        ("US-SS-EE", "W-2c"),
        ("US-MED-ER", "corrected Schedule H"),
        ("US-FUTA", "Form 940"),
        ("CA-SDI", "with the state"),
    ],
)
def test_each_line_names_what_corrects_it(code: str, form: str) -> None:
    assert form in to_file(code)
    assert "next paycheck" not in to_file(code)
