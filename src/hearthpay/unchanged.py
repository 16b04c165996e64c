"""What a change leaves as it is: told apart from None, which takes something out."""

from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar, Final, Protocol


class Command(Protocol):
    """A dataclass whose fields may be left as they are."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class Unchanged(Enum):
    """The one value of a field that nobody asked to change."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED


def changes_of(command: Command) -> dict[str, Any]:
    """Return the fields of a command that are to change, with their new values, in the order of the command."""
    told = {each.name: getattr(command, each.name) for each in fields(command)}
    return {name: value for name, value in told.items() if value is not UNCHANGED}
