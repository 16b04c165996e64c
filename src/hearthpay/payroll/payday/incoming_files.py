"""Takes in the files that wait at the bank, one by one: whatever is wrong with one keeps no other from being read."""

import datetime
from dataclasses import dataclass, field
from typing import Final

import structlog

from hearthpay.banking.gateways.gateway import (
    BankGateway,
    GatewayConflictError,
    GatewayError,
    GatewayUnavailableError,
    IncomingFile,
)
from hearthpay.banking.intake import Intake, note_unprocessed, take_in
from hearthpay.banking.originator import Originator
from hearthpay.banking.unread_files import describe
from hearthpay.clock import Clock
from hearthpay.database.outage import DatabaseUnavailable
from hearthpay.database.session import Database
from hearthpay.payroll.payday.bank_outcomes import apply_returns
from hearthpay.security.key_ring import KeyRing

_log: Final = structlog.get_logger("hearthpay.bank")


@dataclass(frozen=True, slots=True)
class Bank:
    """The bank that real payrolls go through: the originator, and the gateway that transfers files."""

    originator: Originator
    gateway: BankGateway


@dataclass(slots=True)
class TakenIn:
    """What was heard from the bank.

    `complete`: everything that lies there has been read, or is recorded as unread with what it holds. `unread` names
    the files that hold something until they are dealt with.
    """

    taken_in: int = 0
    returned: int = 0
    complete: bool = True
    problems: list[str] = field(default_factory=list)
    outages: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


async def take_in_files(
    database: Database, ring: KeyRing, bank: Bank | None, clock: Clock, next_cut_off: datetime.date
) -> TakenIn:
    """Take in the files waiting at the bank, each in one transaction with everything that follows from it.

    Without a bank nothing is heard, and nothing is complete. Raises DatabaseUnavailable.
    """
    heard = TakenIn(complete=bank is not None)
    if bank is None:
        return heard
    try:
        lying = await bank.gateway.pick_up()
    except GatewayError as error:
        heard.outages.append(f"the bank cannot be reached: {error}")
        heard.complete = False
        return heard
    heard.problems += [f"{name} in the bank's inbox" for name in lying.others]
    for name in lying.unfinished:
        heard.problems.append(
            f"{name} is still being written: until it is complete, no debit counts as collected"
        )
        heard.complete = False
    for incoming in lying.files:
        intake = await _take_in(database, ring, bank, clock, next_cut_off, incoming, heard)
        if intake is None:
            continue
        heard.returned += len(intake.returned)
        heard.problems += [f"{intake.name}: {problem}" for problem in intake.problems]
        heard.unread += [f"{intake.name} is not read: {describe(each)}" for each in intake.unread]
        if intake.finished:
            await _put_away(bank.gateway, incoming, heard)
            heard.taken_in += 1
    return heard


async def _take_in(
    database: Database,
    ring: KeyRing,
    bank: Bank,
    clock: Clock,
    next_cut_off: datetime.date,
    incoming: IncomingFile,
    heard: TakenIn,
) -> Intake | None:
    """Return what became of one file; None if not even that could be recorded."""
    try:
        async with database.transaction(None) as session:
            intake = await take_in(
                session, ring, incoming, clock.now(), company_id=bank.originator.company_id
            )
            await apply_returns(session, intake.returned, next_cut_off, clock.now())
        return intake
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, it must not hold the other files back
        _log.error("a file of the bank could not be processed", name=incoming.printable_name, exc_info=error)
        failure = error
    try:
        async with database.transaction(None) as session:
            return await note_unprocessed(session, incoming, failure, clock.now())
    except DatabaseUnavailable:
        raise
    except Exception as error:  # noqa: BLE001 - the same
        _log.error("a file of the bank could not be recorded", name=incoming.printable_name, exc_info=error)
        heard.problems.append(f"{incoming.printable_name} could not be processed or recorded")
        heard.complete = False
    return None


async def _put_away(gateway: BankGateway, incoming: IncomingFile, heard: TakenIn) -> None:
    """Move a finished file out of the inbox; if that fails, it is known when it is seen again."""
    name = incoming.printable_name
    try:
        await gateway.acknowledge(incoming.name, None if incoming.problem else incoming.content)
    except GatewayConflictError as error:
        heard.problems.append(f"{name} cannot be put away: {error}")
        heard.complete = False  # what has taken its place is not read yet
    except GatewayUnavailableError as error:
        heard.outages.append(f"the bank cannot be reached: {error}")
    except (GatewayError, ValueError) as error:
        heard.problems.append(f"{name} cannot be put away: {error}")
