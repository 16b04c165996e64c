"""How many enrollments and scheduled payrolls have pay dates under rules that aren't final.

A pay date is under such rules if its year has none, or if a line of the employee's work state, federal and local
lines included, is provisional or unknown in that year. Which lines a paycheck will have isn't calculated: a local
line counts for the whole state. Only real households count.
"""

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.database.typed_rows import Query, fetch_all, query
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.finality import Finality
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.taxes.state import StateRules

LOOK_AHEAD: Final = datetime.timedelta(days=45)
"""How far ahead pay dates are checked."""

_DECEMBER: Final = 12


class _AheadRow(NamedTuple):
    kind: Literal["enrollment", "payroll"]
    tax_year: int
    states: list[str]
    pieces: int


_AHEAD: Final = query(
    _AheadRow, "SELECT kind, tax_year, states, pieces FROM pay_dates_ahead(:today, :through, :goes_on)"
)
_AHEAD_OF_ALL: Final = query(
    _AheadRow, "SELECT kind, tax_year, states, pieces FROM pay_dates_ahead_of_all(:today, :through, :goes_on)"
)

Status = Literal["held", "provisional"]
"""`provisional`: paid by substitute figures. `held`: without rules, or with a line that has no substitute figures."""


@dataclass(frozen=True, slots=True)
class ProvisionalPayDates:
    """The number of enrollments, or scheduled payrolls, of employees in these states with a pay date in the year."""

    kind: Literal["enrollment", "payroll"]
    tax_year: int
    states: tuple[str, ...]
    pieces: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """The numbers of enrollments and scheduled payrolls."""

    enrollments: int = 0
    payrolls: int = 0

    def with_(self, dates: ProvisionalPayDates) -> "Pieces":
        """Return these numbers plus those of the pay dates."""
        if dates.kind == "enrollment":
            return Pieces(self.enrollments + dates.pieces, self.payrolls)
        return Pieces(self.enrollments, self.payrolls + dates.pieces)

    def __bool__(self) -> bool:
        return bool(self.enrollments or self.payrolls)


@dataclass(frozen=True, slots=True)
class ProvisionalJurisdiction:
    """What isn't final for a jurisdiction in a year, and how many pay by it. Without lines, there are no rules."""

    tax_year: int
    jurisdiction: str
    status: Status
    lines: tuple[str, ...]
    months: tuple[str, ...]
    """The months, such as ``2026-12``, in which the figures were published in other years."""

    pieces: Pieces


@dataclass(frozen=True, slots=True)
class ProvisionalRules:
    """What isn't final for the pay dates ahead; one with a held line counts only as held."""

    provisional: Pieces = Pieces()
    held: Pieces = Pieces()
    jurisdictions: tuple[ProvisionalJurisdiction, ...] = ()

    @property
    def all(self) -> Pieces:
        """Both together."""
        return Pieces(
            self.provisional.enrollments + self.held.enrollments,
            self.provisional.payrolls + self.held.payrolls,
        )

    @property
    def years(self) -> tuple[int, ...]:
        """The affected years, ascending."""
        return tuple(sorted({each.tax_year for each in self.jurisdictions}))

    @property
    def key(self) -> str:
        """A key that stays the same while the same lines are awaited, however many pay by them."""
        parts = [
            f"{each.tax_year} {each.jurisdiction} {each.status} {' '.join(each.lines)}"
            for each in self.jurisdictions
        ]
        return hashlib.md5("\n".join(parts).encode(), usedforsecurity=False).hexdigest()

    def __bool__(self) -> bool:
        return bool(self.all)


async def read_provisional_rules(session: AsyncSession, today: datetime.date) -> ProvisionalRules:
    """Return what isn't final for the pay dates ahead; the session is the worker's or the owner's."""
    return find_provisional(await _read(session, _AHEAD, today), today)


async def read_provisional_rules_for_operator(
    session: AsyncSession, today: datetime.date
) -> ProvisionalRules:
    """Return the same over the service's connection; empty for a person who isn't an operator."""
    return find_provisional(await _read(session, _AHEAD_OF_ALL, today), today)


async def _read(
    session: AsyncSession, query: Query[_AheadRow], today: datetime.date
) -> list[ProvisionalPayDates]:
    rows = await fetch_all(session, query, window(today))
    return [ProvisionalPayDates(row.kind, row.tax_year, tuple(row.states), row.pieces) for row in rows]


def window(today: datetime.date) -> dict[str, Any]:
    """Return the range of pay dates to check: in December all of the next year, since an enrollment continues into
    it.
    """
    in_december = today.month == _DECEMBER
    through = datetime.date(today.year + 1, 12, 31) if in_december else today + LOOK_AHEAD
    return {"today": today, "through": through, "goes_on": in_december}


def find_provisional(ahead: Iterable[ProvisionalPayDates], today: datetime.date) -> ProvisionalRules:
    """Return what isn't final for these pay dates by the rules in force."""
    totals: dict[Status, Pieces] = {"held": Pieces(), "provisional": Pieces()}
    found: dict[tuple[int, str], ProvisionalJurisdiction] = {}
    for dates in ahead:
        concerned: dict[str, ProvisionalJurisdiction] = {}
        for state in dates.states:
            for each in _provisional_of(dates.tax_year, state, today):
                concerned[each.jurisdiction] = each
        if not concerned:
            continue
        status: Status = (
            "held" if any(each.status == "held" for each in concerned.values()) else "provisional"
        )
        totals[status] = totals[status].with_(dates)
        for name, each in concerned.items():
            known = found.get((dates.tax_year, name), each)
            found[dates.tax_year, name] = ProvisionalJurisdiction(
                each.tax_year, name, each.status, each.lines, each.months, known.pieces.with_(dates)
            )
    return ProvisionalRules(totals["provisional"], totals["held"], tuple(found[key] for key in sorted(found)))


def _provisional_of(tax_year: int, state: str, today: datetime.date) -> Sequence[ProvisionalJurisdiction]:
    try:
        rules: StateRules = rulebook_of(tax_year).state(state)
    except TaxInputError:
        return [ProvisionalJurisdiction(tax_year, state, "held", (), (), Pieces())]
    lines: dict[str, list[Finality]] = {}
    for code in sorted(rules.unsettled):
        finality = rules.finality[code]
        if finality.begins is None or finality.begins <= today + LOOK_AHEAD:
            lines.setdefault(code[:2], []).append(finality)
    return [
        ProvisionalJurisdiction(
            tax_year,
            name,
            "held" if any(each.status == "unknown" for each in awaited) else "provisional",
            tuple(each.code for each in awaited),
            tuple(sorted({each.awaited for each in awaited if each.awaited is not None})),
            Pieces(),
        )
        for name, awaited in lines.items()
    ]
