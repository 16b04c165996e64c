"""`make mutants`: would a test notice a fault? Puts small faults into the product, one at a time, and runs tests.

    python -m tools.mutants --sample 200 --seed 7
    python -m tools.mutants --modules 'payroll/ledger/*' --sample 40
    python -m tools.mutants --only 06498913 --modules payroll/ledger/quarters.py

A mutant is a copy of the source with one fault (`tools.mutations`): another comparison, sum, constant or condition, a
statement or a condition of SQL left out, None returned. A seed chooses the sample, in equal parts from the packages.

First the tests of the chosen modules run once, on modules that note which statement is reached by which test: the
files that import a module, as `make quick` has them, and those that `TESTS` names. Then each mutant is put into a copy
of the tree, never into the checkout, and the tests that reach its statement run, the shortest first, until one
fails. A mutant is killed where one does, or where they take too long; it survives where they all pass, or where none
reaches it. Each run is a fork of one process that has imported the libraries, over one database (`tools.mutant_runs`).

The report is `.mutants/report.md`, with each survivor as a change of source. Read them: some are equivalent, that is,
no input can tell them from the source. The others are gaps: write the test that kills one, and run it again by
`--only`. Two hundred mutants take about an hour. No part of the suite.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, Literal

from tools.mutant_runs import (
    ANYWHERE,
    COLLECTION,
    ROOT,
    Place,
    TimedTest,
    Workplace,
    describe_failure,
    first_run,
    import_libraries,
    run_tests,
    workplace,
)
from tools.mutations import Mutant, mutants_of
from tools.quick import imports_of, module_of

PACKAGES: Final = ("access", "banking", "payroll", "taxes")
SOURCE: Final = Path("src/hearthpay")
LONGEST_LIST: Final = 8
"""Where more test files import a module, those of `TESTS` are run alone."""

TESTS: Final[Mapping[str, Sequence[str]]] = {
    "access/*": ("access/test_*.py", "accounts/test_service.py", "http/test_plans.py", "test_commands.py"),
    "banking/*": ("banking/test_accounts.py", "banking/test_authorizations.py", "banking/test_readiness.py"),
    "banking/nacha/*": ("banking/test_nacha*.py", "banking/test_returns.py"),
    "banking/gateways/*": ("banking/test_gateways.py",),
    "banking/return*": ("banking/test_returns.py", "banking/test_reconciliation.py", "banking/test_intake_database.py"),
    "banking/reversals.py": ("lifecycle/test_reversals.py",),
    "banking/*_money.py": ("banking/test_entries.py", "lifecycle/test_available_actions.py"),
    "banking/account_*": ("alerts/test_stopping.py", "web/test_my_pages.py"),
    "payroll/*": ("payroll/test_run.py", "payroll/test_preview_and_run.py", "payroll/test_beside.py"),
    "payroll/ledger/*": ("payroll/test_quarters.py", "payroll/test_years.py", "payroll/test_lists.py"),
    "payroll/issues/*": ("payroll/test_advice.py", "lifecycle/test_available_actions.py"),
    "payroll/orders/*": ("payroll/test_salaries.py", "lifecycle/test_pay_dates.py", "payroll/test_spelled_numbers.py"),
    "payroll/payday/*": ("lifecycle/test_firing.py", "lifecycle/test_direct_deposit.py", "lifecycle/test_year_end.py"),
    "payroll/payday/remedies.py": ("lifecycle/test_available_actions.py", "lifecycle/test_what_comes_back.py"),
    "payroll/provisional_law/*": ("lifecycle/test_provisional_law.py", "autopilot/test_awaited_rules.py"),
    "payroll/set_asides/*": ("payroll/test_set_asides.py", "payroll/test_escrow.py"),
    "payroll/years/*": ("payroll/test_thresholds_as_paid.py", "payroll/test_years.py", "payroll/test_prior_wages.py"),
    "payroll/years/fica_refund.py": ("payroll/test_fica_refund.py",),
    "payroll/years/rule_changes.py": ("lifecycle/test_rules_impact.py",),
    "payroll/years/impact.py": ("lifecycle/test_rules_impact.py",),
    "payroll/voiding.py": ("lifecycle/test_void.py",),
    "payroll/approval.py": ("lifecycle/test_approval.py",),
    "payroll/lifecycle.py": ("lifecycle/test_states.py",),
    "payroll/scheduling.py": ("lifecycle/test_pay_dates.py", "lifecycle/test_firing.py"),
    "payroll/*explain*": ("payroll/test_stored_explanations.py", "payroll/test_a_paychecks_way.py"),
    "payroll/own_pay.py": ("web/test_my_pages.py",),
    "payroll/drafts.py": ("web/test_kept_forms.py", "web/test_payroll_pages.py"),
    "payroll/ledger/preview_tokens.py": ("payroll/test_preview_tokens.py", "payroll/test_preview_binds.py"),
    "taxes/*": ("taxes/test_*.py", "cli/test_calculate.py"),
    "doctor/*": ("doctor/test_*.py",),
}  # fmt: skip
"""Test files of modules beside those that import them, below `tests/`; a module has those of every pattern it fits."""

Verdict = Literal["killed", "timeout", "survived", "not reached"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant, by how many tests, and the one that killed it."""

    mutant: Mutant
    verdict: Verdict
    tests: int
    seconds: float
    by: str = ""


def modules_like(patterns: Sequence[str]) -> list[Path]:
    """Return the modules of the product that fit one of the patterns, by path from the root of the tree."""
    found = []
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        short = path.relative_to(ROOT / SOURCE).as_posix()
        if any(fnmatch(short, pattern) for pattern in patterns):
            found.append(path.relative_to(ROOT))
    return found


def choose(mutants: Iterable[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return a sample, in equal parts from the packages; the same for the same seed and sources."""
    draw = random.Random(seed)
    by_package: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_package.setdefault(package_of(mutant), []).append(mutant)
    piles = [draw.sample(pile, len(pile)) for _, pile in sorted(by_package.items())]
    chosen: list[Mutant] = []
    while len(chosen) < size and any(piles):
        for pile in piles:
            if pile and len(chosen) < size:
                chosen.append(pile.pop())
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.start, mutant.after))


def package_of(mutant: Mutant) -> str:
    """Return the package of the product that a mutant is in."""
    return mutant.path.parts[2]


def likely_tests(modules: Iterable[Path], imports: Mapping[Path, set[str]]) -> list[Path]:
    """Return the test files that are likely to notice a fault in one of the modules."""
    found: set[Path] = set()
    for module in modules:
        short = module.relative_to(SOURCE).as_posix()
        direct = {test for test, names in imports.items() if module_of(module) in names}
        if len(direct) <= LONGEST_LIST:
            found |= direct
        for pattern, files in TESTS.items():
            if fnmatch(short, pattern):
                found |= {
                    test for test in imports for file in files if fnmatch(test.as_posix(), f"tests/{file}")
                }
    return sorted(found)


def places_of(mutant: Mutant, source: bytes) -> set[Place]:
    """Return the statements that reach a mutant: its own; of a constant of the module, those with its name."""
    if mutant.statement is not None:
        return {(str(mutant.path), mutant.statement)}
    lines = enumerate(source.decode().splitlines(), 1)
    return {(str(mutant.path), number) for number, line in lines if mutant.name and mutant.name in line}


def reaching(mutant: Mutant, source: bytes, runs: Sequence[TimedTest], budget: float) -> list[str]:
    """Return the tests that reach a mutant, the shortest first, as many as take `budget` seconds together.

    What only the collection of the tests reaches is tested by those that reach anything in its module, a constant that
    no statement names by those too, or by all.
    """
    places = places_of(mutant, source)
    tests = [run for run in runs if run.passed and run.nodeid != COLLECTION]
    collected = any(run.reached & places for run in runs if run.nodeid == COLLECTION)
    found = [run for run in tests if run.reached & places]
    if not found and (collected or mutant.statement is None):
        found = [run for run in tests if (str(mutant.path), ANYWHERE) in run.reached] or tests
    chosen, spent = [], 0.0
    for run in sorted(found, key=lambda run: run.seconds):
        spent += run.seconds
        if chosen and spent > budget:
            break
        chosen.append(run.nodeid)
    return chosen


def judge(
    place: Workplace, mutant: Mutant, source: bytes, nodeids: Sequence[str], budget: float, log: Path
) -> Outcome:
    """Put a mutant into the copy, run its tests, and take it out again."""
    if not nodeids:
        return Outcome(mutant, "not reached", 0, 0.0)
    began = time.monotonic()
    place.put(mutant.path, mutant.applied_to(source))
    try:
        code = run_tests(place, nodeids, 60 + 4 * budget, log)
    finally:
        place.put(mutant.path, source)
    seconds = time.monotonic() - began
    if code is None:
        return Outcome(mutant, "timeout", len(nodeids), seconds)
    verdict: Verdict = "survived" if code == 0 else "killed"
    return Outcome(mutant, verdict, len(nodeids), seconds, "" if code == 0 else describe_failure(log))


def report(outcomes: Sequence[Outcome], seed: int, all_mutants: int, seconds: float) -> str:
    """Return the report as Markdown: a row for each package, and each mutant that no test noticed."""
    rows = [
        "| package | mutants | killed | timeout | survived | not reached | noticed |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    packages = sorted({package_of(each.mutant) for each in outcomes})
    for package in (*packages, "all"):
        of_package = [each for each in outcomes if package in ("all", package_of(each.mutant))]
        counts = Counter(each.verdict for each in of_package)
        noticed = counts["killed"] + counts["timeout"]
        share = f"{noticed / len(of_package):.1%}" if of_package else ""
        figures = (counts["killed"], counts["timeout"], counts["survived"], counts["not reached"], share)
        rows.append(f"| {package} | {len(of_package)} | " + " | ".join(map(str, figures)) + " |")
    unnoticed = [each for each in outcomes if each.verdict in ("survived", "not reached")]
    changes = [
        f"- `{each.mutant.id}` {each.mutant.path}:{each.mutant.line} {each.mutant.fault} ({each.verdict}, "
        f"{each.tests} tests)\n\n      - {_line(each.mutant.before)}\n      + {_line(each.mutant.after)}\n"
        for each in unnoticed
    ]
    heading = f"{len(outcomes)} of {all_mutants} mutants, seed {seed}, {seconds:.0f} s\n"
    return "\n".join((heading, *rows, "", *changes))


def _line(text: str) -> str:
    return " ".join(text.split())[:200]


def main() -> None:
    """Run the sample that the command line asks for."""
    asked = _arguments()
    modules = modules_like(asked.modules or [f"{package}/*" for package in asked.packages.split(",")])
    sources = {module: (ROOT / module).read_bytes() for module in modules}
    everything = [mutant for module, source in sources.items() for mutant in mutants_of(module, source)]
    requested = [mutant for mutant in everything if mutant.id in (asked.only or [mutant.id])]
    chosen = requested if asked.only else choose(requested, asked.sample, asked.seed)
    touched = sorted({mutant.path for mutant in chosen})
    imports = {path.relative_to(ROOT): imports_of(path) for path in (ROOT / "tests").rglob("test_*.py")}
    files = [Path(name) for name in asked.tests] or likely_tests(touched, imports)
    print(f"{len(chosen)} of {len(everything)} mutants in {len(touched)} modules; {len(files)} test files")
    if asked.list:
        print("\n".join(f"{each.id} {each.path}:{each.line} {each.fault}" for each in chosen))
        return
    output = ROOT / asked.report
    output.mkdir(parents=True, exist_ok=True)
    import_libraries()
    began = time.monotonic()
    outcomes: list[Outcome] = []
    with workplace() as place:
        requested = {each for mutant in chosen for each in places_of(mutant, sources[mutant.path])}
        runs = first_run(place, requested, files, asked.first_run, output / "first-run.log")
        failing = [run.nodeid for run in runs if not run.passed]
        print(
            f"{len(runs) - 1} tests in {time.monotonic() - began:.0f} s; failing without a fault: {failing}",
            flush=True,
        )
        for mutant in chosen:
            source = sources[mutant.path]
            nodeids = reaching(mutant, source, runs, asked.budget)
            outcome = judge(place, mutant, source, nodeids, asked.budget, output / f"{mutant.id}.log")
            outcomes.append(outcome)
            print(
                f"{outcome.verdict:11} {mutant.id} {mutant.path}:{mutant.line} {mutant.fault} "
                f"({outcome.tests} tests, {outcome.seconds:.0f} s) {outcome.by}",
                flush=True,
            )
            text = report(outcomes, asked.seed, len(everything), time.monotonic() - began)
            (output / "report.md").write_text(text, encoding="utf-8")
    rows = [[each.mutant.id, str(each.mutant.path), each.verdict] for each in outcomes]
    (output / "outcomes.json").write_text(json.dumps(rows), encoding="utf-8")
    print(text if outcomes else "No mutants.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Put faults into the product and run the tests that reach them."
    )
    parser.add_argument("--sample", type=int, default=200, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--packages", default=",".join(PACKAGES), help="of these packages")
    parser.add_argument("--modules", nargs="*", help="or of modules like `payroll/ledger/*`")
    parser.add_argument("--only", nargs="*", help="or these mutants, by their ids")
    parser.add_argument(
        "--tests", nargs="*", default=[], help="these test files alone, in place of the likely ones"
    )
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests for each mutant")
    parser.add_argument("--first-run", type=float, default=3600.0, help="seconds for the run without a fault")
    parser.add_argument(
        "--report", default=".mutants", help="the folder of the report and of each mutant's log"
    )
    parser.add_argument("--list", action="store_true", help="name the mutants and run nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
