"""The worker's duties: fire and generate payrolls, run the bank day, send mail, and expire what has ended."""

from __future__ import annotations

from functools import partial
from typing import Final
from uuid import UUID

import structlog

from hearthpay.alerts.delivery import send_alerts
from hearthpay.autopilot.generation import CHUNK as GENERATED_AT_ONCE
from hearthpay.autopilot.generation import generate_due
from hearthpay.autopilot.outbox_tasks import run_outbox_tasks
from hearthpay.banking.account_changes import CHUNK as CONNECTED_AT_ONCE
from hearthpay.banking.account_changes import connect_due
from hearthpay.banking.number_endings import renew_number_endings
from hearthpay.clock import Clock
from hearthpay.database.audit import COUNTED_UP_TO, seal_pending
from hearthpay.database.session import Database
from hearthpay.database.turns import Turns
from hearthpay.documents.package_builder import make_next
from hearthpay.duties.dues_records import CHUNK as DUES_AT_ONCE
from hearthpay.duties.dues_records import renew_dues
from hearthpay.duties.weekly_summary import find_weekly_summaries
from hearthpay.mail.mail_folder import MailFolder, fill_folder
from hearthpay.mail.mailer import Mailer
from hearthpay.mail.notice_rounds import send_notices
from hearthpay.mail.notices import NotificationSettings
from hearthpay.mail.outbox import count_due_mails
from hearthpay.mail.postman import Postman, Round
from hearthpay.payroll.payday.bank_day import Bank, advance
from hearthpay.payroll.payday.firing import CHUNK, FiringReport, fire_due
from hearthpay.payroll.provisional_law.notices import notify_of_provisional_rules
from hearthpay.payroll.years.rule_changes import CHUNK as SETTLED_AT_ONCE
from hearthpay.payroll.years.rule_changes import settle_rule_changes
from hearthpay.security.key_ring import KeyRing
from hearthpay.todos.reminders import remind
from hearthpay.worker.duty import Duty, Progress, Stopping
from hearthpay.worker.expiry import expire
from hearthpay.worker.household_time import NEWS, advance_clocks

_EVERY_TEN_MINUTES: Final = "*/10 * * * *"
_EVERY_TEN_SECONDS: Final = "* * * * * */10"
_EVERY_HOUR: Final = "7 * * * *"
_LENGTHY: Final = -2
"""The priority of what may last: after everything else, and one job after the other, each for a while."""
_log = structlog.get_logger(__name__)


def worker_duties(
    database: Database,
    ring: KeyRing,
    bank: Bank | None,
    clock: Clock,
    mailer: Mailer | None = None,
    notifications: NotificationSettings = NotificationSettings(),  # noqa: B008 - frozen
    folder: MailFolder | None = None,
) -> tuple[Duty, ...]:
    """Return the duties, in the order in which a single worker does them; `database` acts as the worker's role.

    Without a `mailer`, mails stay queued until a worker has one; those written for the folder go into the `folder`. The
    `desk` says who can be notified of problems.
    """

    turns_to_fire, turns_to_generate, turns_to_remind = Turns[UUID](), Turns[UUID](), Turns[UUID]()
    turns_of_mail = Turns[str]()

    async def fire(stopping: Stopping) -> Progress:
        """Fire one chunk: between chunks, the worker asks for help and lets more urgent jobs pass."""
        chunks = iter((False,))
        report = await fire_due(
            database, clock, stopping=lambda: stopping() or next(chunks, True), turns=turns_to_fire
        )
        return Progress(report.fired, _not_fired(report), report.remaining)

    async def bank_day(stopping: Stopping) -> Progress:
        report = await advance(database, ring, bank, clock, notifications=notifications, stopping=stopping)
        return Progress(
            done=report.fired.fired
            + report.taken_in
            + report.returned
            + report.funded
            + report.completed
            + len(report.delivered),
            failed=_not_fired(report.fired) + len(report.problems),
        )

    async def send_mail(stopping: Stopping) -> Progress:
        if mailer is None:
            kept = (
                Round(0, 0, 0)
                if folder is None
                else await fill_folder(database, ring, folder, clock, turns=turns_of_mail)
            )
            async with database.transaction(None) as session:
                waiting = await count_due_mails(session, clock)
            if waiting > kept.remaining:
                _log.error("emails wait, but no mail server is configured for this worker", waiting=waiting)
            return Progress(kept.sent, kept.failed, kept.remaining)
        round_ = await Postman(database, ring, mailer, clock).send_due(stopping, turns=turns_of_mail)
        return Progress(round_.sent, round_.failed, round_.remaining)

    async def end_what_is_over(stopping: Stopping) -> Progress:
        if stopping():
            return Progress()
        await _seal_all(database, stopping)
        return await expire(database, clock)

    async def autopilot(stopping: Stopping) -> Progress:
        """Decide one chunk, and run the due outbox tasks."""
        chunks = iter((False,))
        made = await generate_due(
            database,
            clock,
            direct_deposit_enabled=bank is not None,
            stopping=lambda: stopping() or next(chunks, True),
            turns=turns_to_generate,
        )
        done, left = await run_outbox_tasks(database, ring, clock, notifications, stopping=stopping)
        return Progress(made.scheduled + made.stepped_over + done, made.refused, made.remaining + left)

    async def news(stopping: Stopping) -> Progress:
        """Send routine notices: debits, paydays, documents, changed accounts, and deadlines."""
        done = Progress()
        for kind, find in (*NEWS, ("weekly_summary", find_weekly_summaries)):
            if not stopping():
                sent = await send_notices(database, ring, clock, notifications, kind, find)
                done = Progress(
                    done.done + sent.told, done.failed + sent.failed, done.remaining + sent.remaining
                )
        if stopping():
            return done
        looked, left = await remind(database, ring, clock, notifications, turns=turns_to_remind)
        return Progress(done.done + looked, done.failed, done.remaining + left)

    async def connect_accounts(stopping: Stopping) -> Progress:
        if stopping():
            return Progress()
        connected = await connect_due(database, ring, clock)
        return Progress(connected, remaining=int(connected == CONNECTED_AT_ONCE))

    return (
        Duty("fire_due_payrolls", "Payrolls fired", fire, shared_by=CHUNK),
        Duty("bank_day", "Steps of the bank day", bank_day, priority=2),
        Duty("send_mail", "Emails sent", send_mail, priority=-1),
        Duty("expire", "Invitations and idempotency keys expired", end_what_is_over),
        Duty("autopilot", "Steps of Autopilot", autopilot, shared_by=GENERATED_AT_ONCE),
        _send_alerts(database, ring, clock, notifications),
        Duty("news", "Pieces of news, and households looked at for reminders", news, cron=_EVERY_TEN_MINUTES),
        Duty("connect_accounts", "Bank accounts connected", connect_accounts),
        Duty(
            "advance_clocks",
            "Steps of sandbox households' clocks",
            partial(advance_clocks, database, ring, clock, notifications),
            shared_by=1,
            cron=_EVERY_TEN_SECONDS,
            priority=_LENGTHY,
        ),
        _make_packages(database, ring, clock, notifications),
        _settle_years(database),
        _notify_of_provisional_rules(database, ring, clock, notifications),
        _renew_dues(database, clock),
        _renew_number_endings(database, ring),
    )


async def _seal_all(database: Database, stopping: Stopping) -> None:
    """Seal unsealed rows, a few thousand per transaction; rows that others hold are left to them."""
    before, left = None, await seal_pending(database)
    while left and left != before and not stopping():
        before, left = left if left < COUNTED_UP_TO else None, await seal_pending(database)


def _send_alerts(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings
) -> Duty:
    async def alerts(stopping: Stopping) -> Progress:
        """Report sensitive actions, one organization's at once."""
        if stopping():
            return Progress()
        round_ = await send_alerts(database, ring, clock, notifications)
        return Progress(round_.told, round_.failed, round_.remaining)

    return Duty("alerts", "Organizations told of delicate acts", alerts)


def _make_packages(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings
) -> Duty:
    async def packages(stopping: Stopping) -> Progress:
        """Draw one package for a while."""
        made = await make_next(database, ring, clock, notifications, stopping)
        return Progress(made.papers, made.failed, made.remaining)

    return Duty(
        "make_packages",
        "Papers of packages drawn",
        packages,
        shared_by=1,
        cron=_EVERY_TEN_SECONDS,
        priority=_LENGTHY,
    )


def _settle_years(database: Database) -> Duty:
    async def settle_years(stopping: Stopping) -> Progress:
        """Settle one chunk of the years that were measured by rules that have changed since."""
        if stopping():
            return Progress()
        settled = await settle_rule_changes(database)
        return Progress(settled, remaining=int(settled == SETTLED_AT_ONCE))

    return Duty(
        "settle_years", "Years settled after a change of rules", settle_years, cron=_EVERY_TEN_MINUTES
    )


def _renew_dues(database: Database, clock: Clock) -> Duty:
    turns = Turns[UUID]()

    async def household_dues(stopping: Stopping) -> Progress:
        """Calculate what is overdue and due soon for one chunk of the households whose figures are outdated."""
        if stopping():
            return Progress()
        return Progress(*await renew_dues(database, clock, turns=turns))

    return Duty(
        "household_dues",
        "Households whose overdue and due items were calculated",
        household_dues,
        shared_by=DUES_AT_ONCE,
        cron=_EVERY_TEN_SECONDS,
        priority=_LENGTHY,
    )


def _notify_of_provisional_rules(
    database: Database, ring: KeyRing, clock: Clock, notifications: NotificationSettings
) -> Duty:
    async def awaited_rules(stopping: Stopping) -> Progress:
        if stopping():
            return Progress()
        return Progress(await notify_of_provisional_rules(database, ring, clock, notifications))

    return Duty("awaited_rules", "Notices of rules that are not final", awaited_rules, cron=_EVERY_HOUR)


def _renew_number_endings(database: Database, ring: KeyRing) -> Duty:
    async def number_endings(stopping: Stopping) -> Progress:
        """Store four digits of numbers of which three were stored, for display."""
        return Progress(*await renew_number_endings(database, ring, stopping))

    return Duty(
        "number_endings",
        "Numbers whose last digits were stored again",
        number_endings,
        cron=_EVERY_HOUR,
        priority=_LENGTHY,
    )


def _not_fired(report: FiringReport) -> int:
    return len(report.put_off) + len(report.failed)
