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
