"""The tenant seal's secret in a private file, for API hosts that hold no owner's login.

`hearthpay migrate` writes the file and `hearthpay serve --no-migrate` reads it. Errors never contain the secret.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hearthpay.security.tenant_seal import TenantSeal

SEAL_FILE_VARIABLE: Final = "HEARTHPAY_SEAL_FILE"

_LARGEST_FILE: Final = 1_000


class SealFileError(Exception):
    """The file is missing, malformed or readable by others; the message says how."""


def seal_file_of(environment: Mapping[str, str]) -> Path | None:
    """Return the path that HEARTHPAY_SEAL_FILE names, if it is set."""
    named = environment.get(SEAL_FILE_VARIABLE, "").strip()
    return Path(named) if named else None


def read_seal_file(path: Path) -> TenantSeal:
    """Return the seal that `write_seal_file` stored. Raises SealFileError."""
    try:
        # Non-blocking: someone may have put a pipe there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise SealFileError(
            f"{path} cannot be read: {error.strerror}; `hearthpay migrate` writes it"
        ) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise SealFileError(f"{path} is no file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise SealFileError(f"{path} can be read by others: chmod 400 {path}")
        content = os.read(descriptor, _LARGEST_FILE)
    finally:
        os.close(descriptor)
    try:
        return TenantSeal(bytes.fromhex(content.decode("ascii").strip()))
    except ValueError:
        raise SealFileError(f"{path} does not hold a tenant seal: let `hearthpay migrate` write it") from None


def write_seal_file(path: Path, seal: TenantSeal) -> bool:
    """Store the seal with mode 0600, all at once; return whether the file has changed. Raises SealFileError."""
    content = f"{seal.entry()}\n"
    try:
        if path.exists() and path.read_text(encoding="ascii", errors="replace") == content:
            path.chmod(0o600)
            return False
        descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(unfinished).replace(path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SealFileError(f"{path} cannot be written: {error.strerror}") from None
    return True
