"""What services say of payrolls, in the reader's language.

Services speak English, with amounts and days in their sentences. A sentence is known by its pattern: what stands in its
gaps is put into the translated one. What is not known is shown as it is.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Mapping
from typing import Any, Final

from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import Say, mark
from hearthpay.web.presentation import day_text

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_GAP: Final = re.compile(r"\\{(\w+)\\}")

_SENTENCES: Final = (
    mark(
        "Charged from the first dollar, on the assumption that the household reaches in a calendar quarter: "
        "{thresholds}. Below them nothing is due."
    ),
    mark(
        "Not charged, since the wages paid so far stay below the threshold: {thresholds}. Once they reach it, it is "
        "charged back to the first dollar."
    ),
    mark("Made up here, because earlier wages of the year were taxed too little for it: {lines}."),
    mark("Given back here, because earlier wages of the year were taxed too much for it: {lines}."),
    mark(
        "Net pay does not reach for all that is owed for earlier wages; left to the next paycheck: {lines}."
    ),
    mark("The employee is set up for direct deposit; this paycheck is paid by check."),
    mark("The employee is set up for direct deposit; this paycheck is paid by cash."),
    mark("Less was set aside than asked for: net pay cannot be negative."),
    mark("Banks are closed on {asked}: the money arrives on {day}, which is the pay date{more}."),
    mark("The money could not arrive by {asked}: it arrives on {day}, which is the pay date{more}."),
    mark(", so these wages belong to {year}"),
    mark("must not be before the period's start"),
    mark("hours, a bonus or other earnings are needed: there is nothing to pay"),
    mark("must not be more than the {days} working days of the employment"),
    mark("leaves no working day that a salary is paid for: nothing to pay"),
    mark("must not be more, overtime included, than the {hours} hours of the pay period"),
    # What is in a payroll's way.
    mark("The debit of the household cannot leave: {why}."),
    mark("A direct deposit cannot leave: {why}."),
    mark("The refund to the household cannot leave: {why}."),
    mark("The household's account is not ready"),
    mark("An employee's account is not ready"),
    mark("The debit is not authorized"),
    mark("The amount is not confirmed"),
    mark("Given back to the household"),
    mark("The bank account is still being verified"),
    mark("The bank account cannot be used"),
    mark("A payment cannot leave"),
    mark("The bank cannot be reached"),
    mark("Due, and not sent yet"),
    mark("Not paid: what was collected goes back"),
    mark("Taken back as a mistake"),
    mark("Authorize debits of the household's account anew: the payment goes by itself then."),
    mark("Nothing: the payment leaves by itself as soon as the bank can be reached."),
    mark("Nothing: the payroll is voided."),
    mark("Authorize the debit anew; it is sent by itself then.{more}"),
    mark("Connect and verify the household's bank account; it is sent by itself then.{more}"),
    mark("Invite the employee to enter a bank account: the deposit leaves by itself then.{more}"),
    mark("Invite the employee to enter a bank account; it is sent by itself then.{more}"),
    mark("Or void the payroll and pay by check or cash."),
    mark("Run the payroll again for this employee with what is right, by check if it is urgent."),
)
_IN_OTHER_WORDS: Final = {
    "regular_hours {asked} was rounded to {paid}: hours have at most 3 decimals.": mark(
        "{asked} regular hours were rounded to {paid}."
    ),
    "overtime_hours {asked} was rounded to {paid}: hours have at most 3 decimals.": mark(
        "{asked} overtime hours were rounded to {paid}."
    ),
    "Social Security and Medicare are withheld although the year's wages are still below {amount}. If the year ends "
    "below it, nothing was due: repay the employee, which a run with the notes fica-refund does.": mark(
        "Social Security and Medicare are withheld although the year's wages are still below ${amount}. If the year "
        "ends below it, give both back to the employee by a payroll of the kind “Give back FICA”."
    ),
    "The rate of {rate} an hour is below the minimum wage on {day}: {minimum} by {law}, since {since}.{more}": mark(
        "${rate} an hour is below the minimum wage on {day}: ${minimum} by {law}, since {since}."
    ),
    "{hours} regular hours in {days}: by {law} hours over {limit} are overtime, and these days hold about {room} "
    "without any. Enter the rest, at least {rest}, as overtime_hours.{more}": mark(
        "{hours} regular hours: by {law} hours over {limit} are overtime, and these days hold about {room} without "
        "any. Enter at least {rest} as overtime hours."
    ),
    "The salary comes to {rate} an hour, below the minimum wage on {day}: {minimum} by {law}, since "
    "{since}.{more}": mark(
        "The salary comes to ${rate} an hour, below the minimum wage on {day}: ${minimum} by {law}, since {since}."
    ),
    "The salary is prorated: {paid} of {all} working days are paid, {unpaid} taken as unpaid, {pay} of {full}.": mark(
        "The salary is prorated: {paid} of {all} working days are paid, {unpaid} taken as unpaid, ${pay} of ${full}."
    ),
    "The salary is prorated: {paid} of {all} working days are paid, {pay} of {full}.": mark(
        "The salary is prorated: {paid} of {all} working days are paid, ${pay} of ${full}."
    ),
    "usual_weekly_hours is not set: {hours} hours a week are assumed for the minimum wage and overtime.": mark(
        "{hours} hours a week are assumed for the minimum wage and overtime. Enter the hours of a usual week on the "
        "employee's page."
    ),
    "{hours} hours in {days} for a salary: it does not make a household employee exempt from overtime. By {law} hours "
    "over {limit} are overtime, and these days hold about {room} without any. Enter the rest, at least {rest}, as "
    "overtime_hours: they are paid on top.{more}": mark(
        "{hours} hours for a salary: it does not make a household employee exempt from overtime. By {law} hours over "
        "{limit} are overtime. Enter at least {rest} as overtime hours: they are paid on top."
    ),
    "The same is paid already: payroll {payroll}, with the pay date {day}, pays {what} for {start} to {end}. "
    "Should this repeat it by mistake, void one of the two.": mark(
        "The same is paid already, on {day}, for {start} to {end}. If this repeats it by mistake, void one of the two."
    ),
    "This paycheck comes on top of another of the same time: payroll {payroll}, with the pay date {day}, pays {what} "
    "for {start} to {end}.{more}": mark(
        "This paycheck comes on top of another, paid on {day} for {start} to {end}."
    ),
    "must not be before pay_period_start": mark("must not be before the first day of the period"),
    "is required: the earliest, {day}, is before the pay period": mark(
        "please choose a day: the earliest, {day}, is before the period"
    ),
    "of a catch-up payroll must not be to come": mark("what was paid before has no day to come"),
    "a period from {start} to {end} has {days} days, which is no {frequency} period: income tax would take its pay "
    "for that of {noun}": mark(
        "{days} days do not fit how often you pay: split the period, or change how often"
    ),
}
"""Sentences of services that a page says in other words."""

_BESIDE: Final = ("The same is paid already:", "This paycheck comes on top of another")

_REFUSED: Final[Mapping[str, str]] = {
    "employee_not_started": mark("Somebody had not started yet: the first day of work was {start_date}."),
    "employee_incomplete": mark(
        "Somebody has no pay rate or salary yet. Enter it on the employee's page first."
    ),
    "unsupported_tax_year": mark("The law of this year is not here: please choose another pay date."),
    "tax_year_not_final": mark(
        "Some {tax_year} tax figures aren't published yet, and nothing can stand in for them. Run this payroll once "
        "they're published."
    ),
    "unsupported_jurisdiction": mark("A state or place in this payroll is not supported."),
    "payroll_overlap": mark(
        "Hours of {start} to {end} are paid already. Hours of the same days are not paid twice; a bonus without "
        "hours can be paid beside them."
    ),
    "autopilot_run_scheduled": mark(
        "Autopilot already pays {start} to {end}. Skip or void that first to pay this period by hand."
    ),
    "period_ahead_of_anchor": mark(
        "These days go beyond the next run of Autopilot. Please pay by hand only up to its last day."
    ),
    "pay_date_past_deadline": mark(
        "Direct deposit arrives on {next_valid_pay_date} at the earliest. Choose that day or a later one, or pay by "
        "check."
    ),
    "direct_deposit_unavailable": mark(
        "Direct deposit cannot be used here yet: an account is missing or still being verified. Pay by check or cash "
        "for now."
    ),
    "confirmation_required": mark("Please confirm what is marked below: nothing was sent yet."),
    "too_many_employees": mark("Your plan does not allow so many people in one payroll."),
}
"""What a person is told when a payroll cannot be run, by code; its gaps are what the refusal tells."""

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
        mark("flat supplemental rate"),
        mark("tax before rounding to a whole dollar"),
        mark("version in force from"),
        mark("excess over"),
        mark("allowances"),
        mark("Step 2 box checked"),
        mark("row of the annual table from"),
        mark("additional withholding"),
        mark("earlier wages of the year taxed too little (negative: too much)"),
    }
)
"""Steps of a calculation as the engine names them, that are said in the reader's language; others as they are."""


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    words = {sentence: sentence for sentence in _SENTENCES} | _IN_OTHER_WORDS
    return tuple(
        (re.compile(_GAP.sub(r"(?P<\1>.*?)", re.escape(told)), re.DOTALL), said)
        for told, said in words.items()
    )


def retold(say: Say, language: str, told: str) -> str:
    """Return a service's sentence in the reader's language; one that is not known as it is."""
    if told.startswith(" "):  # what may follow a sentence
        return f" {retold(say, language, told.lstrip())}"
    for pattern, sentence in _patterns():
        found = pattern.fullmatch(told)
        if found is not None:
            gaps = found.groupdict()
            return say(sentence, **{name: retold(say, language, part) for name, part in gaps.items()})
    if _DAY.fullmatch(told):
        return day_text(language, "date", datetime.date.fromisoformat(told))
    return say(told)


def is_beside(warning: str) -> bool:
    """Return whether a paycheck's warning says that somebody is paid for these days already."""
    return warning.startswith(_BESIDE)


def refusal_text(say: Say, language: str, refusal: Refusal) -> str:
    """Return what a person is told of a payroll that cannot be run."""
    sentence = _REFUSED.get(refusal.code)
    if sentence is None:
        return retold(say, language, refusal.message)
    details = dict(refusal.details) if isinstance(refusal.details, Mapping) else {}
    for period in ("pay_period", "next_run"):
        details |= _mapping(details.get(period))
    gaps = {
        name: day_text(language, "date", value) if isinstance(value, datetime.date) else value
        for name, value in details.items()
    }
    return say(sentence, **gaps)


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
