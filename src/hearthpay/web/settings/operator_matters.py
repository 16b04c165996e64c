"""The to-dos of an installation's operators, as rows: what happened, to whom, since when, and where to go."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from hearthpay.banking.return_codes import return_codes
from hearthpay.banking.unread_files import UnreadFile
from hearthpay.languages.catalogue import Say, mark, moment_in
from hearthpay.people.health import Vital
from hearthpay.people.uncollected_wages import UncollectedWages
from hearthpay.web.presentation import day_text, money_text

WAGES_PATH: Final = "/operator/wages"
MAIL_PATH: Final = "/operator/mail"
FILES_PATH: Final = "/operator/files"
CHECKED_EVERY: Final = datetime.timedelta(days=7)
"""How often the books should be checked."""

_NOTHING: Final = Vital(0, None)

_CLEAR: Final = mark("Nothing needs your attention")
_ONE_DEBIT: Final = mark("A returned debit needs you")
_DEBITS: Final = mark("{count} returned debits need you")
_ONE_THING: Final = mark("One thing needs you")
_THINGS: Final = mark("{count} things need you")

_SINCE: Final = mark("Since {when}.")
_NO_WORKER: Final = mark("No worker is running")
_WORKER_NEEDED: Final = mark("Payrolls, email and bank files wait until “hearthpay worker” runs.")
_LAST_HEARD: Final = mark("The last one reported {when}.")
_SEE_LOG: Final = mark("Their log says which.")
_SEE_MAIL: Final = mark("In the last day.")
_RUN_DOCTOR: Final = mark("Run “hearthpay doctor” to see which.")
_CHECKED: Final = mark("Checked {when}.")
_NEVER_CHECKED: Final = mark("The books were never checked")
_CHECK: Final = mark("Run “hearthpay doctor”.")
_CHECKED_LONG_AGO: Final = mark("The books were last checked on {day}")
_HELD: Final = mark("Payments are on hold")
_EXPOSED: Final = mark("Money was paid out that is not collected")
_RETURNED: Final = mark("{household}'s household: debit of {amount} was returned, {reason}, on {day}")
_RETURNED_DAY: Final = mark("{household}'s household: a debit was returned on {day}")
_UNREAD_FILE: Final = mark("The bank's file {name} isn't read")
_HOLDS: Final = mark("It holds {amount}.")
_OWED: Final = mark("{amount} is owed")
_PAYDAY: Final = mark("Payday {day}")

_COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "problems": (mark("Workers report a problem"), mark("Workers report {count} problems")),
    "payrolls_due": (
        mark("A payroll should have been sent"),
        mark("{count} payrolls should have been sent"),
    ),
    "mail_failed": (mark("An email couldn't be sent"), mark("{count} emails couldn't be sent")),
    "files_waiting": (mark("A bank file waits to be sent"), mark("{count} bank files wait to be sent")),
    "doctor_differing": (mark("A figure in the books differs"), mark("{count} figures in the books differ")),
}


@dataclass(frozen=True, slots=True)
class Matter:
    """One row: what happened, more about it, the page to go to, the amount in cents, and how urgent it is."""

    kind: str
    words: str
    details: str = ""
    path: str = ""
    amount: int | None = None
    tone: Literal["late", "soon"] = "soon"

    @property
    def symbol(self) -> str:
        """The picture before it, as the to-do rows name them."""
        return "late" if self.tone == "late" else _SYMBOLS.get(self.kind, "paper")


_SYMBOLS: Final = {"files_waiting": "bank", "money_held": "pay", "doctor_exposed": "pay"}


def matters_of(
    say: Say,
    language: str,
    vitals: Mapping[str, Vital],
    cases: Sequence[UncollectedWages],
    rules_held: str,
    now: datetime.datetime,
    files: Sequence[UnreadFile] = (),
) -> Sequence[Matter]:
    """Return the to-dos, the most urgent first; `rules_held` tells of payrolls that lack tax rules, if any do.

    `files` are those of the bank that aren't read.
    """
    found = [*_of_worker(say, language, vitals), *(_unread(say, language, file) for file in files)]
    found += [_returned(say, language, case) for case in cases]
    if rules_held:
        found.append(Matter("rules", rules_held, path="#awaited-rules", tone="late"))
    return [
        *found,
        *_of_mail_and_bank(say, language, vitals),
        *_of_books(say, language, vitals, cases, now),
    ]


def heading_of(say: Say, matters: Sequence[Matter]) -> str:
    """Return the heading: how many to-dos there are."""
    count = len(matters)
    if not matters:
        return say(_CLEAR)
    if all(each.kind == "wages" for each in matters):
        return _number(say, (_ONE_DEBIT, _DEBITS), count)
    return _number(say, (_ONE_THING, _THINGS), count)


def reason_of_return(say: Say, code: str) -> str:
    """Return why a bank returned a payment: the code and its meaning, as within a sentence."""
    title = say(return_codes().reason(code).title)
    return f"{code} {title[0].lower()}{title[1:]}"


def returned_words(say: Say, language: str, case: UncollectedWages) -> str:
    """Return the sentence about a returned debit."""
    day = day_text(language, "weekday", case.returned_on)
    if case.debit is None or case.return_code is None:
        return say(_RETURNED_DAY, household=case.household, day=day)
    reason = reason_of_return(say, case.return_code)
    return say(_RETURNED, household=case.household, amount=money_text(case.debit), reason=reason, day=day)


def _returned(say: Say, language: str, case: UncollectedWages) -> Matter:
    owed = say(_OWED, amount=money_text(case.open))
    payday = say(_PAYDAY, day=day_text(language, "weekday", case.pay_date))
    return Matter(
        "wages",
        returned_words(say, language, case),
        " · ".join((owed, case.organization, payday)),
        f"{WAGES_PATH}#wages-{case.payroll_id}",
        tone="late",
    )


def _unread(say: Say, language: str, file: UnreadFile) -> Matter:
    since = say(_SINCE, when=moment_in(language, file.received_at))
    held = say(_HOLDS, amount=money_text(file.amount)) if file.payments else None
    return Matter(
        "file_unread",
        say(_UNREAD_FILE, name=file.name),
        _joined(since, held),
        f"{FILES_PATH}#file-{file.id}",
        tone="late",
    )


def _of_worker(say: Say, language: str, vitals: Mapping[str, Vital]) -> list[Matter]:
    found = []
    workers = vitals.get("workers", _NOTHING)
    if not workers.figure:
        at = workers.moment
        heard = None if at is None else say(_LAST_HEARD, when=moment_in(language, at))
        found.append(Matter("workers", say(_NO_WORKER), _joined(say(_WORKER_NEEDED), heard), tone="late"))
    found += _counted(say, language, vitals, "payrolls_due", tone="late")
    return found + _counted(say, language, vitals, "problems", say(_SEE_LOG))


def _of_mail_and_bank(say: Say, language: str, vitals: Mapping[str, Vital]) -> list[Matter]:
    found = _counted(say, language, vitals, "files_waiting")
    held = vitals.get("money_held", _NOTHING)
    if held.figure:
        found.append(Matter("money_held", say(_HELD), _since(say, language, held), amount=held.figure))
    failed = vitals.get("mail_failed", _NOTHING).figure
    if failed:
        words = _number(say, _COUNTED["mail_failed"], failed)
        found.append(Matter("mail_failed", words, say(_SEE_MAIL), MAIL_PATH))
    return found


def _of_books(
    say: Say,
    language: str,
    vitals: Mapping[str, Vital],
    cases: Sequence[UncollectedWages],
    now: datetime.datetime,
) -> list[Matter]:
    checked = vitals.get("doctor_differing")
    if checked is None or checked.moment is None:
        return [Matter("doctor", say(_NEVER_CHECKED), say(_CHECK))]
    found, when = [], say(_CHECKED, when=moment_in(language, checked.moment))
    if checked.figure:
        words = _number(say, _COUNTED["doctor_differing"], checked.figure)
        found.append(Matter("doctor", words, _joined(when, say(_RUN_DOCTOR)), tone="late"))
    exposed = vitals.get("doctor_exposed", _NOTHING).figure
    if exposed and not cases:
        details = _joined(when, say(_RUN_DOCTOR))
        found.append(Matter("doctor_exposed", say(_EXPOSED), details, amount=exposed))
    if now - checked.moment > CHECKED_EVERY:
        day = day_text(language, "date", checked.moment)
        found.append(Matter("doctor_old", say(_CHECKED_LONG_AGO, day=day), say(_CHECK)))
    return found


def _counted(
    say: Say,
    language: str,
    vitals: Mapping[str, Vital],
    name: str,
    more: str = "",
    *,
    tone: Literal["late", "soon"] = "soon",
) -> list[Matter]:
    vital = vitals.get(name, _NOTHING)
    if not vital.figure:
        return []
    words = _number(say, _COUNTED[name], vital.figure)
    return [Matter(name, words, _joined(_since(say, language, vital), more), tone=tone)]


def _since(say: Say, language: str, vital: Vital) -> str:
    return "" if vital.moment is None else say(_SINCE, when=moment_in(language, vital.moment))


def _number(say: Say, words: tuple[str, str], count: int) -> str:
    one, many = words
    return say(one) if count == 1 else say(many, count=f"{count:,}")


def _joined(*sentences: str | None) -> str:
    return " ".join(each for each in sentences if each)
