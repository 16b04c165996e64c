"""What the README and its page show of the engine is what it answers."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOWN = re.compile(r"```python\n(.*?)```\n+```\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/reference/engine.md"])
def test_the_examples_print_what_they_are_said_to_print(page: str) -> None:
    examples = SHOWN.findall((ROOT / page).read_text(encoding="utf-8"))
    assert examples
    for code, said in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {"__name__": "__main__"})
        assert printed.getvalue() == said
