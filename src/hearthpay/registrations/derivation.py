"""Which registrations a household needs, has, or has applied for: rows derived from plain facts, and never stored.

Whether unemployment insurance requires an account doesn't depend on family ties. For disability insurance and paid
leave it does, since their tax lines exempt relatives. For income tax withholding it depends on what is withheld
today.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, get_args

from hearthpay.registrations.accounts import RegistrationType, StateAccount, accounts_of
from hearthpay.taxes.certificates import FederalCertificate
from hearthpay.taxes.contribution import Contribution
from hearthpay.taxes.errors import TaxInputError
from hearthpay.taxes.messages import DollarAmount, Message, message
from hearthpay.taxes.paycheck.state_income_tax import is_withheld
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.taxes.state import StateRules
from hearthpay.taxes.thresholds import LiabilityThreshold, liability_thresholds, supported_threshold_years

RegistrationStatus = Literal["registered", "pending", "required", "not_required"]
"""``registered``: a number is on file. ``pending``: needed, and the household said that it applied. ``required``:
needed, and no application recorded. ``not_required``: not needed now, and no number on file."""

_ANY_WAGES: Final = 1
"""In cents: the threshold of a line that any wages make liable."""


@dataclass(frozen=True, slots=True)
class WithholdingElection:
    """What employee and household agreed on income tax; whether it is binding depends on the state's rule."""

    federal: bool = True
    """Whether federal income tax is withheld."""

    state: bool | None = None
    """Whether the work state's is; None if not specified, which follows the federal election."""

    exempt: bool = False
    """Whether the certificate claims exemption from the work state's tax."""

    reciprocity_certificate: bool = False
    """Whether a certificate moves the tax to the state of residence."""


@dataclass(frozen=True, slots=True)
class WagesOfQuarter:
    """What an employee was paid for work in a state, by calendar quarter of the pay dates."""

    state: str
    year: int
    quarter: int
    cents: int


@dataclass(frozen=True, slots=True)
class EmployeeFacts:
    """What registrations depend on for one employee."""

    work_state: str
    active: bool = True
    """Whether the employment is active, from the day it is entered, since some agencies want to know before it
    begins.
    """

    relationship: str = "none"
    """The family tie to the household, one of `hearthpay.taxes.contribution.RELATIONSHIPS`."""

    residence_state: str | None = None
    """None if it is the work state."""

    election: WithholdingElection = WithholdingElection()
    localities: tuple[str, ...] = ()
    """The selected places that have a tax of their own, by their codes."""

    certificate: Mapping[str, Any] = field(default_factory=dict)
    """The entries of the work state's certificate, which may select places too."""

    wages: tuple[WagesOfQuarter, ...] = ()


@dataclass(frozen=True, slots=True)
class NumberOnFile:
    """A number that the household has; only its last characters are shown."""

    state: str
    number_id: str
    last_four: str


@dataclass(frozen=True, slots=True)
class RegistrationApplication:
    """The household's statement that it applied for a number."""

    state: str
    number_id: str
    applied_on: datetime.date


@dataclass(frozen=True, slots=True)
class HouseholdFacts:
    """What registrations depend on for a household with all its employees, including those who left."""

    state: str
    employees: tuple[EmployeeFacts, ...] = ()
    numbers: tuple[NumberOnFile, ...] = ()
    applications: tuple[RegistrationApplication, ...] = ()


class RequiredFrom(NamedTuple):
    """The wages of a calendar quarter from which an account is required, while no quarter has reached them; in
    cents.
    """

    quarterly_wages: int
    paid: int
    """What was paid in the current quarter: to all employees together, or to one employee if each is counted alone."""


AccountNeed = Literal["needed", "not_yet", "not_needed"]
"""Whether a household needs an account, with or without a number on file. ``not_yet``: once the wages of a quarter
reach the state's threshold."""


class AccountAssessment(NamedTuple):
    """Whether an account or a policy is needed, and why."""

    need: AccountNeed
    reason: Message


@dataclass(frozen=True, slots=True)
class Registration:
    """One row: an account or policy of a state, and the household's status with it."""

    state: str
    account_id: str
    """The account's name within the state; its type except for local taxes."""

    account_type: RegistrationType
    agency: str
    label: str
    url: str | None
    """Where to register; None if nothing requires it."""

    status: RegistrationStatus
    last_four: str | None
    applied_on: datetime.date | None
    number_id: str
    assessment: AccountAssessment
    required_from: RequiredFrom | None = None
    """The state's wage threshold that isn't reached yet, for a row that is required or pending."""

    @property
    def required(self) -> bool:
        """Whether something remains to be done: needed, and no number on file."""
        return self.status in ("required", "pending")


Inclusion = Literal["voluntary", "local"]
"""Accounts that are listed only on request: for income tax withheld only by agreement, and for taxes of a city,
county or school district."""

EVERY_ACCOUNT: Final[frozenset[Inclusion]] = frozenset(get_args(Inclusion))


def registrations_of(
    household: HouseholdFacts, on: datetime.date, *, include: Set[Inclusion] = frozenset()
) -> tuple[Registration, ...]:
    """Return the rows of every state that concerns the household on a day: by state, then by type of account.

    These are its own state, the states where its employees work or worked, those whose income tax is withheld, and
    those of its numbers and applications. What ``include`` names is listed too: while something is withheld under it,
    and while a number of it is on file. Raises `ValueError` for an unknown state.
    """
    states = {household.state}
    states |= {employee.work_state for employee in household.employees}
    states |= {wages.state for employee in household.employees for wages in employee.wages}
    states |= {state for employee in household.employees if (state := state_withheld_for(employee, on))}
    states |= {number.state for number in household.numbers}
    states |= {application.state for application in household.applications}
    rows = (
        (account, _row(account, household, on))
        for state in sorted(states)
        for account in accounts_of(state).accounts
        if (kind := _inclusion(account)) is None or kind in include
    )
    return tuple(row for account, row in rows if _inclusion(account) is None or row.status != "not_required")


def _inclusion(account: StateAccount) -> Inclusion | None:
    if account.type == "local":
        return "local"
    return "voluntary" if account.voluntary else None


def state_withheld_for(employee: EmployeeFacts, on: datetime.date) -> str | None:
    """Return the state whose income tax is withheld from an active employee's pay on a day, or None.

    As in a paycheck: the state's rule for households first, then the elections; a certificate of reciprocity moves
    the tax to the state of residence.
    """
    if not employee.active:
        return None
    rules = _rules(employee.work_state, on.year)
    tax, election = rules.income_tax, employee.election
    certificate = {"exempt": election.exempt, "elected": election.state}
    state, home = employee.work_state, employee.residence_state
    if home and election.reciprocity_certificate and home in rules.reciprocity:
        moved = _rules(home, on.year).income_tax
        if moved is not None:
            state, tax, certificate = home, moved, {}
    if tax is None or not is_withheld(tax, FederalCertificate(elected=election.federal), certificate):
        return None
    return state


def local_lines_of(employee: EmployeeFacts, on: datetime.date) -> frozenset[str]:
    """Return the codes of the local taxes on an active employee's pay on a day, by the selected places."""
    if not employee.active:
        return frozenset()
    rules = _rules(employee.work_state, on.year)
    try:
        certificate = {} if rules.income_tax is None else rules.income_tax.form.read(employee.certificate)
        _, taxes = rules.local_taxes.choose(employee.localities, certificate, on)
    except TaxInputError:
        return frozenset()
    return frozenset(tax.code for tax in taxes)


def _row(account: StateAccount, household: HouseholdFacts, on: datetime.date) -> Registration:
    entry = (account.state, account.number.id)
    last_four = next(
        (number.last_four for number in household.numbers if (number.state, number.number_id) == entry), None
    )
    applied_on = next(
        (
            application.applied_on
            for application in household.applications
            if (application.state, application.number_id) == entry
        ),
        None,
    )
    required = _is_required(account, household.employees, on)
    required_from = _required_from(account, household.employees, on) if required else None
    status: RegistrationStatus
    if last_four is not None:
        status = "registered"
    elif not required:
        status = "not_required"
    else:
        status = "required" if applied_on is None else "pending"
    return Registration(
        state=account.state,
        account_id=account.id,
        account_type=account.type,
        agency=account.agency.full_name,
        label=account.label,
        url=None if status == "not_required" else account.url,
        status=status,
        last_four=last_four,
        applied_on=applied_on if status == "pending" else None,
        number_id=account.number.id,
        assessment=_assess(account, household.employees, on, required_from, required=required),
        required_from=required_from if last_four is None else None,
    )


def _assess(
    account: StateAccount,
    employees: tuple[EmployeeFacts, ...],
    on: datetime.date,
    required_from: RequiredFrom | None,
    *,
    required: bool,
) -> AccountAssessment:
    if account.type in ("withholding", "local"):
        if account.type == "withholding":
            why = message("account_withheld" if required else "account_not_withheld")
        else:
            why = message("account_local_tax" if required else "account_no_local_tax")
        return AccountAssessment("needed" if required else "not_needed", why)
    works_there = _works_in(account.state, employees)
    if required_from is not None and works_there:
        wages, limit = DollarAmount(required_from.paid), DollarAmount(required_from.quarterly_wages)
        return AccountAssessment("not_yet", message("account_wages_below", threshold=limit, wages=wages))
    if required:
        return AccountAssessment(
            "needed", message("account_works_there" if works_there else "account_wages_paid")
        )
    if account.lines and not any(_lines(account, on.year)):
        return AccountAssessment("not_needed", message("account_not_begun"))
    return AccountAssessment(
        "not_needed", message("account_all_exempt" if works_there else "account_nobody_works_there")
    )


def _is_required(account: StateAccount, employees: tuple[EmployeeFacts, ...], on: datetime.date) -> bool:
    if account.type == "withholding":
        return any(state_withheld_for(employee, on) == account.state for employee in employees)
    if account.type == "local":
        return any(not local_lines_of(employee, on).isdisjoint(account.lines) for employee in employees)
    if account.type == "sui":
        return _works_in(account.state, employees) or _paid_enough(account.state, "sui", employees, on)
    return any(_is_liable(account, line, employees, on) for line in _lines(account, on.year))


def _is_liable(
    account: StateAccount, line: Contribution, employees: tuple[EmployeeFacts, ...], on: datetime.date
) -> bool:
    """Return whether anyone not exempt from the line works there, or was paid enough to still be reported."""
    subject = [employee for employee in employees if employee.relationship not in line.exempt_relationships]
    if _works_in(account.state, subject):
        return True
    return not account.insurance and _paid_enough(account.state, line.liability, subject, on, line.code)


def _works_in(state: str, employees: Iterable[EmployeeFacts]) -> bool:
    return any(employee.active and employee.work_state == state for employee in employees)


def _paid_enough(
    state: str, liability: str, employees: Iterable[EmployeeFacts], on: datetime.date, code: str | None = None
) -> bool:
    """Return whether wages of this year or the one before keep the household liable after everyone has left.

    They do if a quarter of all wages in the state reached the threshold. With ``code``, only years count in which
    that line was in force.
    """
    cents, next_year_too = _threshold(state, liability, on)
    quarters: dict[tuple[int, int], int] = {}
    for employee in employees:
        for wages in employee.wages:
            if wages.state == state:
                quarter = (wages.year, wages.quarter)
                quarters[quarter] = quarters.get(quarter, 0) + wages.cents
    years = (on.year, on.year - 1) if next_year_too else (on.year,)
    return any(
        paid >= cents and year in years and (code is None or _known_in(state, code, year))
        for (year, _), paid in quarters.items()
    )


def _required_from(
    account: StateAccount, employees: tuple[EmployeeFacts, ...], on: datetime.date
) -> RequiredFrom | None:
    """Return the quarterly wages from which the account is required; None if they are reached or there is no
    threshold.
    """
    if account.type in ("withholding", "local"):
        return None
    liabilities: list[tuple[str, list[EmployeeFacts]]] = [("sui", list(employees))]
    if account.type != "sui":
        liabilities = [
            (
                line.liability,
                [each for each in employees if each.relationship not in line.exempt_relationships],
            )
            for line in _lines(account, on.year)
        ]
    found = []
    for liability, subject in liabilities:
        threshold = _quarterly_threshold(account.state, liability, on)
        paid = None if threshold is None else _paid_below(account.state, threshold, subject, on)
        if threshold is None or paid is None:
            return None  # owed from the first dollar, or for what was paid
        found.append(RequiredFrom(threshold.cents, paid))
    return min(found, key=lambda each: each.quarterly_wages, default=None)


def _paid_below(
    state: str, threshold: LiabilityThreshold, employees: Iterable[EmployeeFacts], on: datetime.date
) -> int | None:
    """Return the cents of the current quarter that count toward a threshold; None if a quarter has reached it."""
    years = (on.year, on.year - 1) if threshold.next_year_too else (on.year,)
    counted: dict[tuple[int, int, int], int] = {}
    for position, employee in enumerate(employees):
        for wages in employee.wages:
            if wages.state == state and wages.year in years:
                key = (position if threshold.per_employee else 0, wages.year, wages.quarter)
                counted[key] = counted.get(key, 0) + wages.cents
    if any(cents >= threshold.cents for cents in counted.values()):
        return None
    now = (on.year, (on.month + 2) // 3)
    return max((cents for key, cents in counted.items() if key[1:] == now), default=0)


def _quarterly_threshold(state: str, liability: str, on: datetime.date) -> LiabilityThreshold | None:
    years = supported_threshold_years()
    found = liability_thresholds(state, min(max(on.year, years[0]), years[-1]))
    return next((each for each in found if (each.liability, each.period) == (liability, "quarter")), None)


def _threshold(state: str, liability: str, on: datetime.date) -> tuple[int, bool]:
    """Return the cents per quarter from which the household is liable, and whether for the next year too."""
    years = supported_threshold_years()
    for threshold in liability_thresholds(state, min(max(on.year, years[0]), years[-1])):
        if threshold.liability == liability:
            return threshold.cents, threshold.next_year_too
    return _ANY_WAGES, True


def _lines(account: StateAccount, year: int) -> Iterator[Contribution]:
    """Yield the lines of an account in a year; none before its program begins."""
    return (line for line in _rules(account.state, year).contributions if line.code in account.lines)


def _known_in(state: str, code: str, year: int) -> bool:
    return any(line.code == code for line in _rules(state, year).contributions)


def _rules(state: str, year: int) -> StateRules:
    """Return a state's rules of a year, or of the nearest year that has some.

    No figure is taken from them, only who is exempt and what is withheld at all: last year's are better than no list.
    """
    years = [known for known in supported_years() if state in rulebook_of(known).supported_states]
    return rulebook_of(min(years, key=lambda known: (abs(known - year), -known))).state(state)
