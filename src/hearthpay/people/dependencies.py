"""FastAPI dependencies that provide the context of people's services."""

from fastapi import FastAPI
from starlette.requests import Request

from hearthpay.people.context import PeopleContext


def install_people_context(app: FastAPI, people_context: PeopleContext) -> None:
    """Make the context available to every route of `app`."""
    app.state.people_context = people_context


def people_context_of(request: Request) -> PeopleContext:
    """Return the context of the application that answers `request`."""
    people_context: PeopleContext = request.app.state.people_context
    return people_context
