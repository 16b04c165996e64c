"""The vault's encryption keys: a ring in which every key decrypts; the database says which one encrypts.

A ring is written as `id:base64key` entries, newest first: a rotation makes that one current, in the database, for all
processes at one moment (`database/sealing_keys.py`). An installation with its own database provides it in
`HEARTHPAY_KEYS`, separated by commas; with the embedded database it is stored in a private file of the data
directory, one entry per line. Errors name the position of a bad entry and never its text: a key entered in place of
its id must not get into a log.
"""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEYS_VARIABLE: Final = "HEARTHPAY_KEYS"
KEY_FILE: Final = "vault.keys"

PROOF_BYTES: Final = 16

_KEY_BYTES: Final = 32
_PROOF_TEXT: Final = b"hearthpay proof of a key 1"
_LARGEST_FILE: Final = 1_000_000
# Shorter than any key in base64, so that a key cannot pass for an id.
_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,32}")


class KeyRingError(Exception):
    """The keys are missing, malformed or poorly protected; the message says how, and never contains a key."""


class UnknownKeyError(KeyRingError):
    """The ring has no key with this id: what it encrypted can't be read."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"the key {key_id!r} is not in the key ring: add it again to read what it encrypted")
        self.key_id = key_id


class OutdatedKeyRingError(KeyRingError):
    """The database names a current key that this process wasn't given: it must not encrypt with another."""

    def __init__(self, key_id: str, *, from_file: bool) -> None:
        mend = (
            "it is missing from the key file"
            if from_file
            else f"restart this process with a {KEYS_VARIABLE} that holds it"
        )
        super().__init__(f"the key {key_id!r} encrypts now and this process does not have it: {mend}")
        self.key_id = key_id


class EncryptionKey:
    """One AES-256 key, known outside only by its id."""

    __slots__ = ("_secret", "cipher", "id")

    def __init__(self, key_id: str, secret: bytes) -> None:
        """`secret` has 32 bytes."""
        self.id: Final = key_id
        self._secret: Final = secret
        self.cipher: Final = AESGCM(secret)

    @classmethod
    def generate(cls) -> EncryptionKey:
        """Return a new random key with a random id."""
        return cls(f"k{secrets.token_hex(4)}", secrets.token_bytes(_KEY_BYTES))

    @property
    def proof(self) -> bytes:
        """Distinguishes this key from another with the same id, and reveals nothing else about it: 16 bytes."""
        return hmac.digest(self._secret, _PROOF_TEXT, hashlib.sha256)[:PROOF_BYTES]

    def entry(self) -> str:
        """Return the key as `id:base64key`: the secret itself, for the file or the operator who requested a new key."""
        return f"{self.id}:{base64.b64encode(self._secret).decode('ascii')}"

    def __repr__(self) -> str:
        return f"EncryptionKey({self.id!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an encryption key is not copied or pickled")


class KeyRing:
    """The keys of this installation; a ring read from a file rereads it to find an unknown key."""

    def __init__(self, keys: tuple[EncryptionKey, ...], source: Path | None = None) -> None:
        """Hold `keys`, newest first; `source` is the key file that they were read from."""
        self._source: Final = source
        self._keys = keys

    @property
    def newest(self) -> EncryptionKey:
        """The first key: the one that the next rotation makes current."""
        return self._keys[0]

    @property
    def from_file(self) -> bool:
        """Whether the ring is read from a file, and reread when that has changed."""
        return self._source is not None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all keys, newest first."""
        return tuple(key.id for key in self._keys)

    @property
    def keys(self) -> tuple[EncryptionKey, ...]:
        """All keys, the current one first."""
        return self._keys

    def holds(self, key: EncryptionKey) -> bool:
        """Return whether the ring has exactly this key, by id and secret."""
        own = self._look_up(key.id)
        return own is not None and hmac.compare_digest(own.entry(), key.entry())

    def find(self, key_id: str) -> EncryptionKey:
        """Return the key with this id; raises UnknownKeyError.

        A rotation in another process adds its key to the file before the first use: a running service sees the new id
        first in the database and finds the key without a restart.
        """
        found = self._look_up(key_id)
        if found is None:
            self.read_again()
            found = self._look_up(key_id)
        if found is None:
            raise UnknownKeyError(key_id)
        return found

    def read_again(self) -> None:
        """Read the key file again; does nothing for a ring from the environment. Raises KeyRingError."""
        if self._source is not None:
            self._keys = _read_key_file(self._source)

    def find_proven(self, key_id: str, proof: bytes | None) -> EncryptionKey:
        """Return the key with this id and this proof (None: any proof), to encrypt with.

        Raises OutdatedKeyRingError if the ring has no such key, even after rereading.
        """
        for attempt in (1, 2):
            found = self._look_up(key_id)
            if found is not None and proof in (None, found.proof):
                return found
            if attempt == 1:
                self.read_again()
        raise OutdatedKeyRingError(key_id, from_file=self.from_file)

    def _look_up(self, key_id: str) -> EncryptionKey | None:
        return next((key for key in self._keys if key.id == key_id), None)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(self.ids)})"


def load_key_ring(data_dir: Path | None, environment: Mapping[str, str]) -> KeyRing:
    """Return the ring of `HEARTHPAY_KEYS`, or else of the key file in the embedded database's `data_dir`.

    The file is created, with a new key, if there is none. Without a `data_dir` (the database is given by a URL) the
    variable is required. Raises KeyRingError.
    """
    text = environment.get(KEYS_VARIABLE)
    if text is not None:
        return KeyRing(parse_keys(text.split(","), KEYS_VARIABLE))
    if data_dir is None:
        raise KeyRingError(
            f"{KEYS_VARIABLE} is not set: with a database of your own, give the vault its keys as "
            "id:base64key, where the key is 32 random bytes (openssl rand -base64 32)"
        )
    return open_key_file(data_dir / KEY_FILE)


def open_key_file(path: Path) -> KeyRing:
    """Return the ring in the key file, which is created with a new key if there is none. Raises KeyRingError."""
    with _changing(path):
        if not path.is_symlink() and not path.exists():
            _write_key_file(path, (EncryptionKey.generate(),))
        return KeyRing(_read_key_file(path), path)


def read_key_ring(path: Path) -> KeyRing:
    """Return the ring in an existing key file. Raises KeyRingError."""
    return KeyRing(_read_key_file(path), path)


def copy_key_ring(ring: KeyRing, path: Path) -> None:
    """Write the ring to a separate key file, durably; an earlier copy is replaced.

    Raises KeyRingError, also if the file has a key that the ring doesn't have: that key may have no other copy.
    """
    with _changing(path):
        if path.is_symlink() or path.exists():
            lost = [key.id for key in _read_key_file(path) if not ring.holds(key)]
            if lost:
                raise KeyRingError(
                    f"{path} holds the key {lost[0]!r}, which this ring does not: name another file"
                )
        _write_key_file(path, ring.keys)


def add_key(path: Path) -> KeyRing:
    """Add a new key at the start of the key file, as the first step of a rotation. Raises KeyRingError."""
    with _changing(path):
        keys = (EncryptionKey.generate(), *_read_key_file(path))
        _write_key_file(path, keys)
    return KeyRing(keys, path)


def give_key_file(path: Path, uid: int, gid: int) -> None:
    """Give root's key file to the account that runs the web process; later rotations by root keep that owner.

    Raises KeyRingError, also if the file belongs to another account, which would lose access.
    """
    with _changing(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            _require_private(path, status)
            if status.st_uid not in (0, uid):
                raise KeyRingError(f"{path} belongs to the user with the number {status.st_uid}")
            os.fchown(descriptor, uid, gid)
        finally:
            os.close(descriptor)


def remove_key(path: Path, key_id: str) -> KeyRing:
    """Remove a key from the key file. Raises KeyRingError if it isn't there, or is the newest."""
    with _changing(path):
        keys = _read_key_file(path)
        left = tuple(key for key in keys if key.id != key_id)
        if len(left) == len(keys):
            raise UnknownKeyError(key_id)
        if left[:1] != keys[:1]:
            raise KeyRingError(f"the key {key_id!r} is the newest of {path}")
        _write_key_file(path, left)
    return KeyRing(left, path)


def parse_keys(entries: list[str], source: str) -> tuple[EncryptionKey, ...]:
    """Return the keys in the entries; KeyRingError names `source` and the number of the bad entry."""
    keys: list[EncryptionKey] = []
    for number, entry in enumerate(entries, start=1):
        place = f"{source}, entry {number}"
        key_id, colon, encoded = entry.strip().partition(":")
        if not colon:
            raise KeyRingError(f"{place}: must be written id:base64key")
        if _ID.fullmatch(key_id) is None:
            raise KeyRingError(f"{place}: the id must be 1 to 32 letters, digits, '.', '_' or '-'")
        if any(key.id == key_id for key in keys):
            raise KeyRingError(f"{place}: the id is that of an earlier entry")
        keys.append(EncryptionKey(key_id, _decode(encoded, place)))
    if not keys:
        raise KeyRingError(f"{source}: holds no key")
    return tuple(keys)


def _decode(encoded: str, place: str) -> bytes:
    try:
        secret = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        # `from None`: the original error's context contains the text.
        raise KeyRingError(f"{place}: the key is not base64") from None
    if len(secret) != _KEY_BYTES:
        raise KeyRingError(f"{place}: the key has {len(secret)} bytes instead of {_KEY_BYTES}")
    if len(set(secret)) == 1:
        raise KeyRingError(f"{place}: the key is a placeholder, not random bytes")
    return secret


def _read_key_file(path: Path) -> tuple[EncryptionKey, ...]:
    try:
        # Non-blocking: someone may have put a pipe there.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise KeyRingError(f"{path} cannot be read: {error.strerror}") from None
    try:
        _require_private(path, os.fstat(descriptor))
        content = os.read(descriptor, _LARGEST_FILE)
    finally:
        os.close(descriptor)
    try:
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise KeyRingError(f"{path} is no key file") from None
    return parse_keys([line for line in lines if line.strip()], str(path))


def _require_private(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise KeyRingError(f"{path} is not a regular file")
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o177:
        raise KeyRingError(f"{path} has the mode {mode:04o}: only its owner may read it (chmod 600)")
    if os.geteuid() not in (0, status.st_uid):
        raise KeyRingError(f"{path} belongs to another user, with the number {status.st_uid}")
    if status.st_size > _LARGEST_FILE:
        raise KeyRingError(f"{path} is too large for a key file")


def _write_key_file(path: Path, keys: tuple[EncryptionKey, ...]) -> None:
    """Replace the whole file at once, durably: a lost key is lost data."""
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            if os.geteuid() == 0:  # the operator's root must not lock the service's user out
                owner = (path if path.exists() else path.parent).stat()
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            file.writelines(f"{key.entry()}\n" for key in keys)
            file.flush()
            os.fsync(file.fileno())
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise
    with _directory(path.parent) as directory:
        os.fsync(directory)


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    """Serialize changes across processes: if two add a key at once, neither key must be lost."""
    try:
        with _directory(path.parent) as directory:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise KeyRingError(f"{path} cannot be used: {error.strerror}") from None


@contextmanager
def _directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
