"""How long the law takes to load: every state of the year in a process that has loaded nothing yet.

Run as a program, it is that process: it loads everything and prints the milliseconds as JSON.
"""

import json
import subprocess
import sys
import time
from statistics import median

from benchmarks.report import Row, in_columns

PROCESSES = 5
YEAR = 2026


def measure() -> list[Row]:
    print(f"Rulebook: all states of {YEAR}, {PROCESSES} fresh processes …", flush=True)
    runs = []
    for _ in range(PROCESSES):
        command = [sys.executable, "-m", "benchmarks.rulebook_loading"]
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        runs.append(json.loads(finished.stdout))
    parts = {name: median(run[name] for run in runs) for name in runs[0] if name != "states"}
    states = {state: median(run["states"][state] for run in runs) for state in runs[0]["states"]}
    everything = median(sum(run["states"].values()) + run["federal"] for run in runs)
    slowest = max(states, key=lambda state: states[state])
    print(in_columns([f"{state} {value:5.1f}" for state, value in states.items()]))
    print(
        f"  ms a state; besides: importing the engine {parts['import']:.0f} ms, federal rules "
        f"{parts['federal']:.1f} ms, the fingerprint of all files {parts['version']:.1f} ms"
    )
    typical = median(states.values())
    return [
        Row(f"Rulebook, federal and all {len(states)} states, cold", f"{everything:.0f} ms"),
        Row(
            f"Rulebook, slowest state ({slowest})",
            f"{states[slowest]:.1f} ms",
            "median state",
            states[slowest] / typical,
        ),
    ]


def _load_everything() -> dict[str, object]:
    """Milliseconds of each step, in the order in which a process takes them."""
    before = time.perf_counter()
    from hearthpay.taxes.rulebook import RULES, Rulebook

    imported = time.perf_counter()
    rulebook = Rulebook(RULES / str(YEAR))
    federal = time.perf_counter()
    states = {}
    for state in rulebook.supported_states:
        started = time.perf_counter()
        rulebook.state(state)
        states[state] = (time.perf_counter() - started) * 1e3
    fingerprinting = time.perf_counter()
    assert rulebook.version
    return {
        "import": (imported - before) * 1e3,
        "federal": (federal - imported) * 1e3,
        "states": states,
        "version": (time.perf_counter() - fingerprinting) * 1e3,
    }


if __name__ == "__main__":
    print(json.dumps(_load_everything()))
