"""Messages in the reader's language: by code, in the words of pages if they have their own, or else in the API's."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from string import Formatter
from typing import Final

from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes.message_texts import ENGLISH
from hearthpay.taxes.messages import DollarAmount, Joined, Message
from hearthpay.taxes.rule_sentences import rule_sentences
from hearthpay.web.presentation import day_text
from hearthpay.web.refusal_words import ON_FORMS

LABOR_LAW: Final = frozenset(
    {
        "below_minimum_wage",
        "salary_below_minimum_wage",
        "minimum_wage_outdated",
        "overtime_paid_as_regular",
        "salary_without_overtime",
        "salary_hours_beyond_overtime",
        "overtime_rate_too_low",
    }
)
"""Warnings that labor law may not allow the pay: a review shows them unfolded."""

ON_PAGES: Final[Mapping[str, str]] = {
    **ON_FORMS,
    "fica_below_threshold": mark(
        "Social Security and Medicare are withheld, but this year's wages are still below "
        "${amount}. If they stay below it this year, refund both with “Refund FICA”."
    ),
    "below_minimum_wage": mark(
        "${rate} an hour is below the minimum wage on {day}: ${minimum} by {law}, since {since}."
    ),
    "salary_below_minimum_wage": mark(
        "The salary equals ${rate} an hour. That's below the minimum wage of ${minimum} on {day} "
        "({law}, since {since})."
    ),
    "minimum_wage_outdated": mark(
        "The minimum wage by {law} changed on {awaited}, and we don't have the new one yet. The last one "
        "we know is ${minimum}, since {since}. ${rate} an hour may now be too little: look it up."
    ),
    "overtime_paid_as_regular": mark(
        "{hours} regular hours: by {law} hours over {limit} are overtime, and these days hold "
        "about {room} without any. Enter at least {rest} as overtime hours."
    ),
    "salary_hours_beyond_overtime": mark(
        "{hours} hours for a salary. A salary doesn't exempt a household employee from overtime: "
        "by {law}, hours over {limit} are overtime. Enter at least {rest} overtime hours, paid "
        "in addition."
    ),
    "salary_prorated_unpaid": mark(
        "The salary is prorated: {paid} of {all} working days are paid, {unpaid} taken as unpaid, ${pay} of ${full}."
    ),
    "salary_prorated": mark(
        "The salary is prorated: {paid} of {all} working days are paid, ${pay} of ${full}."
    ),
    "weekly_hours_assumed": mark(
        "{hours} hours a week are assumed for the minimum wage and overtime. Enter the hours of "
        "a usual week on the employee's page."
    ),
    "former_employee_of_this_name": mark(
        "{name} worked for you until {day}. If this is the same person, reinstate that record and end this one before "
        "its first payroll."
    ),
    "same_person_as_former": mark(
        "By the tax number, this is the same person as an employee who left on {day}. Wage limits and the year to date "
        "count the wages of both records."
    ),
    "same_person_as_active": mark(
        "By the tax number, this is the same person as another employee. Wage limits and the year to date count the "
        "wages of both records."
    ),
    "settings_kept_after_move": mark(
        "No longer used after the move from {from_state} to {to_state}, and kept for a return: {parts:, }."
    ),
    "settings_in_force_again": mark(
        "Used again in {to_state}, as before: {parts:, }. Change what is no longer true."
    ),
    "part_local_taxes": mark("the local taxes chosen ({codes})"),
    "part_state_certificate": mark("the state certificate"),
    "prior_wages_above_gross_pay": mark(
        "{tax}: the wages of ${amount} are more than the pay before taxes, ${pay}."
    ),
    "prior_wages_above_subject": mark("{tax}: taxable wages are more than the wages the tax applies to."),
    "prior_wages_not_by_base": mark(
        "{tax}: taxable wages are ${amount}. By the year's limit of ${base}, they should be ${due}."
    ),
    "prior_wages_not_by_floor": mark(
        "{tax}: taxable wages are ${amount}. The tax starts at ${floor}, so they should be ${due}."
    ),
    "prior_tax_not_by_rate": mark("{tax}: ${amount} was charged. {percent}% of taxable wages is ${due}."),
    "prior_line_missing": mark("{tax} is not entered, but is due on wages of ${amount}."),
    "prior_share_missing": mark("{tax}: only one of the two shares is entered, yours or the employee's."),
    "prior_shares_differ": mark("{tax}: your share and the employee's are on different wages."),
    "prior_total_not_sum": mark("The total of taxes entered is ${amount}. The taxes add up to ${due}."),
    "prior_net_pay_differs": mark(
        "The net pay entered is ${amount}. Gross pay minus the employee's taxes is ${due}."
    ),
    "year_taxes_owed": mark("Still owed for wages of {year}, and charged with the next paychecks: {lines}."),
    "year_taxes_returned": mark(
        "Charged too much for wages of {year}, and refunded with the next paychecks: {lines}."
    ),
    "overtime_rate_too_low": mark(
        "The overtime rate of ${overtime} an hour is too low: by {law}, it must be at least ${least}."
    ),
    "period_paid_already": mark(
        "The same is paid already, on {day}, for {start} to {end}. If this repeats it by mistake, void one of the two."
    ),
    "paid_beside": mark("This paycheck comes on top of another, paid on {day} for {start} to {end}."),
    "paid_beside_as_supplemental": mark(
        "This paycheck comes on top of another, paid on {day} for {start} to {end}."
    ),
    "period_ends_before_start": mark("Choose a day on or after the first day of the period."),
    "period_not_ended": mark(
        "This pay period ends on {end}. Check that the hours include the days that are left."
    ),
    "paid_before_period": mark("Choose a day on or after the first day of the period."),
    "pay_date_needed": mark("Choose a pay date. The earliest, {day}, is before the period."),
    "past_pay_ahead": mark("Past pay can't have a future date."),
    "city_tax_not_owed": mark("{city}: you owe no local payroll tax. {reason}"),
    "city_tax_voluntary": mark(
        "{city}: the {tax} is not withheld, because a household doesn't have to. Your employee pays it to the city. To "
        "withhold it, choose {locality} on the employee's page."
    ),
    "city_tax_unknown": mark(
        "We don't know a payroll tax of {city} in {state}, so nothing is withheld for it. Ask its tax agency."
    ),
    "home_locality_not_withheld": mark(
        "Income tax is withheld for {state}, where the employee lives, but not for a county or city there. Your "
        "employee pays that with the tax return."
    ),
    "month_taken_from_first_payday": mark(
        "The monthly tax of {place} is owed if the month's wages are ${amount} or more. We go by the pay of the first "
        "payday. Check a month of uneven work."
    ),
    "month_without_first_payday": mark(
        "The monthly tax of {place} is withheld on the month's first payday, and this is a later one. If work began "
        "this month and wages reach ${amount}, the tax is still owed."
    ),
    "period_shorter_than_frequency": mark(
        "The pay period from {start} to {end} is shorter than your pay schedule, so less income tax is withheld. "
        "That's right for the first or last period of a job. Otherwise, change the pay schedule."
    ),
    "period_longer_than_frequency": mark(
        "The pay period from {start} to {end} is longer than your pay schedule, so more income tax is withheld. Split "
        "the period or change the pay schedule."
    ),
    "period_does_not_fit": mark(
        "The pay period from {start} to {end} doesn't fit your pay schedule. Split it or change the schedule."
    ),
    "salary_without_overtime": mark(
        "A salary doesn't exempt a household employee from overtime. By {law}, hours over {limit} a week are paid in "
        "addition."
    ),
}
"""Messages with other words on pages than in the API; the others use the API's."""

_ROUNDED: Final = {
    "regular_hours": mark("{asked} regular hours were rounded to {paid}."),
    "overtime_hours": mark("{asked} overtime hours were rounded to {paid}."),
}

PERIODS: Final = (mark("year"), mark("quarter"))
"""What the period of a threshold is called."""

_WORDS: Final = frozenset({"name", "period"})
"""Parameters that are terms of the catalogues."""

_OF_RULES: Final = frozenset({"text", "note", "rule", "reason"})
"""Parameters that are a sentence of a rule file, where the message names its id."""


def message_text(say: Say, language: str, message: Message) -> str:
    """Return a message in the reader's language. What an earlier version stored without a code is shown as it is."""
    params = dict(message.params)
    sentence = ON_PAGES.get(message.code, "")
    if message.code == "hours_rounded":
        sentence = _ROUNDED[str(params["field"])]
    if not sentence or not gaps_of(sentence) <= params.keys():
        # What an earlier version stored has fewer parameters.
        sentence = ENGLISH[message.code]
    shown = {name: parameter_text(say, language, value) for name, value in params.items()}
    shown |= {name: say(str(params[name])) for name in _WORDS & params.keys()}
    if "tax" in params and "line" in params:
        shown["tax"] = line_name(str(params["line"]), str(params["tax"]), language)
    of_rules = rule_sentences().get(str(params.get("id")))
    if of_rules is not None:
        shown |= dict.fromkeys(_OF_RULES & params.keys(), say(of_rules))
    return say(sentence, **shown)


@cache
def gaps_of(sentence: str) -> frozenset[str]:
    """Return the names of a sentence's gaps."""
    return frozenset(name for _, name, _, _ in Formatter().parse(sentence) if name)


def parameter_text(say: Say, language: str, value: object) -> object:
    """Return a parameter of a message as a sentence shows it."""
    match value:
        case Message():
            return message_text(say, language, value)
        case DollarAmount():
            return str(value)
        case tuple():
            return Joined(message_text(say, language, each) for each in value)
        case datetime.date():
            return day_text(language, "date", value)
        case Decimal():
            return f"{value.normalize():f}"
        case _:
            return value
