"""The heading of the home page: how many things are late and to be done this week, or until when all is clear."""

from typing import Final

from hearthpay.languages.catalogue import Say, mark
from hearthpay.todos.to_do import Agenda, ToDo
from hearthpay.web.presentation import day_text

_ONE_LATE: Final = mark("One payment is late.")
_LATE: Final = mark("{number} payments are late.")
_ONE_OVERDUE: Final = mark("One thing is overdue.")
_OVERDUE: Final = mark("{number} things are overdue.")
_ONE_THIS_WEEK: Final = mark("One thing to do this week.")
_THIS_WEEK: Final = mark("{number} things to do this week.")
_ONE: Final = mark("One thing to do.")
_SEVERAL: Final = mark("{number} things to do.")
_CLEAR_UNTIL: Final = mark("All clear until {day}")
_CLEAR: Final = mark("All clear")
_WELCOME: Final = mark("Welcome, {name}. Run your first payroll.")


def headline(agenda: Agenda, say: Say, language: str, newcomer: str | None = None) -> str:
    """Return the heading; for a `newcomer`, who hasn't paid anybody yet, a welcome unless something is overdue."""
    groups = agenda.groups
    overdue = groups.get("overdue", ())
    if newcomer is not None and not overdue:
        return say(_WELCOME, name=newcomer)
    late = sum(1 for each in overdue if _is_payment(each))
    sentences = [
        _counted(late, _ONE_LATE, _LATE, say),
        _counted(len(overdue) - late, _ONE_OVERDUE, _OVERDUE, say),
        _counted(
            len(groups.get("money", ())) + len(groups.get("this_week", ())), _ONE_THIS_WEEK, _THIS_WEEK, say
        ),
    ]
    if not any(sentences):
        sentences = [_counted(len(groups.get("no_date", ())), _ONE, _SEVERAL, say)]
    if any(sentences):
        return " ".join(sentence for sentence in sentences if sentence)
    until = agenda.clear_until
    return say(_CLEAR) if until is None else say(_CLEAR_UNTIL, day=day_text(language, "weekday", until))


def _is_payment(to_do: ToDo) -> bool:
    return to_do.kind in ("pay_taxes", "file_and_pay")


def _counted(number: int, one: str, several: str, say: Say) -> str:
    if not number:
        return ""
    return say(one) if number == 1 else say(several, number=number)
