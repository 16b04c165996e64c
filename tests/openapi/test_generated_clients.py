"""What generators make of the document: clients that type-check and work, and linters that find nothing.

The generated code is another's: only what calls it, and what the document shaped of it, is type-checked.
"""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
import pytest_asyncio

from tests.http.api import Account
from tests.openapi.document import Document
from tests.openapi.toolbox import CLIENTS, GENERATOR, NODE, done, environment, node_packages, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


_REFUSES_ALWAYS = ("__init__", "transfer_funds", "enroll_in_autopilot")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where node and npm are: Node.js 24, whatever this machine has."""
    return await environment(tmp_path_factory.mktemp("node") / "environment", NODE)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def packages(tmp_path_factory: pytest.TempPathFactory, node: Path) -> Path:
    return await node_packages(tmp_path_factory.mktemp("packages"), node)


@pytest.fixture
def openapi(document: Document, packages: Path) -> Path:
    path = packages / "openapi.json"
    path.write_text(json.dumps(document.openapi), encoding="utf-8")
    return path


async def test_the_python_client(document: Document, address: str, account: Account, tmp_path: Path) -> None:
    programs = await environment(tmp_path / "environment", GENERATOR)
    openapi = tmp_path / "openapi.json"
    openapi.write_text(json.dumps(document.openapi), encoding="utf-8")
    client = tmp_path / "hearthpay_client"
    await done(
        *(programs / "openapi-python-client", "generate", "--path", openapi, "--output-path", client),
        *("--meta", "none", "--fail-on-warning"),
        directory=tmp_path,
        first=programs,
    )
    modules = {path.stem for path in client.glob("api/*/*.py")} - {"__init__"}
    assert len(modules) == len(document.operations())
    for path in client.glob("api/*/*.py"):
        typed = any(word in path.read_text("utf-8") for word in ("EnvelopeOf", "File(", "response.text"))
        assert typed or path.stem in _REFUSES_ALWAYS, path
    shutil.copy(CLIENTS / "calls.py", tmp_path)
    await done(
        *(sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "calls.py"),
        *(client / "models", client / "api"),
        directory=tmp_path,
    )
    saved = tmp_path / "saved"
    saved.mkdir()
    await done(sys.executable, "calls.py", address, account.test.key, saved, directory=tmp_path)
    check_files(saved)


def check_files(saved: Path) -> None:
    """What a client has saved, byte for byte: a pay stub, twice, a wage file, and a package with it."""
    stub = (saved / "stub.pdf").read_bytes()
    assert stub.startswith(b"%PDF-")
    assert stub.rstrip().endswith(b"%%EOF")
    assert (saved / "again.pdf").read_bytes() == stub
    wages = (saved / "wages.txt").read_bytes()
    records = wages.decode("ascii").split("\r\n")
    assert [record[:2] for record in records if record][:3] == ["RA", "RE", "RW"]
    assert {len(record) for record in records if record} == {512}
    package = (saved / "package.zip").read_bytes()
    assert package.startswith(b"PK\x03\x04")
    with zipfile.ZipFile(saved / "package.zip") as papers:
        assert papers.testzip() is None
        contents = [papers.read(name) for name in papers.namelist()]
        assert wages in contents
        assert len([each for each in contents if each.startswith(b"%PDF-")]) > 3


async def test_the_types_for_openapi_fetch(
    openapi: Path, packages: Path, node: Path, address: str, account: Account
) -> None:
    generate = ("npx", "--no-install", "openapi-typescript", openapi.name, "-o", "schema.ts")
    await done(*generate, directory=packages, first=node)
    await _checked_and_called("fetch_calls", packages, node, address, account)


async def test_the_client_of_hey_api(
    openapi: Path, packages: Path, node: Path, address: str, account: Account
) -> None:
    generate = ("npx", "--no-install", "openapi-ts", "-i", openapi.name, "-o", "hey")
    await done(*generate, directory=packages, first=node)
    await _checked_and_called("hey_calls", packages, node, address, account)


async def _checked_and_called(calls: str, packages: Path, node: Path, address: str, account: Account) -> None:
    settings = json.loads((packages / "tsconfig.json").read_text("utf-8"))
    (packages / "tsconfig.calls.json").write_text(
        json.dumps({**settings, "include": [f"{calls}.ts"]}), "utf-8"
    )
    await done("npx", "--no-install", "tsc", "-p", "tsconfig.calls.json", directory=packages, first=node)
    saved = packages / f"saved_by_{calls}"
    saved.mkdir()
    await done("node", f"built/{calls}.js", address, account.test.key, saved, directory=packages, first=node)
    check_files(saved)


async def test_redocly_finds_nothing(openapi: Path, packages: Path, node: Path) -> None:
    command = ("npx", "--no-install", "redocly", "lint", "--format=json", openapi.name)
    status, output = await run(*command, directory=packages, first=node)
    findings = json.loads(output[output.index("{") : output.rindex("}") + 1])
    assert (status, findings["totals"]["errors"], findings["totals"]["warnings"]) == (0, 0, 0), output
    assert findings["totals"]["ignored"] == 2, (
        "what .redocly.lint-ignore.yaml lets pass is gone: let it go there too"
    )


async def test_spectral_finds_nothing(openapi: Path, packages: Path, node: Path) -> None:
    lint = ("npx", "--no-install", "spectral", "lint", "--quiet", "--fail-severity", "hint")
    await done(*lint, "--ruleset", "spectral.yaml", openapi.name, directory=packages, first=node)
