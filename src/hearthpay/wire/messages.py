"""Messages over the wire: their texts in English, and in a second list, in the same order, their codes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from hearthpay.taxes.messages import Message, coded, parameters

_CODES_KEPT: Final = 1_024


@dataclass(frozen=True, slots=True)
class MessageItem:
    """A message by its code, for programs: a code never changes its meaning, its words may."""

    code: str
    """What the message says, for programs; a code never changes its meaning."""

    params: dict[str, Any]
    """What the message names: amounts in dollars, days as 2026-11-24, parts of it as messages."""


def codes_of(messages: Iterable[Message]) -> list[dict[str, object]]:
    """Return messages as `MessageItem` has them; what many answers say alike is made once, and is not to be changed."""
    return [_coded(each) for each in messages]


def items_of(messages: Iterable[Message]) -> list[MessageItem]:
    """Return messages as their items."""
    return [MessageItem(said.code, parameters(said)) for said in messages]


_coded = lru_cache(maxsize=_CODES_KEPT)(coded)
