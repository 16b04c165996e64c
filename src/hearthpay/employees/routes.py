"""The HTTP API of employees."""

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Depends, Query
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import CHANGE_EMPLOYEES, READ_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.clock import Clock
from hearthpay.employees import service
from hearthpay.employees.invitation_schemas import InvitationItem, NewInvitation
from hearthpay.employees.invitations import PORTAL_PATH, Sending, invite, with_email_of
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import NOTHING_ENTERED, onboarding_of
from hearthpay.employees.same_person import other_record_warning, other_records
from hearthpay.employees.schemas import (
    EmployeeChanges,
    EmployeeDetail,
    EmployeeItem,
    EmployeeQuery,
    HouseholdItem,
    NewEmployee,
    Reinstatement,
    Termination,
    detail_of,
    household_item,
    item_of,
)
from hearthpay.employers.list_schemas import HouseholdQuery
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, ListEnvelope, answer, listing
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import address_in_mail, runtime_of
from hearthpay.mail.postman import Postman
from hearthpay.taxes.messages import Message
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import EmployeeIdentifier

router: Final = api_router("Employees")

_EMPLOYER_ID: Final = "019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e"
_NEW_EMPLOYEE: Final = {
    "employer_id": _EMPLOYER_ID,
    "first_name": "Rosa",
    "last_name": "Diaz",
    "email": "rosa.diaz@example.com",
    "pay_rate": 28.5,
    "pay_frequency": "biweekly",
    "start_date": "2026-01-05",
    "work_state": "CA",
    "relationship": "none",
    "federal_withholding": {"elected": True, "filing_status": "single", "dependents_credit": 2000},
    "state_withholding": {"additional_withholding": 10},
}
_CHANGES: Final = {"pay_rate": 30, "state_withholding": {"additional_withholding": 15}}
_TERMINATION: Final = {"end_date": "2026-11-20"}
_TODAY: Final = Termination()
_REINSTATEMENT: Final = {"start_date": "2026-11-23"}
_GOING_ON: Final = Reinstatement()
_INVITATION: Final = {"type": "tax_info", "send_email": True}


@router.get(
    "/households",
    operation_id="listHouseholds",
    summary="List households with the people they employ",
    **describe(
        answer=ListEnvelope[HouseholdItem],
        query={"limit": 25},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def list_households(
    request: Request,
    query: Annotated[HouseholdQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_EMPLOYEES))],
) -> Response:
    """Lists names and ids, newest household first. Start here if you know neither.

    A key that may not list households gets its own: the one it remembers, or the account's only one.
    `search`, `sort` and `metadata` work as in `GET /employers`.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        households, next_cursor = await service.list_households(
            session, actor, runtime.clock, query.to_command()
        )
    items = [household_item(employer, people) for employer, people in households]
    return listing(request, items, next_cursor)


@router.get(
    "/employees",
    operation_id="listEmployees",
    summary="List a household's employees",
    **describe(
        answer=ListEnvelope[EmployeeItem],
        query={"employer_id": _EMPLOYER_ID, "limit": 25},
        errors=("household_forbidden", "key_mode_mismatch"),
    ),
)
async def list_employees(
    request: Request,
    query: Annotated[EmployeeQuery, Query()],
    actor: Annotated[Actor, Depends(require(READ_EMPLOYEES))],
) -> Response:
    """Newest first, the terminated ones included. Holds no secret: no birth date, address or number.

    `metadata[key]=value` lists those with this value of the key.
    """
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        employees, next_cursor = await service.list_employees(
            session, actor, query.employer_id, query, query.metadata
        )
        items = await _items(session, runtime_of(request).clock, employees)
    return listing(request, items, next_cursor)


@router.post(
    "/employees",
    operation_id="createEmployee",
    summary="Add an employee to a household",
    **describe(
        answer=Envelope[EmployeeDetail],
        body=_NEW_EMPLOYEE,
        status=201,
        links={"getEmployee": {"employee_id": "id"}},
        errors=(
            "unsupported_jurisdiction",
            "duplicate_employee",
            "plan_limit_reached",
            "household_forbidden",
            "key_mode_mismatch",
            "idempotency_conflict",
        ),
    ),
)
async def create_employee(
    request: Request, body: NewEmployee, actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))]
) -> Response:
    """A household and a name are enough. Without a pay rate the employee is `incomplete` and can't be paid by the hour.

    Never send a Social Security or bank account number: the employee enters those in the portal.
    If a former employee has this name, `warnings` say so. Reinstate that record if it is the same person.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        noted = await service.create_employee(session, actor, clock, body.to_command())
        return Answer(detail_of(noted.employee, NOTHING_ENTERED, noted.warnings), 201)

    return await idempotent(request, actor, operation)


@router.get(
    "/employees/{employee_id}",
    operation_id="getEmployee",
    summary="Read an employee",
    **describe(answer=Envelope[EmployeeDetail], errors=("not_found",)),
)
async def get_employee(
    request: Request,
    employee_id: EmployeeIdentifier,
    actor: Annotated[Actor, Depends(require(READ_EMPLOYEES))],
) -> Response:
    """Returns the employee's record: withholding elections, certificate, localities and relationship.

    Numbers entered in the portal are never returned.
    """
    clock = runtime_of(request).clock
    async with runtime_of(request).database.transaction(actor.tenant) as session:
        employee = await service.find_employee(session, actor, employee_id)
        item = await _detail(session, clock, employee)
    return answer(request, item)


@router.patch(
    "/employees/{employee_id}",
    operation_id="updateEmployee",
    summary="Change an employee's settings",
    **describe(
        answer=Envelope[EmployeeDetail],
        body=_CHANGES,
        errors=("unsupported_jurisdiction", "duplicate_employee", "not_found", "idempotency_conflict"),
    ),
)
async def update_employee(
    request: Request,
    employee_id: EmployeeIdentifier,
    body: EmployeeChanges,
    actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))],
) -> Response:
    """Only the fields sent change, from the next payroll on. All settings together must be such as could be created.

    A move to another state of work takes out the old one's local taxes and certificate, and a return brings them back;
    `warnings` tell of either.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        noted = await service.update_employee(session, actor, clock, employee_id, body.to_command())
        return Answer(await _detail(session, clock, noted.employee, noted.warnings))

    return await idempotent(request, actor, operation)


@router.post(
    "/employees/{employee_id}/terminate",
    operation_id="terminateEmployee",
    summary="End an employment",
    **describe(
        answer=Envelope[EmployeeDetail],
        body=_TERMINATION,
        errors=("not_found", "idempotency_conflict"),
    ),
)
async def terminate_employee(
    request: Request,
    employee_id: EmployeeIdentifier,
    actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))],
    body: Termination = _TODAY,
) -> Response:
    """The last paycheck can still be run, for a pay period that begins on or before the last day.

    Again with the same day, or with none, it changes nothing; with another day it corrects the first.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        employee = await service.terminate_employee(session, actor, clock, employee_id, body.end_date)
        return Answer(await _detail(session, clock, employee))

    return await idempotent(request, actor, operation)


@router.post(
    "/employees/{employee_id}/reinstate",
    operation_id="reinstateEmployee",
    summary="Employ someone again",
    **describe(
        answer=Envelope[EmployeeDetail],
        body=_REINSTATEMENT,
        errors=(
            "invalid_state",
            "not_found",
            "duplicate_employee",
            "plan_limit_reached",
            "unsupported_jurisdiction",
            "idempotency_conflict",
        ),
    ),
)
async def reinstate_employee(
    request: Request,
    employee_id: EmployeeIdentifier,
    actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))],
    body: Reinstatement = _GOING_ON,
) -> Response:
    """Rehires the same person. Settings and numbers stay, and the year to date continues, with its wage bases.

    With `start_date`, a new employment begins. Without it, the earlier one continues as if it had never ended.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        employee = await service.reinstate_employee(session, actor, clock, employee_id, body.start_date)
        return Answer(await _detail(session, clock, employee))

    return await idempotent(request, actor, operation)


@router.post(
    "/employees/{employee_id}/invite",
    operation_id="inviteEmployee",
    summary="Invite an employee to enter a bank account or tax information",
    **describe(
        answer=Envelope[InvitationItem],
        body=_INVITATION,
        errors=(
            "invalid_state",
            "not_found",
            "idempotency_conflict",
            "direct_deposit_unavailable",
            "invitation_too_soon",
        ),
    ),
)
async def invite_employee(
    request: Request,
    employee_id: EmployeeIdentifier,
    body: NewInvitation,
    actor: Annotated[Actor, Depends(require(CHANGE_EMPLOYEES))],
) -> Response:
    """Creates a link to the portal. It works once, for seven days, and replaces any open link of the same type.

    A former employee can still be asked for `tax_info`, because a Form W-2 is due.

    A `bank_account` needs a household that can pay by direct deposit, and is asked for once in 24 hours
    (`invitation_too_soon` with `retry_at` and the header `Retry-After`) unless `send_email` is false. The link goes
    to the employee's email address. `email_sent` is true once the mail server has taken the email, for which the answer
    waits a few seconds; else `email_status` and `email_reason` tell why not, and whether it is still tried. Only so
    many emails are sent in a day for one employee, household and organization. You can always share the link yourself.
    Treat it as a secret: anyone who has it can use it. With the same `Idempotency-Key`
    again, the answer is the same link, and the latest status of the email.
    """
    runtime = runtime_of(request)
    ring = runtime.ring
    if ring is None:
        raise Refusal(
            "service_unavailable",
            "This service has no key ring: it cannot keep numbers or links safe, and invites nobody.",
        )
    sending = Sending(
        f"{address_in_mail(request)}{PORTAL_PATH}",
        ring,
        None if runtime.mailer is None else runtime.mail_limits,
    )
    requested = body.to_command()
    postman = None
    if runtime.mailer is not None:
        postman = Postman(runtime.database, ring, runtime.mailer, runtime.clock)

    async def operation(session: AsyncSession) -> Answer:
        invitation = await invite(
            session,
            actor,
            runtime.clock,
            sending,
            employee_id,
            requested,
            direct_deposit_enabled=runtime.direct_deposit,
        )
        return Answer(invitation)

    async def latest(answered: dict[str, object]) -> dict[str, object]:
        return await with_email_of(runtime.database, runtime.clock, postman, actor.tenant, answered)

    return await idempotent(request, actor, operation, sealed_with=ring, latest=latest)


async def _detail(
    session: AsyncSession, clock: Clock, employee: Employee, warnings: Sequence[Message] = ()
) -> EmployeeDetail:
    onboarding = await onboarding_of(session, clock, [employee])
    others = await other_records(session, [employee])
    records = map(other_record_warning, others.get(employee.id, ()))
    return detail_of(employee, onboarding[employee.id], [*warnings, *records])


async def _items(session: AsyncSession, clock: Clock, employees: Sequence[Employee]) -> list[EmployeeItem]:
    onboarding = await onboarding_of(session, clock, employees)
    others = await other_records(session, employees)
    return [
        item_of(employee, onboarding[employee.id], map(other_record_warning, others.get(employee.id, ())))
        for employee in employees
    ]
