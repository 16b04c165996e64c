"""Withholding certificates between the database and the tax engine.

JSON has no decimals, so the database stores an amount as text with exactly two decimals (`"25.00"`); any other entry
is stored as it is. `federal_certificate` and `state_entries` return what the engine takes.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from hearthpay.taxes import FederalCertificate, Pre2020Certificate

CertificateEntry = bool | int | str | Decimal

_STORED_AMOUNT: Final = re.compile(r"\d+\.\d{2}", re.ASCII)


def to_storage(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return certificate entries for storage: amounts as text with two decimals, unset entries left out."""
    return merged({}, entries)


def merged(stored: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `stored` entries updated with `changes`, as the database stores them; null removes an entry."""
    result = dict(stored)
    for name, entry in changes.items():
        if isinstance(entry, Mapping):
            result[name] = merged(result.get(name, {}), entry)
        elif isinstance(entry, Decimal):
            result[name] = f"{entry:.2f}"
        elif entry is not None:
            result[name] = entry
        else:
            result.pop(name, None)
    return result


def state_entries(stored: Mapping[str, Any]) -> dict[str, CertificateEntry]:
    """Return the stored entries of a state certificate, as `PaycheckInput.state` takes them."""
    return {name: _from_storage(entry) for name, entry in stored.items()}


def federal_certificate(stored: Mapping[str, Any]) -> FederalCertificate:
    """Return the stored Form W-4, as `PaycheckInput.federal` takes it; without one, the law's default."""
    entries = {name: _from_storage(entry) for name, entry in stored.items() if name != "pre_2020"}
    old = stored.get("pre_2020")
    return FederalCertificate(**entries, pre_2020=None if old is None else Pre2020Certificate(**old))


def _from_storage(entry: Any) -> Any:
    if isinstance(entry, str) and _STORED_AMOUNT.fullmatch(entry):
        return Decimal(entry)
    return entry
