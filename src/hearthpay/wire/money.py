"""Money and other exact numbers in requests and answers.

A request's amount is a JSON number with at most two decimals, apart from binary noise; a string or a boolean is
refused. Inside it is a `Decimal`. JSON has one kind of number and the parser reads it as a float, whose shortest
spelling is exactly what the client wrote for any amount within the limits here (up to eleven digits).
"""

import functools
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from hearthpay.wire.typed_numbers import typed_decimal

LARGEST: Final = Decimal(999_999_999)

_NOISE: Final = Decimal("0.000001")
_RELATIVE_NOISE: Final = Decimal("1e-12")
"""A number closer than this to one of its field's precision counts as that one: a client's 19.1 * 45 * 52."""

_WITHIN_PRECISION: Final = Decimal(10) ** 15


@dataclass(frozen=True, slots=True)
class Amount:
    """Annotation that makes a `Decimal` field an exact number within bounds.

    `places` is the number of allowed decimals (2: cents, 3: thousandths of an hour); `from_query` also accepts the
    text of a query parameter. With `finer`, more decimals are accepted, which the request must round; the bounds
    apply to the rounded number.
    """

    minimum: Decimal = Decimal(0)
    maximum: Decimal = LARGEST
    places: int = 2
    from_query: bool = False
    finer: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return how pydantic validates the field."""
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return how OpenAPI describes the field."""
        return {
            "type": "number",
            "minimum": _plain_number(self.minimum),
            "maximum": _plain_number(self.maximum),
            "description": f"{self.places} decimals; more are rounded, with a warning."
            if self.finer
            else f"At most {self.places} decimals.",
        }

    def read(self, value: object) -> Decimal:
        """Return `value` as an exact number. Raises PydanticCustomError if it isn't one or is out of bounds."""
        number = self._number(value)
        # A rough bound comes first: it keeps quantize within the context's precision. `abs` would already
        # overflow.
        if number.copy_abs() > _WITHIN_PRECISION:
            raise self._out_of_bounds()
        exact = number.quantize(_smallest(self.places), ROUND_HALF_EVEN)
        noise = abs(exact - number) < max(_NOISE, abs(number) * _RELATIVE_NOISE)
        if not noise and number < self.minimum:
            raise self._out_of_bounds()
        if not self.minimum <= (exact if noise or self.finer else number) <= self.maximum:
            raise self._out_of_bounds()
        if not noise:
            if self.finer:
                return number
            raise PydanticCustomError(
                "amount_places", "must have at most {places} decimals", {"places": self.places}
            )
        return exact + 0  # turns -0.00 into 0.00

    def _out_of_bounds(self) -> PydanticCustomError:
        return PydanticCustomError(
            "amount_range",
            "must be between {minimum} and {maximum}",
            {"minimum": _spell(self.minimum), "maximum": _spell(self.maximum)},
        )

    def _number(self, value: object) -> Decimal:
        spelled: str | int | Decimal
        if isinstance(value, float):
            spelled = repr(value)
        elif isinstance(value, str):
            spelled = (
                value if self.from_query and len(value) <= 32 and typed_decimal(value) is not None else ""
            )
        elif isinstance(value, int | Decimal) and not isinstance(value, bool):
            spelled = value
        else:
            raise PydanticCustomError("amount_type", "must be a number")
        try:
            number = Decimal(spelled)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite():
            raise PydanticCustomError("amount_type", "must be a number")
        return number


@functools.cache
def _smallest(places: int) -> Decimal:
    return Decimal(1).scaleb(-places)


def _plain_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _spell(value: Decimal) -> str:
    return f"{value:,}"


def number_of(cents: int) -> float:
    """Return cents as the JSON number of their dollars: the nearest float's shortest spelling is the amount itself.

    True for every amount below a hundred trillion dollars; the renderer spells it directly.
    """
    return cents / 100


def shortest(number: Decimal) -> float:
    """Return an exact number of an answer as the JSON number of the shortest spelling: 912.5 for 912.50, 912.0 for 912.

    True for every number of at most fifteen digits.
    """
    return float(number)


Money = Annotated[Decimal, Amount()]
"""An amount of a request: 0 to 999,999,999, at most two decimals."""

PositiveMoney = Annotated[Decimal, Amount(minimum=Decimal("0.01"))]
"""An amount of a request that must not be zero."""

Dollars = Annotated[Decimal, WithJsonSchema({"type": "number", "description": "US dollars, two decimals."})]
"""An amount of an answer."""

Rate = Annotated[Decimal, WithJsonSchema({"type": "number", "description": "A fraction: 0.062 is 6.2 %."})]
"""A rate of an answer."""

Percent = Annotated[Decimal, WithJsonSchema({"type": "number", "description": "Percent, two decimals."})]
"""A percentage of an answer."""
