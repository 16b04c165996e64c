"""Mail without a mail server: each is a separate file in the operator's folder, which a mail program can open.

The folder is `mail` in the data directory, or the one that MAIL_FOLDER names, and only its owner can read it: it
contains sign-in links. Mails older than a month are deleted: no link works that long, and the news is stale.
"""

import contextlib
import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

import structlog

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.database.turns import Turns
from hearthpay.mail.mailer import SENDER_VARIABLE, Delivery, Mail, written_message
from hearthpay.mail.outbox import (
    Claimed,
    claim_mails_for_folder,
    give_up_expired,
    note_delivery,
    note_kept,
    open_mail,
)
from hearthpay.mail.postman import Round
from hearthpay.security.key_ring import KeyRing, UnknownKeyError
from hearthpay.security.vault_cipher import UnreadableSecretError

FOLDER_VARIABLE: Final = "MAIL_FOLDER"
KEPT_FOR: Final = datetime.timedelta(days=30)
"""How long a mail stays in the folder."""
AT_ONCE: Final = 100
"""Mails written in one round."""

_NOBODY: Final = "Hearthpay <hearthpay@localhost>"
_log = structlog.get_logger("hearthpay.mail")


class MailFolder:
    """A folder of mails, one `.eml` file each."""

    def __init__(self, path: Path, sender: str = _NOBODY) -> None:
        """Set the `path`; it is created when the first mail is written."""
        self.path: Final = path
        self._sender: Final = sender

    @classmethod
    def of(cls, environment: Mapping[str, str], data_dir: Path | None) -> "MailFolder | None":
        """Return the folder that MAIL_FOLDER names, or the one in the data directory; None if there is neither."""
        named = environment.get(FOLDER_VARIABLE, "").strip()
        sender = environment.get(SENDER_VARIABLE, "").strip() or _NOBODY
        if named:
            return cls(Path(named), sender)
        return None if data_dir is None else cls(data_dir / "mail", sender)

    def put(self, mail: Mail, name: UUID, written_at: datetime.datetime) -> Path:
        """Write the mail, whole or not at all; writing it again replaces it. Returns its file.

        Raises OSError, and ValueError for what can't be a mail.
        """
        content = written_message(
            mail, sender=self._sender, domain="localhost", name=name, written_at=written_at
        ).as_bytes()
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        file, draft = self.path / f"{name}.eml", self.path / f".{name}.{os.getpid()}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as written:
            written.write(content)
        draft.replace(file)
        return file

    def tidy(self, now: datetime.datetime) -> int:
        """Remove mails older than KEPT_FOR; return how many."""
        removed = 0
        for file in self.path.glob("*.eml"):
            with contextlib.suppress(FileNotFoundError):  # another worker is at it
                if file.stat().st_mtime < (now - KEPT_FOR).timestamp():
                    file.unlink()
                    removed += 1
        return removed


async def fill_folder(
    database: Database, ring: KeyRing, folder: MailFolder, clock: Clock, *, turns: Turns[str] | None = None
) -> Round:
    """Write the mails queued for the folder, and remove old ones; `database` acts as the worker's role.

    Raises DatabaseUnavailable.
    """
    folder.tidy(clock.now())
    async with database.transaction(None) as session:
        given_up = await give_up_expired(session, clock)
        claimed = await claim_mails_for_folder(session, clock, AT_ONCE, turns or Turns())
    written = 0
    for each in claimed:
        problem = _put(folder, ring, each)
        async with database.transaction(None) as session:
            if problem is None:
                await note_kept(session, clock, each)
                written += 1
            else:
                await note_delivery(session, clock, each, problem)
    return Round(written, given_up + len(claimed) - written, 1 if len(claimed) == AT_ONCE else 0)


def _put(folder: MailFolder, ring: KeyRing, claimed: Claimed) -> Delivery | None:
    """Write the mail; return why it couldn't be written, None if it was."""
    try:
        folder.put(open_mail(ring, claimed), claimed.id, claimed.created_at)
    except UnknownKeyError as error:
        _log.error("email not readable", mail_id=str(claimed.id), key_id=error.key_id)
        return Delivery("key_missing")
    except UnreadableSecretError:
        _log.error("email not readable", mail_id=str(claimed.id))
        return Delivery("unreadable", for_good=True)
    except OSError as error:
        _log.error(
            "email not written", mail_id=str(claimed.id), cause=type(error).__name__, errno=error.errno
        )
        return Delivery("folder_not_writable")
    except ValueError as error:
        _log.warning("email not written", mail_id=str(claimed.id), cause=type(error).__name__)
        return Delivery("unsafe_content", for_good=True)
    return None
