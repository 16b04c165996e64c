"""The withholding form: the values it shows, and the changes made on it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from hearthpay.employees.certificate_law import choices_meant, choosing_entries, places_in_force
from hearthpay.employees.certificate_sheets import choice_name
from hearthpay.employees.certificates import CertificateEntry
from hearthpay.employees.commands import ChangeEmployee
from hearthpay.employees.models import Employee
from hearthpay.employees.schemas import EmployeeChanges, EmployeeDetail
from hearthpay.jurisdictions.requirements import jurisdiction_on
from hearthpay.jurisdictions.schemas import CertificateEntryItem, Jurisdiction
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD
from hearthpay.unchanged import UNCHANGED
from hearthpay.web.household.context import HouseholdContext
from hearthpay.web.household.employees.employee_view import digest_of
from hearthpay.web.household.employees.words import CHOICE_NAMES, STATE_ENTRY_NAMES
from hearthpay.web.household.form_parsing import Entries

AGREED: Final = "elected"
"""Whether both agreed on state withholding; by default it follows the federal choice."""

SEVERAL: Final = "several"
"""Stands for all current places together, which a list of single ones has no option for."""

_BY_AGREEMENT: Final = frozenset({"voluntary", "follows_federal"})
_RECIPROCITY: Final = "reciprocity_certificate_on_file"
_SAID_ENOUGH: Final = frozenset({AGREED, "exempt", "additional_withholding", _RECIPROCITY})
_FEDERAL_AMOUNTS: Final = ("dependents_credit", "other_income", "deductions", "extra_withholding")
_OF_NEW_FORMS: Final[dict[str, object]] = {
    "filing_status": "",
    "multiple_jobs": False,
    "dependents_credit": Decimal(0),
    "other_income": Decimal(0),
    "deductions": Decimal(0),
}
"""What the page shows for entries that a form of 2019 or earlier doesn't have: nothing, whatever is on record."""

_STATUS_OF_NEW_FORM: Final = mark("Choose one for the new Form W-4.")


@dataclass(frozen=True, slots=True)
class CertificateQuestion:
    """An entry of the state's certificate as the form asks for it; `value` is the current one."""

    name: str
    kind: str
    label: str
    meaning: str
    options: tuple[tuple[str, str], ...]
    value: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """A record's withholding settings, for the form."""

    employee: EmployeeDetail
    law: Jurisdiction
    state_entries: Mapping[str, CertificateEntry]
    """The entries of the state's certificate, choices by the names on its form."""

    places: tuple[str, ...] | None
    """The places whose tax is withheld; None if the engine refuses what is on record."""

    federal_told: bool
    """Whether a Form W-4 is on file; otherwise the law's default applies."""

    digest: str

    @classmethod
    def of(cls, record: Employee, employee: EmployeeDetail, on: datetime.date) -> Withheld:
        """Return the settings of a record, from the API's description of it. Raises `TaxInputError` if there are no
        rules.
        """
        state = employee.work_state
        return cls(
            employee,
            jurisdiction_on(state, on),
            choices_meant(state, employee.state_withholding, on),
            places_in_force(state, employee.localities, employee.state_withholding, on),
            bool(record.federal_withholding),
            digest_of(
                on.year,
                state,
                record.residence_state,
                record.localities,
                record.federal_withholding,
                record.state_withholding,
            ),
        )

    @property
    def w4(self) -> dict[str, Any]:
        """Form W-4 as the page shows it."""
        federal = self.employee.federal_withholding
        certificate = {
            name: getattr(federal, name)
            for name in ("elected", "extra_withholding", "exempt", "nonresident_alien", *_OF_NEW_FORMS)
        }
        return certificate if federal.pre_2020 is None else certificate | _OF_NEW_FORMS

    @property
    def place(self) -> str:
        """The code of the place whose tax is withheld, an empty text, or `SEVERAL`."""
        places = self.places or ()
        return SEVERAL if len(places) > 1 else "".join(places)

    def place_names(self) -> dict[str, str]:
        """Return the names of all places with a tax of their own, by code."""
        return {each.code: each.name for each in self.law.localities}

    def place_options(self) -> list[tuple[str, str]]:
        """Return the places to choose from: codes, and names with their rates."""
        rates: dict[str, dict[str, None]] = {}
        for each in self.law.localities:
            rates.setdefault(each.code, {})[each.rate] = None
        options = [(code, f"{name} ({'; '.join(rates[code])})") for code, name in self.place_names().items()]
        if self.place == SEVERAL:
            options.insert(0, (SEVERAL, " + ".join(self.names_in_force())))
        return options

    def names_in_force(self) -> list[str]:
        """Return the names of the places whose tax is withheld; if that can't be determined, those on record."""
        names = self.place_names()
        codes = self.employee.localities if self.places is None else self.places
        return [names.get(code, code) for code in codes]

    def asked(self) -> list[CertificateEntryItem]:
        """Return the entries that the form asks for: not those decided by the choice of a place or the law."""
        certificate = self.law.certificate
        if certificate is None:
            return []
        answered = choosing_entries(self.law.state, self.law.on) | {FEDERAL_TAX_TOLD}
        if certificate.household not in _BY_AGREEMENT:
            answered |= {AGREED}
        if not self.law.reciprocity:
            answered |= {_RECIPROCITY}
        return [entry for entry in certificate.entries if entry.name not in answered]

    def questions(self, at: HouseholdContext) -> list[CertificateQuestion]:
        """Return the form's questions of the state's certificate, in the reader's words."""
        questions = []
        for entry in self.asked():
            value = self.state_entries.get(entry.name, entry.default)
            known = STATE_ENTRY_NAMES.get(entry.name)
            plainly = entry.name.replace("_", " ")
            label = at.say(known) if known else plainly.capitalize()
            agreed = entry.name == AGREED
            says_the_same = entry.meaning.casefold() in (label.casefold(), plainly)
            said = entry.name in _SAID_ENOUGH or says_the_same
            questions.append(
                CertificateQuestion(
                    f"state_{entry.name}",
                    "agreed" if agreed else entry.type,
                    label,
                    "" if said else capitalized(at.say(entry.meaning)),
                    tuple(
                        (each.value, choice_text(at.say, at.visitor.language, each.value, each.also_known_as))
                        for each in entry.values
                    ),
                    {True: "yes", False: "no", None: ""}[value] if agreed else _typed(value),  # type: ignore[index]
                )
            )
        return questions

    def changes(self, entries: Entries) -> ChangeEmployee | None:
        """Return what was changed on the form, and nothing else; None for what is wrong, which the form then shows."""
        residence = entries.text("residence_state")
        values = {
            "residence_state": None if residence == self.employee.residence_state else residence,
            "federal_withholding": self._federal_changes(entries) or None,
            "state_withholding": self._state_changes(entries) or None,
        }
        found = entries.checked(EmployeeChanges, values)
        if found is None:
            return None
        command = found.to_command()
        return (
            self.with_place(entries.text("locality") or "", command) if entries.has("locality") else command
        )

    def _federal_changes(self, entries: Entries) -> dict[str, object]:
        """Return the entries of Form W-4 that differ.

        A new form replaces one of 2019 or earlier; a changed agreement on withholding alone isn't a new form.
        """
        federal = self.employee.federal_withholding
        elected = entries.text("federal_elected")
        typed: dict[str, object] = {
            name: entries.amount(f"federal_{name}") or Decimal(0) for name in _FEDERAL_AMOUNTS
        } | {
            "filing_status": entries.text("federal_filing_status") or self.w4["filing_status"],
            "multiple_jobs": entries.ticked("federal_multiple_jobs"),
            "exempt": entries.ticked("federal_exempt"),
            "nonresident_alien": entries.ticked("federal_nonresident_alien"),
        }
        if federal.pre_2020 is not None:
            if all(typed[name] == self.w4[name] for name in typed):
                typed = {}
            elif typed["filing_status"]:
                typed["pre_2020"] = None
            else:
                entries.problems.setdefault("federal_filing_status", _STATUS_OF_NEW_FORM)
        typed["elected"] = federal.elected if elected is None else elected == "yes"
        changed = {name: value for name, value in typed.items() if value != getattr(federal, name)}
        # An agreement is recorded once it was given, even if the law would assume it.
        return changed if self.federal_told else {"elected": typed["elected"]} | changed

    def _state_changes(self, entries: Entries) -> dict[str, object]:
        """Return the entries of the state's certificate whose meaning changed; an emptied one is None."""
        changed: dict[str, object] = {}
        for entry in self.asked():
            name = f"state_{entry.name}"
            typed: object
            match "agreed" if entry.name == AGREED else entry.type:
                case "agreed":
                    typed = {"yes": True, "no": False}.get(entries.text(name) or "")
                case "flag":
                    typed = entries.ticked(name)
                case "count":
                    typed = entries.number(name)
                case "money":
                    typed = entries.amount(name)
                case _:
                    typed = entries.text(name)
            value = self.state_entries.get(entry.name)
            if _meant(entry, typed) != _meant(entry, value):
                changed[entry.name] = typed
        return changed

    def with_place(self, chosen: str, command: ChangeEmployee) -> ChangeEmployee:
        """Return the changes with the chosen place, which replaces all earlier ones; an empty text chooses none."""
        if chosen == self.place and self.places is not None:
            return command
        kept = command.state_withholding
        entries_told = {} if kept is UNCHANGED or kept is None else dict(kept)
        entries_told |= dict.fromkeys(choosing_entries(self.law.state, self.law.on))
        return replace(
            command, locality=chosen or None, state_withholding=entries_told if entries_told else UNCHANGED
        )


def _meant(entry: CertificateEntryItem, value: object) -> object:
    """Return the meaning of an entry; if left out, the law's default."""
    found = entry.default if value is None else value
    match entry.type:
        case "flag" if entry.name != AGREED:
            return bool(found)
        case "count" | "money":
            return None if found is None else Decimal(str(found))
        case _:
            return found


def capitalized(text: str) -> str:
    """Return a text with its first letter as a capital: "Line 1a"."""
    return text[:1].upper() + text[1:]


def choice_text(say: Say, language: str, value: str, others: Iterable[str] = ()) -> str:
    """Return the name of a choice: of "04" with its county, of a one-letter status with its meaning."""
    named = next((other for other in others if not other.isupper() and not other.isdigit()), None)
    if len(value) <= 2 and named is not None:
        words = choice_name(named, language)
        return f"{value}: {words if named[0].isupper() else words[:1].lower() + words[1:]}"
    return say(CHOICE_NAMES[value]) if value in CHOICE_NAMES else choice_name(value, language)


def _typed(value: object) -> str:
    if value is None or value is False:
        return ""
    if value is True:
        return "on"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
