"""What people enter beside payrolls, in two households of their own: duties, rates, drafts, requests, accounts."""

from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from hearthpay.access.actor import Actor
from hearthpay.banking.account_changes import change_account, withdraw_change
from hearthpay.banking.accounts import AccountDetails
from hearthpay.duties import feed
from hearthpay.duties import service as duties
from hearthpay.duties.dues_records import renew_dues
from hearthpay.employers.assigned_rates import AssignRate, keep_sui_rate
from hearthpay.employers.models import Employer
from hearthpay.insurance.service import PolicyDetails, keep_policy
from hearthpay.payroll.commands import EmployeePay, Order
from hearthpay.payroll.drafts import drop_draft, save_draft
from hearthpay.payroll.set_asides.requests import decide_request, pending_request, request_set_aside
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.security.vault_numbers import parse_number

if TYPE_CHECKING:
    from tests.doctor.books import Books

_EARLIER = {
    "tax_year": 2026,
    "as_of": "2026-06-30",
    "lines": [{"code": "US-SS-EE", "subject_wages": 900, "taxable_wages": 900, "amount": 55.8}],
}


async def enter_facts(books: "Books") -> None:
    """Enter each kind of fact, and most of them twice, so that the earlier entry doesn't hold any more."""
    home, zoe = await _of_duties(books)
    await _of_payrolls(books, home, zoe)
    await _of_an_employee(books)
    while (await renew_dues(books.worker, books.clock))[2]:
        pass


async def _of_duties(books: "Books") -> tuple[str, str]:
    home = await books.household(books.live)
    zoe = await books.employee(books.live, home, "Zoe")
    run = await books.run(books.live, home, date(2026, 10, 5), [{"employee_id": zoe, "regular_hours": 30}])
    invited = {"type": "tax_info", "send_email": False}
    linked = await books.live.post(f"/employees/{zoe}/invite", invited, idempotency_key="link")
    assert linked.status_code == 200, linked.text
    actor = books.operator(sandbox=False)
    marked = await books.live.post(f"/payroll/{run}/hand-over", {})
    assert marked.status_code == 200, marked.text
    async with books.service.transaction(actor.tenant) as session:
        employer = await session.get_one(Employer, UUID(home))
        on = (session, actor, books.clock, employer)
        year = await duties.calendar_of_household(*on, date(2026, 1, 1), date(2027, 12, 31))
        key = year[0].key
        for done_on in (date(2026, 11, 2), date(2026, 11, 3)):
            await duties.mark_duty(*on, key=key, done_on=done_on)
        for frequency in ("quarterly", "annual"):
            await duties.choose_filing(
                *on, jurisdiction="CA", account="sui", since_year=2027, frequency=frequency
            )
        await duties.note_closing(*on, jurisdiction="CA", account="sui", closed_on=date(2026, 11, 2))
        for rate, day in (("0.021", None), ("0.034", date(2026, 11, 1))):
            await keep_sui_rate(*on, AssignRate(2026, "CA", Decimal(rate), day))
        for carrier in ("State Fund", "Lantern Mutual"):
            await keep_policy(
                *on,
                PolicyDetails(
                    state="CA", kind="workers_compensation", carrier=carrier, starts_on=date(2026, 1, 1)
                ),
            )
        await feed.make_link(*on)
        await feed.make_link(*on)
    return home, zoe


async def _of_payrolls(books: "Books", home: str, zoe: str) -> None:
    for source, gross in (("Earlier", 900), ("Earlier", 950)):
        told = await books.live.post(
            f"/employees/{zoe}/prior-wages", _EARLIER | {"source": source, "gross_pay": gross}
        )
        assert told.status_code in (200, 201), told.text
    actor = books.operator(sandbox=False)
    order = Order(
        employer_id=UUID(home),
        pay_period_start=date(2026, 11, 23),
        pay_period_end=date(2026, 11, 29),
        pay_frequency="weekly",
        employees=(EmployeePay(employee_id=UUID(zoe), regular_hours=Decimal(20), payment_method="check"),),
    )
    async with books.service.transaction(actor.tenant) as session:
        await save_draft(session, actor, books.clock, uuid4(), order)
        dropped = await save_draft(session, actor, books.clock, uuid4(), order)
        await drop_draft(session, actor, books.clock, dropped.id)


async def _of_an_employee(books: "Books") -> None:
    home = await books.household(books.test, "123456789")
    uma = await books.employee(books.test, home, "Uma", "123456789")
    actor = Actor.employee(UUID(uma), books.organization_id, UUID(home), sandbox=True, request_id="r")
    operator = books.operator(sandbox=True)
    details = AccountDetails(
        parse_number("bank_routing", "021000021"), parse_number("bank_account", "123454321"), "savings", None
    )
    async with books.owner.transaction(None) as session:
        await request_set_aside(session, actor, books.clock, UUID(uma), SetAsideRule(amount_cents=500))
        requested = await pending_request(session, UUID(uma))
        assert requested is not None
        await decide_request(session, operator, books.clock, requested.id, "approved")
        await request_set_aside(session, actor, books.clock, UUID(uma), SetAsideRule(amount_cents=900))
        for _ in range(2):
            await change_account(session, books.ring, actor, books.clock, UUID(uma), details)
        await withdraw_change(session, actor, books.clock, UUID(uma))
        await change_account(session, books.ring, actor, books.clock, UUID(uma), details)
