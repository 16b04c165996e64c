"""HTTP routes for the sandbox: test values in place of numbers, and a household's clock. For test keys only."""

from typing import Annotated, Final

from fastapi import Depends
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request
from starlette.responses import Response

from hearthpay.access.actor import Actor
from hearthpay.access.permissions import READ_SANDBOX, USE_SANDBOX
from hearthpay.access.refusal import Refusal
from hearthpay.access.wrong_mode import wrong_mode
from hearthpay.banking.schemas import DirectDepositStatus
from hearthpay.banking.service import direct_deposit_status
from hearthpay.employees.onboarding import onboarding_of
from hearthpay.http.auth import require
from hearthpay.http.envelope import Envelope, answer
from hearthpay.http.idempotency import idempotent
from hearthpay.http.routing import api_router, describe
from hearthpay.http.runtime import Runtime, runtime_of
from hearthpay.sandbox import numbers
from hearthpay.sandbox.clocks import read_clock, request_advance
from hearthpay.sandbox.schemas import (
    ClockAdvance,
    EinState,
    EmployeeState,
    EmployeeTestAccount,
    HouseholdClockView,
    HouseholdTestAccount,
    TestEin,
    TestTaxInfo,
    clock_view,
)
from hearthpay.security.key_ring import KeyRing
from hearthpay.wire.answer import Answer
from hearthpay.wire.answer_fields import EmployeeIdentifier, HouseholdIdentifier

router: Final = api_router("Sandbox")

_ERRORS: Final = ("key_mode_mismatch", "not_found", "idempotency_conflict")


class require_sandbox(require):  # noqa: N801 - reads as a verb where a route declares it
    """As `require`; a live key is refused before anything of the request is read."""

    async def __call__(self, request: Request) -> Actor:
        """Return who is asking. Raises what `require` raises, and `key_mode_mismatch` for a live key."""
        actor = await super().__call__(request)
        if not actor.sandbox:
            raise wrong_mode("sandbox_only", None)
        return actor


@router.post(
    "/sandbox/employers/{employer_id}/bank-account",
    operation_id="setSandboxHouseholdAccount",
    summary="Give a sandbox household a test bank account",
    **describe(
        answer=Envelope[DirectDepositStatus],
        body={"magic": "debit_returned_r01"},
        errors=(*_ERRORS, "invalid_state"),
    ),
)
async def set_household_account(
    request: Request,
    employer_id: HouseholdIdentifier,
    body: HouseholdTestAccount,
    actor: Annotated[Actor, Depends(require_sandbox(USE_SANDBOX))],
) -> Response:
    """In the place of an earlier account, as if it had been entered in the app. Answers as `dd-status` does."""
    runtime = runtime_of(request)

    async def operation(session: AsyncSession) -> Answer:
        employer = await numbers.set_household_account(
            session, _ring(runtime), actor, runtime.clock, employer_id, body.magic
        )
        now = runtime.clock.now()
        return Answer(
            await direct_deposit_status(session, employer, now, direct_deposit_enabled=runtime.direct_deposit)
        )

    return await idempotent(request, actor, operation)


@router.post(
    "/sandbox/employers/{employer_id}/ein",
    operation_id="setSandboxEin",
    summary="Let the IRS answer a sandbox household",
    **describe(answer=Envelope[EinState], body={"magic": "assigned"}, errors=(*_ERRORS, "invalid_state")),
)
async def set_ein(
    request: Request,
    employer_id: HouseholdIdentifier,
    body: TestEin,
    actor: Annotated[Actor, Depends(require_sandbox(USE_SANDBOX))],
) -> Response:
    """Applied, refused, or assigned a test employer identification number, with which papers can be issued."""
    runtime = runtime_of(request)

    async def operation(session: AsyncSession) -> Answer:
        status = await numbers.set_ein(session, _ring(runtime), actor, employer_id, body.magic)
        return Answer(EinState(employer_id, status))

    return await idempotent(request, actor, operation)


@router.post(
    "/sandbox/employees/{employee_id}/tax-info",
    operation_id="setSandboxTaxInfo",
    summary="Give an employee of the sandbox a test taxpayer number",
    **describe(answer=Envelope[EmployeeState], body={"magic": "ssn"}, errors=_ERRORS),
)
async def set_tax_info(
    request: Request,
    employee_id: EmployeeIdentifier,
    body: TestTaxInfo,
    actor: Annotated[Actor, Depends(require_sandbox(USE_SANDBOX))],
) -> Response:
    """Acts as if the employee had entered it by the link of an invitation. An open invitation is used up."""
    runtime = runtime_of(request)

    async def operation(session: AsyncSession) -> Answer:
        found = await numbers.set_tax_number(
            session, _ring(runtime), actor, runtime.clock, employee_id, body.magic
        )
        return Answer(await _state_of(session, runtime, found))

    return await idempotent(request, actor, operation)


@router.post(
    "/sandbox/employees/{employee_id}/bank-account",
    operation_id="setSandboxEmployeeAccount",
    summary="Give an employee of the sandbox a test bank account",
    **describe(
        answer=Envelope[EmployeeState],
        body={"magic": "credit_returned_r03"},
        errors=(*_ERRORS, "invalid_state"),
    ),
)
async def set_employee_account(
    request: Request,
    employee_id: EmployeeIdentifier,
    body: EmployeeTestAccount,
    actor: Annotated[Actor, Depends(require_sandbox(USE_SANDBOX))],
) -> Response:
    """At once, without the day that a change by a link waits. An open link for a bank account is used up."""
    runtime = runtime_of(request)

    async def operation(session: AsyncSession) -> Answer:
        found = await numbers.set_employee_account(
            session, _ring(runtime), actor, runtime.clock, employee_id, body.magic
        )
        return Answer(await _state_of(session, runtime, found))

    return await idempotent(request, actor, operation)


@router.post(
    "/sandbox/employers/{employer_id}/advance",
    operation_id="advanceSandboxClock",
    summary="Move a sandbox household's clock ahead",
    **describe(answer=Envelope[HouseholdClockView], body={"to": "2026-12-31"}, status=202, errors=_ERRORS),
)
async def advance_clock(
    request: Request,
    employer_id: HouseholdIdentifier,
    body: ClockAdvance,
    actor: Annotated[Actor, Depends(require_sandbox(USE_SANDBOX))],
) -> Response:
    """The household's time alone moves: the worker fires its payrolls, moves its money at the simulated bank, lets
    Autopilot pay and invitations expire, each in its turn. Ask `clock_url` until `status` is `ready`.

    From then on the household stays at that time until you advance it again. While it advances,
    any other change is refused with `clock_advancing`, and so is another advance.
    """
    clock = runtime_of(request).clock

    async def operation(session: AsyncSession) -> Answer:
        state = await request_advance(session, actor, clock, employer_id, body.to)
        return Answer(clock_view(state), 202)

    return await idempotent(request, actor, operation)


@router.get(
    "/sandbox/employers/{employer_id}/clock",
    operation_id="getSandboxClock",
    summary="Tell what time it is at a sandbox household",
    **describe(answer=Envelope[HouseholdClockView], errors=("key_mode_mismatch", "not_found")),
)
async def get_clock(
    request: Request,
    employer_id: HouseholdIdentifier,
    actor: Annotated[Actor, Depends(require_sandbox(READ_SANDBOX))],
) -> Response:
    """Where the household's clock stands, and how far an advance is. A household that was never advanced goes by real
    time.
    """
    runtime = runtime_of(request)
    async with runtime.database.transaction(actor.tenant) as session:
        state = await read_clock(session, actor, runtime.clock, employer_id)
    return answer(request, clock_view(state))


async def _state_of(
    session: AsyncSession, runtime: Runtime, found: numbers.EmployeeOfSandbox
) -> EmployeeState:
    employee = found.employee
    onboarding = (await onboarding_of(session, runtime.clock, [employee]))[employee.id]
    return EmployeeState(
        employee.employer_id, employee.id, onboarding, found.completed_invitation is not None
    )


def _ring(runtime: Runtime) -> KeyRing:
    if runtime.ring is None:
        raise Refusal("service_unavailable", "This service has no key ring: it can keep no numbers.")
    return runtime.ring
