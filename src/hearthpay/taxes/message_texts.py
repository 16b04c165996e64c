"""Every message by its code, and its English in the API.

Pages may say one in other words: `ON_PAGES` of `web/message_text.py`. What labor law may not allow
is worded in `taxes/labor_law/check.py`. The Spanish is in `languages/es/messages.po`, that of pages in `payrolls.po`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

MessageCode = Literal[
    # What the rules leave open.
    "figure_not_verified",
    "figures_not_verified",
    "figures_of_version_not_verified",
    "figures_not_published",
    "figure_unknown",
    "withholding_limited_to_pay",
    "other_state_not_withheld",
    "state_limitation",
    "threshold_not_verified",
    # What was assumed.
    "same_pay_assumed",
    "new_employer_rate_assumed",
    "withholding_assumed",
    "one_employee_assumed",
    "county_not_chosen",
    "county_rate_assumed",
    "municipality_not_chosen",
    "city_not_chosen",
    "home_locality_not_withheld",
    "month_taken_from_first_payday",
    "month_without_first_payday",
    "city_tax_voluntary",
    "city_tax_not_owed",
    "city_tax_unknown",
    "period_shorter_than_frequency",
    "period_longer_than_frequency",
    "period_does_not_fit",
    # What labor law may not allow.
    "below_minimum_wage",
    "salary_below_minimum_wage",
    "minimum_wage_outdated",
    "overtime_paid_as_regular",
    "salary_without_overtime",
    "salary_hours_beyond_overtime",
    "overtime_rate_too_low",
    # What to know about a paycheck.
    "thresholds_assumed",
    "below_thresholds",
    "fica_below_threshold",
    "fica_repaid",
    "earlier_wages_charged",
    "earlier_wages_returned",
    "earlier_wages_carried",
    "paid_by_check",
    "paid_by_cash",
    "set_aside_limited",
    "salary_prorated",
    "salary_prorated_unpaid",
    "weekly_hours_assumed",
    "former_employee_of_this_name",
    "same_person_as_former",
    "same_person_as_active",
    "settings_kept_after_move",
    "settings_in_force_again",
    "prior_wages_above_gross_pay",
    "prior_wages_above_subject",
    "prior_wages_not_by_base",
    "prior_wages_not_by_floor",
    "prior_tax_not_by_rate",
    "prior_line_missing",
    "prior_share_missing",
    "prior_shares_differ",
    "prior_total_not_sum",
    "prior_net_pay_differs",
    "year_taxes_owed",
    "year_taxes_returned",
    "hours_rounded",
    "pay_date_before_closed_day",
    "pay_date_before_closed_day_in_other_year",
    "pay_date_too_soon",
    "pay_date_too_soon_in_other_year",
    "today_in_two_years",
    "today_in_two_quarters",
    "deposit_not_in_time",
    "period_paid_already",
    "paid_beside",
    "paid_beside_as_supplemental",
    # Parts of a message.
    "part_salary",
    "part_hours",
    "part_bonus",
    "part_local_taxes",
    "part_state_certificate",
    "part_other_earnings",
    "part_line_amount",
    "part_threshold",
    "part_threshold_of_period",
    "part_threshold_in_quarter",
    "part_federal_law",
    "part_law_of",
    "part_local_law_of",
    # What a line of a paycheck is: on pages only.
    "line_federal_tables",
    "line_supplemental_rate",
    "line_state_tables",
    "line_city_tables",
    "line_rate",
    "line_rate_up_to",
    "line_rate_above",
    "line_rate_at_most",
    "line_rate_after_deductions",
    "line_rate_after_exemptions",
    "line_rate_of_state_tax",
    "line_rate_above_exclusion",
    "line_fee_of_week",
    "line_fee_of_year",
    "line_fee_of_month",
    "line_most_of_year",
    "line_new_employer_rate",
    "line_own_rate",
    "line_held",
    "line_on_top",
    # What the law of a state asks.
    "state_thresholds",
    # Why a household needs an account with an agency, or a policy.
    "account_withheld",
    "account_not_withheld",
    "account_local_tax",
    "account_no_local_tax",
    "account_works_there",
    "account_wages_below",
    "account_wages_paid",
    "account_nobody_works_there",
    "account_all_exempt",
    "account_not_begun",
    "policy_needed",
    "policy_not_needed",
    # What is wrong with a request.
    "required",
    "secret_number",
    "out_of_range",
    "too_many_decimals",
    "nothing_to_pay",
    "no_paid_day",
    "more_unpaid_days_than_worked",
    "more_hours_than_period",
    "period_ends_before_start",
    "ends_before_start",
    "paid_before_period",
    "period_not_ended",
    "past_pay_ahead",
    "pay_date_needed",
    "not_a_pay_period",
    "below_regular_rate",
    "pay_above_overtime_rate",
    "salary_above_overtime_rate",
    "starts_after_last_day",
    "starts_in_earlier_employment",
    "starts_before_last_day",
    "ends_before_first_day",
    "policy_ends_before_start",
    "not_printable",
    "wait_day_needed",
    "wait_day_out_of_range",
    "refund_year_not_over",
    "refund_wages_reach_threshold",
    "refund_nothing_withheld",
    "period_too_long",
    "banks_closed_before_period",
    "deposit_too_large",
    "debit_too_large",
    "hours_of_salaried",
    "hours_of_hourly",
    "more_hours_than_schedule",
    "change_too_far",
    "change_not_first_day",
    "autopilot_not_eligible",
    "autopilot_period_passed",
    "autopilot_payroll_decided",
    "payout_without_account",
    # What was written before messages had codes.
    "recorded",
]
"""Every message by its code. A code never changes its meaning; its words may."""

CODES: Final[tuple[MessageCode, ...]] = get_args(MessageCode)

_TEXT: Final = "{text}"

ENGLISH: Final[Mapping[MessageCode, str]] = {
    "figure_not_verified": "{line}: {note}",
    "figures_not_verified": "{line}: {note}",
    "figures_of_version_not_verified": "{line}: the figures of {day} could not be fully verified.",
    "figures_not_published": (
        "The {year} figures for {lines} aren't published yet. We use the current figures until they are."
    ),
    "figure_unknown": (
        "The {year} figures for {line} aren't published yet, and no other figures can be used."
    ),
    "withholding_limited_to_pay": (
        "Income tax withholding was limited to the pay that was left after other deductions."
    ),
    "other_state_not_withheld": (
        "The employee lives in {home}: only {state} income tax is withheld; what {home} may ask beyond it is not."
    ),
    "state_limitation": _TEXT,
    "threshold_not_verified": "{name}: {rule}",
    "same_pay_assumed": "Assumes no wages earlier in the year and the same pay every period.",
    "new_employer_rate_assumed": (
        "Assumes the new-employer unemployment rate; your own notice may set another."
    ),
    "withholding_assumed": (
        "Assumes that income tax is withheld, which for household work is by agreement in most states."
    ),
    "one_employee_assumed": (
        "Assumes one employee whose wages are spread evenly over the year; quarterly thresholds count all workers."
    ),
    "county_not_chosen": _TEXT,
    "county_rate_assumed": _TEXT,
    "municipality_not_chosen": _TEXT,
    "city_not_chosen": _TEXT,
    "home_locality_not_withheld": _TEXT,
    "month_taken_from_first_payday": _TEXT,
    "month_without_first_payday": _TEXT,
    "city_tax_voluntary": _TEXT,
    "city_tax_not_owed": _TEXT,
    "city_tax_unknown": _TEXT,
    "period_shorter_than_frequency": _TEXT,
    "period_longer_than_frequency": _TEXT,
    "period_does_not_fit": "About the pay period: {text}.",
    "below_minimum_wage": _TEXT,
    "salary_below_minimum_wage": _TEXT,
    "minimum_wage_outdated": _TEXT,
    "overtime_paid_as_regular": _TEXT,
    "salary_without_overtime": _TEXT,
    "salary_hours_beyond_overtime": _TEXT,
    "overtime_rate_too_low": _TEXT,
    "thresholds_assumed": (
        "Charged from the first dollar, because we assume you'll reach {thresholds:; } in a calendar quarter. Below "
        "that, nothing is owed."
    ),
    "below_thresholds": (
        "Not charged, because the wages paid so far are below the threshold: {thresholds:; }. Once they reach it, "
        "it is charged back to the first dollar."
    ),
    "fica_below_threshold": (
        "Social Security and Medicare are withheld, although the year's wages are still below {amount}. If the year "
        "ends below it, nothing was due: repay the employee with a run with the notes fica-refund."
    ),
    "fica_repaid": (
        "Repays what was withheld for Social Security and Medicare of {year}: the year's wages of {wages} stay below "
        "{threshold}. Have the employee sign a receipt with the date and the amount, and keep it. If more wages of "
        "the year are paid and reach the threshold, all of it is due again."
    ),
    "earlier_wages_charged": "Added here, because too little was withheld from earlier wages of the year: {lines}.",
    "earlier_wages_returned": ("Refunded here, because too much was withheld earlier this year: {lines}."),
    "earlier_wages_carried": (
        "Net pay is too small to withhold everything owed for earlier wages. Carried to the next paycheck: {lines}."
    ),
    "paid_by_check": "The employee is set up for direct deposit; this paycheck is paid by check.",
    "paid_by_cash": "The employee is set up for direct deposit; this paycheck is paid by cash.",
    "set_aside_limited": "Less was set aside than asked for, because net pay can't be negative.",
    "salary_prorated": ("The salary is prorated: {paid} of {all} working days are paid, {pay} of {full}."),
    "salary_prorated_unpaid": (
        "The salary is prorated: {paid} of {all} working days are paid, {unpaid} taken as unpaid, {pay} of {full}."
    ),
    "weekly_hours_assumed": (
        "usual_weekly_hours is not set: {hours} hours a week are assumed for the minimum wage and overtime."
    ),
    "former_employee_of_this_name": (
        "{name} worked for this household until {day}. If this is the same person, reinstate that record (POST "
        "/api/v1/employees/{employee}/reinstate) and end this one before its first payroll: a second record begins "
        "every wage base and the year to date anew, until the same tax number is entered for both."
    ),
    "same_person_as_former": (
        "By the tax number entered, this is the same person as employee {employee}, who left on {day}. The year is "
        "one: wage bases and the year to date count the wages of both records."
    ),
    "same_person_as_active": (
        "By the tax number entered, this is the same person as employee {employee}, who is active. The year is one: "
        "wage bases and the year to date count the wages of both records."
    ),
    "settings_kept_after_move": (
        "No longer in force after the move from {from_state} to {to_state}, and kept for a return: {parts:, }."
    ),
    "settings_in_force_again": (
        "In force again in {to_state}, as before: {parts:, }. Send others if they have changed."
    ),
    "prior_wages_above_gross_pay": "{line}: subject wages of {amount} are more than the gross pay of {pay}.",
    "prior_wages_above_subject": "{line}: taxable wages are more than the subject wages.",
    "prior_wages_not_by_base": (
        "{line}: taxable wages are {amount}; by the year's base of {base} they should be {due}."
    ),
    "prior_wages_not_by_floor": "{line}: taxable wages are {amount}; by the floor of {floor} they should be {due}.",
    "prior_tax_not_by_rate": "{line}: {amount} was charged; {percent} % of the taxable wages is {due}.",
    "prior_line_missing": "{line} is not entered, but wages of {amount} bear it.",
    "prior_share_missing": "{shares}: only one of the two shares is entered.",
    "prior_shares_differ": "{shares}: the two shares are on different wages.",
    "prior_total_not_sum": "{field}: {amount} is not the sum of the lines, {due}.",
    "prior_net_pay_differs": "net_pay: {amount} is not gross pay less taxes, {due}.",
    "year_taxes_owed": "Owed for wages of {year} and charged with the next paychecks: {lines}.",
    "year_taxes_returned": "Charged too much for wages of {year} and given back with the next paychecks: {lines}.",
    "hours_rounded": "{field} {asked} was rounded to {paid}: hours have at most 3 decimals.",
    "pay_date_before_closed_day": (
        "Banks are closed on {asked}: the money arrives on {day}, which is the pay date."
    ),
    "pay_date_before_closed_day_in_other_year": (
        "Banks are closed on {asked}: the money arrives on {day}, which is the pay date, so these wages belong to "
        "{year}."
    ),
    "pay_date_too_soon": (
        "The money could not arrive by {asked}: it arrives on {day}, which is the pay date."
    ),
    "pay_date_too_soon_in_other_year": (
        "The money could not arrive by {asked}: it arrives on {day}, which is the pay date, so these wages belong to "
        "{year}."
    ),
    "today_in_two_years": (
        "Today is {own} where the household is, and {eastern} in US Eastern time. The pay date is {day}, so these "
        "wages belong to {year}."
    ),
    "today_in_two_quarters": (
        "Today is {own} where the household is, and {eastern} in US Eastern time. The pay date is {day}, so these "
        "wages belong to the quarter of that day."
    ),
    "deposit_not_in_time": (
        "Direct deposit cannot arrive by {day}: its next valid pay date is {earliest}. A check or cash can be paid on "
        "any day."
    ),
    "period_paid_already": (
        "The same is paid already: payroll {payroll}, with the pay date {day}, pays {parts: and } for {start} to "
        "{end}. If this repeats it by mistake, void one of the two."
    ),
    "paid_beside": (
        "This paycheck comes on top of another of the same time: payroll {payroll}, with the pay date {day}, pays "
        "{parts: and } for {start} to {end}."
    ),
    "paid_beside_as_supplemental": (
        "This paycheck comes on top of another of the same time: payroll {payroll}, with the pay date {day}, pays "
        "{parts: and } for {start} to {end}. It is taxed as supplemental wages."
    ),
    "part_salary": "the salary",
    "part_hours": "{hours} hours",
    "part_bonus": "a bonus of {amount}",
    "part_local_taxes": "the local taxes chosen ({codes})",
    "part_state_certificate": "the state certificate",
    "part_other_earnings": "other earnings of {amount}",
    "part_line_amount": "{line} {amount}",
    "part_threshold": "{name} {amount}",
    "part_threshold_of_period": "{name} (from {amount} in a {period})",
    "part_threshold_in_quarter": "{name} from {amount} dollars in a calendar quarter",
    "part_federal_law": "federal law",
    "part_law_of": "the law of {place}",
    "part_local_law_of": "the law of {place} ({state}), where the work is done there",
    "state_thresholds": "{state} counts cash wages to all household workers together: {thresholds:; }.",
    "line_federal_tables": (
        "{tax} comes from the IRS tables, by {who}'s pay and Form W-4. With none on file, we withhold as for a "
        "single person with one job."
    ),
    "line_supplemental_rate": "{tax} is {rate}% of a bonus or other extra pay.",
    "line_state_tables": (
        "{tax} comes from {state}'s tables, by {who}'s pay and certificate ({form}). With none on file, we use the "
        "state's default."
    ),
    "line_city_tables": "{tax} comes from the city's tables, by {who}'s pay and certificate.",
    "line_rate": "{tax} is {rate}% of {who}'s pay.",
    "line_rate_up_to": "{tax} is {rate}% of {who}'s pay, up to ${base} a year.",
    "line_rate_above": "{tax} is {rate}% of {who}'s pay above ${floor} a year.",
    "line_rate_at_most": "{tax} is {rate}% of {who}'s pay, at most ${most} a week.",
    "line_rate_after_deductions": (
        "{tax} is {rate}% of {who}'s pay, less the deductions, allowances and credits that {state} gives."
    ),
    "line_rate_after_exemptions": "{tax} is {rate}% of {who}'s pay, less the exemptions on the certificate.",
    "line_rate_of_state_tax": "{tax} is {rate}% of the state's income tax.",
    "line_rate_above_exclusion": "{tax} is {rate}% of {who}'s pay, less an amount that the city leaves free of tax.",
    "line_fee_of_week": "{tax} is ${amount} a week.",
    "line_fee_of_year": "{tax} is ${amount} a year, spread over the paydays.",
    "line_fee_of_month": "{tax} is ${amount} for each month with pay of ${minimum} or more.",
    "line_most_of_year": "It is at most ${most} a year.",
    "line_new_employer_rate": (
        "This is the rate for new employers. If the state sent you a notice with your own rate, enter it."
    ),
    "line_own_rate": "This is your own rate, from the state's notice.",
    "line_held": "It comes out of {who}'s pay, and you pay it to the tax agency ({agency}).",
    "line_on_top": "You pay it on top of the pay, to the tax agency ({agency}).",
    "required": "is required",
    "secret_number": (
        "looks like a Social Security or bank account number, which the API never takes; let the employee enter it in "
        "the portal"
    ),
    "out_of_range": "must be between {minimum} and {maximum}",
    "too_many_decimals": "must have at most {places} decimals",
    "nothing_to_pay": "hours, a bonus or other earnings are needed: there is nothing to pay",
    "no_paid_day": "leaves no working day that a salary is paid for: nothing to pay",
    "more_unpaid_days_than_worked": "Enter at most {days}, the working days of the employment.",
    "more_hours_than_period": ("Enter at most {hours} hours, overtime included: the pay period has no more."),
    "period_ends_before_start": "must not be before pay_period_start",
    "ends_before_start": "Choose a date on or after the start of the period.",
    "paid_before_period": "must not be before pay_period_start",
    "period_not_ended": (
        "The pay period ends on {end}, and today is before that. Check that the hours include the days that are left."
    ),
    "past_pay_ahead": "of a catch-up payroll must not be in the future",
    "pay_date_needed": "is required: the earliest, {day}, is before the pay period",
    "not_a_pay_period": (
        "a period from {start} to {end} has {days} days, which is no {frequency} period: income tax would take its pay "
        "for that of {noun}"
    ),
    "below_regular_rate": ("must not be below {least}"),
    "pay_above_overtime_rate": ("must not be above the overtime_rate of {rate}; send both"),
    "salary_above_overtime_rate": (
        "comes to an hourly rate that must not be above the overtime_rate of {rate}; send both"
    ),
    "starts_after_last_day": ("must not be after the last day, {day}"),
    "starts_in_earlier_employment": ("must be after the last day of the earlier employment, {day}"),
    "starts_before_last_day": ("must be after the last day, {day}"),
    "ends_before_first_day": ("must not be before the first day, {day}"),
    "policy_ends_before_start": ("must not be before the first day"),
    "not_printable": ("must have 1 to {longest} printable characters"),
    "wait_day_needed": ("is needed: the last day to wait for another account"),
    "wait_day_out_of_range": ("must be a day after today, {latest} at the latest"),
    "refund_year_not_over": (
        "The year {year} is not over for this employee: Social Security and Medicare can be repaid with a pay "
        "date in December or later, or once the employment has ended."
    ),
    "refund_wages_reach_threshold": (
        "The wages of {year}, {wages}, reach the threshold of {threshold}: Social Security and Medicare are due "
        "on them."
    ),
    "refund_nothing_withheld": (
        "No Social Security and Medicare of {year} were withheld by our paychecks: there is nothing to repay."
    ),
    "period_too_long": ("must be within {days} days of pay_period_start"),
    "banks_closed_before_period": (
        "is a day on which banks are closed; the banking day before it, {day}, is before pay_period_start"
    ),
    "deposit_too_large": ("must not come to a direct deposit of more than {most}"),
    "debit_too_large": ("must not come to a bank debit of more than {most} together"),
    "hours_of_salaried": ("must be 0: this employee is paid a salary"),
    "hours_of_hourly": ("must be more than 0: this employee is paid by the hour"),
    "more_hours_than_schedule": ("must not be more than the {hours} hours of the pay period"),
    "change_too_far": ("must be within two years of today"),
    "change_not_first_day": (
        "must be the first day of a period, of the schedule so far and of the new one, about which nothing is "
        "decided yet: {days}"
    ),
    "autopilot_not_eligible": ("Autopilot may not pay this employee: {reasons}."),
    "autopilot_period_passed": ("The period of {day} is not the next one any more: nothing was skipped."),
    "autopilot_payroll_decided": ("This payroll does not wait any more: it is {status}."),
    "payout_without_account": (
        "{name} has no active bank account to pay to. Connect one, or pay by hand what the household keeps."
    ),
    "account_withheld": "This state's income tax is withheld from an employee's pay.",
    "account_not_withheld": "This state's income tax isn't withheld from anyone's pay.",
    "account_local_tax": "A local tax of this agency applies to an employee's pay.",
    "account_no_local_tax": "No local tax of this agency applies to anyone's pay.",
    "account_works_there": "An employee works in this state.",
    "account_wages_below": (
        "An employee works in this state. The tax is owed once the wages of a quarter reach ${threshold}. This quarter "
        "has ${wages}."
    ),
    "account_wages_paid": "Wages of this year or last year reached this state's threshold.",
    "account_nobody_works_there": "No employee works in this state now.",
    "account_all_exempt": "All employees in this state are exempt from these contributions.",
    "account_not_begun": "This program hasn't begun yet.",
    "policy_needed": "State law requires this policy.",
    "policy_not_needed": "State law doesn't require this policy.",
    "recorded": _TEXT,
}
"""Each message in English."""
