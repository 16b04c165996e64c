"""A year's taxes of one employee, beside two packages that compute annual returns: tenforty and taxcalc.

python -m benchmarks.peers

They answer another question: the income tax of a return, where Hearthpay estimates what each paycheck withholds and
what the household owes. So the table compares times alone, never results. To install them:
`uv pip install --group peers`.
"""

import datetime
import importlib
import time
import timeit
from collections.abc import Callable
from decimal import Decimal
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

from benchmarks.report import Row, print_table
from hearthpay.taxes import estimate_year

STATE: Final = "CA"
WAGES: Final = 35_000
OWN_DAY: Final = datetime.date(2026, 6, 5)
PEERS_YEAR: Final = 2024
"""A year that both peers have."""

ROUNDS: Final = 7
CALLS: Final = {"hearthpay": 2_000, "tenforty": 50, "taxcalc": 3}


def measure() -> list[Row]:
    """Time the packages that are installed, in turns; say which aren't."""
    runs: dict[str, Callable[[], object]] = {"hearthpay": _hearthpay}
    for name, prepare in {"tenforty": _tenforty, "taxcalc": _taxcalc}.items():
        if find_spec(name) is None:
            print(f"{name} is not installed, so it is left out: uv pip install --group peers", flush=True)
        else:
            runs[name] = prepare()
    samples: dict[str, list[float]] = {name: [] for name in runs}
    for call in runs.values():
        call()
    for _ in range(ROUNDS):
        for name, call in runs.items():
            seconds = timeit.Timer(call, timer=time.process_time).timeit(CALLS[name])
            samples[name].append(seconds / CALLS[name] * 1e6)
    medians = {name: median(values) for name, values in samples.items()}
    own = medians.pop("hearthpay")
    what = f"{STATE}, single, {WAGES:,} a year"
    return [
        Row(f"Hearthpay: a year's estimate, every line of employer and employee ({what})", f"{own:.0f} µs"),
        *(
            Row(
                f"{name}: an annual return ({what})", f"{each:,.0f} µs", f"Hearthpay {own:.0f} µs", each / own
            )
            for name, each in medians.items()
        ),
    ]


def _hearthpay() -> object:
    return estimate_year(STATE, Decimal(WAGES), on=OWN_DAY)


def _tenforty() -> Callable[[], object]:
    """Federal and state return, by Open Tax Solver."""
    peer: Any = importlib.import_module("tenforty")
    return lambda: peer.evaluate_return(year=PEERS_YEAR, state=STATE, filing_status="Single", w2_income=WAGES)


def _taxcalc() -> Callable[[], object]:
    """Federal return alone: it is made for many households at once, and a table of one pays for its setting up."""
    peer: Any = importlib.import_module("taxcalc")
    frames: Any = importlib.import_module("pandas")
    columns = {"RECID": [1], "MARS": [1], "FLPDYR": [PEERS_YEAR], "e00200": [WAGES], "e00200p": [WAGES]}
    records = peer.Records(data=frames.DataFrame(columns), start_year=PEERS_YEAR, gfactors=None, weights=None)
    calculator = peer.Calculator(policy=peer.Policy(), records=records)
    calculator.advance_to_year(PEERS_YEAR)
    calc_all: Callable[[], object] = calculator.calc_all
    return calc_all


if __name__ == "__main__":
    print("tenforty and taxcalc compute annual returns: the times compare, the results don't.")
    print_table(measure())
