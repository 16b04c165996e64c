"""What a payroll's page says of a refusal and of the steps of a calculation, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hearthpay.access.refusal import Problem, Refusal
from hearthpay.languages.catalogue import Say, mark
from hearthpay.web.message_text import message_text, parameter_text
from hearthpay.web.refusal_words import problem_on_page, refusal_on_page

_REFUSED: Final[Mapping[str, str]] = {
    "employee_not_started": mark("Somebody had not started yet: the first day of work was {start_date}."),
    "employee_incomplete": mark(
        "An employee has no pay rate or salary. Add it on the employee's page first."
    ),
    "unsupported_tax_year": mark("The law of this year is not here: please choose another pay date."),
    "tax_year_not_final": mark(
        "Some {tax_year} tax figures aren't published yet. Run this payroll once they are."
    ),
    "unsupported_jurisdiction": mark("A state or place in this payroll is not supported."),
    "payroll_overlap": mark(
        "Hours for {start} to {end} are already paid. To add pay for these dates, pay a bonus without hours."
    ),
    "autopilot_run_scheduled": mark(
        "Autopilot already pays {start} to {end}. To pay this period yourself, skip or void that payroll first."
    ),
    "period_ahead_of_anchor": mark(
        "These days go past the next Autopilot payroll. Pay only up to its last day yourself."
    ),
    "pay_date_past_deadline": mark(
        "Direct deposit arrives on {next_valid_pay_date} at the earliest. Choose that day or a later one, or pay by "
        "check."
    ),
    "direct_deposit_unavailable": mark(
        "Direct deposit cannot be used here yet: an account is missing or still being verified. Pay by check or cash "
        "for now."
    ),
    "confirmation_required": mark("Nothing was sent. Confirm the items marked below."),
    "too_many_employees": mark("Your plan does not allow so many people in one payroll."),
}
"""What a person reads if a payroll can't be run, by code; the placeholders come from the refusal."""

STEPS: Final = frozenset(
    {
        mark("pay periods a year (1b)"),
        mark("wages of the period (1a)"),
        mark("annual wages (1c)"),
        mark("other income (1d)"),
        mark("deductions (1f)"),
        mark("line 1g"),
        mark("adjusted annual wage amount (2a)"),
        mark("filing status"),
        mark("row of the table from"),
        mark("base tax of the row"),
        mark("rate of the row"),
        mark("tax of the period"),
        mark("extra withholding (4a)"),
        mark("subject wages"),
        mark("taxable wages"),
        mark("wage base of the year"),
        mark("wages earlier in the year"),
        mark("rate"),
        mark("tax"),
        mark("exempt"),
        mark("not liable"),
        mark("not due yet"),
        mark("pay periods a year"),
        mark("annual wages"),
        mark("annual taxable income"),
        mark("standard deduction"),
        mark("supplemental wages"),
        mark("other pay of the period, counted in"),
        mark("pay of the period before, counted in"),
        mark("tax on the pay that was counted in"),
        mark("tax of this paycheck"),
        mark("flat supplemental rate"),
        mark("tax before rounding to a whole dollar"),
        mark("version effective from"),
        mark("excess over"),
        mark("allowances"),
        mark("Step 2 box checked"),
        mark("row of the annual table from"),
        mark("additional withholding"),
        mark("earlier wages of the year taxed too little (negative: too much)"),
        mark("annual tax credit"),
        mark("wages a year at this pay"),
        mark("each allowance"),
        mark("column of the tables"),
        mark("deduction of the period"),
        mark("wages after deduction and allowances"),
        mark("annual taxable wages"),
        mark("deduction"),
        mark("taxed wages"),
        mark("annual tax, rounded"),
        mark("at most in the pay period"),
        mark("allowances of the period"),
        mark("exemptions"),
        mark("nothing is withheld"),
        mark("taxed wages of the period"),
        mark("row of the table over"),
        mark("taxable income"),
        mark("standard deduction of the period"),
        mark("surcharge"),
        mark("state tax before additional withholding"),
        mark("amount of the month"),
        mark("amount of the year"),
        mark("wages of a month, at least"),
        mark("exclusion"),
    }
)
"""The labels of the engine's calculation steps that most pages show; `step_words` has the others."""


def problem_text(say: Say, language: str, problem: Problem) -> str:
    """Return what is wrong with a field, in the reader's language."""
    coded = problem.coded_message
    return say(problem_on_page(problem)) if coded is None else message_text(say, language, coded)


def refusal_text(say: Say, language: str, refusal: Refusal) -> str:
    """Return what a person reads about a payroll that can't be run."""
    sentence = _REFUSED.get(refusal.code)
    if sentence is None:
        problems = refusal.details if isinstance(refusal.details, list) else []
        if problems:
            return problem_text(say, language, problems[0])
        return say(refusal_on_page(refusal))
    details = dict(refusal.details) if isinstance(refusal.details, Mapping) else {}
    for period in ("pay_period", "next_run"):
        details |= _mapping(details.get(period))
    return say(sentence, **{name: parameter_text(say, language, value) for name, value in details.items()})


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
