"""Notifications of change: the bank reports an account's correct numbers.

They must be used before the next entry to the account (Nacha Operating Rules, 2.11.1).
"""

import datetime
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.models import BankAccount
from hearthpay.banking.nacha.returns import AccountCorrection
from hearthpay.database.audit import ActorKind
from hearthpay.database.vault_store import store_secret
from hearthpay.database.worker_audit import WorkerAuditEntry, record_worker_audit
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import OwnerKind, SecretOwner
from hearthpay.security.vault_numbers import InvalidNumberError, SecretNumber, parse_number


@dataclass(frozen=True, slots=True)
class _Service:
    """The service itself, as named in the vault's log."""

    kind: ActorKind = "system"
    id: UUID | None = None
    request_id: str | None = None


SERVICE: Final = _Service()
"""Reads and stores numbers when no person asks for it."""


async def correct_account(
    session: AsyncSession,
    ring: KeyRing,
    account_id: UUID,
    code: str,
    correction: AccountCorrection,
    now: datetime.datetime,
) -> str | None:
    """Store the numbers and the type from the bank's notice; return why they were refused, or None."""
    account = await session.scalar(
        select(BankAccount)
        .where(BankAccount.id == account_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if account is None or account.status == "replaced":
        return "the account has been replaced"
    try:
        numbers = _numbers(correction)
    except InvalidNumberError as error:
        return str(error)
    if not numbers and correction.account_type is None:
        return _what_stays(correction)
    for number in numbers:
        await store_secret(session, ring, SERVICE, _owner(account), number)
    changed: list[str] = [number.kind for number in numbers]
    values: dict[str, object] = {"reason": f"Corrected by the bank ({code}).", "updated_at": now}
    if correction.account_type is not None:
        changed.append("account_type")
        values["account_type"] = correction.account_type
    for number in numbers:
        if number.kind == "bank_account":
            values["last_four"] = number.last_four
    await session.execute(update(BankAccount).where(BankAccount.id == account.id).values(values))
    deed = WorkerAuditEntry(
        account.organization_id,
        account.employer_id,
        account.sandbox,
        account.id,
        {"code": code, "changed": changed}
        | ({} if correction.account_type is None else {"account_type": correction.account_type}),
    )
    await record_worker_audit(session, "bank_account.correct", [deed])
    return None


def _what_stays(correction: AccountCorrection) -> str:
    """Return why a notice that corrects neither number nor type changes nothing."""
    if correction.name is not None:
        return "the bank has another name for the holder: compare it with the name in the person's record"
    if correction.identification is not None:
        return "the identification is our own number for the person and stays"
    return "corrects nothing of an account"


def _numbers(correction: AccountCorrection) -> list[SecretNumber]:
    """Return the corrected numbers. Raises InvalidNumberError for one that the vault doesn't store."""
    numbers: list[SecretNumber] = []
    if correction.routing is not None:
        numbers.append(parse_number("bank_routing", correction.routing))
    if correction.account is not None:
        numbers.append(parse_number("bank_account", correction.account))
    return numbers


def _owner(account: BankAccount) -> SecretOwner:
    kind: OwnerKind = "employer" if account.employee_id is None else "employee"
    return SecretOwner(
        account.organization_id,
        account.employer_id,
        account.sandbox,
        kind,
        account.employee_id or account.employer_id,
    )
