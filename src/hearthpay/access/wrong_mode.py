"""The refusal of a household of the other mode: test keys reach sandbox households, live keys real ones."""

from collections.abc import Mapping
from typing import Final, Literal
from uuid import UUID

from hearthpay.access.refusal import Refusal
from hearthpay.security.api_keys import Mode

Why = Literal[
    "real", "sandbox", "made_under_a_sandbox", "deletes_sandboxes_only", "never_deleted", "sandbox_only"
]

_SAID: Final[Mapping[Why, tuple[str, Mode | None]]] = {
    "real": ("This is a real household; it needs a live key (hp_live_…).", "live"),
    "sandbox": ("This is a sandbox household; it needs a test key (hp_test_…).", "test"),
    "made_under_a_sandbox": (
        (
            "This live key was created under a sandbox household. Name a real household with employer_id, "
            "or use a test key (hp_test_…) for the sandbox."
        ),
        "test",
    ),
    "deletes_sandboxes_only": (
        "Only sandbox households can be deleted or reset, with a test key (hp_test_…).",
        "test",
    ),
    "sandbox_only": (
        "This exists for sandbox households only; it needs a test key (hp_test_…).",
        "test",
    ),
    "never_deleted": (
        (
            "This is a real household, which no key can delete or reset. "
            "A test key (hp_test_…) reaches sandbox households only."
        ),
        None,
    ),
}
"""The message, and the mode that would work; None: neither would."""


def wrong_mode(why: Why, employer_id: UUID | None) -> Refusal:
    """Return the `key_mode_mismatch` for this reason; `employer_id` is the household that was named, if any."""
    message, required = _SAID[why]
    details: dict[str, object] = {}
    if employer_id is not None:
        details["employer_id"] = employer_id
    if required is not None:
        details["required_mode"] = required
    return Refusal("key_mode_mismatch", message, details=details)
