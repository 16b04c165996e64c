"""The keys that a backup needs and never contains: which ones, whether they are available, and whether they match.

For each key the manifest keeps a probe: an empty value encrypted with it. Only that key opens it, and it reveals
nothing, so a ring with another key of the same id is detected before anything is restored.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag

from hearthpay.backup.errors import BackupError, RefusedError
from hearthpay.backup.manifest import Manifest, NeededKey
from hearthpay.backup.source import Connection
from hearthpay.security.content_seal import SealedContent, document_place, open_content
from hearthpay.security.file_seal import SealedFile, open_file
from hearthpay.security.key_ring import (
    KEY_FILE,
    KEYS_VARIABLE,
    KeyRing,
    UnknownKeyError,
    load_key_ring,
    read_key_ring,
)
from hearthpay.security.vault_cipher import SealedNumber, SecretOwner, UnreadableSecretError, unseal

_NONCE_BYTES: Final = 12
_NUMBER: Final = (
    "SELECT DISTINCT ON (key_id) organization_id, employer_id, sandbox, owner_kind, owner_id, kind, ciphertext, nonce, "
    "key_id FROM public.vault ORDER BY key_id, id"
)
_FILE: Final = (
    "SELECT DISTINCT ON (key_id) id, name, sealed_content, nonce, key_id FROM public.bank_files "
    "ORDER BY key_id, id"
)

_DOCUMENT: Final = (
    "SELECT DISTINCT ON (key_id) id, sealed_content, nonce, key_id FROM public.documents ORDER BY key_id, id"
)


def ring_at_hand(data_dir: Path | None) -> tuple[KeyRing | None, str]:
    """Return the ring of HEARTHPAY_KEYS or of the embedded database's key file, and its location; never creates one.

    Raises KeyRingError for a ring that is malformed or whose file is readable by others.
    """
    if KEYS_VARIABLE in os.environ:
        return load_key_ring(None, os.environ), KEYS_VARIABLE
    if data_dir is None:
        return None, KEYS_VARIABLE
    path = data_dir / KEY_FILE
    return (read_key_ring(path) if path.exists() else None), str(path)


def needed_keys(secrets: Mapping[str, int], ring: KeyRing | None) -> tuple[NeededKey, ...]:
    """Return the manifest's entries for the keys that encrypted these numbers of secrets."""
    held = set() if ring is None else set(ring.ids)
    return tuple(
        NeededKey(key_id, count, _seal_probe(ring, key_id) if ring is not None and key_id in held else None)
        for key_id, count in secrets.items()
    )


def require_keys(manifest: Manifest, ring: KeyRing | None) -> None:
    """Raise RefusedError if the ring lacks a key that the backup needs, or has a different one with its id."""
    for key in manifest.keys:
        try:
            if ring is None:
                raise UnknownKeyError(key.id)
            if key.probe is not None and not _opens(ring, key):
                raise RefusedError(
                    f"the key ring holds another key by the id {key.id!r}: it would not open {key.secrets} secrets"
                )
            ring.find(key.id)
        except UnknownKeyError:
            raise RefusedError(
                f"the key {key.id!r} is missing: {key.secrets} secrets of the backup are sealed with it. Give the ring "
                f"that was kept apart with --keys FILE or {KEYS_VARIABLE}"
            ) from None


def try_keys(connection: Connection, ring: KeyRing | None) -> None:
    """Decrypt one number, one file and one document of each key; raises BackupError if that fails. Sees what the
    owner sees.
    """
    try:
        if _exists(connection, "vault"):
            for row in connection.execute(_NUMBER):
                owner = SecretOwner(row[0], row[1], row[2], row[3], row[4])
                unseal(_required(ring, row[8]), owner, row[5], SealedNumber(row[6], row[7], row[8]))
        if _exists(connection, "bank_files"):
            for row in connection.execute(_FILE):
                open_file(
                    _required(ring, row[4]), UUID(str(row[0])), row[1], SealedFile(row[2], row[3], row[4])
                )
        if _exists(connection, "documents"):
            for row in connection.execute(_DOCUMENT):
                sealed = SealedContent(row[1], row[2], row[3])
                open_content(_required(ring, row[3]), document_place(UUID(str(row[0]))), sealed)
    except (UnknownKeyError, UnreadableSecretError) as error:
        raise BackupError(f"what is sealed cannot be opened with these keys: {error}") from None


def _required(ring: KeyRing | None, key_id: str) -> KeyRing:
    if ring is None:
        raise UnknownKeyError(key_id)
    return ring


def _exists(connection: Connection, table: str) -> bool:
    return connection.execute("SELECT to_regclass(%s)", (f"public.{table}",)).fetchone() != (None,)


def _seal_probe(ring: KeyRing, key_id: str) -> str:
    nonce = os.urandom(_NONCE_BYTES)
    return base64.b64encode(nonce + ring.find(key_id).cipher.encrypt(nonce, b"", _binding(key_id))).decode(
        "ascii"
    )


def _opens(ring: KeyRing, key: NeededKey) -> bool:
    assert key.probe is not None
    try:
        sealed = base64.b64decode(key.probe, validate=True)
        cipher = ring.find(key.id).cipher
        return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], _binding(key.id)) == b""
    except (InvalidTag, ValueError):
        return False


def _binding(key_id: str) -> bytes:
    return b"hearthpay backup key probe 1\0" + key_id.encode("utf-8")
