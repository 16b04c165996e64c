"""The account numbers to which the sandbox's bank answers otherwise than by taking the payment.

An account whose number ends in `90NN` sends every entry back with the reason RNN, one that ends in `80NN` is
corrected by a notification of change CNN. It is the number itself that counts, of whatever length: of a short one
fewer than four digits are shown.
"""

import re
from typing import Final

from hearthpay.security.vault_numbers import SecretNumber

_MAGIC: Final = re.compile(r"[0-9]*([89])0([0-9]{2})")
_KINDS: Final = {"9": "R", "8": "C"}


def simulated_answer(account: SecretNumber) -> str | None:
    """Return the code of the answer, such as `R01`; None for a number that goes through."""
    found = _MAGIC.fullmatch(account.reveal())
    return None if found is None else f"{_KINDS[found[1]]}{found[2]}"
