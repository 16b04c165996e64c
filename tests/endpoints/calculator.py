"""The endpoints of `hearthpay.calculator`."""

from typing import Final

from tests.endpoints.endpoint import Asked, Endpoint, Turn

ENDPOINTS: Final = (
    Endpoint(
        id="calculate",
        method="POST",
        path="/calculate",
        scope="calculator",
        turn=Turn.READ,
        request=lambda world: Asked({"state": "CA", "annual_wages": 35_000}),
    ),
    Endpoint(
        id="checkThreshold",
        method="GET",
        path="/threshold",
        scope="calculator",
        turn=Turn.READ,
        request=lambda world: Asked(query={"state": "CA", "annual_wages": 2_900}),
        stateless=True,
    ),
)
