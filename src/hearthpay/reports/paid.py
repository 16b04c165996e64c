"""Which agencies of a report what a household recorded as paid is for: pure sums, in cents.

A payment is made to one agency, and may settle the taxes of several: New York's return to the Department of Labor pays
income tax as well. It counts for the taxes of its account in its months, those of the agency that was paid first.
"""

from collections.abc import Iterable, Sequence

from hearthpay.duties.amounts import is_among
from hearthpay.duties.household import RecordedPayment
from hearthpay.duties.payment_accounts import payment_accounts
from hearthpay.reports.tax_liability import LineInMonth
from hearthpay.taxes.agencies import agencies


def paid_by_agency(taxed: Iterable[LineInMonth], payments: Sequence[RecordedPayment]) -> dict[str, int]:
    """Return what was paid of each agency's taxes, by the agency's name; what is too much is with who was paid.

    The sum over all agencies is the sum of the payments.
    """
    open_cents: dict[tuple[str, str, int, int], int] = {}
    for each in taxed:
        place = (each.agency, each.code, each.month.year, each.month.month)
        open_cents[place] = open_cents.get(place, 0) + each.amount
    paid: dict[str, int] = {}
    for payment in payments:
        payee = agencies()[payment.agency].name
        account = payment_accounts(payment.jurisdiction).get(payment.account)
        lines = () if account is None else account.lines
        left = payment.cents
        for place in sorted(open_cents, key=lambda place: (place[0] != payee, place)):
            if _is_for(payment, place) and is_among(place[1], lines):
                cents = min(left, max(open_cents[place], 0))
                open_cents[place] -= cents
                left -= cents
                paid[place[0]] = paid.get(place[0], 0) + cents
        paid[payee] = paid.get(payee, 0) + left
    return {agency: cents for agency, cents in paid.items() if cents}


def _is_for(payment: RecordedPayment, place: tuple[str, str, int, int]) -> bool:
    month = place[2:]
    first, last = payment.first, payment.last
    return (first.year, first.month) <= month <= (last.year, last.month)
