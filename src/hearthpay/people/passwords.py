"""Passwords: which are accepted, how they are stored, and how long a check takes, for any account or none.

They are hashed with argon2id in a few dedicated threads, client by client, so that many sign-ins at once only delay
each other. If there is no account, a dummy hash is checked, so that the time reveals nothing.
"""

import itertools
import re
import unicodedata
from functools import cache, partial
from importlib.resources import files
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

from hearthpay.access.refusal import invalid
from hearthpay.people.hashing_queue import hashing_queue

SHORTEST: Final = 10
LONGEST: Final = 200

# OWASP's second choice for argon2id: 19 MiB, two passes, one lane.
_HASHER: Final = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
_NOBODYS: Final = (
    "$argon2id$v=19$m=19456,t=2,p=1$SuJMhsj3Dk9kn8f3lCkieQ$deZO+PHiirxBL1dZ5twoKf4d7dcDPpYzcCJAn3mwtco"
)
"""The hash of a random text that nobody kept, at the same cost; computing one would slow the start of each process."""
_DECORATION: Final = re.compile(r"^[^a-z]+|[^a-z]+$")
_OWN_WORDS: Final = frozenset({"hearthpay", "payroll"})
_ENOUGH_OF_ITS_OWN: Final = 6
"""Characters that must remain in a password when a word that anyone could guess is removed."""


def check_new_password(password: str, *, about: tuple[str, ...] = ()) -> str:
    """Return the password as it is hashed (NFKC), or raise `validation_error` for one that is too easily guessed.

    `about` are words that a guesser knows: name and address. No outside service is asked: the list of common
    passwords is ours (`common_passwords.txt`).
    """
    text = unicodedata.normalize("NFKC", password)
    if len(text) < SHORTEST:
        raise invalid("password", f"Use at least {SHORTEST} characters.")
    if len(text) > LONGEST:
        raise invalid("password", f"Use at most {LONGEST} characters.")
    lowered = text.lower()
    core = _DECORATION.sub("", lowered)
    if lowered in _common() or (core in _common() and len(text) - len(core) < _ENOUGH_OF_ITS_OWN):
        raise invalid("password", "choose another one: this password was found in a data breach")
    if len(set(lowered)) < 4 or _is_a_row(lowered):
        raise invalid("password", "choose another one: avoid repeated or sequential characters")
    for word in {part for words in about for part in re.split(r"[^\w]+", words.lower())} | _OWN_WORDS:
        if len(word) >= 4 and word in lowered and len(lowered) - len(word) < _ENOUGH_OF_ITS_OWN:
            raise invalid("password", "Don't use your name or address in your password.")
    return text


async def hash_password(password: str, client: str = "") -> str:
    """Return the argon2id hash of a checked password; waiting hashes take turns by `client`."""
    return await hashing_queue().run(client, partial(_HASHER.hash, password))


async def is_password(password: str, kept: str | None, client: str = "") -> bool:
    """Return whether the password matches the stored hash; for None always False, after the same time.

    Waiting hashes take turns by `client`.
    """
    text = unicodedata.normalize("NFKC", password)[: LONGEST + 1]
    right = await hashing_queue().run(client, partial(_verify, kept or _NOBODYS, text))
    return right and kept is not None


def _verify(kept: str, password: str) -> bool:
    try:
        return _HASHER.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _common() -> frozenset[str]:
    lines = files("hearthpay.people").joinpath("common_passwords.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("# "))


def _is_a_row(text: str) -> bool:
    """Return whether each character follows the previous one, up or down: 0123456789, abcdefghij."""
    steps = {ord(b) - ord(a) for a, b in itertools.pairwise(text)}
    return len(steps) == 1 and steps <= {1, -1}
