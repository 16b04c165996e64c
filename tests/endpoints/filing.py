"""The endpoints of `hearthpay.filing`."""

from typing import Final

from tests.boundary.worlds import World, tax_payment
from tests.endpoints.endpoint import Asked, Endpoint, Request, Step, Turn, household_of, id_of


def _list_tax_payments(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/tax-payments", about, query={**household, "limit": 1 + step.variant})


def _record_tax_payment(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    body = tax_payment() | {"period": f"2026-I{2 + step.variant}"}
    return Request("POST", "/tax-payments", about, body=body | household)


def _reverse_tax_payment(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "tax_payments", step.thing)
    return Request("POST", f"/tax-payments/{identity}/reverse", frozenset({step.thing}))


def _list_filings(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    return Request("GET", "/filings", about, query={**household, "limit": 1 + step.variant})


def _record_filing(step: Step, worlds: list[World]) -> Request:
    household, about = household_of(step, worlds)
    body = {"key": f"CA/wages-quarterly/2026-Q{2 + step.variant}", "filed_on": "2026-11-20"}
    return Request("POST", "/filings", about, body=body | household)


def _reverse_filing(step: Step, worlds: list[World]) -> Request:
    identity = id_of(step, worlds, "filings", step.thing)
    return Request("POST", f"/filings/{identity}/reverse", frozenset({step.thing}))


ENDPOINTS: Final = (
    Endpoint(
        id="listTaxPayments",
        method="GET",
        path="/tax-payments",
        scope="documents",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(),
        step=_list_tax_payments,
    ),
    Endpoint(
        id="recordTaxPayment",
        method="POST",
        path="/tax-payments",
        scope="documents",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked(tax_payment()),
        step=_record_tax_payment,
    ),
    Endpoint(
        id="reverseTaxPayment",
        method="POST",
        path="/tax-payments/{tax_payment_id}/reverse",
        scope="documents",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"reason": "Recorded twice."}),
        step=_reverse_tax_payment,
        finds_one=True,
    ),
    Endpoint(
        id="listFilings",
        method="GET",
        path="/filings",
        scope="documents",
        household="query",
        turn=Turn.READ,
        request=lambda world: Asked(),
        step=_list_filings,
    ),
    Endpoint(
        id="recordFiling",
        method="POST",
        path="/filings",
        scope="documents",
        household="body",
        turn=Turn.CHANGE,
        request=lambda world: Asked(
            {"key": f"CA/new-hire/hire-1/{world.employee_id}", "filed_on": "2026-11-20"}
        ),
        step=_record_filing,
        id_in_text=True,
    ),
    Endpoint(
        id="reverseFiling",
        method="POST",
        path="/filings/{filing_id}/reverse",
        scope="documents",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"reason": "Rejected."}),
        step=_reverse_filing,
        finds_one=True,
    ),
)
