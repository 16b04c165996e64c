"""The statements behind lists of households: by name, by next payday and by words, each a page at a time by an index.

Under row security only leakproof conditions read an index, so names are compared by sort keys and words that the
database keeps (`employers.last_name_key`, `household_words`). One page reads its own rows, however many others there
are.
"""

import datetime
import string
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.database.relations import AUTOPILOT_PAYDAYS, EMPLOYEES, EMPLOYERS, HOUSEHOLD_WORDS, PAYROLLS
from hearthpay.database.statements import Fragment, compose
from hearthpay.database.typed_rows import fetch_all, fetch_optional, query

MOST_FOUND: Final = 500
"""The most households that one word of a search is followed to."""

MOST_WORDS: Final = 5
"""The most words of a search."""

_LEFT_OUT: Final = "'’`."
_BETWEEN_WORDS: Final = str.maketrans(dict.fromkeys(string.punctuation, " ") | dict.fromkeys(_LEFT_OUT))

_UPCOMING: Final = Fragment("status IN ('scheduled', 'firing', 'pending_funding', 'processing')")
_REACHED: Final = Fragment("(CAST(:reached AS uuid[]) IS NULL OR h.id = ANY(CAST(:reached AS uuid[])))")


ListScope = Mapping[str, object]


class NameKey(NamedTuple):
    """The place of a household in the order of names."""

    last_name_key: str
    first_name_key: str
    id: UUID


FIRST_NAME: Final = NameKey("", "", UUID(int=0))
"""Before every household."""


class PaydayKey(NamedTuple):
    """The place of a household in the order of next paydays: the day, and the payroll or enrollment of that day."""

    employer_id: UUID
    pay_date: datetime.date
    id: UUID


class ListedHousehold(NamedTuple):
    """A household as a list shows it; amounts in cents. The seven days begin today.

    The next payday is the first of a scheduled payroll or of Autopilot; the payrolls are the scheduled ones.
    """

    id: UUID
    first_name: str
    last_name: str
    last_name_key: str
    first_name_key: str
    state: str
    employees: int
    next_payday: datetime.date | None
    payrolls_in_seven_days: int
    net_in_seven_days: int

    @property
    def name(self) -> str:
        """The household's full name."""
        return f"{self.first_name} {self.last_name}"


class _IdRow(NamedTuple):
    employer_id: UUID


_BY_NAME: Final = query(
    NameKey,
    "SELECT h.last_name_key, h.first_name_key, h.id FROM {employers} h "
    "WHERE h.organization_id = :organization_id AND h.sandbox = :sandbox AND {reached} "
    "AND (h.last_name_key, h.first_name_key, h.id) > (:last_name, :first_name, CAST(:after AS uuid)) "
    "ORDER BY h.last_name_key, h.first_name_key, h.id LIMIT :limit",
    employers=EMPLOYERS,
    reached=_REACHED,
)
_NAME_KEY: Final = query(
    NameKey,
    "SELECT h.last_name_key, h.first_name_key, h.id FROM {employers} h WHERE h.id = :id",
    employers=EMPLOYERS,
)


def _planned(day: Fragment) -> Fragment:
    """Return the conditions on a row `h` of a payday: on one of the days, and the household's first from today on."""
    return compose(
        "h.organization_id = :organization_id AND h.sandbox = :sandbox "
        "AND (CAST(:reached AS uuid[]) IS NULL OR h.employer_id = ANY(CAST(:reached AS uuid[]))) "
        "AND {day} >= CAST(:today AS date) AND {day} <= CAST(:until AS date) "
        "AND ({day}, h.id) > (CAST(:day AS date), CAST(:after AS uuid)) "
        "AND NOT EXISTS (SELECT FROM {payrolls} o WHERE o.employer_id = h.employer_id AND o.{upcoming} "
        "AND o.pay_date >= CAST(:today AS date) AND (o.pay_date, o.id) < ({day}, h.id)) "
        "AND NOT EXISTS (SELECT FROM {autopilot} o WHERE o.employer_id = h.employer_id "
        "AND o.next_pay_date >= CAST(:today AS date) AND (o.next_pay_date, o.id) < ({day}, h.id)) "
        "ORDER BY {day}, h.id LIMIT :limit",
        day=day,
        payrolls=PAYROLLS,
        autopilot=AUTOPILOT_PAYDAYS,
        upcoming=_UPCOMING,
    )


# A household stands where its first payday is, of a payroll or of Autopilot: its later ones are passed over.
_BY_PAYDAY: Final = query(
    PaydayKey,
    "(SELECT h.employer_id, h.pay_date, h.id FROM {payrolls} h WHERE h.{upcoming} AND {of_payrolls}) "
    "UNION ALL "
    "(SELECT h.employer_id, h.next_pay_date, h.id FROM {autopilot} h WHERE {of_autopilot}) "
    "ORDER BY 2, 3 LIMIT :limit",
    payrolls=PAYROLLS,
    autopilot=AUTOPILOT_PAYDAYS,
    upcoming=_UPCOMING,
    of_payrolls=_planned(Fragment("h.pay_date")),
    of_autopilot=_planned(Fragment("h.next_pay_date")),
)
# Row security lets the planner expect a handful of an organization's upcoming payrolls: it would read them all and
# sort them, where an index has them in this order.
_SORTING: Final = text("SELECT set_config('enable_sort', :sorting, true)")
_LINES: Final = query(
    ListedHousehold,
    "SELECT h.id, h.first_name, h.last_name, h.last_name_key, h.first_name_key, h.state, "
    "(SELECT count(*) FROM {employees} w WHERE w.employer_id = h.id AND w.status = 'active') AS employees, "
    "least(n.pay_date, (SELECT min(a.next_pay_date) FROM {autopilot} a WHERE a.employer_id = h.id "
    "AND a.next_pay_date >= CAST(:today AS date))) AS next_payday, n.payrolls_in_seven_days, n.net_in_seven_days "
    "FROM {employers} h CROSS JOIN LATERAL ("
    "SELECT min(p.pay_date) AS pay_date, "
    "count(*) FILTER (WHERE p.pay_date <= CAST(:until AS date)) AS payrolls_in_seven_days, "
    "CAST(coalesce(sum(p.net_pay) FILTER (WHERE p.pay_date <= CAST(:until AS date)), 0) AS bigint) "
    "AS net_in_seven_days FROM {payrolls} p "
    "WHERE p.employer_id = h.id AND p.{upcoming} AND p.pay_date >= CAST(:today AS date)) n "
    "WHERE h.id = ANY(CAST(:ids AS uuid[]))",
    employees=EMPLOYEES,
    employers=EMPLOYERS,
    autopilot=AUTOPILOT_PAYDAYS,
    payrolls=PAYROLLS,
    upcoming=_UPCOMING,
)
_BY_WORD: Final = query(
    _IdRow,
    "SELECT DISTINCT w.employer_id FROM {words} w "
    "WHERE w.organization_id = :organization_id AND w.sandbox = :sandbox "
    "AND (CAST(:reached AS uuid[]) IS NULL OR w.employer_id = ANY(CAST(:reached AS uuid[]))) "
    "AND w.word >= fold_name(:word) AND w.word < fold_name(:word) || chr(1114111) LIMIT :limit",
    words=HOUSEHOLD_WORDS,
)
_WITH_WORD: Final = query(
    _IdRow,
    "SELECT DISTINCT w.employer_id FROM {words} w WHERE w.employer_id = ANY(CAST(:ids AS uuid[])) "
    "AND w.word >= fold_name(:word) AND w.word < fold_name(:word) || chr(1114111)",
    words=HOUSEHOLD_WORDS,
)


def scope_of(actor: Actor) -> ListScope:
    """Return whose households the actor may see, as the statements' parameters; who calls has asked `allow`."""
    reached = None if actor.households is None else sorted(actor.households)
    return {"organization_id": actor.organization_id, "sandbox": actor.sandbox, "reached": reached}


async def after_name(session: AsyncSession, scope: ListScope, after: NameKey, limit: int) -> list[NameKey]:
    """Return the next households in the order of names within the scope."""
    asked = {"last_name": after[0], "first_name": after[1], "after": after.id, "limit": limit}
    return await fetch_all(session, _BY_NAME, dict(scope) | asked)


async def name_key_of(session: AsyncSession, household: UUID) -> NameKey | None:
    """Return the household's place in the order of names; None if it was deleted."""
    return await fetch_optional(session, _NAME_KEY, {"id": household})


async def after_payday(
    session: AsyncSession,
    scope: ListScope,
    today: datetime.date,
    until: datetime.date,
    after: tuple[datetime.date, UUID],
    limit: int,
) -> list[PaydayKey]:
    """Return the next households in the order of next paydays, of those whose next payday is on one of these days."""
    asked = {"today": today, "until": until, "day": after[0], "after": after[1], "limit": limit}
    await session.execute(_SORTING, {"sorting": "off"})
    rows = await fetch_all(session, _BY_PAYDAY, dict(scope) | asked)
    await session.execute(_SORTING, {"sorting": "on"})
    return rows


async def lines_of(
    session: AsyncSession, households: Sequence[UUID], today: datetime.date, until: datetime.date
) -> Mapping[UUID, ListedHousehold]:
    """Return the households by id, with their paydays from today; the seven days end on `until`."""
    rows = await fetch_all(session, _LINES, {"ids": list(households), "today": today, "until": until})
    return {row.id: row for row in rows}


def words_in(text: str) -> list[str]:
    """Return the words to search for, divided as the kept words are: a hyphen divides a name, an apostrophe doesn't."""
    return text.translate(_BETWEEN_WORDS).split()


async def found_by_words(
    session: AsyncSession, scope: ListScope, words: Sequence[str]
) -> tuple[Collection[UUID], bool]:
    """Return the households of which each word begins a word of a name, their employees' included, or the state.

    Also returns whether there may be more: each of the words begins more names than are followed.
    """
    rarest: set[UUID] | None = None
    for word in words:
        rows = await fetch_all(session, _BY_WORD, dict(scope) | {"word": word, "limit": MOST_FOUND + 1})
        found = {row.employer_id for row in rows}
        if rarest is None or len(found) < len(rarest):
            rarest = found
    left = rarest or set()
    crowded = len(left) > MOST_FOUND
    for word in words:
        rows = await fetch_all(session, _WITH_WORD, {"ids": sorted(left), "word": word})
        left &= {row.employer_id for row in rows}
    return left, crowded
