"""`make mutants`: which faults it puts into a module, and which tests it runs for each."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.mutant_runs import ANYWHERE, COLLECTION, ROOT, TimedTest
from tools.mutants import TESTS, choose, likely_tests, modules_like, reaching
from tools.mutations import Mutant, marked, mutants_of

PATH = Path("src/hearthpay/taxes/sample.py")

SOURCE = b'''"""Some words: 3 or not."""
from decimal import Decimal

LIMIT = Decimal("2.50")
_QUERY = """
    SELECT id FROM payrolls WHERE employer_id = :employer AND pay_date BETWEEN :first AND :last AND status <> 'voided'
"""


def due(wages: int, paid: list[int]) -> int | None:
    """Return 7 or more."""
    if wages < 3 and not paid:
        raise ValueError(f"{wages + 1} is too little")
    paid.append(wages)
    return wages + 4
'''


def changes() -> list[tuple[str, str]]:
    return [(mutant.before, mutant.after) for mutant in mutants_of(PATH, SOURCE)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"2.50"', '"12.50"'),
        ("wages < 3", "(wages <= 3)"),
        ("wages < 3 and not paid", "(wages < 3 or not paid)"),
        ("not paid", "(paid)"),
        ("3", "4"),
        ("3", "2"),
        ('raise ValueError(f"{wages + 1} is too little")', "pass"),
        ("paid.append(wages)", "pass"),
        ("return wages + 4", "return None"),
        ("wages + 4", "(wages - 4)"),
        ("employer_id = :employer", "(TRUE OR (employer_id = :employer))"),
        ("pay_date BETWEEN :first AND :last", "(TRUE OR (pay_date BETWEEN :first AND :last))"),
        ("status <> 'voided'", "(TRUE OR (status <> 'voided'))"),
        (" <> ", " = "),
    ],
)
def test_a_fault_of_each_kind_is_made(before: str, after: str):
    assert (before, after) in changes()


def test_words_and_types_are_left_alone():
    assert not {before for before, _ in changes()} & {"7", "1", "int | None", ":last", "wages + 1"}


def test_a_mutant_differs_in_one_place():
    for mutant in mutants_of(PATH, SOURCE):
        changed = mutant.applied_to(SOURCE)
        assert changed != SOURCE
        assert changed[: mutant.start] == SOURCE[: mutant.start]
        assert changed.endswith(SOURCE[mutant.end :])
        compile(changed, "sample", "exec")


def test_no_two_mutants_have_one_id():
    mutants = mutants_of(PATH, SOURCE)
    assert len({mutant.id for mutant in mutants}) == len(mutants)


def test_a_module_notes_the_statements_that_are_reached():
    reached: set[tuple[str, int]] = set()
    names = {"mark": reached.add}
    exec(compile(marked("sample.py", SOURCE, "mark"), "sample.py", "exec"), names)
    assert reached == set()
    due = names["due"]
    assert due(5, []) == 9  # type: ignore[arg-type, func-returns-value]
    assert reached == {("sample.py", 12), ("sample.py", 14), ("sample.py", 15)}


def run(nodeid: str, *lines: int, seconds: float = 1.0, passed: bool = True) -> TimedTest:
    return TimedTest(nodeid, passed, seconds, frozenset((str(PATH), line) for line in (ANYWHERE, *lines)))


def mutant_at(text: str) -> Mutant:
    return next(each for each in mutants_of(PATH, SOURCE) if each.before == text)


def test_the_tests_that_reach_a_statement_are_run_the_shortest_first():
    runs = [
        run("slow", 12, 15, seconds=9),
        run("quick", 12, 15),
        run("elsewhere", 12),
        run("failing", 15, passed=False),
        run("endless", 15, seconds=99),
    ]
    assert reaching(mutant_at("wages + 4"), SOURCE, runs, 20) == ["quick", "slow"]


def test_what_the_collection_alone_reaches_is_tested_by_those_that_reach_the_module():
    runs = [run(COLLECTION, 15), run("here", 14), TimedTest("there", True, 1.0, frozenset())]
    assert reaching(mutant_at("wages + 4"), SOURCE, runs, 20) == ["here"]
    assert reaching(mutant_at("wages + 4"), SOURCE, runs[1:], 20) == []


def test_of_a_constant_the_tests_are_run_that_reach_its_name_or_else_the_module():
    runs = [run("here", 14), TimedTest("there", True, 1.0, frozenset())]
    assert reaching(mutant_at('"2.50"'), SOURCE, runs, 20) == ["here"]
    named = SOURCE.replace(b"wages + 4", b"LIMIT + 4")
    assert reaching(mutant_at('"2.50"'), named, [*runs, run("by name", 15)], 20) == ["by name"]


def test_a_seed_chooses_as_many_of_each_package():
    other = [
        Mutant(Path("src/hearthpay/payroll/sample.py"), 1, "constant", str(n), "0", n, n + 1, 1, None)
        for n in range(50)
    ]
    mutants = [*mutants_of(PATH, SOURCE), *other]
    chosen = choose(mutants, 12, seed=3)
    assert [each.path.parts[2] for each in chosen] == ["payroll"] * 6 + ["taxes"] * 6
    assert choose(mutants, 12, seed=3) == chosen != choose(mutants, 12, seed=4)


def test_a_module_has_the_tests_that_import_it_and_those_named_for_it():
    imports = {
        Path("tests/payroll/test_quarters.py"): {"hearthpay.payroll.ledger.quarters"},
        Path("tests/payroll/test_run.py"): {"hearthpay.payroll.service"},
        Path("tests/web/test_pages.py"): set[str](),
        Path("tests/registrations/test_service.py"): {"hearthpay.payroll.ledger.quarters"},
    }
    assert likely_tests([Path("src/hearthpay/payroll/ledger/quarters.py")], imports) == sorted(
        imports.keys() - {Path("tests/web/test_pages.py")}
    )


def test_every_file_that_is_named_for_modules_is_there():
    for pattern, files in TESTS.items():
        assert modules_like([pattern]), pattern
        for file in files:
            assert list((ROOT / "tests").glob(file)), file


def test_listing_runs_nothing():
    command = [
        sys.executable,
        "-m",
        "tools.mutants",
        "--list",
        "--modules",
        "access/plans.py",
        "--sample",
        "3",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert listed[0].startswith("3 of ")
    assert len(listed) == 4
