"""Every endpoint of the API, one row each, in a module per package of routes."""

from typing import Final

from tests.endpoints import (
    autopilot,
    banking,
    calculator,
    documents,
    duties,
    employees,
    employers,
    filing,
    jurisdictions,
    payroll,
    registrations,
    reports,
    sandbox,
    todos,
)
from tests.endpoints.endpoint import Action, Endpoint

MODULES: Final = (
    calculator,
    payroll,
    employers,
    employees,
    banking,
    registrations,
    reports,
    todos,
    duties,
    filing,
    documents,
    autopilot,
    jurisdictions,
    sandbox,
)

ENDPOINTS: Final[dict[str, Endpoint]] = {each.id: each for module in MODULES for each in module.ENDPOINTS}
"""By operation id."""

ACTIONS: Final[dict[str, Action]] = {
    name: each.action for name, each in ENDPOINTS.items() if not each.stateless
}
"""How a step of each operation that touches rows becomes a request."""

ONCE_EACH: Final = tuple(sorted(ACTIONS, key=lambda name: ENDPOINTS[name].turn))
"""The operations in an order in which each can succeed."""
