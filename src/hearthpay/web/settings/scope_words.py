"""The scopes of API keys in words for people: their names, and what each allows."""

from typing import Final

from hearthpay.languages.catalogue import mark

SCOPE_NAMES: Final = {
    "calculator": mark("Calculator"),
    "payroll": mark("Payroll"),
    "employees": mark("Employees"),
    "documents": mark("Documents"),
    "state_registrations": mark("State accounts"),
    "multi_employer": mark("Several households"),
    "ach": mark("Direct deposit"),
    "onboarding": mark("Addresses and bank links"),
}
"""The scopes' names for people."""

SCOPE_WORDS: Final = {
    "calculator": mark("Calculate taxes. Nothing is stored."),
    "payroll": mark("Previews, runs, reads and voids payrolls."),
    "employees": mark("Households and employees, and their invitations."),
    "documents": mark("Pay stubs, forms and reports."),
    "state_registrations": mark("Registrations with agencies, and the tax calendar."),
    "multi_employer": mark("Makes and lists several households."),
    "ach": mark("Direct deposit and Autopilot."),
    "onboarding": mark("Changes email addresses, and opens links for bank accounts."),
}
"""What each scope allows."""
