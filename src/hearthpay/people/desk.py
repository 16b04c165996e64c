"""Where routes and pages find the front desk of people: it stands above what all routes share, so is kept apart."""

from fastapi import FastAPI
from starlette.requests import Request

from hearthpay.people.front_desk import FrontDesk


def install_desk(app: FastAPI, desk: FrontDesk) -> None:
    """Make the front desk known to every route of `app`."""
    app.state.front_desk = desk


def desk_of(request: Request) -> FrontDesk:
    """Return the front desk of the service that answers `request`."""
    desk: FrontDesk = request.app.state.front_desk
    return desk
