"""The hours that the form of a payroll proposes: the regular ones of the last payroll, or the usual weekly hours.

Overtime is never proposed again, because it is easily confirmed by mistake. The form says how much there was last time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from hearthpay.employees.commands import PayFrequency
from hearthpay.employees.models import Employee
from hearthpay.employees.salaries import PERIODS_A_YEAR
from hearthpay.languages.catalogue import Say, mark
from hearthpay.payroll.next_payroll import LastPay

_WEEKS: Final = Decimal(52)
_HUNDREDTH: Final = Decimal("0.01")
_USUAL: Final = mark("Usual hours: {hours} a week.")
_LAST: Final = mark("Hours of the last payroll.")
_ONE_OVERTIME_HOUR: Final = mark("Last time: 1 overtime hour.")
_OVERTIME_HOURS: Final = mark("Last time: {hours} overtime hours.")


@dataclass(frozen=True, slots=True)
class ProposedHours:
    """The hours of one period; `weekly` are the usual ones that they come from, None for those of the last payroll."""

    regular: Decimal
    weekly: Decimal | None = None

    def form_values(self) -> Iterator[tuple[str, str]]:
        """Yield the parts of the form that are filled in, with their text."""
        if self.regular:
            yield "regular", _plain(self.regular)

    def source(self, say: Say) -> str:
        """Return where they come from, in words."""
        return say(_LAST) if self.weekly is None else say(_USUAL, hours=_plain(self.weekly))


def proposed_hours(person: Employee, frequency: PayFrequency, last: LastPay | None) -> ProposedHours | None:
    """Return an hourly employee's regular hours of the last payroll, if its period was as long, else the usual ones.

    A period is as long as a year's weeks divided by its periods. None for a salary, and where neither is known.
    """
    if person.pay_type != "hourly":
        return None
    if last is not None and last.pay_frequency == frequency and last.regular_hours:
        return ProposedHours(last.regular_hours)
    weekly = person.usual_weekly_hours
    if weekly is None:
        return None
    regular = (weekly * _WEEKS / PERIODS_A_YEAR[frequency]).quantize(_HUNDREDTH, ROUND_HALF_UP)
    return ProposedHours(regular, weekly)


def last_overtime_text(say: Say, last: LastPay | None) -> str:
    """Return how many overtime hours the last payroll paid, in words; empty for none."""
    if last is None or not last.overtime_hours:
        return ""
    sentence = _ONE_OVERTIME_HOUR if last.overtime_hours == 1 else _OVERTIME_HOURS
    return say(sentence, hours=_plain(last.overtime_hours))


def _plain(number: Decimal) -> str:
    """Return a number without zeros at its end, as people type it."""
    return f"{number.normalize():f}"
