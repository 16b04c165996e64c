"""The examples, each as a reader would start it, against a real server: nothing without a yes, and nothing twice.

In the suite the agent is forked from a process that has imported the SDK already.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from hearthpay.http.deadlines import Deadlines
from hearthpay.server import running
from tests.http.api import Account
from tests.worlds.commands import _ask
from tests.worlds.households import add_employee

EXAMPLES = Path(__file__).parents[2] / "examples"
WEEK = ("2026-11-09", "2026-11-15")


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with running(app, "127.0.0.1", 0, Deadlines()) as (address, _):
        yield address


def _forked_agent(arguments: list[str], word: str, folder: Path, environment: dict[str, str]) -> str:
    """What the agent prints, to its end, when it is answered this word."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(f"{word}\n".encode())
        given.seek(0)
        streams = (given.fileno(), output.fileno(), output.fileno())
        _ask(arguments, streams, module="examples.agent", environment=environment, folder=folder).wait(60)
        output.seek(0)
        return output.read().decode()


@pytest.mark.parametrize(
    "example",
    ["forked agent", pytest.param("agent.py", marks=pytest.mark.long), "payroll.py", "payroll.sh"],
)
async def test_it_previews_asks_runs_and_fetches_the_stub(
    address: str, account: Account, employer_id: str, counts: Any, tmp_path: Path, example: str
) -> None:
    employee_id = await add_employee(account.live, employer_id, pay_frequency="weekly")
    environment = {
        "PATH": os.environ["PATH"],
        "HEARTHPAY_API_KEY": account.live.key,
        "HEARTHPAY_API_URL": address,
    }
    agents = ["--hours", "40", "--from", WEEK[0], "--to", WEEK[1]]
    arguments = agents if "agent" in example else [employee_id, "40", *WEEK]
    command = ["sh" if example.endswith("sh") else sys.executable, str(EXAMPLES / example), *arguments]

    async def answered(word: str) -> str:
        if example == "forked agent":
            return await asyncio.to_thread(_forked_agent, agents, word, tmp_path, environment)
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=tmp_path,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(f"{word}\n".encode()), 60)
        return output.decode()

    assert "Nothing was run." in await answered("no")
    assert counts()["payrolls"] == 0
    first = await answered("yes")
    assert "is completed." in first, first
    assert (tmp_path / "pay-stub.pdf").read_bytes().startswith(b"%PDF")
    assert counts()["payrolls"] == 1
    # Repeated whole: its preview is refused already, since the hours are paid.
    again = await answered("yes")
    assert "already paid" in again, again
    assert counts()["payrolls"] == 1
