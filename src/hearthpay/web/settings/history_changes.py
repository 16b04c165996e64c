"""The changes that an entry of the history tells: each changed setting with its value before and after, in words."""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from hearthpay.database.audit import AuditEntry
from hearthpay.languages.catalogue import Say, mark
from hearthpay.people.identity import masked
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.web.household.employees.words import (
    ENTRY_NAMES,
    FILING_STATUSES,
    FREQUENCIES,
    LANGUAGES,
    METHODS,
    PAY_TYPES,
    RELATIONS,
    SALARY_SPANS,
)
from hearthpay.web.household.state_accounts.words import FREQUENCY_WORDS
from hearthpay.web.presentation import day_text, dollars_text, hours_text, percent_text
from hearthpay.web.settings.audit_entries import SETTINGS

_LONGEST_VALUE: Final = 80
_NONE: Final = mark("none")
_YES: Final = mark("yes")
_NO: Final = mark("no")

_CHANGED_OF: Final = mark("{who} changed {name}'s {setting} from {before} to {after}")
_CHANGED_SETTING: Final = mark("{who} changed the {setting} from {before} to {after}")
_SET_OF: Final = mark("{who} set {name}'s {setting} to {after}")
_SET: Final = mark("{who} set the {setting} to {after}")
_REMOVED_OF: Final = mark("{who} removed {name}'s {setting}, which was {before}")
_REMOVED: Final = mark("{who} removed the {setting}, which was {before}")
_OTHER_OF: Final = mark("{who} changed {name}'s {setting}")
_OTHER: Final = mark("{who} changed the {setting}")

_ONLY_ONE: Final[Mapping[str, str]] = {
    "duty.account": "closed_on",
    "duty.filing": "filing_frequency",
    "duty.mark": "done_on",
    "employer.ein_status": "ein_status",
    "registration.apply": "applied_on",
}
"""The setting whose value, alone, is the entry's before and after."""

_CERTIFICATES: Final[frozenset[str]] = frozenset({"federal_withholding", "state_withholding"})
_HIDDEN: Final[frozenset[str]] = frozenset({"person_id", "setup_question"})
"""Kept for the service itself: no person chose these values."""

_WITHOUT_VALUES: Final[frozenset[str]] = frozenset({"phone"})
_MONEY: Final = frozenset(
    {"additional_withholding", "amount", "overtime_rate", "pay_rate", "prior_gross_pay", "salary"}
)
_HOURS: Final = frozenset({"standard_hours", "usual_weekly_hours"})
_RATES: Final = frozenset({"rate", "sui_rate"})
_DAYS: Final = frozenset(
    {
        "applied_on",
        "closed_on",
        "done_on",
        "end_date",
        "ends_on",
        "notice_on",
        "pay_date",
        "start_date",
        "starts_on",
    }
)
_STATES: Final = frozenset({"residence_state", "state", "work_state"})

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "ein_status": {
        "none": mark("not applied for"),
        "pending": mark("applied for"),
        "approved": mark("assigned"),
    },
    "filing_frequency": FREQUENCY_WORDS,
    "filing_status": FILING_STATUSES,
    "frequency": FREQUENCIES,
    "language": LANGUAGES,
    "pay_frequency": FREQUENCIES,
    "pay_type": PAY_TYPES,
    "payment_method": METHODS,
    "relationship": RELATIONS,
    "role": {"viewer": mark("viewer"), "admin": mark("admin"), "owner": mark("owner")},
    "salary_per": SALARY_SPANS,
    "status": {
        "active": mark("active"),
        "terminated": mark("no longer employed"),
        "scheduled": mark("scheduled"),
        "pending_funding": mark("collecting the money"),
        "processing": mark("on its way"),
        "completed": mark("paid"),
        "failed": mark("failed"),
        "voided": mark("voided"),
    },
    "threshold_basis": {
        "assume_crossed": mark("the first dollar"),
        "as_paid": mark("the threshold"),
    },
}
"""Values of a setting that the service stores as codes."""

_NAMES: Final = frozenset({"language"})
"""Settings whose values keep their capital letter within a sentence."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One changed setting for display, and the sentence that tells the change; addresses are masked."""

    name: str
    before: str
    after: str
    sentence: str


def changes_of(
    say: Say, language: str, entry: AuditEntry, who: str, whose: str | None
) -> tuple[SettingChange, ...]:
    """Return what an entry changed, by setting; `who` did it, and `whose` settings they are, if they are a person's.

    Empty for an entry that doesn't store both sides.
    """
    return tuple(
        _change(say, language, who, whose, name, before, after)
        for name, before, after in _sides(entry)
        if name not in _HIDDEN and before != after
    )


def _sides(entry: AuditEntry) -> Iterator[tuple[str, object, object]]:
    """Return each setting with its two values, however the entry stores them."""
    details = entry.details
    if entry.action == "certificate.sign":
        name = "federal_withholding" if details.get("jurisdiction") == "US" else "state_withholding"
        yield from _by_name({name: details["before"]}, {name: details["after"]})
        return
    if "before" in details and "after" in details:
        before, after = details["before"], details["after"]
        if isinstance(before, dict) or isinstance(after, dict):
            yield from _by_name(before or {}, after or {})
        elif entry.action in _ONLY_ONE:
            yield _ONLY_ONE[entry.action], before, after
    if "metadata" in details:  # only its keys are stored
        keys = details["metadata"]
        yield "metadata", {"removed": keys["removed"]}, {"set": keys["set"]}
    for name, value in sorted(details.items()):
        if isinstance(value, dict) and value.keys() >= {"before", "after"}:
            yield name, value["before"], value["after"]


def _by_name(
    before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[tuple[str, object, object]]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if name in _CERTIFICATES and isinstance(old, dict) and isinstance(new, dict):
            known = [each for each in sorted(old.keys() | new.keys()) if old.get(each) != new.get(each)]
            if known and all(each in ENTRY_NAMES for each in known):
                yield from ((each, old.get(each), new.get(each)) for each in known)
                continue
        yield name, old, new


def _change(
    say: Say, language: str, who: str, whose: str | None, name: str, before: object, after: object
) -> SettingChange:
    setting = _name(say, name)
    old, new = (_shown(say, language, name, each) for each in (before, after))
    if old is None or new is None:
        sentence = _OTHER if whose is None else _OTHER_OF
    elif _empty(before):
        sentence = _SET if whose is None else _SET_OF
    elif _empty(after):
        sentence = _REMOVED if whose is None else _REMOVED_OF
    else:
        sentence = _CHANGED_SETTING if whose is None else _CHANGED_OF
    gaps = {"who": who, "setting": setting, "before": old, "after": new, "name": whose}
    return SettingChange(setting, old or "", new or "", say(sentence, **gaps))


def _name(say: Say, name: str) -> str:
    if name in SETTINGS:
        return say(SETTINGS[name])
    if name in ENTRY_NAMES:
        return _within(say(ENTRY_NAMES[name]))
    return name.replace("_", " ")


def _shown(say: Say, language: str, name: str, value: object) -> str | None:
    """Return a value for display; None if it has no short words."""
    if _empty(value):
        return say(_NONE)
    if name in _WITHOUT_VALUES or isinstance(value, dict | list) or len(str(value)) > _LONGEST_VALUE:
        return None
    if name == "email":
        return masked(str(value))
    if isinstance(value, bool):
        return say(_YES if value else _NO)
    code = str(value)
    if code in _WORDS.get(name, {}):
        words = say(_WORDS[name][code])
        return words if name in _NAMES else _within(words)
    if name in _STATES:
        return STATES.get(code, code)
    try:
        if name in _MONEY:
            return dollars_text(Decimal(code))
        if name in _RATES:
            return percent_text(Decimal(code))
        if name in _HOURS:
            return hours_text(language, Decimal(code))
        if name in _DAYS:
            return day_text(language, "date", datetime.date.fromisoformat(code))
    except (InvalidOperation, ValueError):
        return code
    return code.replace("_", " ") if name == "time_zone" else code


def _empty(value: object) -> bool:
    return value is None or value in ("", [], {})


def _within(words: str) -> str:
    """Return words as they stand within a sentence."""
    return f"{words[0].lower()}{words[1:]}"
