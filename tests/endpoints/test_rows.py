"""Each endpoint has one row, and the row says of it what the application does."""

import pytest
from fastapi import FastAPI

from hearthpay.app import create_app
from hearthpay.clock import SystemClock
from hearthpay.database.session import Database
from tests.boundary.operations import Names, operations
from tests.cases import every_case
from tests.endpoints import ENDPOINTS, MODULES
from tests.openapi.document import Document


@pytest.fixture(scope="module")
def app() -> FastAPI:
    """The application; nothing connects to the address of its database."""
    return create_app(Database("postgresql://nobody@127.0.0.1:1/nothing", role="nobody"), SystemClock())


@pytest.mark.completeness
def test_every_endpoint_has_a_row(app: FastAPI) -> None:
    known = operations(app).keys()
    missing, idle = sorted(known - ENDPOINTS.keys()), sorted(ENDPOINTS.keys() - known)
    assert not missing, (
        f"no row for {', '.join(missing)}: add one each to ENDPOINTS of the package's module in tests/endpoints"
    )
    assert not idle, f"tests/endpoints has rows for no endpoint: {', '.join(idle)}"


def test_an_endpoint_has_one_row() -> None:
    rows = [each.id for module in MODULES for each in module.ENDPOINTS]
    assert sorted(rows) == sorted(set(rows))


@pytest.mark.completeness
def test_a_row_says_what_the_application_does(app: FastAPI) -> None:
    served, document = operations(app), Document(app.openapi())
    where = {Names.HOUSEHOLD_IN_BODY: "body", Names.HOUSEHOLD_IN_QUERY: "query"}
    with every_case() as case:
        for operation_id in sorted(ENDPOINTS):
            with case(operation_id):
                row, operation = ENDPOINTS[operation_id], served[operation_id]
                assert (row.method, f"/api/v1{row.path}") == (operation.method, operation.path)
                assert row.scope == operation.scope
                assert row.household == where.get(operation.names)
                described = document.operation(operation.method, operation.path)
                assert described is not None
                takes = any(each["name"] == "Idempotency-Key" for each in described.get("parameters", ()))
                assert row.takes_idempotency_key == takes


@pytest.mark.parametrize("operation_id", sorted(name for name, each in ENDPOINTS.items() if each.stateless))
def test_what_touches_no_row_is_about_no_household(operation_id: str, app: FastAPI) -> None:
    """Nothing else may be left out of the conversations between tenants."""
    row = ENDPOINTS[operation_id]
    assert operations(app)[operation_id].names is Names.NOTHING
    assert not row.changes
    assert row.scope in (None, "calculator")
