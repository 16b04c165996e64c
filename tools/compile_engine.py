"""Compiles the tax engine with mypyc, in place, or removes what was compiled: `make compile`, `make clean-compile`."""

import argparse
import os
import shutil
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent / "src"
sys.path.insert(0, str(ROOT))
GROUP = "hearthpay_engine"


def main() -> None:
    """Remove the build there is and, unless only that is asked for, put another in its place."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--remove", action="store_true", help="remove the build; the plain engine is left")
    remove = arguments.parse_args().remove
    os.chdir(ROOT)
    law = _load_guard()
    _remove(law.PACKAGE.parent, law.STAMP)
    if remove:
        return
    fingerprint = law.fingerprint()
    with tempfile.TemporaryDirectory(prefix="hearthpay-compile-") as place:
        built = _build([str(path.relative_to(ROOT)) for path in law.sources()], Path(place))
        # While this is not of the sources, the engine refuses to start: a build that breaks off here is noticed.
        law.STAMP.write_text("unfinished", "ascii")
        for path in built:
            shutil.copy2(path, ROOT / path.relative_to(Path(place) / "lib"))
    law.STAMP.write_text(fingerprint, "ascii")
    print(f"Compiled {len(built) - 1} modules of the tax engine and of its answers.")


def _load_guard() -> ModuleType:
    """Load `hearthpay.taxes.compiled` by its path: its package refuses to be imported beside an outdated build."""
    spec = spec_from_file_location("compiled", ROOT / "hearthpay" / "taxes" / "compiled.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _remove(package: Path, stamp: Path) -> None:
    """Remove the modules first: a stamp without them says that the plain engine is compiled, which harms nothing."""
    tag = sys.implementation.cache_tag
    for path in (
        *ROOT.glob(f"{GROUP}__mypyc.{tag}*"),
        *package.rglob(f"*.{tag}*.so"),
        *package.rglob(f"*.{tag}*.pyd"),
    ):
        path.unlink()
    stamp.unlink(missing_ok=True)


def _build(modules: list[str], place: Path) -> list[Path]:
    """Compile the modules into ``place``; return the extension modules."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    extensions = mypycify(
        [f"--cache-dir={place / 'cache'}", *modules],
        group_name=GROUP,
        target_dir=str(place / "c"),
    )
    distribution = Distribution({"name": "hearthpay-engine", "ext_modules": extensions})
    command = distribution.get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(place / "lib"), str(place / "objects")
    command.ensure_finalized()
    command.run()
    return [path for path in (place / "lib").rglob("*") if path.is_file()]


if __name__ == "__main__":
    main()
