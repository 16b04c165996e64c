"""What is withheld from pay: Form W-4, the state's certificate as the rulebook has it, and local taxes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CHANGE_EMPLOYEES
from hearthpay.access.refusal import Refusal
from hearthpay.employees.schemas import EmployeeChanges, EmployeeDetail
from hearthpay.employees.service import update_employee
from hearthpay.jurisdictions.reading import jurisdiction_on
from hearthpay.jurisdictions.schemas import CertificateEntryItem, Jurisdiction
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.employees.detail_page import described, employee_in_path, find_here
from hearthpay.web.household.employees.words import ENTRY_NAMES, FILING_STATUSES, HOUSEHOLD_RULES
from hearthpay.web.household.entry import Entries, problems_in
from hearthpay.web.household.place import AtHousehold, household_page
from hearthpay.web.household.setup import Setup

router: Final = APIRouter(include_in_schema=False)

_AGREED: Final = "elected"
"""Whether both agreed on the state's withholding; untold, it goes with the federal one."""
_BY_AGREEMENT: Final = frozenset({"voluntary", "follows_federal"})
_RECIPROCITY: Final = "reciprocity_certificate_on_file"
_SAID_ENOUGH: Final = frozenset({_AGREED, "exempt", "additional_withholding", _RECIPROCITY})
_FEDERAL_AMOUNTS: Final = ("dependents_credit", "other_income", "deductions", "extra_withholding")


@dataclass(frozen=True, slots=True)
class CertificateQuestion:
    """An entry of the state's certificate as the form asks for it; `value` is what stands there now."""

    name: str
    kind: str
    label: str
    meaning: str
    options: tuple[tuple[str, str], ...]
    value: str


@household_page(router, "GET", "/employees/{employee_id}/withholding", permission=CHANGE_EMPLOYEES)
async def ask_for_withholding(at: AtHousehold) -> Response:
    """The certificates as they stand."""
    return await _form(at, {}, None)


@household_page(router, "POST", "/employees/{employee_id}/withholding", permission=CHANGE_EMPLOYEES)
async def change_withholding(at: AtHousehold) -> Response:
    """Save the certificates, and where the employee lives."""
    entries = Entries(at.form)
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    law = _law(at, found)
    values = {
        "residence_state": entries.text("residence_state"),
        "federal_withholding": _federal(entries),
        "state_withholding": _state(entries, law),
    }
    changes = entries.checked(EmployeeChanges, values)
    if changes is None:
        return await _form(at, entries.problems, at.form)
    command = changes.to_command()
    place = entries.text("locality")
    if entries.has("locality") and (place or "") != _place(law, found):
        command = replace(command, locality=place)
    try:
        async with at.transaction() as session:
            record = await find_here(at, session)
            await update_employee(session, at.actor, at.clock, record.id, command)
    except Refusal as error:
        return await _form(at, problems_in(error, at.form), at.form)
    path = f"/employees/{employee_in_path(at)}"
    setup = Setup.of(at)
    return at.go(setup.link(f"{path}/invitations") if setup.under_way else path)


def _federal(entries: Entries) -> dict[str, object]:
    amounts = {name: entries.amount(f"federal_{name}") or Decimal(0) for name in _FEDERAL_AMOUNTS}
    return amounts | {
        "elected": entries.text("federal_elected") == "yes",
        "filing_status": entries.text("federal_filing_status") or "single",
        "multiple_jobs": entries.ticked("federal_multiple_jobs"),
        "exempt": entries.ticked("federal_exempt"),
    }


def _state(entries: Entries, law: Jurisdiction) -> dict[str, object] | None:
    """Return the entries of the state's certificate; an empty one is taken out."""
    if law.certificate is None:
        return None
    found: dict[str, object] = {}
    for entry in _asked(law):
        name = f"state_{entry.name}"
        match "agreed" if entry.name == _AGREED else entry.type:
            case "agreed":
                found[entry.name] = {"yes": True, "no": False}.get(entries.text(name) or "")
            case "flag":
                found[entry.name] = entries.ticked(name)
            case "count":
                found[entry.name] = entries.number(name)
            case "money":
                found[entry.name] = entries.amount(name)
            case _:
                found[entry.name] = entries.text(name)
    return found


def _place(law: Jurisdiction, employee: EmployeeDetail) -> str:
    """Return the code of the place whose tax is chosen, or none: by itself, or by its entry of the certificate."""
    told = employee.state_withholding
    for each in law.localities:
        if each.code in employee.localities:
            return each.code
    for each in law.localities:
        entry, value = each.certificate_entry, each.certificate_value
        if entry and value and str(told.get(entry, "")).casefold() == value.casefold():
            return each.code
    return ""


def _asked(law: Jurisdiction) -> list[CertificateEntryItem]:
    """Return the entries that the form asks for: not those that the choice of a place or the law itself answers."""
    assert law.certificate is not None
    answered: set[str | None] = {each.certificate_entry for each in law.localities}
    if law.certificate.household not in _BY_AGREEMENT:
        answered.add(_AGREED)
    if not law.reciprocity:
        answered.add(_RECIPROCITY)
    return [entry for entry in law.certificate.entries if entry.name not in answered]


def _questions(at: AtHousehold, law: Jurisdiction, employee: EmployeeDetail) -> list[CertificateQuestion]:
    if law.certificate is None:
        return []
    questions = []
    for entry in _asked(law):
        told = employee.state_withholding.get(entry.name, entry.default)
        known = ENTRY_NAMES.get(entry.name)
        label = at.say(known) if known else entry.name.replace("_", " ").capitalize()
        questions.append(
            CertificateQuestion(
                f"state_{entry.name}",
                "agreed" if entry.name == _AGREED else entry.type,
                label,
                ""
                if entry.name in _SAID_ENOUGH or entry.meaning.casefold() == label.casefold()
                else entry.meaning,
                tuple((each.value, _choice_name(each.value, each.also_known_as)) for each in entry.values),
                {True: "yes", False: "no", None: ""}[told] if entry.name == _AGREED else _typed(told),
            )
        )
    return questions


def _choice_name(value: str, others: list[str]) -> str:
    """Return what to call a choice: "County 04: Baltimore City" is found by its name, a code by what it stands for."""
    words = value.replace("_", " ")
    named = [other for other in others if not other.isupper() and not other.isdigit()]
    if len(value) <= 2 and named:
        return f"{value}: {named[0].replace('_', ' ')}"
    return words[:1].upper() + words[1:]


def _typed(told: object) -> str:
    if told is None or told is False:
        return ""
    if told is True:
        return "on"
    return f"{told:f}" if isinstance(told, Decimal) else str(told)


def _law(at: AtHousehold, employee: EmployeeDetail) -> Jurisdiction:
    return jurisdiction_on(employee.work_state, at.clock.today())


async def _form(at: AtHousehold, problems: dict[str, str], entered: Mapping[str, str] | None) -> Response:
    async with at.transaction() as session:
        found = await described(at, session, await find_here(at, session))
    law = _law(at, found)
    facts = {
        "employee": found,
        "law": law,
        "questions": _questions(at, law, found),
        "place": _place(law, found),
        "states": tuple(sorted(STATES)),
        "filing_statuses": FILING_STATUSES,
        "household_rules": HOUSEHOLD_RULES,
        "setup": Setup.of(at, "withholding"),
        "problems": problems,
        "entered": entered or {},
    }
    return at.show("employees/withholding.html", facts, status=400 if problems else 200)
