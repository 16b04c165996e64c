"""The field types of request bodies: what exactly counts as a date, an id, a state, a line of text.

JSON has no dates, and pydantic accepts numbers and times for one; wages are no place for guesses, so each type here
accepts exactly the documented form.
"""

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, get_args
from uuid import UUID

from email_validator import EmailNotValidError, validate_email
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hearthpay.mail.wording import holds_address, holds_encoded_word, holds_invisible, is_control
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.wire.secrecy import (
    PORTAL_ONLY,
    address_holds_a_secret,
    holds_a_secret,
    key_holds_a_secret,
)
from hearthpay.wire.year_names import read_year

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_STATE: Final = re.compile(r"[A-Za-z]{2}")
_LONGEST_EMAIL: Final = 254
_LINES: Final = frozenset("\n\t")


class RequestModel(BaseModel):
    """Base of every request body and query: unknown fields and values of another type are refused.

    Where a year is asked for, `year` and `tax_year` name the same field (`year_names`).
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nothing(cls, value: object) -> object:
        """Treat null as left out for an optional field that doesn't accept null; some do, to clear a value."""
        if not isinstance(value, dict):
            return value
        value = read_year(cls, value)
        if None not in value.values():
            return value
        without = {
            field.alias or name
            for name, field in cls.model_fields.items()
            if not field.is_required() and type(None) not in get_args(field.annotation)
        }
        return {name: each for name, each in value.items() if each is not None or name not in without}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the model's OpenAPI schema: a default amount is a number, where pydantic would write a string."""
        described = handler(schema)
        properties = handler.resolve_ref_schema(described)["properties"]
        for name, field in cls.model_fields.items():
            if isinstance(field.default, Decimal):
                properties[field.alias or name]["default"] = float(field.default)
        return described


def _read_date(value: object) -> datetime.date:
    if type(value) is datetime.date:
        return value
    if not isinstance(value, str) or _DATE.fullmatch(value) is None:
        raise PydanticCustomError("date_form", "must be a date written YYYY-MM-DD")
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise PydanticCustomError("date_form", "is not a day of the calendar") from None


def _read_id(value: object) -> UUID:
    if isinstance(value, UUID):
        return value
    if not isinstance(value, str) or _UUID.fullmatch(value) is None:
        raise PydanticCustomError("id_form", "must be an id as this API gave it (a UUID)")
    return UUID(value)


def _read_state(value: object) -> str:
    # Letters first: upper case turns a ligature such as "ﬂ", or a dotless "ı", into the letters of a state.
    state = value.upper() if isinstance(value, str) and _STATE.fullmatch(value) else ""
    if state not in STATES:
        raise PydanticCustomError("state_form", "Enter a two-letter state code, like CA.")
    return state


Day = Annotated[
    datetime.date,
    BeforeValidator(_read_date),
    WithJsonSchema({"type": "string", "format": "date", "examples": ["2026-11-20"]}),
]
"""A calendar day, `YYYY-MM-DD`."""

Identifier = Annotated[UUID, BeforeValidator(_read_id), WithJsonSchema({"type": "string", "format": "uuid"})]
"""The id of something this API created."""

StateCode = Annotated[
    str,
    BeforeValidator(_read_state),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z]{2}$", "examples": ["CA"]}),
]
"""A state or DC by its two letters; lower case is accepted and becomes upper case."""


def _read_email(value: object) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_EMAIL:
        raise PydanticCustomError("email_form", "Enter an email address, like ana@example.com.")
    if holds_encoded_word(value) or any(is_control(each) for each in value.strip()):
        raise PydanticCustomError("email_form", "Enter an email address, like ana@example.com.")
    try:
        address = validate_email(
            value.strip(), check_deliverability=False, test_environment=True, strict=True
        ).normalized
    except EmailNotValidError:
        raise PydanticCustomError("email_form", "Enter an email address, like ana@example.com.") from None
    if address_holds_a_secret(address):
        raise PydanticCustomError("text_secret", PORTAL_ONLY)
    return address


Email = Annotated[
    str, BeforeValidator(_read_email), WithJsonSchema({"type": "string", "format": "email", "maxLength": 254})
]
"""An email address; its syntax is checked, its domain isn't."""


@dataclass(frozen=True, slots=True)
class Text:
    """Annotation that makes a `str` field a trimmed text of limited length, without control characters.

    Text that contains a Social Security or bank account number is refused. Line feeds and tabs stay only if `lines`
    allows them. A `name` goes into mails and documents: it may contain no address and no encoded word. With `digits`,
    digits alone are accepted, as in an agency's confirmation number; only a Social Security number as people write it
    is refused.
    """

    longest: int
    shortest: int = 1
    lines: bool = False
    name: bool = False
    digits: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return how pydantic validates the field."""
        return core_schema.no_info_after_validator_function(self.read, core_schema.str_schema(strict=True))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        """Return how OpenAPI describes the field."""
        return {"type": "string", "minLength": self.shortest, "maxLength": self.longest}

    def read(self, value: str) -> str:
        """Return the trimmed text. Raises PydanticCustomError if it isn't acceptable."""
        trimmed = value.strip()
        if not self.shortest <= len(trimmed) <= self.longest:
            raise PydanticCustomError("text_length", f"Use {self.shortest} to {self.longest:,} characters.")
        if any(is_control(each) and not (self.lines and each in _LINES) for each in trimmed):
            raise PydanticCustomError("text_characters", "Remove the characters that can't be printed.")
        if self.name and holds_invisible(trimmed):
            raise PydanticCustomError("text_characters", "Remove the characters that can't be printed.")
        if self.name and holds_encoded_word(trimmed):
            raise PydanticCustomError("text_name", "must not contain '=?' or '?='")
        if self.name and holds_address(trimmed):
            raise PydanticCustomError(
                "text_name",
                "must not contain an address (in an abbreviation such as 'St. Clair', write a space after the dot)",
            )
        if (key_holds_a_secret if self.digits else holds_a_secret)(trimmed):
            raise PydanticCustomError("text_secret", PORTAL_ONLY)
        return trimmed


@dataclass(frozen=True, slots=True)
class Choice:
    """Annotation that makes a `str` field one of `values`, where these are data rather than a `Literal`."""

    values: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return how pydantic validates the field."""
        return core_schema.literal_schema(list(self.values))


PersonName = Annotated[str, Text(longest=100, name=True)]
"""A first or last name."""
