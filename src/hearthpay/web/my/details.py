"""What employees change themselves: their address, the language of their documents, and their bank account."""

from typing import Any, Final

from fastapi import APIRouter
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.responses import Response

from hearthpay.access.refusal import Refusal
from hearthpay.banking.account_changes import WAITS, change_account, pending_change, withdraw_change
from hearthpay.banking.accounts import AccountDetails, current_employee_accounts
from hearthpay.employees.models import Employee
from hearthpay.employees.onboarding import save_own_address, save_own_language
from hearthpay.employees.own_notices import notify_of_account, notify_of_change
from hearthpay.employers.models import Employer
from hearthpay.languages.catalogue import mark
from hearthpay.people.identity import read_language
from hearthpay.web.framework import go, page_of, problems_of
from hearthpay.web.my.record import OwnRecord, record_of
from hearthpay.web.numbers_form import FormError, read_address, read_bank_account
from hearthpay.web.visitor import Visitor

router: Final = APIRouter(include_in_schema=False)

_SAVED: Final = mark("Saved.")
_SAVED_AND_EMAILED: Final = mark("Saved. We emailed you and the household.")
_SAVED_AND_EMAILED_YOU: Final = mark("Saved. We emailed you.")


@page_of(router, "GET", "/my/{employee_id}/details", "signed_in")
async def details(visitor: Visitor) -> Response:
    """Address and language."""
    return await _details(await record_of(visitor), {})


@page_of(router, "POST", "/my/{employee_id}/address", "signed_in")
async def change_address(visitor: Visitor) -> Response:
    """Save the mailing address."""
    record = await record_of(visitor)
    try:
        address = read_address(visitor.form)
    except FormError as error:
        return await _details(record, dict(error.problems))
    async with record.transaction() as session:
        employee = await record.employee(session)
        changed = await save_own_address(
            session, record.actor, visitor.people_context.clock, employee.id, address
        )
        notice = await _saved(visitor, session, employee, changed=changed)
        if changed:
            await notify_of_change(visitor.people_context, session, employee, record.reader, "address")
    return await _details(record, {}, notice=notice)


@page_of(router, "POST", "/my/{employee_id}/language", "signed_in")
async def change_language(visitor: Visitor) -> Response:
    """Save the language of pay stubs and notices about this work."""
    record = await record_of(visitor)
    try:
        language = read_language(visitor.form.get("language", ""))
    except Refusal as error:
        return await _details(record, problems_of(error))
    async with record.transaction() as session:
        employee = await record.employee(session)
        changed = await save_own_language(
            session, record.actor, visitor.people_context.clock, employee.id, language
        )
        notice = await _saved(visitor, session, employee, changed=changed)
        if changed:
            await notify_of_change(visitor.people_context, session, employee, record.reader, "language")
    return await _details(record, {}, notice=notice)


@page_of(router, "GET", "/my/{employee_id}/bank", "signed_in", fresh=True)
async def bank(visitor: Visitor) -> Response:
    """Show the account that pay goes to, and a pending change."""
    return await _bank(await record_of(visitor), {})


@page_of(router, "POST", "/my/{employee_id}/bank", "signed_in", fresh=True)
async def change_bank(visitor: Visitor) -> Response:
    """Change the account that pay goes to, after the waiting day."""
    record = await record_of(visitor)
    people_context = visitor.people_context
    try:
        entry = read_bank_account(visitor.form)
    except FormError as error:
        return await _bank(record, dict(error.problems))
    ring = people_context.keys()
    account = AccountDetails(entry.routing, entry.account, entry.account_type)
    async with record.transaction() as session:
        asked = await change_account(
            session, ring, record.actor, people_context.clock, record.employment.employee_id, account
        )
        employee = await record.employee(session)
        start = people_context.clock.now() if asked.waiting is None else asked.waiting.effective_at
        await notify_of_account(
            people_context,
            session,
            employee,
            record.reader,
            old=asked.old_digits,
            new=account.account.last_four,
            start=start,
            kind=asked.news,
        )
    return go(f"{record.path}/bank")


@page_of(router, "POST", "/my/{employee_id}/bank/withdraw", "signed_in", fresh=True)
async def withdraw_bank(visitor: Visitor) -> Response:
    """Cancel the pending change."""
    record = await record_of(visitor)
    async with record.transaction() as session:
        taken_back = await withdraw_change(
            session, record.actor, visitor.people_context.clock, record.employment.employee_id
        )
        if taken_back:
            employee = await record.employee(session)
            await notify_of_change(visitor.people_context, session, employee, record.reader, "bank_withdrawn")
    return go(f"{record.path}/bank")


async def _saved(visitor: Visitor, session: AsyncSession, employee: Employee, *, changed: bool) -> str:
    """Return the sentence for a saved form: whom a mail server was given a mail for."""
    if not changed or employee.sandbox or not visitor.people_context.sends_mail:
        return _SAVED
    household = await session.get_one(Employer, employee.employer_id)
    return _SAVED_AND_EMAILED_YOU if household.email is None else _SAVED_AND_EMAILED


async def _details(record: OwnRecord, problems: dict[str, str], *, notice: str | None = None) -> Response:
    async with record.transaction() as session:
        employee = await record.employee(session)
        stored: dict[str, Any] = employee.address or {}
    typed = record.visitor.form if problems else {}
    form_values = {name: value or "" for name, value in stored.items()}
    facts = {
        "problems": problems,
        "notice": notice,
        "papers": employee.language,
        "form_values": {f"address_{name}": value for name, value in form_values.items()} | dict(typed),
    }
    return record.show("my_details.html", facts, status=400 if problems else 200)


async def _bank(record: OwnRecord, problems: dict[str, str]) -> Response:
    employee_id = record.employment.employee_id
    async with record.transaction() as session:
        accounts = await current_employee_accounts(session, [employee_id])
        facts = {
            "account": accounts.get(employee_id),
            "change": await pending_change(session, employee_id),
            "problems": problems,
            "account_type": record.visitor.form.get("account_type", ""),
            "hours": int(WAITS.total_seconds()) // 3600,
        }
    return record.show("my_bank.html", facts, status=400 if problems else 200)
