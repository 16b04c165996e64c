"""Account numbers to which the sandbox's bank responds with something other than taking the payment.

An account whose number ends in `90NN` returns every entry with the reason RNN; one that ends in `80NN` is corrected
by a notification of change CNN. The whole number counts, whatever its length: of one with four or five digits only two
are shown.
"""

import re
from typing import Final

from hearthpay.security.vault_numbers import SecretNumber

_MAGIC: Final = re.compile(r"[0-9]*([89])0([0-9]{2})")
_KINDS: Final = {"9": "R", "8": "C"}


def simulated_answer(account: SecretNumber) -> str | None:
    """Return the code of the response, such as `R01`; None for a number that is accepted."""
    found = _MAGIC.fullmatch(account.reveal())
    return None if found is None else f"{_KINDS[found[1]]}{found[2]}"
