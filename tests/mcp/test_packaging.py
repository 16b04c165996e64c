"""What clients and registries read of us: it is as they ask for it, and says what is true.

`schemas/mcpb-manifest-v0.4.schema.json` is the published schema of MCP bundles (modelcontextprotocol/mcpb, commit
27083dcf, MIT: `schemas/LICENSE.mcpb`). That of the registry's `server.json` is held against its documented fields.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft7Validator

from hearthpay import __version__
from hearthpay.mcp.http_caller import ADDRESS_VARIABLE, KEY_VARIABLE, USUAL_ADDRESS
from hearthpay.mcp.tools.toolbox import BY_NAME

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
SCHEMA = Path(__file__).parent / "schemas" / "mcpb-manifest-v0.4.schema.json"


def _read(name: str) -> Any:
    return json.loads((PACKAGING / name).read_text("utf-8"))


def test_the_bundles_manifest_is_as_its_schema_asks() -> None:
    manifest = _read("mcpb/manifest.json")
    validator = Draft7Validator(json.loads(SCHEMA.read_text("utf-8")))
    assert [error.message for error in validator.iter_errors(manifest)] == []
    assert list(validator.iter_errors({**manifest, "server": {"type": "perl"}}))
    assert manifest["version"] == __version__
    assert [tool["name"] for tool in manifest["tools"]] == list(BY_NAME)
    config = manifest["server"]["mcp_config"]
    assert set(config["env"]) == {KEY_VARIABLE, ADDRESS_VARIABLE}
    assert {value.removeprefix("${user_config.").rstrip("}") for value in config["env"].values()} == set(
        manifest["user_config"]
    )
    assert manifest["user_config"]["api_key"]["sensitive"] is True
    assert manifest["user_config"]["api_url"]["default"] == USUAL_ADDRESS
    assert (PACKAGING / "mcpb" / manifest["server"]["entry_point"]).is_file()
    bundle = tomllib.loads((PACKAGING / "mcpb" / "pyproject.toml").read_text("utf-8"))["project"]
    assert bundle["dependencies"] == [f"hearthpay=={__version__}"]


def test_the_registrys_entry_has_the_fields_that_it_documents() -> None:
    entry = _read("server.json")
    assert re.fullmatch(
        r"https://static\.modelcontextprotocol\.io/schemas/\d{4}-\d\d-\d\d/server\.schema\.json",
        entry["$schema"],
    )
    assert set(entry) <= {"$schema", "name", "title", "description", "version", "packages"}
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert entry["version"] == __version__
    (package,) = entry["packages"]
    assert set(package) <= {
        *("registryType", "identifier", "version", "runtimeHint", "transport"),
        *("packageArguments", "environmentVariables"),
    }
    assert (package["registryType"], package["identifier"], package["version"]) == (
        "pypi",
        "hearthpay",
        __version__,
    )
    assert package["transport"] == {"type": "stdio"}
    (argument,) = package["packageArguments"]
    assert argument == {"type": "positional", "value": "mcp"}
    key, address = package["environmentVariables"]
    assert (key["name"], key["isSecret"], key["isRequired"]) == (KEY_VARIABLE, True, True)
    assert (address["name"], address["default"]) == (ADDRESS_VARIABLE, USUAL_ADDRESS)
    assert urlsplit(address["default"]).scheme == "http"


def test_the_configurations_in_the_documentation_are_json_and_name_what_there_is() -> None:
    page = (ROOT / "docs" / "reference" / "mcp.md").read_text("utf-8")
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert len(blocks) >= 3
    text = json.dumps(blocks)
    assert KEY_VARIABLE in text
    assert "/mcp" in text
    for tool in BY_NAME:
        assert f"`{tool}`" in page
