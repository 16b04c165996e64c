"""For operators: wages that households owe because their debit was returned after the wages were sent."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple
from uuid import UUID

from hearthpay.database.relations import BANK_ENTRIES, WAGE_SETTLEMENTS
from hearthpay.database.session import Tenant, become_person
from hearthpay.database.statements import column_list
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.people.context import PeopleContext
from hearthpay.people.operators import require_operator
from hearthpay.people.sessions import SignedIn


class _NotCollectedRow(NamedTuple):
    payroll_id: UUID
    organization_id: UUID
    organization: str
    household: str
    pay_date: datetime.date
    returned_on: datetime.date
    owed: int
    received: int


_NOT_COLLECTED: Final = query(
    _NotCollectedRow,
    "SELECT {columns} FROM wages_not_collected()",
    columns=column_list(_NotCollectedRow._fields),
)


class _ReturnedRow(NamedTuple):
    payroll_id: UUID
    amount: int
    return_code: str | None


_RETURNED: Final = query(
    _ReturnedRow,
    "SELECT DISTINCT ON (payroll_id) payroll_id, amount, return_code FROM {bank_entries} b "
    "WHERE payroll_id = ANY(:payrolls) AND kind = 'debit' AND status = 'returned' "
    "ORDER BY payroll_id, updated_at DESC, id DESC",
    bank_entries=BANK_ENTRIES,
)


class WagePayment(NamedTuple):
    """A payment that an operator recorded: its amount in cents, the day, and where it is seen."""

    payroll_id: UUID
    amount: int
    received_on: datetime.date
    told_by: str


_PAYMENTS: Final = query(
    WagePayment,
    "SELECT payroll_id, amount, received_on, told_by FROM {wage_settlements} s WHERE payroll_id = ANY(:payrolls) "
    "ORDER BY received_on, id",
    wage_settlements=WAGE_SETTLEMENTS,
)


@dataclass(frozen=True, slots=True)
class UncollectedWages:
    """Wages sent before their debit was returned: the total owed, and what was paid since; amounts in cents.

    `debit` and `return_code` are those of the debit that was returned last.
    """

    payroll_id: UUID
    organization_id: UUID
    organization: str
    household: str
    pay_date: datetime.date
    returned_on: datetime.date
    owed: int
    received: int
    debit: int | None = None
    return_code: str | None = None
    payments: tuple[WagePayment, ...] = ()

    @property
    def open(self) -> int:
        """What is still owed, in cents."""
        return self.owed - self.received


async def wages_not_collected(people_context: PeopleContext, who: SignedIn) -> Sequence[UncollectedWages]:
    """Return the wages that households owe, of every organization, oldest first. Raises `not_found`.

    Why a debit was returned, and what was paid since, is read in each organization's own transaction.
    """
    require_operator(who)
    async with people_context.database.transaction(None) as session:
        await become_person(session, who.person_id)
        cases = [UncollectedWages(*row) for row in await fetch_all(session, _NOT_COLLECTED)]
    found: dict[UUID, UncollectedWages] = {}
    for organization_id, group in groupby(
        sorted(cases, key=attrgetter("organization_id")), attrgetter("organization_id")
    ):
        found |= await _with_details(people_context, organization_id, list(group))
    return [found[each.payroll_id] for each in cases]


async def _with_details(
    people_context: PeopleContext, organization_id: UUID, cases: Sequence[UncollectedWages]
) -> dict[UUID, UncollectedWages]:
    about = {"payrolls": [each.payroll_id for each in cases]}
    async with people_context.database.transaction(Tenant(organization_id, sandbox=False)) as session:
        returned = {row.payroll_id: row for row in await fetch_all(session, _RETURNED, about)}
        payments = await fetch_all(session, _PAYMENTS, about)
    found = {}
    for case in cases:
        row = returned.get(case.payroll_id)
        found[case.payroll_id] = replace(
            case,
            debit=None if row is None else row.amount,
            return_code=None if row is None else row.return_code,
            payments=tuple(each for each in payments if each.payroll_id == case.payroll_id),
        )
    return found
