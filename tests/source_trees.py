"""The product's modules as parsed trees, for tests that look at how its code is written.

To parse all of them takes more than a second, and to keep them more memory than the tests have: who looks for
something says by which words a module could have it.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import hearthpay

SOURCE: Final = Path(hearthpay.__file__).parent


def modules_with(pattern: str, within: Path = SOURCE) -> Iterator[tuple[Path, ast.Module]]:
    """Yield each module whose text has a match of `pattern`, a regular expression with `^` for a line's beginning.

    In the order of their paths; the landed migrations are left out.
    """
    words = re.compile(pattern, re.MULTILINE)
    for path in sorted(within.rglob("*.py")):
        if "versions" not in path.parts:
            text = path.read_text("utf-8")
            if words.search(text):
                yield path, ast.parse(text)
