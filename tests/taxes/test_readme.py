"""What the README shows of the engine is what it answers."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"```python\n(.*?)```\n+```\n(.*?)```", re.DOTALL)


def test_the_examples_print_what_they_are_said_to_print() -> None:
    examples = SHOWN.findall(README.read_text(encoding="utf-8"))
    assert examples
    for code, said in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {"__name__": "__main__"})
        assert printed.getvalue() == said
