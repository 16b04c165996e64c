"""Preview tokens: what somebody was shown, so that a run can refuse to do anything else.

A preview hands one out, a run may send it back. It carries what was asked for as a digest, what every paycheck came
to, a digest of all its lines, and when it ends; a MAC binds that to the tenant, the household and those who are paid.
Nothing is stored: whoever has previewed may run without it, and whoever runs with it is held to it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.access.refusal import Refusal, invalid
from hearthpay.database.session import signature_of
from hearthpay.payroll.ledger.rows import PaycheckRow, PayrollRecord
from hearthpay.payroll.orders import SettledOrder
from hearthpay.taxes.money import from_cents

LASTS: Final = timedelta(minutes=30)
"""Long enough to ask a person, short enough that what was seen is still in mind."""

FIELD: Final = "preview_token"
PREFIX: Final = "pv1_"
SHAPE: Final = r"^pv1_[A-Za-z0-9_-]+$"
LONGEST: Final = 4_000

_PURPOSE: Final = "preview token"
_EXPIRY_BYTES: Final = 5
_DIGEST_BYTES: Final = 12
_AMOUNT_BYTES: Final = 6
_AMOUNTS: Final = ("gross_pay", "net_pay", "total_cost")
_MAC_BYTES: Final = 16
_PAYCHECK_BYTES: Final = _AMOUNT_BYTES * len(_AMOUNTS)
_FIXED_BYTES: Final = _EXPIRY_BYTES + 2 * _DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class _PreviewDigest:
    """A preview in brief: digests of the request and of all lines, and cents by paycheck in the order of the ids."""

    request: bytes
    lines: bytes
    amounts: tuple[tuple[int, ...], ...]


def preview_token(
    session: AsyncSession,
    actor: Actor,
    order: SettledOrder,
    record: PayrollRecord,
    accounts: Sequence[UUID],
    now: datetime,
) -> str:
    """Return the token of a preview, good for `LASTS`; ``accounts`` are those that money leaves and reaches."""
    seen = _preview_digest(order, record, accounts)
    carried = b"".join(
        (
            int((now + LASTS).timestamp()).to_bytes(_EXPIRY_BYTES),
            seen.request,
            seen.lines,
            *(
                amount.to_bytes(_AMOUNT_BYTES, signed=True)
                for paycheck in seen.amounts
                for amount in paycheck
            ),
        )
    )
    mac = _mac(session, actor, record, carried)
    return PREFIX + base64.urlsafe_b64encode(carried + mac).decode("ascii").rstrip("=")


def refuse_other_amounts(
    session: AsyncSession,
    actor: Actor,
    token: str,
    order: SettledOrder,
    record: PayrollRecord,
    accounts: Sequence[UUID],
    now: datetime,
) -> None:
    """Let a payroll pass that is what the token's preview showed, line by line.

    Raises `amounts_changed` with both where any amount would be another, and `validation_error` for a token that has
    ended, or that is not of this tenant, household and these employees.
    """
    carried = _opened(session, actor, token, record)
    until = datetime.fromtimestamp(int.from_bytes(carried[:_EXPIRY_BYTES]), UTC)
    if now >= until:
        raise invalid(FIELD, "has expired: preview again, and ask again")
    then, today = _read(carried), _preview_digest(order, record, accounts)
    if then == today:
        return
    paychecks = _in_order(record)
    raise Refusal(
        "amounts_changed",
        "This payroll would not be the one that was previewed"
        + (
            ": the request is another one."
            if then.request != today.request
            else ": the amounts have changed."
        )
        + " Nothing was run. Preview again, and show what is new.",
        details={
            "request_changed": then.request != today.request,
            "previewed": _listed(paychecks, then.amounts),
            "now": _listed(paychecks, today.amounts),
        },
    )


def _opened(session: AsyncSession, actor: Actor, token: str, record: PayrollRecord) -> bytes:
    """Return what the token carries, once its MAC is found to be ours and of this household and these employees."""
    encoded = token.removeprefix(PREFIX)
    try:
        raw = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    carried, mac = raw[:-_MAC_BYTES], raw[-_MAC_BYTES:]
    whole = _FIXED_BYTES + _PAYCHECK_BYTES * len(record.paychecks)
    if (
        not token.startswith(PREFIX)
        or len(carried) != whole
        or not hmac.compare_digest(mac, _mac(session, actor, record, carried))
    ):
        raise invalid(FIELD, "is not that of a preview of this household and these employees")
    return carried


def _mac(session: AsyncSession, actor: Actor, record: PayrollRecord, carried: bytes) -> bytes:
    whose = (
        actor.organization_id.bytes,
        b"t" if actor.sandbox else b"f",
        record.employer_id.bytes,
        *(paycheck.employee_id.bytes for paycheck in _in_order(record)),
    )
    return signature_of(session, _PURPOSE, b"".join(whose) + carried)[:_MAC_BYTES]


def _preview_digest(order: SettledOrder, record: PayrollRecord, accounts: Sequence[UUID]) -> _PreviewDigest:
    paychecks = _in_order(record)
    lines = [
        [
            str(paycheck.employee_id),
            paycheck.set_aside.amount,
            [[line.code, line.payer, line.taxable_wages, line.amount] for line in paycheck.lines],
        ]
        for paycheck in paychecks
    ]
    amounts = tuple((paycheck.gross_pay, paycheck.net_pay, paycheck.total_cost) for paycheck in paychecks)
    return _PreviewDigest(_digest(bound_of(order, accounts)), _digest(lines), amounts)


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
            entry.supplemental,
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


def _read(carried: bytes) -> _PreviewDigest:
    request_at, lines_at = _EXPIRY_BYTES, _EXPIRY_BYTES + _DIGEST_BYTES
    amounts = tuple(
        tuple(
            int.from_bytes(carried[at : at + _AMOUNT_BYTES], signed=True)
            for at in range(start, start + _PAYCHECK_BYTES, _AMOUNT_BYTES)
        )
        for start in range(_FIXED_BYTES, len(carried), _PAYCHECK_BYTES)
    )
    return _PreviewDigest(carried[request_at:lines_at], carried[lines_at:_FIXED_BYTES], amounts)


def _in_order(record: PayrollRecord) -> Sequence[PaycheckRow]:
    return sorted(record.paychecks, key=_employee_of)


def _employee_of(paycheck: PaycheckRow) -> UUID:
    return paycheck.employee_id


def _listed(paychecks: Sequence[PaycheckRow], amounts: Sequence[tuple[int, ...]]) -> list[dict[str, object]]:
    return [
        {"employee_id": paycheck.employee_id}
        | {name: from_cents(cents) for name, cents in zip(_AMOUNTS, each, strict=True)}
        for paycheck, each in zip(paychecks, amounts, strict=True)
    ]
