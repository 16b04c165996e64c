"""What an order's refusal would have taken, shown as the request that was sent: the example of its 400."""

from collections.abc import Iterator
from contextlib import contextmanager

from hearthpay.access.refusal import Refusal
from hearthpay.payroll.commands import Corrections
from hearthpay.payroll.schemas import PayrollRequest


@contextmanager
def refusals_shown_on(body: PayrollRequest) -> Iterator[None]:
    """Give a refusal that tells corrections the request as its example: word for word as it was sent, corrected."""
    try:
        yield
    except Refusal as refusal:
        if isinstance(refusal.example, Corrections):
            sent = body.model_dump(by_alias=True, exclude_unset=True)
            refusal.example = sent | dict(refusal.example.changes)
        raise
