"""A household's money at the bank, for its members: its accounts, its authorizations, and payments in progress."""

import datetime
from dataclasses import dataclass, replace
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_PAYROLLS, allow
from hearthpay.banking.authorizations import AuthorizationState, authorization_of
from hearthpay.banking.files import earliest_settlement
from hearthpay.banking.models import BankAccount, StandingAuthorization
from hearthpay.banking.readiness import Blocker, household_blockers
from hearthpay.database.relations import AUTOPILOT_ENROLLMENTS, EMPLOYEES, PAYROLLS
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employers.models import Employer

MOST_EARLIER: Final = 20
"""How many earlier accounts are shown."""

_OUT_OF_THE_HOUSEHOLD: Final = frozenset({"debit"})


class _OnItsWayRow(NamedTuple):
    id: UUID
    kind: str
    status: str
    amount: int
    payroll_id: UUID | None
    name: str | None
    day: datetime.date
    held_reason: str | None


_ON_ITS_WAY: Final = query(
    _OnItsWayRow,
    "SELECT b.id, b.kind, b.status, b.amount, b.payroll_id, e.first_name || ' ' || e.last_name AS name, "
    "coalesce(b.effective_date, b.settle_on) AS day, b.held_reason "
    "FROM bank_entries b LEFT JOIN {employees} e ON e.id = b.employee_id "
    "WHERE b.employer_id = :employer AND b.status IN ('pending', 'sent') AND b.kind <> 'prenote' "
    "ORDER BY coalesce(b.effective_date, b.settle_on), b.id",
    employees=EMPLOYEES,
)


class _ScheduledRow(NamedTuple):
    id: UUID
    net_pay: int
    pay_date: datetime.date
    scheduled_send_at: datetime.datetime


_SCHEDULED: Final = query(
    _ScheduledRow,
    "SELECT p.id, p.net_pay, p.pay_date, p.scheduled_send_at "
    "FROM {payrolls} p WHERE p.employer_id = :employer AND p.status IN ('scheduled', 'firing') "
    "ORDER BY p.scheduled_send_at, p.id",
    payrolls=PAYROLLS,
)


class _EnrolledRow(NamedTuple):
    id: UUID
    name: str


_ENROLLED: Final = query(
    _EnrolledRow,
    "SELECT n.id, e.first_name || ' ' || e.last_name AS name FROM {autopilot_enrollments} n "
    "JOIN {employees} e ON e.id = n.employee_id WHERE e.employer_id = :employer",
    autopilot_enrollments=AUTOPILOT_ENROLLMENTS,
    employees=EMPLOYEES,
)


@dataclass(frozen=True, slots=True)
class MoneyInTransit:
    """A payment that the bank hasn't settled, in cents; `day` is its expected settlement date."""

    id: UUID
    kind: str
    status: str
    amount: int
    payroll_id: UUID | None
    name: str | None
    """The employee it belongs to; None for the household's own account."""

    day: datetime.date
    held_reason: str | None

    @property
    def leaves_the_household(self) -> bool:
        """Whether it is collected from the household's account."""
        return self.kind in _OUT_OF_THE_HOUSEHOLD


@dataclass(frozen=True, slots=True)
class ScheduledMoney:
    """A payroll whose debit is sent later, with estimated cents."""

    payroll_id: UUID
    net_pay: int
    pay_date: datetime.date
    send_at: datetime.datetime
    is_late: bool = False
    """Whether it should have been sent."""


@dataclass(frozen=True, slots=True)
class PaymentStatusText:
    """The authorization of one employee's recurring pay."""

    name: str
    authorization: StandingAuthorization


@dataclass(frozen=True, slots=True)
class HouseholdMoney:
    """The state of a household's bank connections and payments."""

    account: BankAccount | None
    earlier: tuple[BankAccount, ...]
    """Earlier accounts, newest first."""

    authorization: AuthorizationState
    standing: tuple[PaymentStatusText, ...]
    on_its_way: tuple[MoneyInTransit, ...]
    scheduled: tuple[ScheduledMoney, ...]
    blockers: tuple[Blocker, ...]

    @property
    def leaving(self) -> int:
        """The cents being collected from the household's account."""
        return sum(each.amount for each in self.on_its_way if each.leaves_the_household)


async def read_household_money(
    session: AsyncSession,
    actor: Actor,
    employer: Employer,
    now: datetime.datetime,
    *,
    direct_deposit_enabled: bool,
) -> HouseholdMoney:
    """Return the state of the household at the bank; `offered` says whether this installation has one.

    Raises what `allow` raises.
    """
    allow(actor, READ_PAYROLLS, employer.id)
    accounts = await session.scalars(
        select(BankAccount)
        .where(BankAccount.employer_id == employer.id, BankAccount.employee_id.is_(None))
        .order_by(BankAccount.created_at.desc(), BankAccount.id.desc())
        .limit(MOST_EARLIER + 1)
    )
    known = list(accounts)
    whose = {"employer": employer.id}
    words = await session.scalars(
        select(StandingAuthorization)
        .where(StandingAuthorization.employer_id == employer.id)
        .order_by(StandingAuthorization.authorized_at.desc(), StandingAuthorization.id.desc())
    )
    enrolled = {row.id: row.name for row in await fetch_all(session, _ENROLLED, whose)}
    return HouseholdMoney(
        account=next((each for each in known if each.status != "replaced"), None),
        earlier=tuple(each for each in known if each.status == "replaced"),
        authorization=await authorization_of(session, employer.id, now),
        standing=tuple(PaymentStatusText(enrolled[word.enrollment_id], word) for word in words),
        on_its_way=tuple(_in_transit(row, now) for row in await fetch_all(session, _ON_ITS_WAY, whose)),
        scheduled=tuple(
            ScheduledMoney(*row, is_late=row.scheduled_send_at < now)
            for row in await fetch_all(session, _SCHEDULED, whose)
        ),
        blockers=await household_blockers(session, employer, direct_deposit_enabled=direct_deposit_enabled),
    )


def _in_transit(row: _OnItsWayRow, now: datetime.datetime) -> MoneyInTransit:
    """Return the payment; one that was not sent on its day is in the next file."""
    payment = MoneyInTransit(*row)
    if row.status == "pending" and row.held_reason is None:
        return replace(payment, day=max(row.day, earliest_settlement(now)))
    return payment
