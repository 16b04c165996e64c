"""`metadata`: keys and texts that a client keeps with a household, an employee or a payroll for its own use.

At most 20 keys of up to 40 characters, each with a text of up to 500. Nothing is calculated from it, and people don't
see it. A change merges the given keys into those that are there; null or an empty text removes a key.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.access.refusal import invalid
from hearthpay.mail.wording import is_control
from hearthpay.wire.secrecy import PORTAL_ONLY, holds_a_secret, names_a_secret

MOST_KEYS: Final = 20
LONGEST_KEY: Final = 40
LONGEST_VALUE: Final = 500
MOST_FILTERS: Final = 5
"""By how many keys a list can be filtered at once."""

_TOO_MANY: Final = f"Use at most {MOST_KEYS} keys."
_LINES: Final = frozenset("\n\t")
_DIGITS_OF_A_NUMBER: Final = 4
"""How many digits make a value a number, under a key that names a secret one."""

Metadata = Mapping[str, str]
MetadataChanges = Mapping[str, str | None]
"""Keys with their new values; None or an empty text removes the key."""

NO_METADATA: Final[Metadata] = MappingProxyType({})


def _read_key(key: str) -> str:
    if not 1 <= len(key) <= LONGEST_KEY or key != key.strip():
        raise PydanticCustomError(
            "metadata_key", f"Use a key of 1 to {LONGEST_KEY} characters, without spaces around it."
        )
    if any(each in "[]" for each in key):
        raise PydanticCustomError("metadata_key", "Use a key without square brackets.")
    return _read_characters(key, frozenset())


def _read_value(value: str) -> str:
    if len(value) > LONGEST_VALUE:
        raise PydanticCustomError("text_length", f"Use at most {LONGEST_VALUE} characters.")
    return _read_characters(value, _LINES)


def _read_wanted(value: str) -> str:
    if not value:
        raise PydanticCustomError("text_length", f"Use 1 to {LONGEST_VALUE} characters.")
    return _read_value(value)


def _read_characters(text: str, allowed: frozenset[str]) -> str:
    if any(is_control(each) and each not in allowed for each in text):
        raise PydanticCustomError("text_characters", "Remove the characters that can't be printed.")
    if holds_a_secret(text):
        raise PydanticCustomError("text_secret", PORTAL_ONLY)
    return text


def _read_entries(entries: dict[str, str | None]) -> dict[str, str | None]:
    if sum(map(bool, entries.values())) > MOST_KEYS:
        raise PydanticCustomError("metadata_keys", _TOO_MANY)
    _refuse_named_numbers(entries)
    return entries


def _read_filters(filters: dict[str, str]) -> dict[str, str]:
    if len(filters) > MOST_FILTERS:
        raise PydanticCustomError("metadata_keys", f"Filter by at most {MOST_FILTERS} keys.")
    _refuse_named_numbers(filters)
    return filters


def _refuse_named_numbers(entries: MetadataChanges) -> None:
    """Refuse numbers under a key such as `account_number`: some are too short to be recognized without their name."""
    for key, value in entries.items():
        if value and names_a_secret(key) and sum(map(str.isdecimal, value)) >= _DIGITS_OF_A_NUMBER:
            raise PydanticCustomError("text_secret", PORTAL_ONLY)


def _object(value: Mapping[str, Any], **rest: Any) -> WithJsonSchema:
    names = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY}
    return WithJsonSchema({"type": "object", "propertyNames": names, "additionalProperties": value, **rest})


_TEXT: Final = {"type": "string", "maxLength": LONGEST_VALUE}
_Key = Annotated[str, AfterValidator(_read_key)]
_Entries = Annotated[
    dict[_Key, Annotated[str, AfterValidator(_read_value)] | None], AfterValidator(_read_entries)
]

NewMetadataField = Annotated[
    _Entries, _object(_TEXT, maxProperties=MOST_KEYS, examples=[{"crm_id": "cus_8f2k"}])
]
"""The metadata of a new object."""

MetadataChangesField = Annotated[
    _Entries, _object({"anyOf": [_TEXT, {"type": "null"}]}, examples=[{"crm_id": "cus_8f2k"}])
]
"""Changes of an object's metadata."""

MetadataFilterField = Annotated[
    dict[_Key, Annotated[str, AfterValidator(_read_wanted)]],
    AfterValidator(_read_filters),
    _object({**_TEXT, "minLength": 1}, maxProperties=MOST_FILTERS),
]
"""Keys and the values that they must have; in a query `metadata[key]=value`."""

MetadataItem = Annotated[
    dict[str, str],
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "What a client keeps with it: at most 20 keys, each with a text. Empty if there is none.",
        }
    ),
]
"""The metadata of an object in an answer."""

ON_CREATION: Final = (
    "Keys and texts of your own, such as the id in your system: at most 20 keys of up to 40 characters, with values "
    "of up to 500. Nothing is calculated from it. It is returned with the object, and lists are filtered by it. Social "
    "Security and bank account numbers are refused."
)
ON_CHANGE: Final = (
    "The keys sent are merged into those that are there. Null or an empty text removes a key; null in place of the "
    "object removes all. An empty object changes nothing."
)
ON_LISTS: Final = (
    "`metadata[key]=value`: only those with this value of the key, compared exactly; with several keys, those "
    f"with all of them. At most {MOST_FILTERS} keys."
)


def merged(stored: Metadata, changes: MetadataChanges | None) -> dict[str, str]:
    """Return metadata after a change; None removes all keys. Raises `validation_error` for too many keys."""
    if changes is None:
        return {}
    after = {key: value for key, value in {**stored, **changes}.items() if value}
    if len(after) > MOST_KEYS:
        raise invalid("metadata", _TOO_MANY)
    return after


def item_of(metadata: Metadata) -> dict[str, str]:
    """Return metadata as an answer shows it, in the order of its keys."""
    return dict(sorted(metadata.items()))


def has_entries(metadata: Metadata, wanted: Metadata) -> bool:
    """Return whether metadata has every wanted key with its value."""
    return wanted.items() <= metadata.items()


def changed_keys(before: Metadata, after: Metadata) -> dict[str, list[str]]:
    """Return which keys a change set and removed, as the audit log keeps it: without the values, which are the
    client's own.
    """
    return {
        "set": sorted(key for key, value in after.items() if before.get(key) != value),
        "removed": sorted(before.keys() - after.keys()),
    }
