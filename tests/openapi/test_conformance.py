"""Requests made from the OpenAPI document, right and wrong ones, against the service that published it.

Schemathesis tries to break the promise the document makes: every answer has a documented status, content type and
shape, wrong requests are refused, right ones are understood, nobody passes without a key, and nothing fails.
"""

import asyncio
import copy
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis.configuration import storage_directory

from tests.http.api import ROSA, Account, data
from tests.openapi.document import Document

SEED = 20_261_120
#: Few of the objects that Schemathesis makes become garbage before it ends, so that it looks for them less often.
START = """
import gc, runpy
gc.set_threshold(100_000, 20, 100)
runpy.run_module("schemathesis.cli", run_name="__main__")
"""

#: A right request may still be refused for what the household holds: no such employee, already paid, no bank.
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "405", "409", "410", "412"]
"""
STATES = ["CA", "NY", "TX", "VA", "MD", "PA", "AL", "OR", "WA", "ca"]
WORDS: dict[str, list[Any]] = {
    "state": STATES,
    "work_state": STATES,
    "residence_state": [*STATES, None],
    "locality": [None],
    "pay_rate": [17, 28.5, 100.01],
    "overtime_rate": [None, 150.02],
    "birth_year": [None, 1990],
    "pay_period_start": ["2026-10-05", "2026-10-19", "2026-11-02"],
    "pay_period_end": ["2026-11-02", "2026-11-15", "2026-11-20"],
    "pay_date": ["2026-11-20", "2026-12-31", None],
    "payment_method": ["check", "cash"],
    "regular_hours": [8, 7.25, 24],
    "overtime_hours": [0, 2.5],
    "bonus": [0, 1000.01],
    "other_earnings": [0, 30000],
}


async def _conforms(openapi: str, address: str, account: Account, directory: Path, *options: str) -> None:
    settings = directory / "schemathesis.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", START, "--config-file", str(settings), "run", openapi, "--url", address),
        *("--header", f"Authorization: Bearer {account.live.key}", "--checks", "all", *options),
        *("--generation-database", ":memory:"),  # each run starts without what others found
        cwd=directory,
        env=os.environ
        | {
            "PYTHONHASHSEED": "0",
            # Hypothesis keeps its tables of characters there, which take a second to make.
            "HYPOTHESIS_STORAGE_DIRECTORY": str(storage_directory().path),
            "NO_PROXY": "127.0.0.1",  # otherwise a proxy is looked for before each request
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, output.decode()


async def _hire(account: Account, household: dict[str, Any], number_of_people: int = 24) -> list[str]:
    """People who can be paid, by their ids."""
    people = []
    for number in range(number_of_people):
        name, state = chr(ord("A") + number), STATES[number % len(STATES)]
        new = {**ROSA, "first_name": name, "work_state": state, "employer_id": household["id"]}
        people.append(data(await account.live.post("/employees", new), 201)["id"])
    return people


def _localised(openapi: dict[str, Any], household: dict[str, Any], people: list[str]) -> dict[str, Any]:
    """The document with the values of this household, so that requests get through to paychecks.

    Made up ids never name someone who can be paid; one idempotency key for all would let only one request through.
    """
    document = copy.deepcopy(openapi)
    words = {**WORDS, "employer_id": [household["id"]], "employee_id": people}
    schemas = document["components"]["schemas"]
    for component in ("PayrollRequest", "PayrollEmployee", "NewEmployee", "NewEmployer", "Calculation"):
        properties = schemas[component]["properties"]
        properties |= {name: {"enum": words[name]} for name in properties.keys() & words.keys()}
    for of_the_salaried in ("unpaid_days", "pay_salary"):
        del schemas["PayrollEmployee"]["properties"][of_the_salaried]
    schemas["PayrollEmployee"]["required"] = ["employee_id", "regular_hours"]
    schemas["PayrollRequest"]["properties"]["employees"]["maxItems"] = 2
    for operation in _operations(document):
        operation.get("requestBody", {}).get("content", {}).get("application/json", {}).pop("example", None)
        kept = [
            entry
            for entry in operation.get("parameters", ())
            if entry["name"] not in ("Idempotency-Key", "cursor")
        ]
        for entry in kept:
            if entry["in"] == "query" and entry["name"] in words:
                entry["schema"] = {"enum": words[entry["name"]]}
        operation["parameters"] = kept
    return document


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in document["paths"].values():
        yield from item.values()


async def test_the_service_keeps_what_its_document_promises(
    address: str, account: Account, household: dict[str, Any], tmp_path: Path
) -> None:
    await _hire(account, household, len(STATES))
    # Requests that follow from each other's answers are made below, and here in the long test.
    options = ("--phases", "examples,coverage,fuzzing", "--max-examples", "2", "--seed", str(SEED))
    await _conforms(f"{address}/openapi.json", address, account, tmp_path, *options)


async def _pays(
    document: Document,
    address: str,
    account: Account,
    household: dict[str, Any],
    directory: Path,
    *options: str,
) -> None:
    people = await _hire(account, household)
    openapi = directory / "openapi.json"
    openapi.write_text(json.dumps(_localised(document.openapi, household, people)), encoding="utf-8")
    only = ("--mode", "positive", "--exclude-operation-id", "terminateEmployee")
    await _conforms(str(openapi), address, account, directory, *only, *options)
    # Whether the requests got as far as they should.
    assert len(data(await account.live.get("/payrolls"))) > 1
    assert len(data(await account.live.get("/employees", employer_id=household["id"]))) > len(people)


async def test_right_requests_reach_paychecks_and_their_answers_are_as_documented(
    document: Document, address: str, account: Account, household: dict[str, Any], tmp_path: Path
) -> None:
    # Each kind of wrong and right value by itself is tried above, without what it needs to get through.
    options = ("--phases", "fuzzing,stateful", "--max-examples", "7", "--seed", str(SEED))
    await _pays(document, address, account, household, tmp_path, *options)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_service_keeps_its_promises_for_long(
    document: Document, address: str, account: Account, household: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    options = ("--max-examples", "400", "--seed", str(seed))
    await _conforms(f"{address}/openapi.json", address, account, tmp_path, *options)
    await _pays(document, address, account, household, tmp_path, *options)
