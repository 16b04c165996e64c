"""All pages of a household, in the order in which they are matched."""

from typing import Final

from starlette.routing import BaseRoute

from hearthpay.web.household.autopilot.routes import AUTOPILOT_ROUTERS
from hearthpay.web.household.bank import routers as bank
from hearthpay.web.household.calendar import routers as calendar
from hearthpay.web.household.employees.routes import EMPLOYEE_ROUTERS
from hearthpay.web.household.entry_points import router as doors
from hearthpay.web.household.overview import router as overview
from hearthpay.web.household.payrolls.routes import router as payrolls
from hearthpay.web.household.sandbox_pages import router as sandbox
from hearthpay.web.household.settings_pages import router as settings
from hearthpay.web.household.setup.routes import SETUP_ROUTERS
from hearthpay.web.household.state_accounts import routers as state_accounts
from hearthpay.web.household.taxes import routers as taxes

HOUSEHOLD_ROUTES: Final[tuple[BaseRoute, ...]] = tuple(
    route
    for router in (
        *SETUP_ROUTERS,
        doors,
        overview,
        settings,
        sandbox,
        *EMPLOYEE_ROUTERS,
        payrolls,
        *AUTOPILOT_ROUTERS,
        *taxes,
        *state_accounts,
        *calendar,
        *bank,
    )
    for route in router.routes
)
"""The household's routes, for the application to serve next to sign-in and settings."""
