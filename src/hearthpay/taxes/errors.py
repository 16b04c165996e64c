"""The tax engine's errors: which field is wrong, and why."""

from typing import Literal

from hearthpay.taxes.messages import Message

TaxInputCode = Literal["validation_error", "unsupported_jurisdiction", "unsupported_tax_year"]


class TaxInputError(ValueError):
    """An input that the engine refuses, with its ``field`` and a stable ``code``.

    Codes: ``validation_error`` (impossible or malformed value), ``unsupported_jurisdiction`` (no rules for the state
    or locality) and ``unsupported_tax_year`` (no rules for the year of the pay date).
    """

    def __init__(self, field: str, message: str | Message, code: TaxInputCode = "validation_error") -> None:
        text = message if isinstance(message, str) else message.text
        super().__init__(f"{field}: {text}")
        self.code = code
        self.field = field
        self.message = text
        self.coded_message = None if isinstance(message, str) else message
        """The error as a message with a code, if it has one."""


class RuleError(ValueError):
    """A rule file that breaks its schema; names the file and the key."""

    def __init__(self, file: str, key: str, message: str) -> None:
        super().__init__(f"{file}: {key}: {message}")
        self.file = file
        self.key = key
        self.message = message
