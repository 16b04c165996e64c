"""The README's block, from `serve` to a pay stub, runs as a newcomer pastes it.

In the suite its `hearthpay` is forked from a process that has imported the product; with `make test-long` all of it is
what a newcomer installed.
"""

from pathlib import Path

import pytest

from tests.server.newcomer import BLOCK, README, folder, newcomers_environment, run_script

__all__ = ["folder"]


@pytest.mark.parametrize(
    "forked", [True, pytest.param(False, marks=pytest.mark.long)], ids=["forked", "installed"]
)
def test_the_block_from_serve_to_a_pay_stub_runs_as_it_stands(folder: Path, forked: bool) -> None:
    ((block, shown),) = BLOCK.findall(README.read_text(encoding="utf-8"))
    environment = newcomers_environment(folder, forked=forked)
    script = f'trap \'kill "$SERVER"; wait "$SERVER"\' EXIT\n{block}'
    status, output = run_script(script, folder, environment)
    log = (folder / "hearthpay.log").read_text(encoding="utf-8")
    assert output == shown, log
    assert status == 0, log
    assert shown.splitlines()[-1] == "completed"
    assert (folder / "pay-stub.pdf").read_bytes().startswith(b"%PDF")
    assert "/welcome/" in log
