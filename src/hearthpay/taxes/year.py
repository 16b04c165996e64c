"""The year before a paycheck: what each line has taxed so far, and what the year's wages require of it.

A capped line follows the year's wages subject to it, not the sum of what happened to be taxed: after a void, the
wages of the other paychecks move up below the cap. The difference is charged, or refunded, with the next paycheck.
"""

import datetime
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import NamedTuple, Protocol

from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.money import HALF_RATE, RATE_SCALE, to_cents
from hearthpay.taxes.rounding import half_up
from hearthpay.taxes.rulebook import Rulebook, rulebook_of

_NOTHING: Mapping[str, int] = MappingProxyType({})

MOST_ROUNDING_CENTS = 366 // 2
"""The most that rounding each payment to the cent can add up to in a year of daily pay: half a cent each."""


Standing = tuple[int, int | None, int | None, int | None]
"""A line's state before a paycheck, in cents: subject wages, taxable wages, tax, and what is owed.

Taxable wages are None if they follow from the subject wages by law, tax is None if it wasn't reported. What the
year's wages so far require beyond the tax is negative if it was too much, and None if it has to be calculated from
the wages.
"""


class Year(Protocol):
    """The year so far, by line."""

    def standing(self, line: Contribution) -> Standing:
        """Return the state of a capped line."""
        ...

    def taxable(self, code: str) -> int:
        """Return the wages that a line has taxed."""
        ...

    def tax(self, code: str) -> int | None:
        """Return the tax of a line; None if it wasn't reported."""
        ...

    @property
    def codes(self) -> Iterable[str]:
        """The lines with subject wages, if all are known."""
        ...

    @property
    def owing(self) -> Mapping[str, int]:
        """The lines for which the caller knows what they owe."""
        ...


@dataclass(frozen=True, slots=True)
class YearSoFar:
    """Everything paid earlier in the year, in cents by line code; a missing line has nothing.

    ``owed`` holds the lines whose tax differs from what the year's wages require: what is still to be charged, or,
    negative, to be refunded. ``owed_wages`` holds the wages that a line which `follows` another has still to tax,
    since it has no separate subject wages.
    """

    subject_wages: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    taxable_wages: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    taxes: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    owed: Mapping[str, int] = field(default_factory=lambda: _NOTHING)
    owed_wages: Mapping[str, int] = field(default_factory=lambda: _NOTHING)

    def standing(self, line: Contribution) -> Standing:
        """See `Year`."""
        code = line.code
        taxed = self.taxable_wages.get(code, 0)
        if line.follows is None:
            subject = self.subject_wages.get(line.ytd_code, 0)
        else:
            subject = taxed + self.owed_wages.get(code, 0)
        return (
            subject,
            taxed,
            self.taxes.get(code, 0),
            self.owed.get(code) if self.owed else None,
        )

    def taxable(self, code: str) -> int:
        """See `Year`."""
        return self.taxable_wages.get(code, 0)

    def tax(self, code: str) -> int | None:
        """See `Year`."""
        return self.taxes.get(code, 0)

    @property
    def codes(self) -> Iterable[str]:
        """See `Year`."""
        return self.subject_wages

    @property
    def owing(self) -> Mapping[str, int]:
        """See `Year`."""
        return self.owed

    def plus(self, prior: "YearSoFar") -> "YearSoFar":
        """Return the sum of this and what was paid before; what is owed stays this one's."""
        return YearSoFar(
            _sum(self.subject_wages, prior.subject_wages),
            _sum(self.taxable_wages, prior.taxable_wages),
            _sum(self.taxes, prior.taxes),
            self.owed,
            self.owed_wages,
        )


def _sum(own: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    together = dict(own)
    for code, amount in other.items():
        together[code] = together.get(code, 0) + amount
    return together


class ReportedYear:
    """What a caller reports of the year in dollars, by line code and as far as it is known.

    Without a line's subject wages, its taxable wages are used: then nothing is missing.
    """

    __slots__ = ("_cents", "_subject", "_tax", "_wages")

    def __init__(
        self, wages: Mapping[str, Decimal], subject: Mapping[str, Decimal], tax: Mapping[str, Decimal]
    ) -> None:
        self._wages = wages
        self._subject = subject
        self._tax = tax
        #: Wages whose cents are known: a year's are the same in most lines.
        self._cents: dict[Decimal, int] = {}

    def standing(self, line: Contribution) -> Standing:
        """See `Year`. Raises `TaxInputError` naming an impossible amount."""
        tax = self.tax(line.code) if self._tax else None
        subject_wages = self._subject.get(line.ytd_code) if self._subject and line.follows is None else None
        if subject_wages is None:
            return self.taxable(line.ytd_code), None, tax, None
        return (
            to_cents(subject_wages, "ytd_subject", line.ytd_code),
            _signed_cents(self._wages.get(line.code), "ytd", line.code),
            tax,
            None,
        )

    def taxable(self, code: str) -> int:
        """See `Year`."""
        wages = self._wages.get(code)
        if not wages:
            return 0
        try:
            cents = self._cents.get(wages)
        except TypeError:  # a signaling NaN, which has no hash
            cents = None
        if cents is None:
            cents = to_cents(wages, "ytd", code)
            self._cents[wages] = cents
        return cents

    def tax(self, code: str) -> int | None:
        """See `Year`."""
        tax = self._tax.get(code)
        if tax is None:
            return None
        return (
            _signed_cents(tax, "ytd_tax", code) if code in self._subject else to_cents(tax, "ytd_tax", code)
        )

    @property
    def codes(self) -> Iterable[str]:
        """See `Year`: a caller need not report everything, so lines of other states are left alone."""
        return ()

    @property
    def owing(self) -> Mapping[str, int]:
        """See `Year`."""
        return _NOTHING


def _signed_cents(value: Decimal | None, field_name: str, code: str) -> int:
    """Return an amount that corrections of earlier paychecks may have made negative."""
    if value is None:
        return 0
    if value.is_finite() and value < 0:
        return -to_cents(-value, field_name, code)
    return to_cents(value, field_name, code)


def fresh_charge(
    line: Contribution, rate: int, subject_before: int, tax_due_before: int | None, subject: int
) -> tuple[int, int]:
    """Return what ``subject`` cents of wages add to a capped line: taxable wages and tax, in cents.

    ``tax_due_before`` is what the wages before them, ``subject_before``, require; with it the year's capped tax is
    reached exactly and never exceeded.
    """
    base = line.wage_base
    if base is None:
        due_before = line.due(subject_before)
        taxable = line.due(subject_before + subject) - due_before
    else:
        due_before = subject_before if subject_before < base else base
        left_below = base - due_before
        taxable = subject if subject < left_below else left_below
    amount = (taxable * rate + HALF_RATE) // RATE_SCALE
    if base is None or tax_due_before is None or not taxable:
        return taxable, amount
    if abs(tax_due_before - half_up(due_before * rate, RATE_SCALE)) > MOST_ROUNDING_CENTS:
        # The difference exceeds rounding: the rate changed within the year, or earlier tax wasn't withheld.
        return taxable, amount
    left = max(0, half_up(base * rate, RATE_SCALE) - tax_due_before)
    return taxable, min(left, taxable) if due_before + taxable >= base else min(amount, left)


def arrears(line: Contribution, rate: int, before: Standing) -> tuple[int, int]:
    """Return what a capped line must still tax of the year's earlier wages: wages and tax, negative if too much.

    If ``before`` doesn't say what is owed, missing wages are taxed at ``rate``, and what was taxed too much is
    refunded at the average rate at which it was charged.
    """
    subject, taxed, tax, owed = before
    due = line.due(subject)
    if taxed is None:
        taxed = due
    missing = due - taxed
    if owed is not None:
        return missing, owed
    if not missing:
        return 0, 0
    if tax is None:
        amount = half_up(abs(missing) * rate, RATE_SCALE)
        return missing, amount if missing > 0 else -amount
    if taxed <= 0:
        return missing, half_up(due * rate, RATE_SCALE) - tax
    one_rate = abs(tax - half_up(taxed * rate, RATE_SCALE)) <= MOST_ROUNDING_CENTS
    if one_rate and due == line.wage_base:
        return missing, half_up(due * rate, RATE_SCALE) - tax
    if missing > 0:
        return missing, half_up(missing * rate, RATE_SCALE)
    return missing, half_up(max(0, tax) * due, taxed) - tax


class PaidWages(NamedTuple):
    """A standing paycheck: for each line its subject wages in cents and its rate in billionths, if it has one."""

    pay_date: datetime.date
    work_state: str
    lines: Mapping[str, tuple[int, int | None]]


class Demand(NamedTuple):
    """What the year's wages require of a capped line, in cents."""

    taxable: int
    tax: int


LiableFrom = Mapping[str, datetime.date | None]
"""The pay date from which a line is due, by code; None: never. A missing line is due on all wages."""

ALL_DUE: LiableFrom = MappingProxyType({})


def is_due(liable: LiableFrom, code: str, pay_date: datetime.date) -> bool:
    """Return whether wages of a pay date are subject to a line."""
    first = liable.get(code, datetime.date.min)
    return first is not None and first <= pay_date


def is_measured(line: Contribution, liable: Container[str]) -> bool:
    """Return whether a line follows the year's wages: it is capped, follows one that is, or depends on a threshold.

    One with a maximum for the pay period doesn't: it limits each payment, so nothing is made up.
    """
    return line.is_capped or line.follows is not None or (line.code in liable and line.period_maximum is None)


def year_demands(
    paychecks: Iterable[PaidWages], before: YearSoFar, liable: LiableFrom = ALL_DUE
) -> dict[str, Demand]:
    """Return the result of each measured line of a year from its standing paychecks, in the order they were run.

    It is what the books would say if no other paycheck had ever existed: each is taxed on what remains
    below the cap after the earlier ones, at its own rate. ``before`` is what another payroll had already paid. Wages
    on which a line isn't due by ``liable`` are neither taxed nor counted toward its cap.
    """
    subject = dict(before.subject_wages)
    demands: dict[str, Demand] = {}
    for paid in paychecks:
        rules = rulebook_of(paid.pay_date.year).state(paid.work_state)
        fresh: dict[str, int] = {}
        for line in rules.contributions_on(paid.pay_date):
            if not is_measured(line, liable):
                continue
            wages = paid.lines.get(line.ytd_code, (0, None))[0]
            _, rate = paid.lines.get(line.code, (0, None))
            so_far = demands.get(line.code)
            if so_far is None:
                so_far = Demand(before.taxable_wages.get(line.code, 0), before.taxes.get(line.code, 0))
            earlier = subject.get(line.ytd_code, 0)
            if line.follows is not None:
                wages, earlier = fresh.get(line.follows, 0), so_far.taxable
            taxable, tax = fresh_charge(
                line,
                line.rate if rate is None else rate,
                earlier,
                so_far.tax,
                wages if is_due(liable, line.code, paid.pay_date) else 0,
            )
            fresh[line.code] = taxable
            demands[line.code] = Demand(so_far.taxable + taxable, so_far.tax + tax)
        for code, (wages, _) in paid.lines.items():
            if is_due(liable, code, paid.pay_date):
                subject[code] = subject.get(code, 0) + wages
    return demands


def owed_after(
    demands: Mapping[str, Demand],
    before: YearSoFar,
    so_far: YearSoFar,
    tax_year: int,
    liable: LiableFrom = ALL_DUE,
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the lines whose wages or tax differ from what the year requires: the cents still to be charged, and the
    cents of wages that lines which `follow` another have still to tax.

    A measured line without standing paychecks returns to what it was ``before`` them all.
    """
    expected = dict(demands)
    last_day = datetime.date(tax_year, 12, 31)
    in_force = lines_in_force(rulebook_of(tax_year), so_far.taxable_wages, last_day, liable)
    for code in in_force:
        if code not in expected:
            expected[code] = Demand(before.taxable_wages.get(code, 0), before.taxes.get(code, 0))
    owed = {}
    owed_wages = {}
    for code, demand in expected.items():
        tax = demand.tax - so_far.taxes.get(code, 0)
        wages = demand.taxable - so_far.taxable_wages.get(code, 0)
        if tax or wages:
            owed[code] = tax
            if wages and code in in_force and in_force[code].follows is not None:
                owed_wages[code] = wages
    return owed, owed_wages


def counted_wages(paychecks: Iterable[PaidWages], before: YearSoFar, liable: LiableFrom) -> dict[str, int]:
    """Return the year's subject wages of the lines that depend on a threshold: those on which they are due."""
    counted = {code: before.subject_wages.get(code, 0) for code in liable}
    for paid in paychecks:
        for code, (wages, _) in paid.lines.items():
            if code in counted and is_due(liable, code, paid.pay_date):
                counted[code] += wages
    return counted


class Open(NamedTuple):
    """A capped line that differs from what the year's wages require; cents, negative if too much was charged."""

    code: str
    name: str
    payer: str
    taxable_wages: int
    tax: int


def open_lines(so_far: YearSoFar, on: datetime.date) -> tuple[Open, ...]:
    """Return what a year still owes, or was overcharged, by line, under the law in force on a day.

    The next paycheck corrects it; if none follows, the year's documents have to.
    """
    found = []
    for code, line in capped_lines(
        rulebook_of(on.year), {**so_far.subject_wages, **so_far.taxable_wages}, on
    ).items():
        missing, tax = arrears(line, line.rate, so_far.standing(line))
        if missing or tax:
            found.append(Open(code, line.name, line.payer, missing, tax))
    return tuple(sorted(found))


def capped_lines(rulebook: Rulebook, codes: Iterable[str], on: datetime.date) -> dict[str, Contribution]:
    """Return the lines in force on a day that follow the year's wages, federal and of each state named in a code."""
    return lines_in_force(rulebook, codes, on, ALL_DUE)


def lines_in_force(
    rulebook: Rulebook, codes: Iterable[str], on: datetime.date, liable: Container[str]
) -> dict[str, Contribution]:
    """Return the same with the lines in ``liable``, capped or not, except those capped by pay period."""
    lines: dict[str, Contribution] = {}
    for state in sorted({code[:2] for code in codes} & STATES.keys()):
        in_force = rulebook.state(state).contributions_on(on)
        lines |= {line.code: line for line in in_force if is_measured(line, liable)}
    if not lines:
        lines = {
            line.code: line
            for line in rulebook.contributions
            if (line.is_capped or line.follows is not None or line.code in liable)
            and line.effective_from <= on
            and (line.effective_to is None or on <= line.effective_to)
        }
    return lines
