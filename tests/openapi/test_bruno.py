"""The Bruno collection in the repository: made from the document, whole, and run by Bruno itself."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tools import bruno

from tests.http.api import Account
from tests.openapi.document import Document
from tests.openapi.toolbox import BRUNO, NODE, environment, node_packages, run

MAIN_JOB = (
    "employers/create-employer",
    "employees/create-employee",
    "payroll/preview-payroll",
    "payroll/run-payroll",
    "payroll/get-payroll",
    "payroll/list-payrolls",
)


def _published() -> dict[str, str]:
    files = (path for path in bruno.FOLDER.rglob("*") if path.is_file())
    return {path.relative_to(bruno.FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_the_collection_is_up_to_date() -> None:
    assert _published() == bruno.fresh(), "docs/api/bruno is stale: run `python -m tests.openapi.publish`"


def test_every_operation_is_a_request_with_its_example(document: Document) -> None:
    files = {name: yaml.safe_load(text) for name, text in bruno.collection(document.openapi).items()}
    assert files.pop("opencollection.yml")["request"]["auth"] == {"type": "bearer", "token": "{{api_key}}"}
    variables = {each["name"] for each in files.pop("environments/local.yml")["variables"]}
    folders = [name for name in files if name.endswith("/folder.yml")]
    assert len(folders) == len(document.openapi["tags"])
    for name in folders:
        assert files.pop(name)["info"]["type"] == "folder"
    requests = {(each["http"]["method"].lower(), each["http"]["url"]): each for each in files.values()}
    assert len(requests) == len(files) == len(document.operations())
    for method, path, operation in document.operations():
        request = requests[method, "{{base_url}}" + path.replace("{", ":").replace("}", "")]
        assert request["info"]["name"] == operation["summary"]
        parameters = {(each["type"], each["name"]) for each in request["http"].get("params", ())}
        documented = operation.get("parameters", ())
        assert parameters == {(each["in"], each["name"]) for each in documented if each["in"] != "header"}
        assert ("requestBody" in operation) == ("body" in request["http"])
        if "body" in request["http"]:
            example = operation["requestBody"]["content"]["application/json"]["example"]
            assert json.loads(request["http"]["body"]["data"]).keys() == example.keys()
        for text in (
            request["http"]["url"],
            *(str(each["value"]) for each in request["http"].get("params", ())),
        ):
            named = {part.split("}}")[0] for part in text.split("{{")[1:]}
            assert named <= variables, (path, named)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_bruno_runs_the_collection(
    document: Document, address: str, account: Account, tmp_path: Path
) -> None:
    node = await environment(tmp_path / "environment", NODE)
    programs = await node_packages(tmp_path / "bruno", node, BRUNO)
    collection = programs / "collection"
    shutil.copytree(bruno.FOLDER, collection)

    async def results(*paths: str) -> list[Mapping[str, Any]]:
        report = tmp_path / "report.json"
        settings = {"base_url": address, "api_key": account.test.key}
        given = [word for name, value in settings.items() for word in ("--env-var", f"{name}={value}")]
        command = ("npx", "--no-install", "bru", "run", *paths, "--env", "local", *given)
        _, output = await run(*command, "--reporter-json", report, directory=collection, first=node)
        assert report.is_file(), output
        found: list[Mapping[str, Any]] = json.loads(report.read_text("utf-8"))[0]["results"]
        report.unlink()
        return found

    for each in await results(*(f"{name}.yml" for name in MAIN_JOB)):
        assert each["response"]["status"] in (200, 201), each
        assert [assertion["status"] for assertion in each["assertionResults"]] == ["pass"], each
    whole = await results("-r")
    assert len(whole) == len(document.operations())
    documented = {
        f"{method.upper()} {operation['summary']}": operation["responses"]
        for method, _, operation in document.operations()
    }
    for each in whole:
        responses = documented[f"{each['request']['method']} {each['name']}"]
        assert str(each["response"]["status"]) in responses, each
