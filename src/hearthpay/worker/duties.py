"""What the clockwork has to do: fire payrolls, keep the bank day, and do away with what is over."""

from __future__ import annotations

from hearthpay.clock import Clock
from hearthpay.database.session import Database
from hearthpay.payroll.bank_day import Bank, advance
from hearthpay.payroll.firing import CHUNK, FiringReport, fire_due
from hearthpay.security.key_ring import KeyRing
from hearthpay.worker.duty import Duty, Progress, Stopping
from hearthpay.worker.expiry import expire


def clockwork_duties(
    database: Database, ring: KeyRing, bank: Bank | None, clock: Clock
) -> tuple[Duty, Duty, Duty]:
    """The duties, in the order in which one worker alone does them; `database` acts as the clockwork's role."""

    async def fire(stopping: Stopping) -> Progress:
        """Fire one chunk: between chunks, the worker calls for help and lets more urgent jobs pass."""
        chunks = iter((False,))
        report = await fire_due(database, clock, stopping=lambda: stopping() or next(chunks, True))
        return Progress(report.fired, _not_fired(report), report.remaining)

    async def bank_day(stopping: Stopping) -> Progress:
        report = await advance(database, ring, bank, clock, stopping=stopping)
        return Progress(
            done=report.fired.fired
            + report.taken_in
            + report.returned
            + report.funded
            + report.completed
            + len(report.delivered),
            failed=_not_fired(report.fired) + len(report.problems),
        )

    async def end_what_is_over(stopping: Stopping) -> Progress:
        return Progress() if stopping() else await expire(database, clock)

    return (
        Duty("fire_due_payrolls", "Payrolls fired", fire, shared_by=CHUNK),
        Duty("bank_day", "Steps of the bank day", bank_day, priority=2),
        Duty("expire", "Invitations and idempotency keys expired", end_what_is_over),
    )


def _not_fired(report: FiringReport) -> int:
    return len(report.put_off) + len(report.failed)
