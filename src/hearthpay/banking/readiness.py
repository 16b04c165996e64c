"""What keeps a household or an employee from direct deposit, with what to do about it.

Whether a bank account is ready is decided by `account_blockers` alone, when a payroll is approved and when the worker
sends it. The two differ in one thing, defined by `keeps_from_sending`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.nacha.text import NAME_LENGTH, ach_text
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.employees.models import Employee
from hearthpay.employers.models import Employer

BlockerCode = Literal[
    "direct_deposit_not_offered",
    "bank_account_missing",
    "bank_account_verifying",
    "bank_account_failed",
    "name_not_spellable",
]


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that must change before direct deposit is possible."""

    code: BlockerCode
    """What is missing, for programs; a code never changes its meaning."""

    message: str
    """The same in English, for people."""


_NOT_OFFERED: Final = Blocker(
    "direct_deposit_not_offered",
    "This installation is connected to no bank.",
)
_VERIFYING: Final = Blocker(
    "bank_account_verifying",
    "The bank account is being verified; this takes about four banking days.",
)
_NOT_SPELLABLE: Final = Blocker(
    "name_not_spellable",
    "Banks read only the letters A to Z. Spell first and last name in these letters.",
)


class _AccountsRow(NamedTuple):
    owner: UUID
    status: str
    reason: str | None


_ACCOUNTS: Final = query(
    _AccountsRow,
    "SELECT employer_id AS owner, status, reason FROM bank_accounts "
    "WHERE employer_id = ANY(:households) AND employee_id IS NULL AND status <> 'replaced' "
    "UNION ALL SELECT employee_id, status, reason FROM bank_accounts "
    "WHERE employee_id = ANY(:employees) AND status <> 'replaced'",
)


async def account_blockers(
    session: AsyncSession, *, households: Collection[UUID] = (), employees: Collection[UUID] = ()
) -> dict[UUID, Blocker]:
    """Return the problems of bank accounts, by household and employee; accounts that are ready are left out.

    Ready is an account that is connected and active: verified by the bank.
    """
    missing = dict.fromkeys(households, "Connect the household's bank account.")
    missing |= dict.fromkeys(employees, "The employee has not entered a bank account in the portal.")
    blockers = {owner: Blocker("bank_account_missing", message) for owner, message in missing.items()}
    asked = {"households": list(households), "employees": list(employees)}
    for row in await fetch_all(session, _ACCOUNTS, asked):
        blocker = _of_account(row.status, row.reason)
        if blocker is None:
            blockers.pop(row.owner, None)
        else:
            blockers[row.owner] = blocker
    return blockers


def keeps_from_sending(blocker: Blocker | None) -> bool:
    """Return whether the problem of an employee's account keeps an approved payroll from being sent.

    An unverified account doesn't: it was entered after the approval, the household's money takes days to come in, and
    the deposit is on hold until its account is ready (`holds`). A new payroll can still be paid by check, so it isn't
    approved to such an account. A household's account must be ready either way: it is debited at once.
    """
    return blocker is not None and blocker.code != "bank_account_verifying"


async def household_blockers(
    session: AsyncSession, employer: Employer, *, direct_deposit_enabled: bool
) -> tuple[Blocker, ...]:
    """Return what keeps the household from paying by direct deposit.

    `offered` says whether a bank is configured; the sandbox has its own.
    """
    blockers = [] if direct_deposit_enabled or employer.sandbox else [_NOT_OFFERED]
    blockers += (await account_blockers(session, households=[employer.id])).values()
    if not is_spellable(f"{employer.first_name} {employer.last_name}"):
        blockers.append(_NOT_SPELLABLE)
    return tuple(blockers)


async def employee_blockers(
    session: AsyncSession, employee_ids: Collection[UUID]
) -> dict[UUID, tuple[Blocker, ...]]:
    """Return what keeps each employee from being paid by direct deposit."""
    accounts = await account_blockers(session, employees=employee_ids)
    names = await session.execute(
        select(Employee.id, Employee.first_name, Employee.last_name).where(Employee.id.in_(employee_ids))
    )
    unspellable = {
        each for each, first_name, last_name in names if not is_spellable(f"{first_name} {last_name}")
    }
    return {
        each: (
            *((accounts[each],) if each in accounts else ()),
            *((_NOT_SPELLABLE,) if each in unspellable else ()),
        )
        for each in employee_ids
    }


def _of_account(status: str, reason: str | None) -> Blocker | None:
    if status == "active":
        return None
    if status == "verifying":
        return _VERIFYING
    why = f": {reason}" if reason else "."
    return Blocker("bank_account_failed", f"The bank account cannot be used{why}")


def is_spellable(name: str) -> bool:
    """Return whether banks can read anything in the name."""
    return any(character.isalnum() for character in ach_text(name, NAME_LENGTH))
