"""Another edition of the rules: a copy of the rule files with changes, in force for as long as a test wants it."""

import functools
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hearthpay.calculator import routes as calculator_routes
from hearthpay.doctor import following_checks, threshold_checks, year_checks
from hearthpay.taxes import liability, rulebook, thresholds

_CACHES = (
    rulebook.supported_years,
    liability.guards_of,
    thresholds.canonical_thresholds,
    thresholds.liability_thresholds,
    calculator_routes._estimate,
)
"""What is worked out from the rule files once and kept; cleared for an edition and after it."""

_KEPT = (
    (rulebook, "_load"),
    (thresholds, "_load"),
    (thresholds, "_table"),
    (year_checks, "_law"),
    (threshold_checks, "_law"),
    (following_checks, "_law"),
)
"""The rest of it, which only its own module calls; what it keeps of the shipped rules is kept through an edition."""

Change = tuple[str, Callable[[str], str]]
"""The file below ``rules/``, such as ``2027/states/CA.toml``, and what its text becomes; a new file begins empty."""


@contextmanager
def edition(folder: Path, *changes: Change) -> Iterator[None]:
    """Put rules with these changes in force, read by the engine's own loader; afterwards the shipped ones hold."""
    shipped = rulebook.RULES
    copy = folder / "rules"
    shutil.copytree(shipped, copy)
    for name, change in changes:  # one after another, also of one file
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change(path.read_text("utf-8") if path.is_file() else ""), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for module, name in _KEPT:
            patch.setattr(module, name, functools.cache(getattr(module, name).__wrapped__))
        try:
            _put_in_force(copy)
            yield
        finally:
            _put_in_force(shipped)


def _put_in_force(rules: Path) -> None:
    rulebook.RULES = rules
    thresholds._FILE = rules / "household_thresholds.toml"
    for cached in _CACHES:
        cached.cache_clear()


def published(code: str, **figures: str) -> Change:
    """Publish a contribution of 2027 with these figures, spelled as in TOML; it is final from then on."""
    state = code[:2]
    name = "us.toml" if state == "US" else f"states/{state}.toml"

    def change(text: str) -> str:
        if f'code = "{code}"' not in text:
            text += "\n" + _of_the_year_before(name, code)
        start = text.index(f'code = "{code}"')
        end = text.find("\n[", start)
        block = text[start:] if end < 0 else text[start:end]
        for key, value in figures.items():
            block, found = re.subn(rf"^{key} = .*$", f"{key} = {value}", block, flags=re.MULTILINE)
            assert found == 1, f"{code} has no {key}"
        text = text[:start] + block + (text[end:] if end >= 0 else "")
        return without_finality(text, code)

    return f"2027/{name}", change


def _of_the_year_before(name: str, code: str) -> str:
    """Return a contribution of 2026 as one of 2027."""
    tables = re.split(r"(?m)^(?=\[)", (rulebook.RULES / "2026" / name).read_text("utf-8"))
    block = [table for table in tables if table.startswith("[[contribution]]") and f'"{code}"' in table][-1]
    block = re.sub(r"(?m)^(effective_to|carried_over|projected) = .*\n", "", block)
    return re.sub(r"(?m)^effective_from = .*$", "effective_from = 2027-01-01", block)


def unpublished_program(code: str, agency: str, begins: str) -> Callable[[str], str]:
    """Add a program that begins on a day and whose figures nobody knows yet; of an agency that is listed."""
    return lambda text: (
        text
        + f'''
[sources.unpublished-program]
title = "A program that begins in this year"
date = "2026"

[[finality]]
codes = ["{code}"]
status = "unknown"
basis = "Its rate is not published."
source = "unpublished-program"
confidence = "low"
awaited = "2027-03"
agency = "{agency}"
begins = {begins}
'''
    )


def without_finality(text: str, code: str) -> str:
    """Take a line's code out of what a file says of finality."""
    head, *tables = re.split(r"(?m)^(?=\[\[finality\]\])", text)
    kept = []
    for table in tables:
        codes = re.search(r"(?ms)^codes = \[(.*?)\]", table)
        assert codes is not None
        left = [each for each in re.findall(r'"([^"]+)"', codes[1]) if each != code]
        if left:
            listed = ", ".join(f'"{each}"' for each in left)
            kept.append(table.replace(codes[0], f"codes = [{listed}]"))
        else:
            kept += re.findall(r"(?ms)^\[(?!\[finality).*", table[2:])
    return head + "".join(kept)
