"""Who may log in to the embedded PostgreSQL, and as which role, by the system user at the socket.

Root and the server's own account may be every role; the account of the web process only the role bound by row-level
security.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hearthpay.database.service_account import WEB_ACCOUNT, ServiceAccount, name_of

_MAP = "hearthpay"
_HEAD = "# Written by hearthpay before each start of the server.\n"
_TRUST = f"{_HEAD}local all all trust\nlocal replication all trust\n"
_PEER = f"{_HEAD}local all all peer map={_MAP}\nlocal replication all peer map={_MAP}\n"


def knows_its_user() -> bool:
    """Return whether this process's user has a name, without which PostgreSQL can't identify it."""
    return name_of(os.geteuid()) is not None


def write_rules(data: Path, account: ServiceAccount, service_role: str) -> bool:
    """Write the cluster's rules, each file completely or not at all; return whether they changed.

    A user without a name (in a container) is authenticated by the socket's private directory alone, which it shares
    with nobody.
    """
    everybody = [name for uid in dict.fromkeys((0, account.uid)) if (name := name_of(uid)) is not None]
    identities = "".join(f'{_MAP} "{name}" all\n' for name in everybody)
    if WEB_ACCOUNT not in everybody:
        identities += f'{_MAP} "{WEB_ACCOUNT}" "{service_role}"\n'
    # The map first: rules that name it must find it.
    changed = _replace(data / "pg_ident.conf", _HEAD + identities, account)
    return _replace(data / "pg_hba.conf", _PEER if knows_its_user() else _TRUST, account) or changed


def changed_at(data: Path) -> float:
    """Return when the rules were last written, in seconds since 1970."""
    return max((data / name).stat().st_mtime for name in ("pg_ident.conf", "pg_hba.conf"))


def _replace(path: Path, content: str, account: ServiceAccount) -> bool:
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") == content:
        return False
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if account.borrowed:
                os.fchown(file.fileno(), account.uid, account.gid)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    return True
