"""`hearthpay autopilot`: recurring payroll, enrolled and managed by the operator on a household's behalf."""

import datetime
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args
from uuid import UUID

import typer

from hearthpay.cli.amounts import decimal_of
from hearthpay.cli.operator import DataDir, refuse, run_with_keys
from hearthpay.taxes import TaxInputError

if TYPE_CHECKING:
    from hearthpay.access.actor import Actor
    from hearthpay.autopilot.commands import AutopilotAction
    from hearthpay.clock import Clock
    from hearthpay.employees.commands import PayFrequency

autopilot = typer.Typer(help="Recurring payroll: enroll employees, stop and start it.", no_args_is_help=True)

_EmployeeId = Annotated[str, typer.Argument(help="The employee's id.")]
_Frequency = Annotated[str, typer.Option(prompt=True, help="weekly, biweekly, semimonthly or monthly.")]
_Hours = Annotated[str, typer.Option(prompt="Standard hours of a period", help="Hours of each period.")]
_PayDaysAfter = Annotated[
    int, typer.Option(prompt="Days from a period's end to its pay day", help="Calendar days, 0 to 14.")
]
_Agree = Annotated[
    bool, typer.Option("--agree", help="The household has agreed to the text of `hearthpay autopilot text`.")
]


@dataclass(frozen=True, slots=True)
class _Found:
    """Whom a command is about, and the operator acting for his household."""

    employer_id: UUID
    employee_id: UUID
    actor: "Actor"
    clock: "Clock"
    """Real time, or that of a sandbox household with a test clock."""


@autopilot.command("text")
def show_text() -> None:
    """Print the standing authorization that a household agrees to."""
    from hearthpay.autopilot.records import standing_text

    typer.echo(standing_text())


@autopilot.command("enroll")
def enroll_employee(
    employee: _EmployeeId,
    hours: _Hours,
    frequency: _Frequency,
    anchor: Annotated[
        datetime.datetime,
        typer.Option(
            prompt="First day of the first period", formats=["%Y-%m-%d"], help="A period begins on it."
        ),
    ],
    pay_days_after: _PayDaysAfter,
    agree: _Agree = False,
    confirm_large_payroll: Annotated[
        bool,
        typer.Option("--confirm-large-payroll", help="The household confirms pay above the limits, once."),
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Pay an employee by direct deposit, period after period, once the household has agreed to the debits."""
    from hearthpay.autopilot.commands import EnrolledTerms, EnrollEmployee
    from hearthpay.autopilot.enrolling import enroll

    terms = _terms_of(EnrolledTerms, hours, frequency, anchor.date(), pay_days_after)
    agreement = replace(_agreement(agree), confirm_large_payroll=confirm_large_payroll)

    async def work(session: Any, found: _Found) -> Any:
        requested = EnrollEmployee(
            employer_id=found.employer_id,
            employee_id=found.employee_id,
            terms=terms,
            agreement=agreement,
        )
        return await enroll(session, found.actor, found.clock, requested, direct_deposit_enabled=_offered())

    view = _for_employee(data_dir, employee, work)
    first = view.coming[0]
    typer.echo(f"Enrolled: the first period, {first.start} to {first.end}, is paid on {first.pay_date}.")


@autopilot.command("change")
def change(
    employee: _EmployeeId,
    hours: _Hours,
    frequency: _Frequency,
    from_period: Annotated[
        datetime.datetime, typer.Option(prompt="First day of the first period of it", formats=["%Y-%m-%d"])
    ],
    pay_days_after: _PayDaysAfter,
    data_dir: DataDir = None,
) -> None:
    """Enroll other hours or another schedule, from a period on."""
    from hearthpay.autopilot.changing import change_enrollment
    from hearthpay.autopilot.commands import ChangeEnrollment

    chosen = _frequency(frequency)

    async def work(session: Any, found: _Found) -> Any:
        requested = ChangeEnrollment(
            employer_id=found.employer_id,
            employee_id=found.employee_id,
            from_period=from_period.date(),
            standard_hours=_hours(hours),
            frequency=chosen,
            pay_days_after=pay_days_after,
        )
        return await change_enrollment(session, found.actor, found.clock, requested)

    _for_employee(data_dir, employee, work)
    typer.echo(f"Changed from {from_period.date()} on.")


@autopilot.command("authorize")
def authorize(employee: _EmployeeId, agree: _Agree = False, data_dir: DataDir = None) -> None:
    """Record that the household agrees to debits of the account that is connected now."""
    from hearthpay.autopilot.agreeing import renew_agreement

    agreement = _agreement(agree)

    async def work(session: Any, found: _Found) -> Any:
        await renew_agreement(
            session, found.actor, found.clock, found.employer_id, found.employee_id, agreement
        )

    _for_employee(data_dir, employee, work)
    typer.echo("Authorized.")


@autopilot.command("confirm")
def confirm(
    payroll: Annotated[str, typer.Argument(help="The id of the payroll that Autopilot holds.")],
    data_dir: DataDir = None,
) -> None:
    """Let a payroll be sent whose amount is out of the ordinary; the household has said that it is right."""
    from hearthpay.autopilot.confirming import confirm_payroll

    payroll_id = _id(payroll)

    async def work(session: Any, found: _Found) -> Any:
        await confirm_payroll(session, found.actor, found.clock, payroll_id)

    _run(data_dir, "payrolls", payroll_id, work)
    typer.echo("Confirmed.")


def _manage(name: str, action: "AutopilotAction", confirmation: str) -> None:
    @autopilot.command(name, help=confirmation)
    def command(employee: _EmployeeId, data_dir: DataDir = None) -> None:
        _ask(data_dir, employee, action, None)


_manage("pause", "pause", "Schedule nothing more; payrolls that are scheduled are still paid.")
_manage("resume", "resume", "Continue with the first period that can still be sent.")
_manage("disable", "disable", "End it for good: void what is scheduled, end the authorization of its debits.")


@autopilot.command("skip")
def skip(
    employee: _EmployeeId,
    through: Annotated[
        datetime.datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Skip every period that begins by this day."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Do not pay the next period, or all that begin by a day; void what is scheduled for them."""
    _ask(data_dir, employee, "skip", None if through is None else through.date())


@autopilot.command("show")
def show(
    employee: _EmployeeId,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as the API answers it.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Tell where an employee stands: the enrollment, what speaks against paying, the next three periods.

    Of an eligible employee who is not enrolled, the periods are those that enrolling now would give.
    """
    from hearthpay.autopilot.reading import read_autopilot
    from hearthpay.autopilot.schemas import autopilot_of_employee
    from hearthpay.wire.answer import render

    async def work(session: Any, found: _Found) -> Any:
        return await read_autopilot(
            session,
            found.actor,
            found.clock,
            found.employer_id,
            found.employee_id,
            direct_deposit_enabled=_offered(),
        )

    fields = autopilot_of_employee(_for_employee(data_dir, employee, work, reads=True))
    if as_json:
        typer.echo(json.dumps(json.loads(render(fields)), indent=2))
        return
    if fields.enrollment is None:
        typer.echo("Not enrolled.")
    else:
        each = fields.enrollment
        next_pay = f"next pay date {each.next_pay_date}" if each.next_pay_date else "nothing to be paid"
        pays = f"{each.standard_hours.normalize():f} hours" if each.standard_hours else "the salary"
        typer.echo(
            f"{each.status}: {pays}, about {each.expected_net_pay:,} net, "
            f"{next_pay}, {each.failure_count} failures"
        )
    for reason in fields.eligibility.reasons:
        typer.echo(f"not eligible: {reason}")
    if fields.enrollment is None and fields.schedule_preview:
        typer.echo("Enrolled now, the first periods would be:")
    for period in fields.schedule_preview:
        typer.echo(
            f"{period.period_start} to {period.period_end}  paid {period.pay_date}  "
            f"sent {period.send_at:%Y-%m-%d %H:%M} UTC"
        )


@autopilot.command("history")
def history(employee: _EmployeeId, data_dir: DataDir = None) -> None:
    """List the last hundred things that happened, newest first."""
    from hearthpay.autopilot.commands import HistoryQuery
    from hearthpay.autopilot.reading import read_history
    from hearthpay.autopilot.schemas import history_item

    async def work(session: Any, found: _Found) -> Any:
        requested = HistoryQuery(employer_id=found.employer_id, employee_id=found.employee_id, limit=100)
        events, _ = await read_history(session, found.actor, requested)
        return [history_item(event) for event in events]

    hidden = ("employer_id", "employee_id", "enrollment_id")
    for item in _for_employee(data_dir, employee, work, reads=True):
        details = {name: value for name, value in item.details.items() if name not in hidden}
        typer.echo(
            f"{item.at:%Y-%m-%d %H:%M} UTC  {item.event:<8}  {item.actor} ({item.source})  {json.dumps(details)}"
        )


def _ask(data_dir: Any, employee: str, action: "AutopilotAction", through: datetime.date | None) -> None:
    from hearthpay.autopilot.commands import Manage
    from hearthpay.autopilot.managing import manage

    async def work(session: Any, found: _Found) -> Any:
        requested = Manage(
            employer_id=found.employer_id,
            employee_id=found.employee_id,
            action=action,
            through_date=through,
        )
        return await manage(session, found.actor, found.clock, requested, direct_deposit_enabled=_offered())

    managed = _for_employee(data_dir, employee, work)
    typer.echo(f"{managed.view.enrollment.status}{'' if managed.changed else ', as before'}.")
    for payroll_id in managed.voided:
        typer.echo(f"Payroll {payroll_id} is voided.")
    for payroll_id in managed.still_paid:
        typer.echo(f"Payroll {payroll_id} is paid all the same.")


def _agreement(agree: bool) -> Any:
    from hearthpay.autopilot.commands import Agreement
    from hearthpay.autopilot.records import STANDING_TEXT_VERSION, standing_text

    if not agree:
        typer.echo(standing_text())
        if not typer.confirm("Has the household agreed to this text?"):
            refuse("nothing was changed: the household has to agree to the debits")
    return Agreement(text_version=STANDING_TEXT_VERSION)


def _terms_of(kind: Any, hours: str, frequency: str, anchor: datetime.date, pay_days_after: int) -> Any:
    try:
        return kind(
            standard_hours=_hours(hours),
            frequency=_frequency(frequency),
            anchor=anchor,
            pay_days_after=pay_days_after,
        )
    except ValueError as error:
        refuse(str(error))


def _hours(text: str) -> Any:
    from hearthpay.autopilot.commands import is_standard_hours

    try:
        hours = decimal_of(text, "hours")
    except TaxInputError as error:
        refuse(str(error))
    if not is_standard_hours(hours):
        refuse("--hours must have at most 3 decimals, and be no more than a pay period has; 0 of a salary")
    return hours


def _frequency(text: str) -> "PayFrequency":
    from hearthpay.employees.commands import PayFrequency

    if text not in get_args(PayFrequency):
        refuse(f"--frequency must be one of {', '.join(get_args(PayFrequency))}")
    return cast(PayFrequency, text)


def _offered() -> bool:
    from hearthpay.banking.originator import load_bank

    return load_bank(os.environ) is not None


def _for_employee(
    data_dir: Any, employee: str, work: Callable[[Any, _Found], Awaitable[Any]], *, reads: bool = False
) -> Any:
    return _run(data_dir, "employees", _id(employee), work, reads=reads)


def _run(
    data_dir: Any,
    table: str,
    row_id: UUID,
    work: Callable[[Any, _Found], Awaitable[Any]],
    *,
    reads: bool = False,
) -> Any:
    """Do the work for the household of an employee or a payroll, as the service does: bound to that household."""

    async def run(opened: Any, ring: Any) -> Any:  # noqa: ARG001 - as `run_with_keys` calls it
        async with opened.as_operator() as operator, operator.transaction(None) as session:
            found = await _find(session, table, row_id, reads=reads)
        async with opened.database.transaction(found.actor.tenant) as session:
            return await work(session, found)

    return run_with_keys(data_dir, run)


async def _find(session: Any, table: str, row_id: UUID, *, reads: bool) -> _Found:
    from uuid_utils.compat import uuid7

    from hearthpay.access.actor import Actor
    from hearthpay.cli.household_clock import clock_for_changing, clock_for_reading
    from hearthpay.employees.models import Employee
    from hearthpay.payroll.models import Payroll

    row = await session.get(Employee if table == "employees" else Payroll, row_id)
    if row is None:
        refuse(f"there is no such {table.removesuffix('s')}")
    actor = Actor.operator(row.organization_id, sandbox=row.sandbox, request_id=f"cli-{uuid7()}")
    clock = await (clock_for_reading if reads else clock_for_changing)(session, row.employer_id)
    return _Found(row.employer_id, row.id, actor, clock)


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        refuse("an id is needed")
