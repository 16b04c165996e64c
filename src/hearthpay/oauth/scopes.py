"""What can be granted to an agent: its tools in groups, as a person is asked about them, and as OAuth scopes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hearthpay.languages.catalogue import mark


@dataclass(frozen=True, slots=True)
class ScopeGroup:
    """Tools that are granted together. `scope` is their name in OAuth; `changes`: a call has an effect."""

    scope: str
    label: str
    tools: tuple[str, ...]
    changes: bool = False


OFFERS: Final = (
    ScopeGroup(
        "payroll:read",
        mark("View payrolls, pay stubs, state accounts and the calendar; calculate and preview"),
        (
            "calculate_nanny_taxes",
            "check_threshold",
            "preview_payroll",
            "get_state_filing_status",
            "get_autopilot",
            "list_households_and_employees",
            "get_payroll",
            "list_to_dos",
            "get_tax_calendar",
            "explain_paycheck_line",
        ),
    ),
    ScopeGroup(
        "payroll:run", mark("Run payroll: pay employees and create tax records"), ("run_payroll",), True
    ),
    ScopeGroup(
        "autopilot:manage",
        mark("Pause, resume, skip and end Autopilot"),
        ("manage_autopilot",),
        changes=True,
    ),
)
SCOPES: Final = tuple(offer.scope for offer in OFFERS)
READING: Final = OFFERS[0].scope
RUNNING: Final = "payroll:run"


def tools_of(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the tools of these scopes; the read-only ones are always included."""
    requested = {READING, *scopes}
    return tuple(tool for offer in OFFERS if offer.scope in requested for tool in offer.tools)


def scopes_of(tools: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes whose tools are all included."""
    given = frozenset(tools)
    return tuple(offer.scope for offer in OFFERS if given.issuperset(offer.tools))


def allows_changes(tools: Iterable[str]) -> bool:
    """Return whether calls of these can have an effect."""
    given = frozenset(tools)
    return any(offer.changes and not given.isdisjoint(offer.tools) for offer in OFFERS)
