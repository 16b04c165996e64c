"""API schemas for entering prior wages."""

from decimal import Decimal
from typing import Annotated, Final

from pydantic import Field

from hearthpay.payroll.commands import EnterPriorWages
from hearthpay.taxes.money import to_cents
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.wire.fields import Day, RequestModel, Text
from hearthpay.wire.money import Money

_MOST_LINES: Final = 60


class PriorWagesLine(RequestModel):
    """One tax as the other payroll reports it."""

    code: Annotated[str, Text(longest=40)] = Field(description="A line's code, as payrolls list them.")
    subject_wages: Money = Field(description="Wages the tax is about, below its cap or not.")
    taxable_wages: Money = Field(description="Wages that were taxed.")
    amount: Money = Field(description="What was withheld or charged.")

    def to_command(self) -> PriorLine:
        """Return the line as a command, in plain values."""
        return PriorLine(
            self.code,
            to_cents(self.subject_wages, "subject_wages"),
            to_cents(self.taxable_wages, "taxable_wages"),
            to_cents(self.amount, "amount"),
        )


class NewPriorWages(RequestModel):
    """What another payroll paid in a year, up to a day."""

    tax_year: int = Field(ge=2000, le=2200)
    """The calendar year in which the wages were paid; `as_of` is a day of it."""

    source: Annotated[str, Text(longest=100)] = Field(
        description="Who paid, such as the provider's name. Entered again, it takes the place of what was there."
    )
    as_of: Day = Field(description="The last pay date that is counted.")
    gross_pay: Money
    """Gross wages of the year up to `as_of`."""

    net_pay: Money | None = Field(default=None, description="Default: gross pay less the employee's taxes.")
    employee_taxes: Money | None = Field(
        default=None, description="Default: the sum of the employee's lines."
    )
    employer_taxes: Money | None = Field(
        default=None, description="Default: the sum of the household's lines."
    )
    lines: list[PriorWagesLine] = Field(min_length=1, max_length=_MOST_LINES)
    """The taxes of these wages, each line once."""

    def to_command(self) -> EnterPriorWages:
        """Return the line as a command, in plain values."""
        return EnterPriorWages(
            tax_year=self.tax_year,
            source=self.source,
            as_of=self.as_of,
            gross_pay=to_cents(self.gross_pay, "gross_pay"),
            lines=tuple(line.to_command() for line in self.lines),
            net_pay=_cents(self.net_pay, "net_pay"),
            employee_taxes=_cents(self.employee_taxes, "employee_taxes"),
            employer_taxes=_cents(self.employer_taxes, "employer_taxes"),
        )


def _cents(amount: Decimal | None, field: str) -> int | None:
    return None if amount is None else to_cents(amount, field)
