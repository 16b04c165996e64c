"""The household's money at the bank: its account, its authorizations, payments in progress, and set-asides."""

from typing import Final

from hearthpay.web.household.bank.account import router as account
from hearthpay.web.household.bank.authorization import router as authorization
from hearthpay.web.household.bank.overview import router as overview
from hearthpay.web.household.bank.set_asides import router as set_asides

routers: Final = (overview, account, authorization, set_asides)
"""In the order in which their pages are matched."""
