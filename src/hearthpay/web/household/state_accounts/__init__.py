"""The household's accounts with the IRS and the states: what is needed, its numbers, and its filing frequencies."""

from typing import Final

from hearthpay.web.household.state_accounts.ein import router as ein
from hearthpay.web.household.state_accounts.filing import router as filing
from hearthpay.web.household.state_accounts.list_page import router as list_page
from hearthpay.web.household.state_accounts.numbers import router as numbers
from hearthpay.web.household.state_accounts.policies import router as policies
from hearthpay.web.household.state_accounts.rate import router as rate

routers: Final = (list_page, ein, filing, policies, rate, numbers)
"""In the order in which their pages are matched."""
