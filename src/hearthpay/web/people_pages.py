"""All pages for signed-in people, in matching order."""

from typing import Final

from starlette.routing import BaseRoute

from hearthpay.web.agents.consent import router as consent
from hearthpay.web.agents.grants import router as agents
from hearthpay.web.assets import router as assets
from hearthpay.web.cost_page import router as cost_page
from hearthpay.web.help.routes import router as help_pages
from hearthpay.web.household.routes import HOUSEHOLD_ROUTES
from hearthpay.web.my.agreements import router as my_agreements
from hearthpay.web.my.certificates import router as my_certificates
from hearthpay.web.my.details import router as my_details
from hearthpay.web.my.joining import router as my_joining
from hearthpay.web.my.pay import router as my_pay
from hearthpay.web.my.set_aside import router as my_set_aside
from hearthpay.web.search.routes import router as search
from hearthpay.web.settings.account import router as account
from hearthpay.web.settings.disputed_address import router as disputed_address
from hearthpay.web.settings.employees import router as employees
from hearthpay.web.settings.freezes import router as freezes
from hearthpay.web.settings.health_page import router as health
from hearthpay.web.settings.history import router as history
from hearthpay.web.settings.notices import router as notices
from hearthpay.web.settings.organization import router as organization
from hearthpay.web.settings.own_household import router as own_household
from hearthpay.web.settings.secure_account import router as secure
from hearthpay.web.settings.uncollected_page import router as uncollected
from hearthpay.web.settings.unread_files_page import router as unread_files
from hearthpay.web.signin.joining import router as joining
from hearthpay.web.signin.sign_in import router as doors
from hearthpay.web.stop_pages import router as stopping

_MY: Final = (my_joining, my_pay, my_details, my_certificates, my_agreements, my_set_aside)

PEOPLE_ROUTES: Final[tuple[BaseRoute, ...]] = (
    *(
        route
        for router in (
            doors,
            joining,
            stopping,
            cost_page,
            account,
            secure,
            disputed_address,
            own_household,
            uncollected,
            unread_files,
            organization,
            freezes,
            history,
            consent,
            agents,
            employees,
            *_MY,
            notices,
            health,
            help_pages,
            search,
            assets,
        )
        for route in router.routes
    ),
    *HOUSEHOLD_ROUTES,
)
"""Routes for the application to serve next to the portal's."""
