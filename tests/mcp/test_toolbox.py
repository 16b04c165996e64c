"""The tools as models read them: what the contract promises, and that each refusal leads somewhere."""

import re

from jsonschema import Draft202012Validator

from hearthpay.http.statuses import STATUS
from hearthpay.mcp.advice import NEXT_STEPS
from hearthpay.mcp.arguments import problems_with, without_nulls
from hearthpay.mcp.calls import CallTerms
from hearthpay.mcp.server import INSTRUCTIONS
from hearthpay.mcp.tools.payrolls import as_arguments, as_request
from hearthpay.mcp.tools.toolbox import BY_NAME, TOOLBOX
from tests.cases import every_case

DESK, HOSTED = CallTerms(), CallTerms(hosted=True)
HELD = CallTerms(hosted=True, demands_preview=True)
SEVEN = (
    "calculate_nanny_taxes",
    "check_threshold",
    "preview_payroll",
    "run_payroll",
    "get_state_filing_status",
    "get_autopilot",
    "manage_autopilot",
)
PAID = {"employer_id", "employee_id", "pay_period_start", "pay_period_end", "pay_frequency"}


def test_the_seven_of_the_contract_come_first_with_their_arguments() -> None:
    assert tuple(BY_NAME)[:7] == SEVEN
    required = {name: set(BY_NAME[name].input_schema(DESK)["required"]) for name in SEVEN}
    assert required == {
        "calculate_nanny_taxes": {"state", "annual_wages"},
        "check_threshold": {"state", "annual_wages"},
        "preview_payroll": PAID,
        "run_payroll": PAID,
        "get_state_filing_status": set(),
        "get_autopilot": {"employer_id"},
        "manage_autopilot": {"employer_id", "employee_id", "action"},
    }
    assert set(BY_NAME["run_payroll"].properties) - set(BY_NAME["preview_payroll"].properties) == {
        *("notes", "confirm_large_payroll", "confirm_ach_debit", "off_cycle"),
        *("preview_token", "idempotency_key"),
    }
    assert BY_NAME["run_payroll"].properties["payment_method"]["default"] == "check"
    assert {tool.name for tool in TOOLBOX if tool.changes} == {"run_payroll", "manage_autopilot"}


def test_hosted_runs_need_a_key_and_a_grant_may_demand_the_preview() -> None:
    run = BY_NAME["run_payroll"]
    assert set(run.input_schema(HOSTED)["required"]) == PAID | {"idempotency_key"}
    assert set(run.input_schema(HELD)["required"]) == PAID | {"idempotency_key", "preview_token"}


def test_each_says_enough_and_its_example_is_right() -> None:
    with every_case() as case:
        for tool in TOOLBOX:
            with case(tool.name):
                assert len(tool.title) > 10
                assert len(tool.description) > 150
                for schema in (tool.input_schema(HOSTED), tool.output_schema):
                    Draft202012Validator.check_schema(schema)
                assert all(schema.get("description") for schema in tool.properties.values())
                assert problems_with(tool.input_schema(DESK), tool.example) == []


def test_null_of_an_optional_argument_is_left_out() -> None:
    with every_case() as case:
        for tool in TOOLBOX:
            with case(tool.name):
                schema = tool.input_schema(HOSTED)
                for name in schema["properties"].keys() - set(schema["required"]):
                    without = {key: value for key, value in tool.example.items() if key != name}
                    assert without_nulls(schema, without | {name: None}) == without
                nested = {"voluntary_set_aside": {"skip": None, "amount": 5}}
                if "voluntary_set_aside" in tool.properties:
                    assert without_nulls(schema, nested) == {"voluntary_set_aside": {"amount": 5}}
                for name in schema["required"]:
                    problems = problems_with(
                        schema, without_nulls(schema, {**_required(tool, schema), name: None})
                    )
                    assert {problem["field"] for problem in problems} == {name}
                unknown = without_nulls(schema, {**_required(tool, schema), "colour": None})
                assert [problem["field"] for problem in problems_with(schema, unknown)] == ["colour"]


def _required(tool, schema) -> dict[str, object]:
    words = {"idempotency_key": "a"}
    return {name: words.get(name) or tool.example[name] for name in schema["required"]}


def test_every_code_of_the_api_has_its_advice() -> None:
    assert STATUS.keys() <= NEXT_STEPS.keys()
    for code, status in STATUS.items():
        if status == 409:
            assert code in BY_NAME["run_payroll"].description, code


def test_nothing_that_a_model_reads_leads_to_a_sale() -> None:
    words = [INSTRUCTIONS, *NEXT_STEPS.values(), *(tool.description for tool in TOOLBOX)]
    assert not [
        text for text in words if re.search(r"https?://|sign[- ]?up|upgrade|pricing", text, re.IGNORECASE)
    ]


def test_a_request_and_its_arguments_are_the_same_thing() -> None:
    arguments = BY_NAME["run_payroll"].example
    request = as_request(arguments)
    assert set(request["employees"][0]) == {"employee_id", "regular_hours", "payment_method"}
    assert as_arguments(request) == arguments


WRONG_ARGUMENTS = [
    ("regular_hours", "40", "must be a number"),
    ("regular_hours", True, "must be a number"),
    ("regular_hours", -1, "must be at least 0"),
    ("regular_hours", 745, "must be at most 744"),
    ("employee_id", "rosa", "must be an id (a UUID)"),
    ("employee_id", 7, "must be a text"),
    ("pay_date", "20.11.2026", "must be a date written YYYY-MM-DD"),
    ("pay_date", "2026-02-30", "must be a date written YYYY-MM-DD"),
    ("pay_frequency", "daily", "must be one of weekly, biweekly, semimonthly, monthly"),
    ("idempotency_key", "", "must have 1 to 255 characters"),
    ("idempotency_key", "x" * 256, "must have 1 to 255 characters"),
    ("idempotency_key", "ключ", "must be printable ASCII characters"),
    ("confirm_ach_debit", "true", "must be true or false"),
    ("hours", 40, "is not an argument of this tool"),
]


def test_wrong_arguments_are_told_by_name() -> None:
    with every_case() as case:
        for name, wrong, message in WRONG_ARGUMENTS:
            with case(name, wrong, message):
                run = BY_NAME["run_payroll"]
                problems = problems_with(run.input_schema(DESK), {**run.example, name: wrong})
                assert problems == [{"field": name, "message": message}]


def test_what_is_within_an_argument_is_told_by_its_place() -> None:
    run = BY_NAME["run_payroll"]
    aside = {**run.example, "voluntary_set_aside": {"amount": 10_000, "ssn": "x"}}
    problems = problems_with(run.input_schema(DESK), aside)
    assert {problem["field"] for problem in problems} == {
        "voluntary_set_aside.amount",
        "voluntary_set_aside.ssn",
    }
    assert any("portal" in problem["message"] for problem in problems)
    assert problems_with(BY_NAME["calculate_nanny_taxes"].input_schema(DESK), {}) == [
        {"field": "state", "message": "is required"},
        {"field": "annual_wages", "message": "is required"},
    ]
