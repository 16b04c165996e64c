"""A compiled engine that its sources have left behind refuses to calculate, and is not shipped."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import hearthpay.taxes
from hearthpay.taxes import COMPILED, compiled
from tests.source_trees import modules_with

PACKAGE = Path(hearthpay.taxes.__file__).parent


def _copy_in(place: Path) -> Path:
    """Return a copy of the engine's sources without any build, in a place to import it from."""
    package = place / "hearthpay" / "taxes"
    shutil.copytree(
        PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "*.stamp", "__pycache__")
    )
    for name in compiled.BESIDE:
        beside = package.parent / name
        beside.parent.mkdir(exist_ok=True)
        shutil.copy2(PACKAGE.parent / name, beside)
    return package


def _import_from(place: Path, *code: str) -> subprocess.CompletedProcess[str]:
    program = "\n".join([f"import sys; sys.path.insert(0, {str(place)!r})", *code])
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_nothing_beyond_the_engine_takes_an_alias_from_a_compiled_module():
    """Of `Literal[...]` a compiled module keeps only that it is a type: no request could be described with it."""
    aliases = {
        node.targets[0].id
        for path in compiled.sources()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Subscript)
        and ast.unparse(node.value.value) == "Literal"
    }
    assert aliases
    taken = {
        (path.name, name.name)
        for path, tree in modules_with("|".join(aliases))
        if not path.is_relative_to(PACKAGE)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("hearthpay.taxes")
        for name in node.names
        if name.name in aliases
    }
    assert taken == set()


def test_the_engine_tells_whether_it_is_compiled():
    """The suite runs on either build; a module says itself which it is of."""
    module = sys.modules["hearthpay.taxes.paycheck.calculation"]
    assert (Path(str(module.__file__)).suffix != ".py") is COMPILED
    assert compiled.is_compiled() is COMPILED


def test_a_build_of_other_sources_is_refused(tmp_path):
    package = _copy_in(tmp_path)
    stamp = package / compiled.STAMP.name
    fingerprint = "from hearthpay.taxes.compiled import fingerprint; print(fingerprint())"
    plain = _import_from(tmp_path, fingerprint)
    assert plain.returncode == 0, plain.stderr

    stamp.write_text(plain.stdout.strip(), "ascii")
    assert _import_from(tmp_path, "import hearthpay.taxes").returncode == 0
    method = package / "withholding" / "flat.py"
    method.write_text(method.read_text("utf-8") + "\n# another word\n", "utf-8")
    stale = _import_from(tmp_path, "import hearthpay.taxes.withholding.flat")
    assert stale.returncode == 1
    assert "`make compile` builds it anew" in stale.stderr
    stamp.unlink()
    assert _import_from(tmp_path, "import hearthpay.taxes").returncode == 0


def test_a_build_that_broke_off_is_refused(tmp_path):
    package = _copy_in(tmp_path)
    (package / compiled.STAMP.name).write_text("unfinished", "ascii")
    assert "StaleBuildError" in _import_from(tmp_path, "import hearthpay.taxes").stderr
