"""What stands between a household or an employee and direct deposit, in words that say what to do."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.accounts import current_employee_accounts, current_household_account
from hearthpay.banking.models import BankAccount
from hearthpay.banking.nacha.text import NAME_LENGTH, ach_text
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
    message: str


_NOT_OFFERED: Final = Blocker(
    "direct_deposit_not_offered",
    "This installation is connected to no bank.",
)
_NOT_SPELLABLE: Final = Blocker(
    "name_not_spellable",
    "Banks read only the letters A to Z. Spell first and last name in these letters.",
)


async def household_blockers(
    session: AsyncSession, employer: Employer, *, offered: bool
) -> tuple[Blocker, ...]:
    """What keeps the household from paying anybody by direct deposit.

    `offered` tells whether a bank is configured; the sandbox has one of its own.
    """
    blockers = [] if offered or employer.sandbox else [_NOT_OFFERED]
    account = await current_household_account(session, employer.id)
    blockers += _of_account(account, "Connect the household's bank account.")
    if not _spellable(f"{employer.first_name} {employer.last_name}"):
        blockers.append(_NOT_SPELLABLE)
    return tuple(blockers)


async def employee_blockers(
    session: AsyncSession, employee_ids: Collection[UUID]
) -> dict[UUID, tuple[Blocker, ...]]:
    """What keeps each of the employees from being paid by direct deposit."""
    accounts = await current_employee_accounts(session, employee_ids)
    names = await session.execute(
        select(Employee.id, Employee.first_name, Employee.last_name).where(Employee.id.in_(employee_ids))
    )
    blockers = {
        each: _of_account(accounts.get(each), "The employee has not entered a bank account in the portal.")
        for each in employee_ids
    }
    for each, first_name, last_name in names:
        if not _spellable(f"{first_name} {last_name}"):
            blockers[each].append(_NOT_SPELLABLE)
    return {each: tuple(found) for each, found in blockers.items()}


def _of_account(account: BankAccount | None, missing: str) -> list[Blocker]:
    if account is None:
        return [Blocker("bank_account_missing", missing)]
    if account.status == "verifying":
        return [
            Blocker(
                "bank_account_verifying",
                "The bank account is being verified; this takes about four banking days.",
            )
        ]
    if account.status == "failed":
        why = f": {account.reason}" if account.reason else "."
        return [Blocker("bank_account_failed", f"The bank account cannot be used{why}")]
    return []


def _spellable(name: str) -> bool:
    return any(character.isalnum() for character in ach_text(name, NAME_LENGTH))
