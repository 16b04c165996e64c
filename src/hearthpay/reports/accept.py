"""Whether a client would rather have CSV than JSON, by its header `Accept` (RFC 9110, section 12.5.1)."""

from typing import Final

_NAMED: Final = 2


def prefers_csv(accept: str) -> bool:
    """Return whether `text/csv` is wanted more than JSON; JSON where neither is named, or both alike."""
    csv = _weight(accept, "text/csv")
    return csv is not None and csv > (_weight(accept, "application/json") or 0.0)


def _weight(accept: str, media_type: str) -> float | None:
    """Return the weight of a type that is named; None where it is not, or only by a wildcard."""
    for each in accept.lower().split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        if name == media_type:
            weights = [part[_NAMED:] for part in parameters if part.startswith("q=")]
            try:
                return float(weights[0]) if weights else 1.0
            except ValueError:
                return 0.0
    return None
