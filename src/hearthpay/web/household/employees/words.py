"""The names of an employee's settings on pages, and the hints for choosing among them."""

from collections.abc import Mapping
from typing import Final

from hearthpay.languages.catalogue import mark

FREQUENCIES: Final[Mapping[str, str]] = {
    "weekly": mark("Every week"),
    "biweekly": mark("Every two weeks"),
    "semimonthly": mark("Twice a month"),
    "monthly": mark("Once a month"),
}
PAY_TYPES: Final[Mapping[str, str]] = {"hourly": mark("By the hour"), "salary": mark("A salary")}
SALARY_SPANS: Final[Mapping[str, str]] = {"year": mark("A year"), "period": mark("Each pay period")}
METHODS: Final[Mapping[str, str]] = {
    "check": mark("Check"),
    "cash": mark("Cash"),
    "direct_deposit": mark("Direct deposit"),
}
RELATIONS: Final[Mapping[str, str]] = {
    "none": mark("Not related to you"),
    "spouse": mark("Your husband or wife"),
    "parent": mark("Your parent"),
    "parent_caring_for_grandchild": mark("Your parent, who cares for your child"),
    "child_under_18": mark("Your child, under 18"),
    "child_18_to_20": mark("Your child, 18 to 20"),
    "child_under_21": mark("Your child, under 21"),
    "student_under_18": mark("A student under 18"),
}
LANGUAGES: Final[Mapping[str, str]] = {"en": mark("English"), "es": mark("Spanish")}
FILING_STATUSES: Final[Mapping[str, str]] = {
    "single": mark("Single, or married filing separately"),
    "married": mark("Married filing jointly, or surviving spouse"),
    "head_of_household": mark("Head of household"),
}
OLD_STATUSES: Final[Mapping[str, str]] = {
    "single": mark("Single"),
    "married": mark("Married"),
    "married_withhold_at_single_rate": mark("Married, but withheld at the higher single rate"),
}
"""The marital statuses of a Form W-4 of 2019 or earlier."""
INVITATIONS: Final[Mapping[str, str]] = {
    "tax_info": mark("Social Security number and address"),
    "bank_account": mark("Bank account for direct deposit"),
}
EMAIL_REASONS: Final[Mapping[str, str]] = {
    "not_requested": mark("Share this link with your employee."),
    "no_address": mark("There is no email address on file. Share this link with your employee."),
    "no_mail_server": mark("Email isn't set up here. Share this link with your employee."),
    "sandbox": mark("This is a test household: no email leaves."),
}
OTHER_REASON: Final = mark("The email is not sent yet. You can also share the link yourself.")
HOUSEHOLD_RULES: Final[Mapping[str, str]] = {
    "voluntary": mark("Optional in your state. Withhold it only if you and your employee agree."),
    "follows_federal": mark("Required in your state when you withhold federal income tax."),
    "required": mark("Your state requires it."),
    "prohibited": mark("Households do not withhold it in your state."),
}
ENTRY_NAMES: Final[Mapping[str, str]] = {
    "elected": mark("We agreed that it is withheld"),
    "exempt": mark("Exempt from withholding"),
    "additional_withholding": mark("More to withhold from each paycheck"),
    "reciprocity_certificate_on_file": mark("A certificate of a neighboring state is on file"),
    "allowances": mark("Allowances"),
    "exemptions": mark("Exemptions"),
    "regular_allowances": mark("Regular allowances"),
    "estimated_deduction_allowances": mark("Allowances for estimated deductions"),
    "filing_status": mark("Filing status"),
}
"""Entries that several states' forms share; others have the name on their form."""
STATE_ENTRY_NAMES: Final[Mapping[str, str]] = {
    **ENTRY_NAMES,
    "additional_county_withholding": mark("Extra county tax from each paycheck"),
    "additional_state_withholding": mark("Extra state tax from each paycheck"),
    "adjustment_allowances": mark("Additional allowances"),
    "adjustment_per_period": mark("More to withhold from each paycheck"),
    "adopted_child_exemptions": mark("Exemptions for adopted children"),
    "age_blindness_exemptions": mark("Exemptions for age 65 or blindness"),
    "allowance_rate": mark("Rate to withhold at"),
    "blind": mark("Blind"),
    "block_a": mark("Personal exemptions (block A)"),
    "both_spouses_work": mark("Both spouses work"),
    "city_resident": mark("City of residence, if it has an income tax"),
    "city_work": mark("City of work, if it has an income tax"),
    "county_of_residence": mark("County of residence"),
    "county_of_residence_jan1": mark("County of residence on January 1"),
    "county_of_work_jan1": mark("County of work on January 1"),
    "dc_nonresident_d4a": mark("Lives outside the District (Form D-4A)"),
    "decrease_per_period": mark("Less to withhold from each paycheck"),
    "dependent_allowances": mark("Allowances for dependents"),
    "dependent_exemptions": mark("Exemptions for dependents"),
    "dependents": mark("Dependents"),
    "dr0004_annual_withholding_allowance": mark("Annual withholding allowance"),
    "employee_chosen_amount": mark("Amount to withhold instead of the tables"),
    "exempt_nonresident": mark("Lives in another state and is exempt here"),
    "exemption_code": mark("Exemption claimed"),
    "first_time_dependent_exemptions": mark("Exemptions for children claimed for the first time"),
    "form_vintage": mark("Year of the form"),
    "full_time_student_under_8000": mark("Full-time student who earns less than the form's limit"),
    "head_of_household": mark("Head of household"),
    "line1_allowances": mark("Basic allowances"),
    "line2_allowances": mark("Additional allowances"),
    "low_income_election": mark("Low income tax rates"),
    "low_income_filing_status": mark("Filing status for the low income tax rates"),
    "marital_status": mark("Marital status for withholding"),
    "married_withhold_at_single_rate": mark("Married, but withhold at the higher single rate"),
    "maryland_resident": mark("Lives in Maryland"),
    "nyc_additional_withholding": mark("Extra New York City tax from each paycheck"),
    "nyc_allowances": mark("Allowances for New York City"),
    "nyc_resident": mark("Lives in New York City"),
    "one_earner_one_job": mark("One earner with one job"),
    "personal_exemptions": mark("Personal exemptions"),
    "rate_letter": mark("Rate letter of the wage chart"),
    "reduced_withholding": mark("Smaller amount to withhold"),
    "spouse_blind": mark("Spouse is blind"),
    "spouse_has_earned_income": mark("Spouse has income from work"),
    "status": mark("Withholding status"),
    "total_allowance_dollars": mark("Allowances in dollars a year"),
    "total_exemption_amount": mark("Exemption claimed, in dollars a year"),
    "total_exemptions": mark("Exemptions in all"),
    "w4_filing_status": mark("Filing status on the federal Form W-4"),
    "w4_old_allowances": mark("Allowances on the older form"),
    "w4_old_status": mark("Marital status on the older form"),
    "w4_version": mark("Year of the federal Form W-4"),
    "withholding_code": mark("Withholding code"),
    "withholding_percent": mark("Share of wages to withhold"),
    "yonkers": mark("Yonkers"),
    "yonkers_additional_withholding": mark("Extra Yonkers tax from each paycheck"),
}
"""All entries of the states' forms, as the household reads them."""

CHOICE_NAMES: Final[Mapping[str, str]] = {
    "resident": mark("Lives there"),
    "nonresident_working_in_yonkers": mark("Only works there"),
    "married_spouse_works": mark("Married, spouse works"),
    "married_spouse_does_not_work": mark("Married, spouse does not work"),
    "married_spouse_not_employed": mark("Married, spouse does not work"),
    "married_both_employed": mark("Married, both work"),
}
"""Choices that the employee's own form states in the first person."""
