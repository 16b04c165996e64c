"""Where routes and pages find the front desk of people: it stands above what all routes share, so is kept apart."""

from fastapi import FastAPI
from starlette.requests import Request

from hearthpay.people.context import PeopleContext


def install_people_context(app: FastAPI, people_context: PeopleContext) -> None:
    """Make the front desk known to every route of `app`."""
    app.state.people_context = people_context


def people_context_of(request: Request) -> PeopleContext:
    """Return the front desk of the service that answers `request`."""
    people_context: PeopleContext = request.app.state.people_context
    return people_context
