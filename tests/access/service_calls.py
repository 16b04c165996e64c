"""Every service function that acts for somebody: how it is called rightly, and who may pass.

A new one needs one function here, named like it, that does the deed to the household it is given. Who may do it is
written down by name, not taken from the permission that the service asks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeVar
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from hearthpay.access.actor import Actor
from hearthpay.accounts import freezing, own_keys
from hearthpay.accounts.own_keys import NewKey
from hearthpay.accounts.plan_use import plan_use
from hearthpay.autopilot.agreeing import renew_agreement
from hearthpay.autopilot.changing import change_enrollment
from hearthpay.autopilot.commands import (
    Agreement,
    ChangeEnrollment,
    EnrolledTerms,
    EnrollEmployee,
    HistoryQuery,
    Manage,
)
from hearthpay.autopilot.confirming import confirm_payroll, release_payroll
from hearthpay.autopilot.enrolling import enroll
from hearthpay.autopilot.managing import manage
from hearthpay.autopilot.reading import list_autopilot, read_autopilot, read_history
from hearthpay.banking import account_changes, accounts, authorizations, household_money, reversals
from hearthpay.banking import standing_authorizations as standing
from hearthpay.banking.accounts import AccountDetails
from hearthpay.banking.models import BankAccount
from hearthpay.clock import FixedClock
from hearthpay.documents import employment, estimated_tax, packages, signatures
from hearthpay.documents import service as documents
from hearthpay.documents.commands import IssuePaystub, IssueW3, IssueYearPackage
from hearthpay.duties import feed as calendar_feed
from hearthpay.duties import service as duties
from hearthpay.duties import threshold_standing
from hearthpay.employees import certificate_sheets, invitations, links, onboarding, setup_questions, signing
from hearthpay.employees import search as employee_search
from hearthpay.employees import service as employees
from hearthpay.employees.commands import AddEmployee, ChangeEmployee, Invite
from hearthpay.employees.models import Employee, Invitation
from hearthpay.employers import assigned_rates, ein, ein_status, sandbox
from hearthpay.employers import service as employers
from hearthpay.employers.commands import ChangeEmployer, CreateEmployer, ListHouseholds, PostalAddress
from hearthpay.employers.models import Employer
from hearthpay.filing import filings as tax_filings
from hearthpay.filing import reversals as ledger_reversals
from hearthpay.filing import service as tax_payments
from hearthpay.filing.commands import LedgerQuery, RecordFiling, RecordTaxPayment
from hearthpay.insurance import service as insurance
from hearthpay.oauth import authorization_requests, grants
from hearthpay.oauth.clients import Client
from hearthpay.payroll import corrections, drafts, own_pay, payroll_lists, voiding
from hearthpay.payroll import search as payroll_search
from hearthpay.payroll import service as payrolls
from hearthpay.payroll.commands import (
    EmployeePay,
    EnterPriorWages,
    Order,
    PayrollQuery,
)
from hearthpay.payroll.handing_over import mark_handed_over
from hearthpay.payroll.ledger.rows import Owner
from hearthpay.payroll.payday import remedies, reversed_deposits, settlements
from hearthpay.payroll.set_asides import escrow, requests
from hearthpay.payroll.set_asides.rules import SetAsideRule
from hearthpay.payroll.stored_explanations import explain_stored_payroll
from hearthpay.payroll.years import prior_wages, threshold_choice
from hearthpay.people import members, owner_removal
from hearthpay.people.models import MemberInvitation
from hearthpay.registrations import service as registrations
from hearthpay.reports import service as reports
from hearthpay.reports.commands import AskStateWages, AskTaxLiability
from hearthpay.sandbox import clocks
from hearthpay.sandbox import numbers as test_values
from hearthpay.security.key_ring import EncryptionKey, KeyRing
from hearthpay.security.vault_numbers import parse_number
from hearthpay.taxes.prior_wages import PriorLine
from hearthpay.todos import service as todos
from hearthpay.web import mode_switch
from hearthpay.web.household import comparison, worklist
from hearthpay.wire.paging import Page

NOW: Final = datetime(2026, 11, 20, 15, tzinfo=UTC)
CLOCK: Final = FixedClock(NOW)
RING: Final = KeyRing((EncryptionKey.generate(),))

LOOKERS: Final = frozenset({"operator", "owner", "admin", "viewer", "key", "token"})
PAYROLL_LOOKERS: Final = LOOKERS | {"worker"}
HELPERS: Final = LOOKERS - {"viewer"}
PAYERS: Final = HELPERS | {"worker"}
DECIDERS: Final = HELPERS - {"admin"}
PEOPLE: Final = frozenset({"operator", "owner", "admin"})
MEMBERS: Final = PEOPLE | {"viewer"}
OWNERS: Final = PEOPLE - {"admin"}
OWN_NUMBERS: Final = PEOPLE | {"employee"}
OPERATOR: Final = frozenset({"operator"})
HERSELF: Final = frozenset({"operator", "employee"})


@dataclass(frozen=True, slots=True)
class Target:
    """A household with an employee and a payroll of a hundred cents, to do something to."""

    organization_id: UUID
    sandbox: bool
    employer_id: UUID
    employee_id: UUID
    payroll_id: UUID

    @property
    def columns(self) -> dict[str, Any]:
        """What every row of the household has."""
        return {
            "organization_id": self.organization_id,
            "employer_id": self.employer_id,
            "sandbox": self.sandbox,
        }


class Touched(Exception):  # noqa: N818 - the name says what happened
    """The service has gone on to the database."""


class Untouched:
    """A session that nobody may use: whoever does has been let pass."""

    def __getattr__(self, name: str) -> Any:
        raise Touched(name)


class NotThere(Exception):  # noqa: N818 - the name says what was found
    """The database shows the actor no such row; a face answers `not_found`."""


Call = Callable[[AsyncSession, Actor, Target], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Deed:
    """A service function, and who may pass its question.

    `scope` is what a key needs for it (None: no key may). `ends` is the code that it ends with for the target at hand,
    which is none of access; None: it succeeds. `names_household` is false where it is about no household in particular;
    `any_plan` where no plan is asked.
    """

    call: Call
    who: frozenset[str]
    scope: str | None
    ends: str | None = None
    sandbox_only: bool = False
    names_household: bool = True
    any_plan: bool = False


SERVICE_CALLS: Final[dict[str, Deed]] = {}

#: They find, lock or write what a deed of the table is about, and leave the question to it.
BELOW: Final = frozenset(
    {
        "hearthpay.accounts.freezing.freeze_household",
        "hearthpay.accounts.freezing.freeze_organization",
        "hearthpay.accounts.freezing.freezes_in_force",
        "hearthpay.accounts.freezing.refuse_frozen",
        "hearthpay.autopilot.agreeing.record_agreement",
        "hearthpay.banking.accounts.end_reported",
        "hearthpay.autopilot.managing.disable",
        "hearthpay.autopilot.pausing.pause",
        "hearthpay.autopilot.pausing.resume",
        "hearthpay.autopilot.records.audit",
        "hearthpay.autopilot.records.keep",
        "hearthpay.autopilot.skipping.skip",
        "hearthpay.autopilot.records.household_of",
        "hearthpay.employers.service.find_employer",
        "hearthpay.employers.service.find_employer_or_tell_mode",
        "hearthpay.employers.service.lock_households",
        "hearthpay.employers.service.owned_in_the_other_mode",
        "hearthpay.employers.service.reached_employers",
        "hearthpay.employers.service.resolve_employer",
        "hearthpay.employers.service.resolve_employer_of",
        "hearthpay.employers.sorted_lists.read_sorted",
        "hearthpay.employers.sorted_lists.search_households",
        "hearthpay.employees.service.lock_employee",
        "hearthpay.employees.service.lock_everyone",
        "hearthpay.people.owner_removal.may_go",
        "hearthpay.people.owner_removal.refuse_young_owner",
        "hearthpay.payroll.orders.employees.find_household",
        "hearthpay.payroll.ledger.preview_tokens.refuse_used_token",
        "hearthpay.payroll.service.changes_since",
        "hearthpay.payroll.service.prepare_payroll",
        "hearthpay.payroll.service.record_payroll",
        "hearthpay.payroll.voiding.void_unsent",
        "hearthpay.sandbox.households.sandbox_household",
    }
)

#: Written by the operator alone, in his own session at the command line; they name no actor.
OPERATORS_OWN: Final = frozenset(
    {
        "hearthpay.accounts.service.create_organization",
        "hearthpay.accounts.service.set_plan",
        "hearthpay.accounts.service.lift_limits",
        "hearthpay.accounts.service.create_key",
        "hearthpay.accounts.service.revoke_key",
        "hearthpay.employers.assigned_rates.assign_sui_rate",
        "hearthpay.employers.ein_status.set_ein_status",
        "hearthpay.payroll.years.threshold_choice.choose_threshold_basis",
    }
)

#: What the person whose transaction it is does before she belongs to the organization; she is found by her link.
PERSONS_OWN: Final = frozenset(
    {
        "hearthpay.people.members.accept",
        "hearthpay.people.sign_up.found_organization",
        "hearthpay.people.sign_up.join_as_owner",
    }
)

Row = TypeVar("Row", Employee, Employer)


def _deed(
    function: Any, who: frozenset[str], scope: str | None, **particulars: Any
) -> Callable[[Call], Call]:
    def register(call: Call) -> Call:
        SERVICE_CALLS[f"{function.__module__}.{function.__qualname__}"] = Deed(
            call, who, scope, **particulars
        )
        return call

    return register


async def _loaded(session: AsyncSession, kind: type[Row], row_id: UUID, made: Row) -> Row:
    """The row as a face would load it; without a database, one that only says whose it is."""
    if isinstance(session, Untouched):
        return made
    found = await session.get(kind, row_id)
    if found is None:
        raise NotThere
    return found


async def _employee(session: AsyncSession, target: Target) -> Employee:
    return await _loaded(
        session, Employee, target.employee_id, Employee(id=target.employee_id, **target.columns)
    )


async def _employer(session: AsyncSession, target: Target) -> Employer:
    made = Employer(id=target.employer_id, organization_id=target.organization_id, sandbox=target.sandbox)
    return await _loaded(session, Employer, target.employer_id, made)


def _details() -> AccountDetails:
    return AccountDetails(
        parse_number("bank_routing", "121000358"), parse_number("bank_account", "5555550000"), "checking"
    )


def _payroll(target: Target) -> Order:
    return Order(
        employer_id=target.employer_id,
        pay_period_start=date(2026, 10, 5),
        pay_period_end=date(2026, 10, 11),
        pay_date=date(2026, 11, 20),
        pay_frequency="weekly",
        employees=(
            EmployeePay(employee_id=target.employee_id, regular_hours=Decimal(10), payment_method="check"),
        ),
    )


@_deed(employers.list_employers, LOOKERS, "multi_employer", names_household=False)
async def _list_employers(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employers.list_employers(session, actor, CLOCK, ListHouseholds())


@_deed(employers.create_employer, HELPERS, "multi_employer", names_household=False)
async def _create_employer(session: AsyncSession, actor: Actor, target: Target) -> object:
    new = CreateEmployer(first_name="Maria", last_name="Lopez", email="maria@example.com", state="CA")
    return await employers.create_employer(session, actor, CLOCK, new)


@_deed(employers.update_employer, HELPERS, "employees")
async def _update_employer(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employers.update_employer(
        session, actor, CLOCK, target.employer_id, ChangeEmployer(last_name="Ruiz")
    )


@_deed(threshold_choice.change_employer, HELPERS, "employees")
async def _change_employer(session: AsyncSession, actor: Actor, target: Target) -> object:
    changes = ChangeEmployer(threshold_basis="as_paid")
    return await threshold_choice.change_employer(session, actor, CLOCK, target.employer_id, changes)


@_deed(threshold_choice.choose_own_basis, HELPERS, "employees")
async def _choose_own_basis(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await threshold_choice.choose_own_basis(session, actor, CLOCK, target.employer_id, "as_paid")


@_deed(accounts.connect_sandbox_account, HELPERS, "employees", sandbox_only=True)
async def _connect_sandbox_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    employer = await _employer(session, target)
    return await accounts.connect_sandbox_account(
        session, RING, actor, employer, _details(), NOW, prenote=False
    )


@_deed(accounts.disconnect_sandbox_account, HELPERS, "employees", sandbox_only=True)
async def _disconnect_sandbox_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await accounts.disconnect_sandbox_account(session, actor, await _employer(session, target), NOW)


@_deed(ein.keep_sandbox_ein, HELPERS, "employees", sandbox_only=True)
async def _keep_sandbox_ein(session: AsyncSession, actor: Actor, target: Target) -> object:
    number = parse_number("ein", "12-3456789")
    return await ein.keep_sandbox_ein(session, RING, actor, await _employer(session, target), number)


@_deed(ein_status.note_sandbox_ein_status, HELPERS, "employees", sandbox_only=True)
async def _note_sandbox_ein_status(session: AsyncSession, actor: Actor, target: Target) -> object:
    employer = await _employer(session, target)
    return await ein_status.note_sandbox_ein_status(session, actor, employer, "pending")


@_deed(test_values.set_household_account, HELPERS, "employees", sandbox_only=True)
async def _set_household_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await test_values.set_household_account(
        session, RING, actor, CLOCK, target.employer_id, "verified"
    )


@_deed(test_values.set_ein, HELPERS, "employees", sandbox_only=True)
async def _set_ein(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await test_values.set_ein(session, RING, actor, target.employer_id, "assigned")


@_deed(test_values.set_employee_account, HELPERS, "employees", sandbox_only=True)
async def _set_employee_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await test_values.set_employee_account(session, RING, actor, CLOCK, target.employee_id, "verified")


@_deed(test_values.set_tax_number, HELPERS, "employees", sandbox_only=True)
async def _set_tax_number(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await test_values.set_tax_number(session, RING, actor, CLOCK, target.employee_id, "ssn")


@_deed(clocks.read_clock, LOOKERS, "employees", sandbox_only=True)
async def _read_clock(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await clocks.read_clock(session, actor, CLOCK, target.employer_id)


@_deed(clocks.request_advance, HELPERS, "employees", sandbox_only=True)
async def _request_advance(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await clocks.request_advance(session, actor, CLOCK, target.employer_id, NOW + timedelta(days=1))


@_deed(sandbox.delete_sandbox, DECIDERS, "multi_employer", sandbox_only=True)
async def _delete_sandbox(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await sandbox.delete_sandbox(session, actor, target.employer_id)


@_deed(sandbox.reset_sandbox, DECIDERS, "multi_employer", sandbox_only=True)
async def _reset_sandbox(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await sandbox.reset_sandbox(session, actor, target.employer_id)


@_deed(employees.list_employees, LOOKERS, "employees")
async def _list_employees(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.list_employees(session, actor, target.employer_id, Page())


@_deed(employees.list_households, LOOKERS, "employees", names_household=False)
async def _list_households(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.list_households(session, actor, CLOCK, ListHouseholds())


@_deed(employee_search.search_employees, LOOKERS, "employees")
async def _search_employees(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employee_search.search_employees(session, actor, target.employer_id, ["rosa"])


@_deed(employees.find_employee, LOOKERS, "employees")
async def _find_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.find_employee(session, actor, target.employee_id)


@_deed(employees.create_employee, HELPERS, "employees")
async def _create_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    new = AddEmployee(
        employer_id=target.employer_id, first_name="Eva", last_name="Ruiz", pay_rate=Decimal(30)
    )
    return await employees.create_employee(session, actor, CLOCK, new)


@_deed(setup_questions.begin_setup, HELPERS, "employees")
async def _begin_setup(session: AsyncSession, actor: Actor, target: Target) -> object:
    new = AddEmployee(employer_id=target.employer_id, first_name="Eva", last_name="Ruiz")
    return await setup_questions.begin_setup(session, actor, CLOCK, new)


@_deed(setup_questions.answer_question, HELPERS, "employees")
async def _answer_question(session: AsyncSession, actor: Actor, target: Target) -> object:
    changes = ChangeEmployee(pay_frequency="monthly")
    return await setup_questions.answer_question(
        session, actor, CLOCK, target.employee_id, setup_questions.FREQUENCY, changes
    )


@_deed(employees.update_employee, HELPERS, "employees")
async def _update_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    changes = ChangeEmployee(pay_rate=Decimal(31))
    return await employees.update_employee(session, actor, CLOCK, target.employee_id, changes)


@_deed(employees.terminate_employee, HELPERS, "employees")
async def _terminate_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.terminate_employee(session, actor, CLOCK, target.employee_id)


@_deed(employees.reinstate_employee, HELPERS, "employees")
async def _reinstate_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.reinstate_employee(session, actor, CLOCK, target.employee_id)


@_deed(invitations.invite, HELPERS, "employees")
async def _invite(session: AsyncSession, actor: Actor, target: Target) -> object:
    sending = invitations.Sending("https://pay.example.com/portal", RING, None)
    new = Invite("tax_info", send_email=False)
    return await invitations.invite(
        session, actor, CLOCK, sending, target.employee_id, new, direct_deposit_enabled=False
    )


@_deed(invitations.list_invitations, LOOKERS, "employees")
async def _list_invitations(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await invitations.list_invitations(session, actor, target.employee_id)


@_deed(invitations.withdraw_invitation, HELPERS, "employees")
async def _withdraw_invitation(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await invitations.withdraw_invitation(session, actor, CLOCK, target.employee_id, "tax_info")


@_deed(employees.rate_changes, LOOKERS, "employees")
async def _rate_changes(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employees.rate_changes(session, actor, target.employee_id)


@_deed(onboarding.save_employee_tax_number, OWN_NUMBERS, None)
async def _save_tax_number(session: AsyncSession, actor: Actor, target: Target) -> object:
    await _employee(session, target)
    invitation = Invitation(employee_id=target.employee_id, **target.columns)
    number = parse_number("ssn", "123-45-6789")
    return await onboarding.save_employee_tax_number(session, RING, actor, invitation, number)


@_deed(prior_wages.enter_prior_wages, HELPERS, "employees")
async def _enter_prior_wages(session: AsyncSession, actor: Actor, target: Target) -> object:
    line = PriorLine("US-SS-EE", 10_000, 10_000, 620)
    new = EnterPriorWages(
        tax_year=2026, source="Earlier", as_of=date(2026, 6, 30), gross_pay=10_000, lines=(line,)
    )
    return await prior_wages.enter_prior_wages(session, actor, CLOCK, target.employee_id, new)


@_deed(prior_wages.list_prior_wages, LOOKERS, "employees")
async def _list_prior_wages(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await prior_wages.list_prior_wages(session, actor, target.employee_id)


@_deed(registrations.list_registrations, LOOKERS, "state_registrations")
async def _list_registrations(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await registrations.list_registrations(session, actor, CLOCK, target.employer_id)


@_deed(registrations.registrations_of_household, LOOKERS, "state_registrations")
async def _registrations_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await registrations.registrations_of_household(session, actor, CLOCK, household)


@_deed(registrations.reveal_numbers, LOOKERS, "state_registrations")
async def _reveal_numbers(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await registrations.reveal_numbers(session, RING, actor, await _employer(session, target), ())


@_deed(documents.prepare_documents, HELPERS, "documents", ends="document_not_available")
async def _prepare_documents(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = IssueW3(tax_year=2027, employer_id=target.employer_id)
    return await documents.prepare_documents(session, RING, actor, CLOCK, requested)


@_deed(employment.prepare_employment_paper, HELPERS, "documents")
async def _prepare_employment_paper(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await employment.prepare_employment_paper(
        session, actor, CLOCK, target.employee_id, "agreement", "en"
    )


@_deed(employment.prepare_new_hire_report, HELPERS, "documents")
async def _prepare_new_hire_report(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = employment.IssueNewHireReport(employee_id=target.employee_id)
    return await employment.prepare_new_hire_report(session, RING, actor, requested)


@_deed(documents.list_documents, LOOKERS, "documents")
async def _list_documents(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await documents.list_documents(session, actor, target.employer_id, None, Page())


@_deed(documents.open_issued, HELPERS, "documents", ends="not_found")
async def _open_issued(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await documents.open_issued(session, RING, actor, target.payroll_id)


@_deed(signatures.papers_to_sign, OWN_NUMBERS, None)
async def _papers_to_sign(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await signatures.papers_to_sign(session, actor, target.employer_id, target.employee_id)


@_deed(signatures.read_paper, OWN_NUMBERS, None, ends="not_found")
async def _read_paper(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await signatures.read_paper(
        session, RING, actor, target.employer_id, target.employee_id, target.payroll_id
    )


@_deed(signatures.sign_paper, OWN_NUMBERS, None, ends="not_found")
async def _sign_paper(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await signatures.sign_paper(
        session, actor, CLOCK, target.employer_id, target.employee_id, target.payroll_id, "Ada Smith", uuid4()
    )


@_deed(packages.order_package, HELPERS, "documents")
async def _order_package(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    owner = Owner(household.organization_id, household.id, household.sandbox)
    requested = IssueYearPackage(tax_year=2026, employer_id=target.employer_id)
    return await packages.order_package(
        session, actor, CLOCK, requested, documents.Prepared(owner, (), "all.zip", 2026, 93)
    )


@_deed(packages.find_package, LOOKERS, "documents", ends="not_found")
async def _find_package(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await packages.find_package(session, actor, target.payroll_id)


@_deed(packages.latest_package, LOOKERS, "documents")
async def _latest_package(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await packages.latest_package(session, actor, target.employer_id, 2026)


@_deed(estimated_tax.estimate_tax, LOOKERS, "documents", ends="document_not_available")
async def _estimate_tax(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await estimated_tax.estimate_tax(session, actor, CLOCK, target.employer_id, 2027)


@_deed(ein.keep_ein, PEOPLE, None)
async def _keep_ein(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await ein.keep_ein(session, RING, actor, await _employer(session, target), "12-3456789")


@_deed(ein_status.note_ein_status, PEOPLE, None)
async def _note_ein_status(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await ein_status.note_ein_status(session, actor, await _employer(session, target), "pending")


@_deed(assigned_rates.keep_sui_rate, PEOPLE, None)
async def _keep_sui_rate(session: AsyncSession, actor: Actor, target: Target) -> object:
    assigned = assigned_rates.AssignRate(2026, "CA", Decimal("0.021"))
    return await assigned_rates.keep_sui_rate(
        session, actor, CLOCK, await _employer(session, target), assigned
    )


@_deed(onboarding.save_employee_address, OWN_NUMBERS, None)
async def _save_employee_address(session: AsyncSession, actor: Actor, target: Target) -> object:
    await _employee(session, target)
    invitation = Invitation(employee_id=target.employee_id, **target.columns)
    home = PostalAddress(line1="18 Valencia St", city="San Francisco", state="CA", zip="94103")
    return await onboarding.save_employee_address(session, actor, CLOCK, invitation, home)


@_deed(registrations.keep_number, PEOPLE, None)
async def _keep_number(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await registrations.keep_number(
        session, RING, actor, CLOCK, household, state="CA", account_id="sui", number="123-4567-8"
    )


@_deed(registrations.note_application, PEOPLE, None)
async def _note_application(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, day = await _employer(session, target), date(2026, 11, 2)
    return await registrations.note_application(
        session, actor, CLOCK, household, state="CA", account_id="sui", applied_on=day
    )


@_deed(reports.report_state_wages, PAYROLL_LOOKERS, "payroll")
async def _report_state_wages(session: AsyncSession, actor: Actor, target: Target) -> object:
    asked = AskStateWages("CA", 2026, 4, target.employer_id)
    return await reports.report_state_wages(session, actor, asked)


@_deed(reports.state_wages_of_household, PAYROLL_LOOKERS, "payroll")
async def _state_wages_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, asked = await _employer(session, target), AskStateWages("CA", 2026)
    return await reports.state_wages_of_household(session, actor, household, asked)


@_deed(reports.report_tax_liability, PAYROLL_LOOKERS, "payroll")
async def _report_tax_liability(session: AsyncSession, actor: Actor, target: Target) -> object:
    asked = AskTaxLiability(date(2026, 1, 1), date(2026, 12, 31), target.employer_id)
    return await reports.report_tax_liability(session, actor, asked)


@_deed(reports.tax_liability_of_household, PAYROLL_LOOKERS, "payroll")
async def _tax_liability_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, asked = await _employer(session, target), AskTaxLiability(date(2026, 1, 1), date(2026, 12, 31))
    return await reports.tax_liability_of_household(session, actor, household, asked)


@_deed(todos.list_to_dos, LOOKERS, "payroll")
async def _list_to_dos(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await todos.list_to_dos(session, actor, CLOCK, todos.ToDosQuery(target.employer_id))


@_deed(todos.agenda_of_household, LOOKERS, "payroll")
async def _agenda_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await todos.agenda_of_household(session, actor, CLOCK, household)


@_deed(todos.other_to_dos_of_household, LOOKERS, "payroll")
async def _other_to_dos_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await todos.other_to_dos_of_household(session, actor, CLOCK, household)


@_deed(duties.read_calendar, LOOKERS, "state_registrations")
async def _read_calendar(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await duties.read_calendar(session, actor, CLOCK, duties.CalendarQuery(target.employer_id))


@_deed(duties.calendar_of_household, LOOKERS, "state_registrations")
async def _calendar_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, days = await _employer(session, target), (date(2026, 11, 20), date(2027, 11, 20))
    return await duties.calendar_of_household(session, actor, CLOCK, household, *days)


@_deed(duties.deposits_of_payroll, LOOKERS, "state_registrations")
async def _deposits_of_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await duties.deposits_of_payroll(
        session, actor, CLOCK, household, date(2026, 11, 20), (), in_ledger=True
    )


@_deed(duties.mark_duty, PEOPLE, None, ends="validation_error")
async def _mark_duty(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, key = await _employer(session, target), "CA/unmarked/2026"
    return await duties.mark_duty(session, actor, CLOCK, household, key=key, done_on=None)


@_deed(duties.choose_filing, PEOPLE, None)
async def _choose_filing(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await duties.choose_filing(
        session,
        actor,
        CLOCK,
        await _employer(session, target),
        jurisdiction="CA",
        account="sui",
        since_year=2027,
        frequency="annual",
    )


@_deed(duties.note_closing, PEOPLE, None)
async def _note_closing(session: AsyncSession, actor: Actor, target: Target) -> object:
    household, day = await _employer(session, target), date(2026, 11, 2)
    return await duties.note_closing(
        session, actor, CLOCK, household, jurisdiction="CA", account="sui", closed_on=day
    )


@_deed(tax_payments.record_tax_payment, HELPERS, "documents")
async def _record_tax_payment(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_payments.record_tax_payment(session, actor, CLOCK, _tax_payment(target))


@_deed(tax_payments.record_payment_of_household, HELPERS, "documents")
async def _record_payment_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_payments.record_payment_of_household(
        session, actor, CLOCK, household, _tax_payment(target)
    )


@_deed(tax_payments.reverse_tax_payment, HELPERS, "documents", ends="not_found")
async def _reverse_tax_payment(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_payments.reverse_tax_payment(session, actor, CLOCK, target.payroll_id)


@_deed(tax_payments.reverse_payment_of_household, HELPERS, "documents", ends="not_found")
async def _reverse_payment_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_payments.reverse_payment_of_household(
        session, actor, CLOCK, household, target.payroll_id
    )


@_deed(tax_payments.payments_of_household, LOOKERS, "documents")
async def _payments_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_payments.payments_of_household(session, actor, household, LedgerQuery())


@_deed(tax_payments.list_tax_payments, LOOKERS, "documents")
async def _list_tax_payments(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_payments.list_tax_payments(session, actor, LedgerQuery(target.employer_id))


@_deed(tax_payments.balances_of_household, LOOKERS, "documents")
async def _balances_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_payments.balances_of_household(session, actor, CLOCK, household)


@_deed(tax_filings.record_filing, HELPERS, "documents", ends="validation_error")
async def _record_filing(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_filings.record_filing(session, actor, CLOCK, _tax_filing(target))


@_deed(tax_filings.record_filing_of_household, HELPERS, "documents", ends="validation_error")
async def _record_filing_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_filings.record_filing_of_household(session, actor, CLOCK, household, _tax_filing(target))


@_deed(tax_filings.reverse_filing, HELPERS, "documents", ends="not_found")
async def _reverse_filing(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_filings.reverse_filing(session, actor, CLOCK, target.payroll_id)


@_deed(tax_filings.reverse_filing_of_household, HELPERS, "documents", ends="not_found")
async def _reverse_filing_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_filings.reverse_filing_of_household(session, actor, CLOCK, household, target.payroll_id)


@_deed(tax_filings.filings_of_household, LOOKERS, "documents")
async def _filings_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await tax_filings.filings_of_household(session, actor, household, LedgerQuery())


@_deed(tax_filings.list_filings, LOOKERS, "documents")
async def _list_filings(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await tax_filings.list_filings(session, actor, LedgerQuery(target.employer_id))


@_deed(ledger_reversals.filings_of_item, LOOKERS, "documents")
async def _filings_of_item(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await ledger_reversals.filings_of_item(session, actor, household, "CA/wages-quarterly/2026-Q3")


@_deed(ledger_reversals.find_filing, LOOKERS, "documents", ends="not_found")
async def _find_filing(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await ledger_reversals.find_filing(session, actor, household, target.payroll_id)


@_deed(ledger_reversals.preview_payment_reversal, HELPERS, "documents", ends="not_found")
async def _preview_payment_reversal(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await ledger_reversals.preview_payment_reversal(
        session, actor, CLOCK, household, target.payroll_id
    )


def _tax_payment(target: Target) -> RecordTaxPayment:
    return RecordTaxPayment(
        employer_id=target.employer_id,
        agency="us-irs",
        account_type="estimated-tax",
        period="2026-I3",
        amount=50_00,
        paid_on=date(2026, 9, 14),
        method="bank_account",
    )


def _tax_filing(target: Target) -> RecordFiling:
    return RecordFiling(employer_id=target.employer_id, key="CA/nothing/2026", filed_on=date(2026, 10, 27))


@_deed(duties.account_filings, LOOKERS, "state_registrations")
async def _account_filings(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await duties.account_filings(session, actor, CLOCK, await _employer(session, target), ("US", "CA"))


@_deed(insurance.policies_of_household, LOOKERS, "state_registrations")
async def _policies_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await insurance.policies_of_household(session, actor, CLOCK, await _employer(session, target))


@_deed(insurance.keep_policy, PEOPLE, None)
async def _keep_policy(session: AsyncSession, actor: Actor, target: Target) -> object:
    told = insurance.PolicyDetails(
        state="CA", kind="workers_compensation", carrier="State Fund", starts_on=date(2026, 1, 1)
    )
    return await insurance.keep_policy(session, actor, CLOCK, await _employer(session, target), told)


@_deed(threshold_standing.read_threshold_progress, LOOKERS, "state_registrations")
async def _read_threshold_standing(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await threshold_standing.read_threshold_progress(session, actor, household, 2026)


@_deed(calendar_feed.link_in_force, LOOKERS, "state_registrations")
async def _link_in_force(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await calendar_feed.link_in_force(session, actor, await _employer(session, target))


@_deed(calendar_feed.make_link, PEOPLE, None)
async def _make_link(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await calendar_feed.make_link(session, actor, CLOCK, await _employer(session, target))


@_deed(calendar_feed.revoke_link, PEOPLE, None)
async def _revoke_link(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await calendar_feed.revoke_link(session, actor, CLOCK, await _employer(session, target))


@_deed(read_autopilot, LOOKERS, "ach")
async def _read_autopilot(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await read_autopilot(
        session, actor, CLOCK, target.employer_id, target.employee_id, direct_deposit_enabled=True
    )


@_deed(list_autopilot, LOOKERS, "ach")
async def _list_autopilot(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await list_autopilot(session, actor, CLOCK, target.employer_id)


@_deed(read_history, LOOKERS, "ach")
async def _read_history(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = HistoryQuery(employer_id=target.employer_id, employee_id=target.employee_id)
    return await read_history(session, actor, requested)


@_deed(manage, HELPERS, "ach", ends="not_found")
async def _manage(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = Manage(employer_id=target.employer_id, employee_id=target.employee_id, action="pause")
    return await manage(session, actor, CLOCK, requested, direct_deposit_enabled=True)


@_deed(enroll, PEOPLE, None, ends="invalid_state")
async def _enroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    terms = EnrolledTerms(
        standard_hours=Decimal(40), frequency="weekly", anchor=date(2026, 11, 16), pay_days_after=9
    )
    requested = EnrollEmployee(
        employer_id=target.employer_id,
        employee_id=target.employee_id,
        terms=terms,
        agreement=Agreement(text_version="another"),
    )
    return await enroll(session, actor, CLOCK, requested, direct_deposit_enabled=False)


@_deed(change_enrollment, PEOPLE, None, ends="not_found")
async def _change_enrollment(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = ChangeEnrollment(
        employer_id=target.employer_id,
        employee_id=target.employee_id,
        from_period=date(2026, 11, 23),
        standard_hours=Decimal(30),
        frequency="weekly",
        pay_days_after=9,
    )
    return await change_enrollment(session, actor, CLOCK, requested)


@_deed(renew_agreement, PEOPLE, None, ends="not_found")
async def _agree_anew(session: AsyncSession, actor: Actor, target: Target) -> object:
    agreement = Agreement(text_version="another")
    return await renew_agreement(session, actor, CLOCK, target.employer_id, target.employee_id, agreement)


@_deed(standing.authorize_standing, PEOPLE, None, ends="direct_deposit_unavailable")
async def _authorize_standing(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await standing.authorize_standing(
        session, actor, household, target.payroll_id, NOW, text_version="1", agreed_text="Yes.", address=None
    )


@_deed(confirm_payroll, PEOPLE, None, ends="not_found")
async def _confirm_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await confirm_payroll(session, actor, CLOCK, target.payroll_id)


@_deed(release_payroll, PEOPLE, None, ends="not_found")
async def _let_go(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await release_payroll(session, actor, CLOCK, target.payroll_id)


@_deed(payrolls.preview_payroll, PAYROLL_LOOKERS, "payroll")
async def _preview_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.preview_payroll(
        session, actor, CLOCK, _payroll(target), direct_deposit_enabled=True
    )


@_deed(payrolls.explain_payroll, PAYROLL_LOOKERS, "payroll")
async def _explain_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.explain_payroll(
        session, actor, CLOCK, _payroll(target), direct_deposit_enabled=True
    )


@_deed(payrolls.run_payroll, PAYERS, "payroll")
async def _run_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.run_payroll(session, actor, CLOCK, _payroll(target), direct_deposit_enabled=True)


@_deed(payrolls.get_payroll, PAYROLL_LOOKERS, "payroll")
async def _get_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.get_payroll(session, actor, CLOCK, target.payroll_id)


@_deed(explain_stored_payroll, PAYROLL_LOOKERS, "payroll")
async def _explain_stored_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await explain_stored_payroll(session, actor, target.payroll_id)


@_deed(payrolls.list_payrolls, PAYROLL_LOOKERS, "payroll")
async def _list_payrolls(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.list_payrolls(session, actor, PayrollQuery(employer_id=target.employer_id))


@_deed(payrolls.query_payrolls, PAYROLL_LOOKERS, "payroll")
async def _payrolls_wanted(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payrolls.query_payrolls(session, actor, PayrollQuery(employer_id=target.employer_id))


@_deed(payroll_lists.look_through, PAYROLL_LOOKERS, "payroll")
async def _look_through(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payroll_lists.look_through(session, actor, PayrollQuery(employer_id=target.employer_id))


@_deed(payroll_search.search_payrolls, PAYROLL_LOOKERS, "payroll")
async def _search_payrolls(session: AsyncSession, actor: Actor, target: Target) -> object:
    wanted = payroll_search.PayrollSearch(cents=(1, 100_000))
    return await payroll_search.search_payrolls(session, actor, target.employer_id, wanted)


@_deed(payroll_lists.payrolls_for_a_file, PAYROLL_LOOKERS, "payroll")
async def _payrolls_for_a_file(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await payroll_lists.payrolls_for_a_file(
        session, actor, PayrollQuery(employer_id=target.employer_id)
    )


@_deed(drafts.save_draft, PAYERS, "payroll")
async def _save_draft(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.save_draft(session, actor, CLOCK, uuid4(), _payroll(target))


@_deed(drafts.list_drafts, PAYROLL_LOOKERS, "payroll")
async def _list_drafts(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.list_drafts(session, actor, target.employer_id)


@_deed(drafts.list_drafts_between, PAYROLL_LOOKERS, "payroll", names_household=False)
async def _list_drafts_between(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.list_drafts_between(session, actor, target.payroll_id, target.payroll_id, 1)


@_deed(drafts.find_draft, PAYROLL_LOOKERS, "payroll", ends="not_found")
async def _find_draft(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.find_draft(session, actor, target.payroll_id)


@_deed(drafts.review_draft, PAYROLL_LOOKERS, "payroll", ends="not_found")
async def _review_draft(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.review_draft(session, actor, CLOCK, target.payroll_id, direct_deposit_enabled=True)


@_deed(drafts.drop_draft, PAYERS, "payroll", ends="not_found")
async def _drop_draft(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.drop_draft(session, actor, CLOCK, target.payroll_id)


@_deed(drafts.run_draft, PAYERS, "payroll", ends="not_found")
async def _run_draft(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await drafts.run_draft(
        session,
        actor,
        CLOCK,
        target.payroll_id,
        drafts.DraftApproval(preview_token=""),
        direct_deposit_enabled=True,
    )


@_deed(corrections.correct_payroll, PAYERS, "payroll", ends="invalid_state")
async def _correct_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await corrections.correct_payroll(session, actor, CLOCK, target.payroll_id, uuid4())


@_deed(voiding.void_payroll, PAYERS, "payroll", ends="invalid_state")
async def _void_payroll(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await voiding.void_payroll(session, actor, CLOCK, target.payroll_id)


@_deed(mark_handed_over, PAYERS, "payroll", ends="invalid_state")
async def _mark_handed_over(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await mark_handed_over(session, actor, CLOCK, target.payroll_id)


@_deed(remedies.apply_remedy, PAYERS, "payroll", ends="invalid_state")
async def _apply_remedy(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await remedies.apply_remedy(
        session, actor, CLOCK, target.payroll_id, target.employee_id, "pay_by_check"
    )


@_deed(reversed_deposits.reverse_deposit, OPERATOR, None)
async def _reverse_deposit(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await reversed_deposits.reverse_deposit(
        session, actor, target.payroll_id, target.employee_id, "duplicate", 100, NOW
    )


@_deed(settlements.settle_wages, OPERATOR, None)
async def _settle_wages(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await settlements.settle_wages(
        session, actor, target.payroll_id, 100, NOW.date(), "check 118", NOW, NOW.date()
    )


@_deed(reversals.send_reversal, OPERATOR, None)
async def _send_reversal(session: AsyncSession, actor: Actor, target: Target) -> object:
    day = date(2026, 11, 24)
    found = reversals.Reversible(
        target.payroll_id,
        100,
        target.payroll_id,
        target.employee_id,
        target.employer_id,
        "0000",
        day,
        day,
        day,
    )
    return await reversals.send_reversal(session, actor, found, "duplicate", NOW)


@_deed(escrow.set_rule, PAYERS, "payroll")
async def _set_rule(session: AsyncSession, actor: Actor, target: Target) -> object:
    employee = await _employee(session, target)
    return await escrow.set_rule(session, actor, employee, SetAsideRule(amount_cents=100))


@_deed(escrow.accounts_of_household, PAYROLL_LOOKERS, "payroll")
async def _accounts_of_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await escrow.accounts_of_household(session, actor, await _employer(session, target))


@_deed(escrow.payout, PAYERS, "payroll", ends="invalid_state")
async def _payout(session: AsyncSession, actor: Actor, target: Target) -> object:
    employee = await _employee(session, target)
    return await escrow.payout(session, actor, CLOCK, employee, amount=Decimal(1), method="check")


@_deed(household_money.read_household_money, PAYROLL_LOOKERS, "payroll")
async def _read_household_money(session: AsyncSession, actor: Actor, target: Target) -> object:
    household = await _employer(session, target)
    return await household_money.read_household_money(
        session, actor, household, NOW, direct_deposit_enabled=False
    )


@_deed(accounts.connect_household_account, PEOPLE, None)
async def _connect_household(session: AsyncSession, actor: Actor, target: Target) -> object:
    employer = await _employer(session, target)
    return await accounts.connect_household_account(session, RING, actor, employer, _details(), NOW)


@_deed(accounts.connect_employee_account, OWN_NUMBERS, None)
async def _connect_employee(session: AsyncSession, actor: Actor, target: Target) -> object:
    employee = await _employee(session, target)
    return await accounts.connect_employee_account(session, RING, actor, employee, _details(), NOW)


@_deed(accounts.disconnect, PEOPLE, None)
async def _disconnect(session: AsyncSession, actor: Actor, target: Target) -> object:
    await _employer(session, target)
    account = BankAccount(id=target.payroll_id, employee_id=None, **target.columns)
    return await accounts.disconnect(session, actor, account, NOW)


@_deed(authorizations.authorize, PAYERS, "payroll", ends="direct_deposit_unavailable")
async def _authorize(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await authorizations.authorize(session, actor, await _employer(session, target), NOW)


@_deed(members.list_members, MEMBERS, None, names_household=False, any_plan=True)
async def _list_members(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.list_members(session, actor)


@_deed(plan_use, MEMBERS, None, names_household=False, any_plan=True)
async def _plan_use(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await plan_use(session, actor)


@_deed(members.list_member_invitations, MEMBERS, None, names_household=False, any_plan=True)
async def _list_member_invitations(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.list_member_invitations(session, actor, CLOCK)


@_deed(members.invite_member, OWNERS, None, names_household=False, any_plan=True)
async def _invite_member(session: AsyncSession, actor: Actor, target: Target) -> object:
    inviting = actor if actor.kind != "user" else replace(actor, kind="operator", id=None)
    if isinstance(session, Untouched):
        inviting = actor
    return await members.invite_member(session, inviting, CLOCK, "ana@example.com", "viewer")


@_deed(members.withdraw_member_invitation, OWNERS, None, names_household=False, any_plan=True)
async def _withdraw_member_invitation(session: AsyncSession, actor: Actor, target: Target) -> object:
    invitation_id = uuid4()
    if not isinstance(session, Untouched):
        session.add(
            MemberInvitation(
                id=invitation_id,
                organization_id=target.organization_id,
                email="bea@example.com",
                role="viewer",
                status="pending",
                token_hash=invitation_id.bytes * 2,
                invited_by=None,
                created_at=NOW,
                expires_at=NOW + members.INVITED_FOR,
            )
        )
        await session.flush()
    return await members.withdraw_member_invitation(session, actor, CLOCK, invitation_id)


@_deed(members.withdraw_invitations_of, OWNERS, None, names_household=False, any_plan=True)
async def _withdraw_invitations_of(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.withdraw_invitations_of(session, actor, CLOCK, uuid4())


@_deed(members.change_role, OWNERS, None, ends="not_found", names_household=False, any_plan=True)
async def _change_role(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.change_role(session, actor, CLOCK, uuid4(), "viewer")


@_deed(owner_removal.keep_member, OWNERS, None, names_household=False, any_plan=True)
async def _keep_member(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await owner_removal.keep_member(session, actor, CLOCK, uuid4())


@_deed(members.withdraw_invitations_of, OWNERS, None, names_household=False, any_plan=True)
async def _withdraw_invitations_of(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.withdraw_invitations_of(session, actor, CLOCK, uuid4())


@_deed(owner_removal.restore_owner, OWNERS, None, names_household=False, any_plan=True)
async def _restore_owner(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await owner_removal.restore_owner(session, actor, CLOCK, uuid4())


@_deed(members.remove_member, OWNERS, None, ends="not_found", names_household=False, any_plan=True)
async def _remove_member(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.remove_member(session, actor, CLOCK, uuid4())


@_deed(members.leave, MEMBERS, None, ends="not_found", names_household=False, any_plan=True)
async def _leave(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await members.leave(session, actor, CLOCK)


@_deed(freezing.end_freeze, OWNERS, None, any_plan=True)
async def _end_freeze(session: AsyncSession, actor: Actor, target: Target) -> object:
    fresh = replace(actor, fresh=actor.kind == "user")
    return await freezing.end_freeze(session, fresh, CLOCK, target.employer_id)


@_deed(own_keys.list_own_keys, MEMBERS, None, names_household=False, any_plan=True)
async def _list_own_keys(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.list_own_keys(session, actor)


@_deed(own_keys.households_for_keys, MEMBERS, None, names_household=False, any_plan=True)
async def _households_for_keys(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.households_for_keys(session, actor)


@_deed(own_keys.create_own_key, OWNERS, None, names_household=False, any_plan=True)
async def _create_own_key(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.create_own_key(session, actor, CLOCK, NewKey(scopes=("payroll",)))


@_deed(own_keys.keys_made_by, MEMBERS, None, names_household=False, any_plan=True)
async def _keys_made_by(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.keys_made_by(session, actor, uuid4())


@_deed(own_keys.revoke_keys_made_by, OWNERS, None, names_household=False, any_plan=True)
async def _revoke_keys_made_by(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.revoke_keys_made_by(session, actor, CLOCK, uuid4())


@_deed(own_keys.revoke_own_key, OWNERS, None, ends="not_found", names_household=False, any_plan=True)
async def _revoke_own_key(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_keys.revoke_own_key(session, actor, CLOCK, uuid4())


@_deed(onboarding.save_own_address, HERSELF, None)
async def _save_own_address(session: AsyncSession, actor: Actor, target: Target) -> object:
    home = PostalAddress(line1="1 Main Street", city="Oakland", state="CA", zip="94601")
    return await onboarding.save_own_address(session, actor, CLOCK, target.employee_id, home)


@_deed(onboarding.save_own_language, HERSELF, None)
async def _save_own_language(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await onboarding.save_own_language(session, actor, CLOCK, target.employee_id, "es")


@_deed(signing.sign_certificate, HERSELF, None)
async def _sign_certificate(session: AsyncSession, actor: Actor, target: Target) -> object:
    sheet = certificate_sheets.sheet_for("US", CLOCK.today(), "en", {})
    assert sheet is not None
    answers = certificate_sheets.read_answers(sheet, {"us_filing_status": "single"})
    signature = signing.Signature("Ada", CLOCK.today(), invitation_id=None, person_id=None)
    if not isinstance(session, Untouched) and await session.get(Employee, target.employee_id):
        invitation = Invitation(
            id=uuid4(),
            **target.columns,
            employee_id=target.employee_id,
            type="tax_info",
            status="cancelled",
            token_hash=target.employee_id.bytes * 2,
            email_sent=False,
            created_at=NOW,
            expires_at=NOW + timedelta(days=7),
        )
        session.add(invitation)
        await session.flush()
        signature = replace(signature, invitation_id=invitation.id)
    return await signing.sign_certificate(
        session, actor, CLOCK, target.employee_id, sheet, answers, signature
    )


@_deed(signing.certificates_of, HERSELF, None)
async def _certificates_of(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await signing.certificates_of(session, actor, target.employee_id)


@_deed(signing.find_certificate, HERSELF, None, ends="not_found")
async def _find_certificate(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await signing.find_certificate(session, actor, target.employee_id, target.payroll_id)


@_deed(links.employees_with_accounts, LOOKERS, "employees", names_household=False)
async def _employees_with_accounts(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await links.employees_with_accounts(session, actor)


@_deed(links.unconfirmed_account, LOOKERS, "employees", names_household=False)
async def _unconfirmed_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await links.unconfirmed_account(session, actor, target.employee_id)


@_deed(links.confirm_link, HELPERS, "employees", ends="not_found")
async def _confirm_link(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await links.confirm_link(session, actor, target.employee_id, target.payroll_id)


@_deed(links.end_link, HELPERS, "employees", ends="not_found")
async def _end_link(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await links.end_link(session, actor, CLOCK, target.payroll_id)


@_deed(account_changes.change_account, OWN_NUMBERS, None)
async def _change_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await account_changes.change_account(session, RING, actor, CLOCK, target.employee_id, _details())


@_deed(account_changes.withdraw_change, OWN_NUMBERS, None)
async def _take_back_change(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await account_changes.withdraw_change(session, actor, CLOCK, target.employee_id)


@_deed(accounts.connect_pending_account, OWN_NUMBERS, None)
async def _connect_waiting_account(session: AsyncSession, actor: Actor, target: Target) -> object:
    made = Employee(id=target.employee_id, **target.columns)
    employee = await _loaded(session, Employee, target.employee_id, made)
    return await accounts.connect_pending_account(session, RING, actor, employee, _details(), NOW)


@_deed(requests.request_set_aside, HERSELF, None)
async def _ask_to_set_aside(session: AsyncSession, actor: Actor, target: Target) -> object:
    rule = SetAsideRule(amount_cents=100)
    return await requests.request_set_aside(session, actor, CLOCK, target.employee_id, rule)


@_deed(requests.withdraw_request, HERSELF, None)
async def _take_back_request(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await requests.withdraw_request(session, actor, CLOCK, target.employee_id)


@_deed(requests.pending_requests, PAYROLL_LOOKERS, "payroll", names_household=False)
async def _pending_requests(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await requests.pending_requests(session, actor)


@_deed(requests.decide_request, PAYERS, "payroll", ends="not_found")
async def _decide_request(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await requests.decide_request(session, actor, CLOCK, target.payroll_id, "approved")


@_deed(escrow.stop_own_rule, HERSELF, None)
async def _stop_own_rule(session: AsyncSession, actor: Actor, target: Target) -> object:
    made = Employee(id=target.employee_id, **target.columns)
    employee = await _loaded(session, Employee, target.employee_id, made)
    return await escrow.stop_own_rule(session, actor, employee)


@_deed(own_pay.own_pay, HERSELF, None)
async def _own_pay(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await own_pay.own_pay(session, actor, CLOCK, target.employee_id)


@_deed(documents.prepare_own_paper, HERSELF, None, ends="document_not_available")
async def _prepare_own_paper(session: AsyncSession, actor: Actor, target: Target) -> object:
    requested = IssuePaystub(
        payroll_id=target.payroll_id, employer_id=target.employer_id, employee_id=target.employee_id
    )
    return await documents.prepare_own_paper(session, RING, actor, CLOCK, requested)


@_deed(authorization_requests.approve, PEOPLE, None, ends="gone")
async def _say_yes(session: AsyncSession, actor: Actor, target: Target) -> object:
    program = Client("a-program", "Helper", ("https://agent.example.com/back",))
    consent = authorization_requests.Consent(
        target.employer_id, frozenset({"payroll:run"}), True, authorization_requests.GRANT_LIFETIMES[0]
    )
    return await authorization_requests.approve(session, actor, NOW, "x" * 43, uuid4(), program, consent)


@_deed(grants.list_agents, MEMBERS, None, names_household=False, any_plan=True)
async def _list_agents(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await grants.list_agents(session, actor)


@_deed(grants.read_agent, MEMBERS, None, ends="not_found", names_household=False, any_plan=True)
async def _read_agent(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await grants.read_agent(session, actor, uuid4())


@_deed(grants.revoke_grant, PEOPLE, None, ends="not_found", names_household=False, any_plan=True)
async def _disconnect(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await grants.revoke_grant(session, actor, CLOCK, uuid4())


@_deed(worklist.first_households, MEMBERS, None, names_household=False, any_plan=True)
async def _first_households(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await worklist.first_households(session, actor, 5)


@_deed(worklist.find_households, MEMBERS, None, names_household=False, any_plan=True)
async def _find_households(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await worklist.find_households(session, actor, "lopez")


@_deed(mode_switch.count_households, MEMBERS, None, names_household=False, any_plan=True)
async def _count_households(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await mode_switch.count_households(session, actor, "lopez")


@_deed(worklist.read_worklist, MEMBERS, None, names_household=False, any_plan=True)
async def _read_worklist(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await worklist.read_worklist(session, actor, CLOCK, worklist.WorklistQuery())


@_deed(comparison.households_as, MEMBERS, None, names_household=False, any_plan=True)
async def _households_as(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await comparison.households_as(session, actor)


@_deed(account_changes.approve_change, OWNERS, None)
async def _give_word(session: AsyncSession, actor: Actor, target: Target) -> object:
    return await account_changes.approve_change(session, actor, CLOCK, target.employee_id)
