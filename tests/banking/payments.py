"""A small file of payments: a household's debit, two wages and the taxes set aside, as a direct deposit moves them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from hearthpay.banking.nacha.records import PAYROLL, Batch, Entry, NachaFile, TransactionCode

FILES = Path(__file__).with_name("files")

BANK = "121042882"
ODFI = BANK[:8]
CREATED_AT = datetime(2026, 11, 20, 20, 0, tzinfo=UTC)

HOUSEHOLD = Entry(
    code=TransactionCode.CHECKING_DEBIT,
    routing="231380104",
    account="000123456789",
    amount_cents=208_342,
    name="Zoë O'Brien-Núñez",
    trace=f"{ODFI}0000001",
    identification="HH-1",
)
NANNY = Entry(
    code=TransactionCode.CHECKING_CREDIT,
    routing="021000021",
    account="0072",
    amount_cents=124_050,
    name="María-José Wolfeschlegelsteinhausen",
    trace=f"{ODFI}0000002",
    identification="EMP-1",
)
GARDENER = Entry(
    code=TransactionCode.SAVINGS_CREDIT,
    routing="011401533",
    account="998-877",
    amount_cents=1,
    name="Łukasz Weiß",
    trace=f"{ODFI}0000003",
)
PRENOTE = Entry(
    code=TransactionCode.SAVINGS_CREDIT_PRENOTE,
    routing="091000019",
    account="ABC123",
    amount_cents=0,
    name="New Sitter",
    trace=f"{ODFI}0000004",
)
TAXES = Entry(
    code=TransactionCode.CHECKING_CREDIT,
    routing="121042882",
    account="5550001",
    amount_cents=84_291,
    name="Hearthpay Tax Escrow",
    trace=f"{ODFI}0000005",
    information="TXP*123456789*94105*261231*T*84291\\",
)


def batch(number: int, *entries: Entry, **changes: object) -> Batch:
    usual = Batch(
        number=number,
        company_name="Hearthpay",
        company_id="1123456789",
        entry_class="PPD",
        description=PAYROLL,
        effective_date=date(2026, 11, 30),
        odfi=ODFI,
        entries=entries,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


def file_of(*batches: Batch, **changes: object) -> NachaFile:
    usual = NachaFile(
        destination=BANK,
        destination_name="First Bank of Somewhere",
        origin="1123456789",
        origin_name="Hearthpay",
        created_at=CREATED_AT,
        modifier="A",
        batches=batches,
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


PAYMENTS = file_of(
    batch(1, HOUSEHOLD, description="PAYROLL", effective_date=date(2026, 11, 23)),
    batch(2, NANNY, GARDENER, PRENOTE),
    batch(3, TAXES, entry_class="CCD", description="TAXES"),
)
