"""`make quick` runs what a change touches: the tests that import it, or those of its package."""

from pathlib import Path

from tools.quick import ROOT, imports_of, long_tests, module_of, select_long_tests, select_tests

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


def test_long_tests_are_named_where_a_page_rests_on_them() -> None:
    assert select_long_tests([Path("docs/api/openapi.json")]) == [
        "tests/openapi/test_bruno.py",
        "tests/openapi/test_conformance.py",
        "tests/openapi/test_generated_clients.py",
        "tests/openapi/test_in_a_browser.py",
    ]
    assert select_long_tests([Path("README.md")]) == [
        "tests/server/test_readme.py",
        "tests/server/test_tutorials.py",
    ]
    assert select_long_tests([Path("docs/how-to/void.md")]) == []


def test_each_row_of_long_tests_names_what_exists_and_is_long() -> None:
    for row in long_tests():
        assert (ROOT / row.page).is_file(), row
        for path in (*row.tests, *row.depends_on):
            found = ROOT / path
            assert found.is_dir() if path.endswith("/") else found.is_file(), path
        for test in row.tests:
            files = (ROOT / test).rglob("test_*.py") if test.endswith("/") else [ROOT / test]
            assert any("mark.long" in file.read_text("utf-8") for file in files), test


def test_contributors_see_each_row_of_long_tests() -> None:
    page = (ROOT / "docs/how-to/contribute/write-tests.md").read_text("utf-8")
    for row in long_tests():
        line = next(line for line in page.splitlines() if line.startswith(f"| [{Path(row.page).stem}]("))
        assert row.claim in line
        for test in row.tests:
            assert f"`{test}`" in line
