"""Preview tokens: what a person was shown, so that a run can refuse to do anything else.

A preview returns one, and a run may send it. It contains a digest of the request, the amount of every paycheck, a
digest of all its lines, its expiry and a nonce; a MAC binds that to the tenant, the household and the employees paid.
A preview stores nothing: a run may omit the token, and a run that sends it must match it. The payroll stores the hash
of its token (`hash_of`), and no other can be run with it, not even once that payroll is voided.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import signature_of
from hearthpay.database.typed_rows import fetch_optional, query
from hearthpay.payroll.ledger.rows import Owner, PaycheckRow, PayrollRecord
from hearthpay.payroll.orders import SettledOrder
from hearthpay.taxes.money import from_cents

LASTS: Final = datetime.timedelta(minutes=30)
"""Long enough to ask a person, short enough that they still remember the preview."""

FIELD: Final = "preview_token"
PREFIX: Final = "pv1_"
SHAPE: Final = r"^pv1_[A-Za-z0-9_-]+$"
LONGEST: Final = 4_000

_PURPOSE: Final = "preview token"
_EXPIRY_BYTES: Final = 5
_DIGEST_BYTES: Final = 12
_NONCE_BYTES: Final = 8
_AMOUNT_BYTES: Final = 6
_MAC_BYTES: Final = 16
_DIGESTS_END: Final = _EXPIRY_BYTES + 2 * _DIGEST_BYTES
_FIXED_BYTES: Final = _DIGESTS_END + _NONCE_BYTES


class _UsedRow(NamedTuple):
    payroll_id: UUID
    employees: list[UUID]


_USED: Final = query(
    _UsedRow,
    "SELECT p.id AS payroll_id, (SELECT array_agg(e.employee_id ORDER BY e.employee_id) FROM payroll_entries e "
    "WHERE e.payroll_id = p.id) AS employees FROM payrolls p WHERE p.organization_id = :organization_id "
    "AND p.sandbox = :sandbox AND p.employer_id = :employer_id AND p.preview_token_hash = :hash",
)


class PaycheckAmounts(NamedTuple):
    """The amounts of a paycheck, in cents."""

    gross_pay: int
    net_pay: int
    total_cost: int


_PAYCHECK_BYTES: Final = _AMOUNT_BYTES * len(PaycheckAmounts._fields)


@dataclass(frozen=True, slots=True)
class PreviewDigest:
    """A preview in brief: digests of the request and of all lines, and each paycheck's amounts in order of the ids."""

    request: bytes
    lines: bytes
    amounts: tuple[PaycheckAmounts, ...]


@dataclass(frozen=True, slots=True)
class PaycheckChange:
    """One paycheck, as it was previewed and as it would be now."""

    employee_id: UUID
    employee_name: str
    previewed: PaycheckAmounts
    now: PaycheckAmounts


@dataclass(frozen=True, slots=True)
class PreviewChanges:
    """A payroll is not the one that was previewed; ``paychecks`` are all of it, changed or not."""

    request_changed: bool
    """Whether the request differs; if not, the same request results in other amounts."""

    paychecks: tuple[PaycheckChange, ...]

    def refusal(self) -> Refusal:
        """Return the `amounts_changed` that tells both."""
        return Refusal(
            "amounts_changed",
            "This payroll would not be the one that was previewed"
            + (": the request is another one." if self.request_changed else ": the amounts have changed.")
            + " Nothing was run. Preview again, and show what is new.",
            details={
                "request_changed": self.request_changed,
                "previewed": [_in_dollars(each.employee_id, each.previewed) for each in self.paychecks],
                "now": [_in_dollars(each.employee_id, each.now) for each in self.paychecks],
            },
        )


def preview_token(
    session: AsyncSession,
    actor: Actor,
    order: SettledOrder,
    record: PayrollRecord,
    accounts: Sequence[UUID],
    now: datetime.datetime,
) -> str:
    """Return the token of a preview, valid for `LASTS`; ``accounts`` are those that money leaves and reaches."""
    digest = preview_digest(order, record, accounts)
    carried = b"".join(
        (
            int((now + LASTS).timestamp()).to_bytes(_EXPIRY_BYTES),
            digest.request,
            digest.lines,
            secrets.token_bytes(_NONCE_BYTES),
            *(
                amount.to_bytes(_AMOUNT_BYTES, signed=True)
                for paycheck in digest.amounts
                for amount in paycheck
            ),
        )
    )
    mac = _mac(session, actor, record, carried)
    return PREFIX + base64.urlsafe_b64encode(carried + mac).decode("ascii").rstrip("=")


def hash_of(token: str) -> bytes:
    """Return by which hash a payroll is known as run with the token, however that is encoded."""
    return hashlib.sha256(_decoded(token)).digest()


async def refuse_used_token(session: AsyncSession, owner: Owner, token: str | None) -> None:
    """Raise `amounts_changed` naming the payroll of the household that was run with the token already.

    The caller has locked the employees, so that of two runs at once the second sees the first.
    """
    if token is None:
        return
    whose = {**owner._asdict(), "hash": hash_of(token)}
    used = await fetch_optional(session, _USED, whose)
    if used is None:
        return
    amounts = _read(_decoded(token)[:-_MAC_BYTES]).amounts
    paychecks = [_in_dollars(*each) for each in zip(used.employees, amounts, strict=True)]
    raise Refusal(
        "amounts_changed",
        f"This preview was already run, as payroll {used.payroll_id}. Nothing was run again. To pay once more, preview "
        "again, and ask again.",
        details={
            "request_changed": False,
            "previewed": paychecks,
            "now": paychecks,
            "payroll_id": used.payroll_id,
        },
    )


def changes_since_preview(
    session: AsyncSession,
    actor: Actor,
    token: str,
    order: SettledOrder,
    record: PayrollRecord,
    accounts: Sequence[UUID],
    now: datetime.datetime,
) -> PreviewChanges | None:
    """Return how a payroll differs from what the token's preview showed; None where each line is the same.

    Raises `validation_error` for a token that has ended, or that is not of this tenant, household and these employees.
    """
    carried = _opened(session, actor, token, record)
    until = datetime.datetime.fromtimestamp(int.from_bytes(carried[:_EXPIRY_BYTES]), datetime.UTC)
    if now >= until:
        raise invalid(FIELD, "has expired: preview again, and ask again")
    then, today = _read(carried), preview_digest(order, record, accounts)
    if then == today:
        return None
    return PreviewChanges(
        then.request != today.request,
        tuple(
            PaycheckChange(paycheck.employee_id, paycheck.employee_name, *amounts)
            for paycheck, *amounts in zip(_in_order(record), then.amounts, today.amounts, strict=True)
        ),
    )


def _opened(session: AsyncSession, actor: Actor, token: str, record: PayrollRecord) -> bytes:
    """Return the token's contents, once its MAC is verified as ours and for this household and these employees."""
    raw = _decoded(token)
    carried, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
    whole = _FIXED_BYTES + _PAYCHECK_BYTES * len(record.paychecks)
    if (
        not token.startswith(PREFIX)
        or len(carried) != whole
        or not hmac.compare_digest(mac, _mac(session, actor, record, carried))
    ):
        raise invalid(FIELD, "is not that of a preview of this household and these employees")
    return carried


def _decoded(token: str) -> bytes:
    """Return the token's bytes; none if it isn't one."""
    encoded = token.removeprefix(PREFIX)
    try:
        return base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _mac(session: AsyncSession, actor: Actor, record: PayrollRecord, carried: bytes) -> bytes:
    whose = (
        actor.organization_id.bytes,
        b"t" if actor.sandbox else b"f",
        record.employer_id.bytes,
        *(paycheck.employee_id.bytes for paycheck in _in_order(record)),
    )
    return signature_of(session, _PURPOSE, b"".join(whose) + carried)[:_MAC_BYTES]


def preview_digest(order: SettledOrder, record: PayrollRecord, accounts: Sequence[UUID]) -> PreviewDigest:
    """Return what tells a payroll from any other: by it a run is held to its preview, through the API and on pages."""
    paychecks = _in_order(record)
    lines = [
        [
            str(paycheck.employee_id),
            paycheck.set_aside.amount,
            [[line.code, line.payer, line.taxable_wages, line.amount] for line in paycheck.lines],
        ]
        for paycheck in paychecks
    ]
    amounts = tuple(
        PaycheckAmounts(paycheck.gross_pay, paycheck.net_pay, paycheck.total_cost) for paycheck in paychecks
    )
    return PreviewDigest(_digest(bound_of(order, accounts)), _digest(lines), amounts)


def bound_of(order: SettledOrder, accounts: Sequence[UUID]) -> list[object]:
    """Return all of a request that moves money or changes a date, as JSON can hold it.

    The period and the pay date, the kind of payroll, the bank accounts that money leaves and
    reaches (``accounts``), and each one's way of payment, hours, earnings and set-aside.
    """
    entries = [
        [
            str(entry.employee_id),
            entry.payment_method,
            *(
                f"{number.normalize():f}"
                for number in (
                    entry.regular_hours,
                    entry.overtime_hours,
                    entry.bonus,
                    entry.other_earnings,
                    entry.unpaid_days,
                )
            ),
            entry.set_aside_skip,
            entry.set_aside_wish,
            entry.pay_salary,
            entry.salary is not None,
        ]
        for entry in sorted(order.entries, key=lambda entry: entry.employee_id)
    ]
    dates = order.dates
    days = [each.isoformat() for each in (dates.period_start, dates.period_end, dates.pay_date)]
    kind = [order.pay_frequency, order.catch_up, order.fica_refund]
    return [*days, *kind, [str(each) for each in accounts], entries]


def _digest(content: object) -> bytes:
    return hashlib.sha256(json.dumps(content).encode("utf-8")).digest()[:_DIGEST_BYTES]


def _read(carried: bytes) -> PreviewDigest:
    request_at, lines_at = _EXPIRY_BYTES, _EXPIRY_BYTES + _DIGEST_BYTES
    amounts = tuple(
        PaycheckAmounts._make(
            int.from_bytes(carried[at : at + _AMOUNT_BYTES], signed=True)
            for at in range(start, start + _PAYCHECK_BYTES, _AMOUNT_BYTES)
        )
        for start in range(_FIXED_BYTES, len(carried), _PAYCHECK_BYTES)
    )
    return PreviewDigest(carried[request_at:lines_at], carried[lines_at:_DIGESTS_END], amounts)


def _in_order(record: PayrollRecord) -> Sequence[PaycheckRow]:
    return sorted(record.paychecks, key=_employee_of)


def _employee_of(paycheck: PaycheckRow) -> UUID:
    return paycheck.employee_id


def _in_dollars(employee_id: UUID, amounts: PaycheckAmounts) -> dict[str, object]:
    return {
        "employee_id": employee_id,
        **{name: from_cents(each) for name, each in amounts._asdict().items()},
    }
