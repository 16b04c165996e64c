"""A value for fields that a change leaves alone, distinct from None, which clears a field."""

from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar, Final, Protocol


class Command(Protocol):
    """A dataclass whose fields may be left unchanged."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class Unchanged(Enum):
    """The only value of a field that nobody asked to change."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


def changes_of(command: Command) -> dict[str, Any]:
    """Return the fields that a command changes, with their new values, in the command's order."""
    values = {each.name: getattr(command, each.name) for each in fields(command)}
    return {name: value for name, value in values.items() if value is not UNCHANGED}
