"""The originator of the bank files and its bank, read from the file that `HEARTHPAY_BANK` names.

Without the variable no bank is configured: real households can't pay by direct deposit, the sandbox still can.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hearthpay.banking.nacha.checks import check_file
from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.records import PAYROLL, Batch, Entry, NachaFile, TransactionCode
from hearthpay.taxes.errors import RuleError
from hearthpay.taxes.rule_file import RuleTable

BANK_VARIABLE: Final = "HEARTHPAY_BANK"

_ANY_TIME: Final = datetime.datetime(2026, 1, 2, 20, tzinfo=datetime.UTC)
_KEYS: Final = {
    "destination": "bank.routing_number",
    "destination_name": "bank.name",
    "origin": "originator.immediate_origin",
    "company_name": "originator.company_name",
    "company_id": "originator.company_id",
    "odfi": "bank.odfi",
}


class BankSettingsError(Exception):
    """The bank settings are missing or wrong; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Originator:
    """The originator, as assigned by the bank.

    `destination` is the routing number that the files are addressed to, `odfi` the first eight digits of the
    originating bank's routing number, with which every trace number begins.
    """

    destination: str
    destination_name: str
    origin: str
    origin_name: str
    company_name: str
    company_id: str
    odfi: str

    def file(
        self, created_at: datetime.datetime, batches: tuple[Batch, ...], modifier: str = "A"
    ) -> NachaFile:
        """Return a bank file of these batches; `modifier` distinguishes it from others of the same day."""
        return NachaFile(
            destination=self.destination,
            destination_name=self.destination_name,
            origin=self.origin,
            origin_name=self.origin_name,
            created_at=created_at,
            modifier=modifier,
            batches=batches,
        )

    def batch(
        self, number: int, description: str, effective_date: datetime.date, entries: tuple[Entry, ...]
    ) -> Batch:
        """Return a batch of payments to and from people's accounts."""
        return Batch(
            number=number,
            company_name=self.company_name,
            company_id=self.company_id,
            entry_class="PPD",
            description=description,
            effective_date=effective_date,
            odfi=self.odfi,
            entries=entries,
        )


@dataclass(frozen=True, slots=True)
class BankSettings:
    """The originator, and the address for exchanging files with its bank."""

    originator: Originator
    gateway_url: str


def load_bank(environment: Mapping[str, str]) -> BankSettings | None:
    """Return the settings in the file that `HEARTHPAY_BANK` names; None if the variable isn't set.

    Raises BankSettingsError for a file that can't be read, an unknown or missing key, and a value that no bank file
    could carry.
    """
    path = environment.get(BANK_VARIABLE)
    return read_bank(Path(path)) if path else None


def read_bank(path: Path) -> BankSettings:
    """Return the settings in this file. Raises BankSettingsError."""
    try:
        file = RuleTable.load(path)
        bank, sender = file.table("bank"), file.table("originator")
        routing = bank.text("routing_number")
        settings = BankSettings(
            Originator(
                destination=routing,
                destination_name=bank.text("name"),
                origin=sender.text("immediate_origin"),
                origin_name=sender.text("name"),
                company_name=sender.text("company_name"),
                company_id=sender.text("company_id"),
                odfi=bank.text("odfi") if bank.has("odfi") else routing[:8],
            ),
            gateway_url=bank.text("url"),
        )
        for table in (bank, sender, file):
            table.close()
    except (OSError, UnicodeDecodeError, RuleError) as error:
        raise BankSettingsError(f"{BANK_VARIABLE}: {error}") from None
    _try(path, settings.originator)
    return settings


def _try(path: Path, originator: Originator) -> None:
    """Write one entry as a test, to refuse now what would block every file later."""
    entry = Entry(
        TransactionCode.CHECKING_CREDIT, "021000021", "1", 1, "A", trace=f"{originator.odfi}0000001"
    )
    batch = originator.batch(1, PAYROLL, _ANY_TIME.date(), (entry,))
    try:
        check_file(originator.file(_ANY_TIME, (batch,)))
    except NachaError as error:
        key = _KEYS.get(error.field or "", "bank.odfi")
        raise BankSettingsError(f"{BANK_VARIABLE}: {path}: {key}: {error.reason}") from None
