"""Every worked example that the authorities print, and hand-checkable cases, by state.

The tables lie in ``examples/*.toml``: an example names its publication, gives the paycheck as the JSON form does,
and the amounts by line. Where a printed figure disagrees with the printed table, ``printed`` keeps it beside the
table's own result and ``disagreement`` says why. ``whole_dollars`` is what a wage bracket table prints for the middle
of its row.
"""

import tomllib
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

from hearthpay.taxes import calculate_paycheck
from hearthpay.taxes.interchange import read_paycheck_input
from tests.cases import every_case

FOLDER = Path(__file__).parent / "examples"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_examples(path):
    table = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    with every_case() as case:
        for position, example in enumerate(table["example"]):
            with case(f"{path.stem}-{position}-{example['publication'][:60]}"):
                _check(example)


def _check(example):
    given = {
        key: value.isoformat() if hasattr(value, "isoformat") else value
        for key, value in example["input"].items()
    }
    lines = {line.code: line.amount for line in calculate_paycheck(read_paycheck_input(given)).lines}
    for code, amount in example["expected"].items():
        assert lines.get(code, Decimal(0)) == amount, f"{code} of {example['publication']}"
    for code, printed in example.get("printed", {}).items():
        assert example["disagreement"], "a printed figure that differs needs its reason"
        assert lines[code] != printed
    for code, dollars in example.get("whole_dollars", {}).items():
        assert lines[code].quantize(Decimal(1), ROUND_HALF_UP) == dollars
