"""`make quick` runs what a change touches: the tests that import it, or those of its package."""

from pathlib import Path

from tools.quick import ROOT, imports_of, module_of, select_tests

TESTS = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py")]


def _for(*changed: str) -> set[str]:
    return {str(path) for path in select_tests(map(Path, changed), TESTS)}


def test_a_file_is_called_by_its_module() -> None:
    assert module_of(Path("src/hearthpay/banking/holds.py")) == "hearthpay.banking.holds"
    assert module_of(Path("src/hearthpay/banking/__init__.py")) == "hearthpay.banking"
    assert module_of(Path("docs/explanation/years.md")) is None


def test_imports_are_found_wherever_they_stand() -> None:
    assert {"tools.quick", "tools.quick.imports_of", "pathlib.Path"} <= imports_of(Path(__file__))


def test_a_change_runs_the_tests_that_import_it() -> None:
    assert _for("tests/test_quick.py") == {"tests/test_quick.py"}
    found = _for("src/hearthpay/payroll/ledger/quarters.py")
    assert "tests/payroll/test_quarters.py" in found
    assert "tests/web/test_cost_page.py" not in found


def test_what_no_test_imports_runs_its_package() -> None:
    found = _for("src/hearthpay/languages/es/mail.po")
    assert found == {str(path) for path in TESTS if path.parts[1] == "languages"}


def test_what_many_import_stays_with_its_package() -> None:
    found = _for("src/hearthpay/clock.py")
    assert len(found) < len(TESTS) / 4
