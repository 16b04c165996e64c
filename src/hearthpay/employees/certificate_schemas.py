"""The API's requests and responses about withholding certificates: Form W-4 and the states' own."""

from decimal import Decimal
from typing import Annotated, Final, Literal

from pydantic import Field, PlainValidator, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from hearthpay.employees.certificates import CertificateEntry
from hearthpay.wire.fields import RequestModel, Text
from hearthpay.wire.money import Amount, Money

_ENTRY_TEXT: Final = Text(longest=100)
_ENTRY_AMOUNT: Final = Amount()
_MOST_ENTRIES: Final = 40


class OldFederalWithholding(RequestModel):
    """A Form W-4 of 2019 or earlier."""

    marital_status: Literal["single", "married", "married_withhold_at_single_rate"] = "single"
    """Line 3 of the form."""

    allowances: int = Field(default=0, ge=0, le=999)
    """Line 5: the number of allowances."""


class FederalWithholding(RequestModel):
    """Form W-4. Withholding federal income tax from household wages is voluntary: `elected` means it is agreed on."""

    elected: bool = True
    """Whether household and employee agreed to withhold federal income tax. With `false` none is withheld, whatever
    the entries below say."""

    filing_status: Literal["single", "married", "head_of_household"] = "single"
    """Step 1(c) of the form."""

    multiple_jobs: bool = Field(default=False, description="Step 2(c) is checked.")
    dependents_credit: Money = Field(default=Decimal(0), description="Step 3, dollars a year.")
    other_income: Money = Field(default=Decimal(0), description="Step 4(a), dollars a year.")
    deductions: Money = Field(default=Decimal(0), description="Step 4(b), dollars a year.")
    extra_withholding: Money = Field(default=Decimal(0), description="Step 4(c), dollars a pay period.")
    exempt: bool = False
    """Whether the employee claims exemption from withholding on the form."""

    nonresident_alien: bool = Field(
        default=False,
        description="The form says so below Step 4(c): the amount of Publication 15-T is added to the wages that the "
        "tables are read by.",
    )
    pre_2020: OldFederalWithholding | None = Field(
        default=None, description="In place of the entries above, where the last form given is that old."
    )


def _read_entry(entry: object) -> CertificateEntry | None:
    if entry is None or isinstance(entry, bool):
        return entry
    if isinstance(entry, str):
        return _ENTRY_TEXT.read(entry)
    if isinstance(entry, int | float | Decimal):
        amount = _ENTRY_AMOUNT.read(entry)
        return entry if isinstance(entry, int) else amount
    raise PydanticCustomError("entry_type", "must be a text, a number, true or false")


EntryName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

StateWithholding = Annotated[
    dict[EntryName, Annotated[CertificateEntry | None, PlainValidator(_read_entry)]],
    Field(max_length=_MOST_ENTRIES),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
            "description": "The entries of the state's certificate, by the names of its form; also `elected`, "
            "`exempt`, `additional_withholding` and `reciprocity_certificate_on_file`.",
        }
    ),
]
"""The entries of a state's withholding certificate; the tax engine decides whether the state has them."""
