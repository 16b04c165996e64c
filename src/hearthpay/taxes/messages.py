"""Messages of a calculation besides its figures: a code for programs, with parameters, and the English words for
them.

A `Message` is compared, stored and counted by its code; no code reads a sentence to find out what it means.
Interfaces for people render it in their language from the same parameters; `text` is its English.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, NamedTuple, cast

from hearthpay.taxes.message_texts import ENGLISH, MessageCode
from hearthpay.taxes.rule_sentences import sentence_id


class DollarAmount(NamedTuple):
    """An amount of money in a message."""

    cents: int

    @property
    def dollars(self) -> Decimal:
        """The amount in dollars, with two decimals."""
        return Decimal(self.cents).scaleb(-2)

    def __str__(self) -> str:
        """Return dollars and cents: 1,234.50."""
        return f"{self.dollars:,}"


Parameter = "str | int | Decimal | datetime.date | DollarAmount | Message | tuple[Message, ...]"
"""What a message can contain: words, numbers, a day, an amount, or messages that are parts of it."""


class Message(NamedTuple):
    """A code with its parameters, by name and in a fixed order; two are equal if both are."""

    code: MessageCode
    params: tuple[tuple[str, object], ...] = ()

    @property
    def text(self) -> str:
        """Return the message in English."""
        return english(self)

    def param(self, name: str) -> object:
        """Return a parameter; raises KeyError if the message doesn't have it."""
        return dict(self.params)[name]


def message(code: MessageCode, **params: object) -> Message:
    """Return the message with a code and its parameters."""
    return Message(code, tuple(params.items()))


def of_rule(code: MessageCode, text: str, name: str = "text", /, **params: object) -> Message:
    """Return a message whose words a rule file has: as the parameter ``name``, and by their id as ``id``."""
    known = sentence_id(text)
    ids = {} if known is None else {"id": known}
    return Message(code, tuple({name: text, **params, **ids}.items()))


IN_WORDS: Final = frozenset({"part_federal_law", "part_law_of", "part_local_law_of"})
"""Parts that the API answers in words: clients knew them so before they had codes."""


class Joined:
    """Several texts in one gap of a sentence: the gap's format is the separator."""

    __slots__ = ("texts",)

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = tuple(texts)

    def __format__(self, between: str) -> str:
        """Return the texts, separated by ``between``; by a comma if it is empty."""
        return (between or ", ").join(self.texts)


def english(said: Message) -> str:
    """Return a message in English: days as 2026-11-24, amounts as 1,234.50."""
    return ENGLISH[said.code].format(**{name: _in_english(value) for name, value in said.params})


def texts(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return messages in English, in their order."""
    return tuple(english(each) for each in messages)


def _in_english(value: object) -> object:
    if isinstance(value, Message):
        return english(value)
    if isinstance(value, tuple) and not isinstance(value, DollarAmount):
        return Joined(english(each) for each in value)
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def parameters(said: Message) -> dict[str, object]:
    """Return the parameters as the API returns them: amounts as dollars, parts of a message as objects."""
    return {name: _plain(value) for name, value in said.params}


def coded(said: Message) -> dict[str, object]:
    """Return a message as the API answers it: its code and its parameters."""
    return {"code": said.code, "params": parameters(said)}


def _plain(value: object) -> object:
    if isinstance(value, Message):
        return english(value) if value.code in IN_WORDS else coded(value)
    if isinstance(value, DollarAmount):
        return value.dollars
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value


def to_json(said: Message) -> list[object]:
    """Return a message as it is stored: its code, and each parameter with its kind, so that it can be read again."""
    return [said.code, {name: _stored(value) for name, value in said.params}]


def of_json(stored: object) -> Message:
    """Return a stored message; a sentence from before codes existed is kept, as `recorded`."""
    if isinstance(stored, str):
        return message("recorded", text=stored)
    code, params = cast("tuple[MessageCode, dict[str, list[object]]]", stored)
    return Message(code, tuple((name, _read(value)) for name, value in params.items()))


def _stored(value: object) -> list[object]:
    match value:
        case Message():
            return ["message", to_json(value)]
        case DollarAmount():
            return ["money", value.cents]
        case tuple():
            return ["messages", [to_json(each) for each in value]]
        case datetime.date():
            return ["day", value.isoformat()]
        case Decimal():
            return ["number", f"{value:f}"]
        case int():
            return ["integer", value]
        case _:
            return ["text", str(value)]


def _read(stored: list[object]) -> object:
    kind, value = stored
    match kind:
        case "message":
            return of_json(value)
        case "money":
            return DollarAmount(cast("int", value))
        case "messages":
            return tuple(of_json(each) for each in cast("list[object]", value))
        case "day":
            return datetime.date.fromisoformat(str(value))
        case "number":
            return Decimal(str(value))
        case _:
            return value
