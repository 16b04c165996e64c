"""The endpoints of `hearthpay.banking`."""

from typing import Final

from tests.endpoints.endpoint import Asked, Endpoint, Turn

ENDPOINTS: Final = (
    Endpoint(
        id="getDirectDepositStatus",
        method="GET",
        path="/employers/{employer_id}/dd-status",
        scope="payroll",
        turn=Turn.READ,
        request=lambda world: Asked(),
        tells_mode=True,
    ),
    Endpoint(
        id="authorizeDebit",
        method="POST",
        path="/employers/{employer_id}/debit-authorization",
        scope="payroll",
        turn=Turn.CHANGE,
        request=lambda world: Asked({"confirm_ach_debit": True}),
    ),
)
