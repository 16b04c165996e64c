"""The pages of the app that a search finds by their names, in either language, and who may open them."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from hearthpay.access.permissions import (
    CALCULATE,
    CHANGE_EMPLOYEES,
    CHANGE_HOUSEHOLD,
    KEEP_CALENDAR,
    KEEP_TAX_LEDGER,
    LIST_DOCUMENTS,
    MANAGE_ACCOUNTS,
    READ_AUTOPILOT,
    READ_CALENDAR,
    READ_EMPLOYEES,
    READ_HOUSEHOLD,
    READ_PAYROLLS,
    READ_REGISTRATIONS,
    READ_REPORTS,
    READ_TAX_LEDGER,
    RUN_PAYROLL,
    Permission,
)
from hearthpay.languages.catalogue import mark, say_in
from hearthpay.web.help.articles import fold_words


class AppPage(NamedTuple):
    """One page: its address, after the household's root if it is one of a household, and its name."""

    address: str
    name: str
    permission: Permission | None = None


HOUSEHOLD_PAGES: Final = (
    AppPage("", mark("Home"), READ_HOUSEHOLD),
    AppPage("/payrolls", mark("Payroll"), READ_PAYROLLS),
    AppPage("/payrolls/new", mark("Run payroll"), RUN_PAYROLL),
    AppPage("/employees", mark("Employees"), READ_EMPLOYEES),
    AppPage("/employees/new", mark("Add an employee"), CHANGE_EMPLOYEES),
    AppPage("/taxes", mark("Taxes"), READ_CALENDAR),
    AppPage("/taxes/payments", mark("All payments"), READ_TAX_LEDGER),
    AppPage("/taxes/payments/new", mark("Record a payment"), KEEP_TAX_LEDGER),
    AppPage("/taxes/filings", mark("All filings"), READ_TAX_LEDGER),
    AppPage("/taxes/papers", mark("Tax forms: W-2, W-3, Schedule H"), LIST_DOCUMENTS),
    AppPage("/taxes/estimated", mark("What to pay during the year (Form 1040-ES)"), READ_REPORTS),
    AppPage("/taxes/wages", mark("Wages by state"), READ_PAYROLLS),
    AppPage("/taxes/cost", mark("Estimate cost"), CALCULATE),
    AppPage("/taxes/thresholds", mark("How thresholds count"), CHANGE_HOUSEHOLD),
    AppPage("/calendar", mark("Calendar"), READ_CALENDAR),
    AppPage("/calendar/link", mark("Add to your calendar"), KEEP_CALENDAR),
    AppPage("/autopilot", mark("Autopilot"), READ_AUTOPILOT),
    AppPage("/bank", mark("Bank"), READ_PAYROLLS),
    AppPage("/bank/connect", mark("Connect a bank account"), MANAGE_ACCOUNTS),
    AppPage("/state-accounts", mark("State accounts"), READ_REGISTRATIONS),
    AppPage("/household", mark("Your household"), CHANGE_HOUSEHOLD),
)

SETTINGS_PAGES: Final = (
    AppPage("/households", mark("All households")),
    AppPage("/settings/profile", mark("Profile")),
    AppPage("/settings/security", mark("Password and two-step verification")),
    AppPage("/settings/passkeys", mark("Passkeys")),
    AppPage("/settings/sessions", mark("Sessions")),
    AppPage("/settings/notifications", mark("Notifications")),
    AppPage("/settings/members", mark("Members")),
    AppPage("/settings/keys", mark("API keys")),
    AppPage("/settings/agents", mark("Connected apps")),
    AppPage("/settings/audit", mark("History")),
)


def find_pages(
    text: str, pages: Sequence[AppPage], may: Callable[[Permission], bool] | None = None
) -> list[AppPage]:
    """Return the pages whose name in either language has every word of the text, or a longer one.

    A page with a permission is found only by those who `may` open it.
    """
    words = fold_words(text)
    if not words:
        return []
    return [
        each
        for each in pages
        if (each.permission is None or may is None or may(each.permission))
        and all(any(known.startswith(word) for known in _words_of(each.name)) for word in words)
    ]


def _words_of(name: str) -> frozenset[str]:
    return frozenset(word for language in ("en", "es") for word in fold_words(say_in(language)(name)))
