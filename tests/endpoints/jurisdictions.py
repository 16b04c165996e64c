"""The endpoints of `hearthpay.jurisdictions`."""

from typing import Final

from tests.endpoints.endpoint import Asked, Endpoint, Turn

ENDPOINTS: Final = (
    Endpoint(
        id="getJurisdiction",
        method="GET",
        path="/jurisdictions/{state}",
        scope=None,
        turn=Turn.READ,
        request=lambda world: Asked(path={"state": "CA"}),
        stateless=True,
    ),
    Endpoint(
        id="getRules",
        method="GET",
        path="/rules",
        scope=None,
        turn=Turn.READ,
        request=lambda world: Asked(query={"state": "CA", "year": 2027}),
        stateless=True,
    ),
)
