"""The field types of answers that recur in many of them, each described once."""

import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, WithJsonSchema


def described_id(what: str) -> WithJsonSchema:
    """Return the annotation of a UUID with what it identifies, for answers and for paths."""
    return WithJsonSchema({"type": "string", "format": "uuid", "description": what})


HouseholdIdentifier = Annotated[UUID, described_id("Id of the household, as `GET /households` lists it.")]
EmployeeIdentifier = Annotated[UUID, described_id("Id of the employee, as `GET /employees` lists it.")]
PayrollIdentifier = Annotated[
    UUID, described_id("Id of the payroll, as a run answers and `GET /payrolls` lists it.")
]
CreatedAt = Annotated[datetime.datetime, Field(description="When it was created, in UTC.")]
YearOfTaxes = Annotated[int, Field(description="The tax year: the calendar year of the pay dates.")]

LineCode = Annotated[str, Field(description="Code of the tax, such as `US-SS-EE`, for programs.")]
LineName = Annotated[str, Field(description="Name of the tax in English.")]
LinePayer = Annotated[
    Literal["employee", "employer"],
    Field(
        description="Who bears the tax: `employee` (withheld from pay) or `employer` (in addition to pay)."
    ),
]
AgencyName = Annotated[
    str, Field(description="The agency that the tax goes to, by its short name, such as `IRS`.")
]
FigureConfidence = Annotated[
    Literal["high", "medium", "low"],
    Field(description="How certain the figures and rules are that it is based on."),
]
SourceTitle = Annotated[str, Field(description="What it is: a law, a form, a publication or a page.")]
SourceUrl = Annotated[str, Field(description="Where to read it.")]
SourceDate = Annotated[
    str, Field(description="The edition, or the day on which it was read, as written there.")
]

Warnings = Annotated[
    list[str],
    Field(description="What the household should know or do, in English; empty if there is nothing."),
]
Limitations = Annotated[list[str], Field(description="What the figures assume or leave out, in English.")]
