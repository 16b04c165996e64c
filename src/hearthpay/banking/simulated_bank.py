"""The sandbox's bank: takes every entry at the cut-off, moves no money, and responds by the account's last digits.

`90NN` returns an entry with the reason RNN, `80NN` sends a notification of change CNN; both two business days after
the entry's effective date, like a real bank. All other accounts and nonexistent codes go through.
"""

import datetime
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.banking.authorizations import covers
from hearthpay.banking.calendar import add_banking_days
from hearthpay.banking.corrections import SERVICE, correct_account
from hearthpay.banking.entries import effective_by, follow_accounts
from hearthpay.banking.files import current_cut_off, earliest_settlement
from hearthpay.banking.nacha.records import AccountType
from hearthpay.banking.nacha.returns import AccountCorrection
from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.return_handling import ReturnedEntry, mark_returned
from hearthpay.database.relations import PAYCHECKS, PAYROLLS
from hearthpay.database.statements import Fragment, compose, statement
from hearthpay.database.typed_rows import fetch_all, query
from hearthpay.database.vault_store import read_secret
from hearthpay.security.key_ring import KeyRing
from hearthpay.security.vault_cipher import OwnerKind, SecretOwner

ANSWER_DAYS: Final = 2
"""Business days from an entry's effective date until the simulated bank responds."""

_PURPOSE: Final = "banking.simulated_bank"
# A worker that was down for two weeks still delivers every response.
_WINDOW: Final = 10
_SEND: Final = statement(
    "UPDATE bank_entries e SET status = 'sent', effective_date = greatest(e.settle_on, :earliest), updated_at = :now "
    "FROM bank_accounts b WHERE b.id = e.bank_account_id AND (b.status = 'active' OR e.kind = 'prenote') "
    "AND e.sandbox AND e.status = 'pending' AND e.send_on <= :cut_off AND (e.kind <> 'credit' "
    "OR extract(year FROM greatest(e.settle_on, :earliest)) = "
    "(SELECT c.tax_year FROM {paychecks} c WHERE c.id = e.paycheck_id)) AND (e.kind <> 'debit' "
    "OR (SELECT {covers} FROM {payrolls} p WHERE p.id = e.payroll_id)) RETURNING e.id",
    paychecks=PAYCHECKS,
    covers=covers(account="b", payroll="p"),
    payrolls=PAYROLLS,
)


class _ReturnsRow(NamedTuple):
    id: UUID
    code: str


_TO_RETURN: Final = Fragment(
    "FROM bank_accounts b JOIN bank_entries e ON e.bank_account_id = b.id "
    "WHERE b.sandbox AND b.simulated_answer IS NOT NULL AND b.simulated_answer LIKE 'R%' AND e.sandbox "
    "AND e.status IN ('sent', 'settled') AND e.effective_date BETWEEN :first AND :last"
)
_RETURNS: Final = query(
    _ReturnsRow,
    "SELECT e.id, b.simulated_answer AS code {to_return} ORDER BY e.id FOR UPDATE OF e SKIP LOCKED",
    to_return=_TO_RETURN,
)


class _ChangesRow(NamedTuple):
    id: UUID
    organization_id: UUID
    employer_id: UUID
    employee_id: UUID | None
    account_type: AccountType
    code: str


# The reason says that the account was corrected: a bank doesn't repeat a correction that was made.
_TO_CHANGE: Final = Fragment(
    "FROM bank_accounts b WHERE b.sandbox AND b.simulated_answer IS NOT NULL AND b.simulated_answer LIKE 'C%' "
    "AND b.status <> 'replaced' AND b.reason IS NULL AND EXISTS (SELECT FROM bank_entries e "
    "WHERE e.bank_account_id = b.id AND e.sandbox AND e.status IN ('sent', 'settled') "
    "AND e.effective_date BETWEEN :first AND :last)"
)
_CHANGES: Final = query(
    _ChangesRow,
    "SELECT b.id, b.organization_id, b.employer_id, b.employee_id, b.account_type, "
    "b.simulated_answer AS code {to_change} ORDER BY b.id FOR UPDATE OF b SKIP LOCKED",
    to_change=_TO_CHANGE,
)
ANSWERS_DUE: Final = compose(
    "(EXISTS (SELECT {to_return}) OR EXISTS (SELECT {to_change}))", to_return=_TO_RETURN, to_change=_TO_CHANGE
)
"""SQL: whether the simulated bank has something to return or to correct in the `answer_window`."""

_OTHER_BANKS: Final = ("021000021", "011000015")
_OTHER_ENDING: Final = "1000"
_PARTS: Final = {
    "C01": ("account",),
    "C02": ("routing",),
    "C03": ("routing", "account"),
    "C05": ("account_type",),
    "C06": ("account", "account_type"),
    "C07": ("routing", "account", "account_type"),
}


@dataclass(frozen=True, slots=True)
class Simulated:
    """What the simulated bank has taken, returned and corrected."""

    sent: int
    returned: tuple[ReturnedEntry, ...]
    changes: int


async def simulate(session: AsyncSession, ring: KeyRing, now: datetime.datetime) -> Simulated:
    """Take every sandbox entry due by the last cut-off, then respond to those that are old enough."""
    cut_off = current_cut_off(now)
    await follow_accounts(session, now, cut_off, sandbox=True)
    taken = await session.execute(
        _SEND, {"now": now, "cut_off": cut_off, "earliest": earliest_settlement(now)}
    )
    sent = len(taken.all())
    window = answer_window(now)
    table = return_codes()
    back = await fetch_all(session, _RETURNS, window)
    codes = {row.id: row.code for row in back if row.code in table.reasons}
    returned = await mark_returned(session, now, codes)
    changes = 0
    for row in await fetch_all(session, _CHANGES, window):
        if row.code in _PARTS:
            correction = await _correction(session, ring, row)
            changes += await correct_account(session, ring, row.id, row.code, correction, now) is None
    return Simulated(sent, returned, changes)


def answer_window(now: datetime.datetime) -> dict[str, datetime.date]:
    """Return the `first` and `last` effective date of the entries that the simulated bank responds to now."""
    last = effective_by(now, ANSWER_DAYS)
    return {"first": add_banking_days(last, -_WINDOW), "last": last}


async def _correction(session: AsyncSession, ring: KeyRing, row: _ChangesRow) -> AccountCorrection:
    """Return the bank's correction: another bank, another ending of the account number, the other account type."""
    kind: OwnerKind = "employer" if row.employee_id is None else "employee"
    owner = SecretOwner(row.organization_id, row.employer_id, True, kind, row.employee_id or row.employer_id)
    parts = _PARTS[row.code]
    routing = account = None
    account_type: AccountType | None = None
    if "routing" in parts:
        present = await read_secret(session, ring, SERVICE, owner, "bank_routing", purpose=_PURPOSE)
        routing = next(other for other in _OTHER_BANKS if other != present.reveal())
    if "account" in parts:
        number = await read_secret(session, ring, SERVICE, owner, "bank_account", purpose=_PURPOSE)
        account = number.reveal()[: -len(_OTHER_ENDING)] + _OTHER_ENDING
    if "account_type" in parts:
        account_type = "savings" if row.account_type == "checking" else "checking"
    return AccountCorrection(routing=routing, account=account, account_type=account_type)
