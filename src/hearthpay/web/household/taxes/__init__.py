"""The household's taxes: thresholds, amounts owed by agency, payments and filings, wages by state, year-end documents,
estimated tax, and what wages would cost."""

from typing import Final

from hearthpay.web.household.taxes.address import router as address
from hearthpay.web.household.taxes.cost import router as cost
from hearthpay.web.household.taxes.estimated import router as estimated
from hearthpay.web.household.taxes.filings import router as filings
from hearthpay.web.household.taxes.issued import router as issued
from hearthpay.web.household.taxes.overview import router as overview
from hearthpay.web.household.taxes.owed import router as owed
from hearthpay.web.household.taxes.papers import router as papers
from hearthpay.web.household.taxes.payments import router as payments
from hearthpay.web.household.taxes.thresholds import router as thresholds
from hearthpay.web.household.taxes.wages import router as wages

routers: Final = (
    overview,
    owed,
    payments,
    filings,
    wages,
    estimated,
    papers,
    issued,
    address,
    thresholds,
    cost,
)
"""In the order in which their pages are matched."""
