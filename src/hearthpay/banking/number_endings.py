"""Renews the digits that are shown of numbers, in the vault and of the bank accounts in use, chunk by chunk.

Accounts that were replaced keep theirs: their numbers are gone.
"""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from sqlalchemy import update

from hearthpay.banking.models import BankAccount
from hearthpay.database.session import Database
from hearthpay.database.vault_endings import renew_vault_endings
from hearthpay.security.key_ring import KeyRing

CHUNK: Final = 200
"""Numbers renewed in one transaction."""


async def renew_number_endings(
    database: Database, ring: KeyRing, stopping: Callable[[], bool], *, chunk: int = CHUNK
) -> tuple[int, int]:
    """Renew all outdated endings; return how many, and how many numbers couldn't be read, which stay as they are.

    `database` acts as the worker's role. Raises DatabaseUnavailable.
    """
    done = failed = 0
    after: UUID | None = UUID(int=0)
    while after is not None and not stopping():
        async with database.transaction(None) as session:
            found = await renew_vault_endings(session, ring, after, chunk)
            for each in found.renewed:
                if each.kind != "bank_account":
                    continue
                employee_id = each.owner.id if each.owner.kind == "employee" else None
                await session.execute(
                    update(BankAccount)
                    .where(
                        BankAccount.employer_id == each.owner.employer_id,
                        BankAccount.employee_id == employee_id,
                        BankAccount.status != "replaced",
                    )
                    .values(last_four=each.last_four)
                )
        done += len(found.renewed)
        failed += found.unreadable
        after = found.last
    return done, failed
