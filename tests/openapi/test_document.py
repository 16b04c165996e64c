"""The OpenAPI document by itself: valid, and its examples keep to its own schemas."""

import re

from openapi_spec_validator import OpenAPIV31SpecValidator

from hearthpay.access.refusal_details import DETAILS
from hearthpay.app import AppSettings, create_app
from hearthpay.clock import FixedClock
from hearthpay.database.session import Database
from hearthpay.http.example import example_in
from hearthpay.http.statuses import STATUS
from tests.openapi.document import Document


def test_the_document_is_valid_openapi_3_1(document: Document) -> None:
    assert document.openapi["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(document.openapi).iter_errors()] == []


def test_every_example_of_a_body_keeps_to_the_schema_of_the_body(document: Document) -> None:
    bodies = [operation for _, _, operation in document.operations() if "requestBody" in operation]
    assert bodies
    for operation in bodies:
        content = operation["requestBody"]["content"]["application/json"]
        problems = document.schema_problems(content["schema"], content["example"])
        assert problems == [], operation["operationId"]


def test_every_example_of_a_query_names_documented_parameters_with_fitting_values(document: Document) -> None:
    for _, _, operation in document.operations():
        if "requestBody" in operation:
            continue
        example = example_in(operation)
        assert isinstance(example, dict)
        parameters = {
            entry["name"]: entry for entry in operation.get("parameters", ()) if entry["in"] == "query"
        }
        for name, value in example.items():
            problems = document.schema_problems(parameters[name]["schema"], value)
            assert problems == [], (operation["operationId"], name)
        if example:
            required = {name for name, entry in parameters.items() if entry.get("required")}
            assert required <= set(example), operation["operationId"]


def test_numbers_are_documented_as_numbers(document: Document) -> None:
    """A decimal is no text on the wire: not in an answer, and not where a default is told."""
    schemas = document.openapi["components"]["schemas"]
    earnings = schemas["EarningsItem"]["properties"]
    numbers = {name: entry for name, entry in earnings.items() if name != "salary"}
    assert {entry["type"] for entry in numbers.values()} == {"number"}
    for name, field in (("PayrollEmployee", "regular_hours"), ("FederalWithholding", "dependents_credit")):
        assert "`0` where it is left out." in schemas[name]["properties"][field]["description"]


def test_what_generators_trip_over_is_not_there(document: Document) -> None:
    """Classes are named by titles; a `default` makes a field of a request one that must be sent, in TypeScript."""
    schemas = document.openapi["components"]["schemas"]
    assert {name: schema["title"] for name, schema in schemas.items()} == {name: name for name in schemas}
    assert len({name.lower() for name in schemas}) == len(schemas)
    assert not [name for name in schemas if not name.isalnum()]
    for name, schema in schemas.items():
        its_variable = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        assert its_variable not in schema.get("properties", {}), (
            f"openapi-python-client mixes them up: {name}"
        )
        for field, described in schema.get("properties", {}).items():
            assert "default" not in described, (name, field)
            assert "title" not in described, (name, field)


def test_it_says_where_it_is_served_by_whom_and_under_which_license(document: Document) -> None:
    assert document.openapi["servers"][0]["url"] == "/"
    assert document.openapi["info"]["license"]["identifier"] == "Apache-2.0"
    assert document.openapi["info"]["contact"]["name"]
    chapters = [tag["name"] for tag in document.openapi["tags"] if tag["description"]]
    used = dict.fromkeys(tag for _, _, operation in document.operations() for tag in operation["tags"])
    assert chapters == list(used)


def test_where_the_address_is_known_the_document_names_it(database: Database, clock: FixedClock) -> None:
    app = create_app(database, clock, AppSettings(public_url="https://pay.example"))
    assert app.openapi()["servers"] == [{"url": "https://pay.example"}]


def test_every_link_leads_from_an_answer_to_a_parameter(document: Document) -> None:
    operations = {operation["operationId"]: operation for _, _, operation in document.operations()}
    links = [
        link
        for operation in operations.values()
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    for link in links:
        parameters = {entry["name"] for entry in operations[link["operationId"]].get("parameters", ())}
        assert set(link.get("parameters", {})) <= parameters


def test_every_code_is_listed_and_its_details_are_typed(document: Document) -> None:
    schemas = document.openapi["components"]["schemas"]
    assert schemas["ErrorCode"]["enum"] == list(STATUS)
    assert {"type": "string"} in schemas["OtherError"]["properties"]["code"]["anyOf"], (
        "the list of codes is open"
    )
    shapes = [schemas[each["$ref"].rsplit("/", 1)[-1]] for each in schemas["ErrorBody"]["anyOf"]]
    assert shapes[-1]["title"] == "OtherError"
    by_code = {shape["properties"]["code"]["const"]: shape for shape in shapes[:-1]}
    assert by_code.keys() == {"validation_error", *DETAILS}
    for code, row in DETAILS.items():
        details = by_code[code]["properties"]["details"]
        assert details["$ref"].endswith(f"/{row.kind.__name__}"), code
        assert ("details" in by_code[code]["required"]) == row.always, code
        described = schemas[row.kind.__name__]["properties"]
        assert described.keys() == row.kind.__annotations__.keys(), code
        assert all("description" in field for field in described.values()), code
    deadline = schemas["PayDatePastDeadlineDetails"]["properties"]["next_valid_pay_date"]
    assert (deadline["type"], deadline["format"]) == ("string", "date")


def test_files_are_documented_as_generators_read_them(document: Document) -> None:
    """openapi-python-client takes the first type that it knows: bytes by `application/octet-stream`, or text."""
    files = {
        operation["operationId"]: operation["responses"]["200"]["content"]
        for _, _, operation in document.operations()
        if "200" in operation["responses"]
        and "application/json" not in operation["responses"]["200"]["content"]
    }
    assert len(files) == 7
    for name, content in files.items():
        first = next(iter(content))
        assert first == ("text/plain" if name == "issueEfw2" else "application/octet-stream"), name
        for media_type, entry in content.items():
            assert entry["schema"].get("format") == (None if media_type.startswith("text/") else "binary"), (
                name
            )
