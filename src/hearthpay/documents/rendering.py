"""Sets papers in type: one warm Typst compiler a process, which takes what a paper says as data.

Nothing of a paper is ever put together as Typst source: a name is a string to the templates, whatever it contains.
The bytes depend on the arguments alone: no clock is read, and the fonts are the package's own. Setting is work for the
processor (some milliseconds a page) under a lock; an event loop hands it to an executor. Letters of a name
that the documents' fonts don't have are printed as boxes.
"""

import functools
import json
import re
import threading
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import typst

_TEMPLATES: Final = Path(__file__).parent / "templates"
_STANDARD: Final = "ua-1"
"""PDF/UA-1 (ISO 14289-1): tagged, with a title and a language, and every character known to a screen reader."""
_COVERAGE: Final = _TEMPLATES / "fonts" / "coverage.toml"
_BOX: Final = "□"
_SPACES: Final = re.compile(r"\s+")
_WIDEST: Final = 0.9
_WIDEST_USUAL: Final = 0.7
"""In ems: the widest letter in ASCII of the two fonts, and the widest other than `@%MWmw`."""
_WITHOUT_WIDE: Final = str.maketrans("", "", "@%MWmw")
_LEFT_OUT: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Mn", "Me"})
"""Unicode categories that are never drawn, such as marks that change the direction of the following text, and marks
on letters that have no precomposed Unicode letter."""


class _Workshop:
    """The process's compiler, created when the first document is drawn: reading the fonts takes longer than a page."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.compiler: typst.Compiler | None = None

    def warm(self) -> "typst.Compiler":
        """Return the compiler; the lock must be held."""
        if self.compiler is None:
            # Imported here so that a process that calculates pay without drawing documents doesn't load it.
            import typst

            self.compiler = typst.Compiler(
                root=_TEMPLATES, font_paths=[str(_TEMPLATES / "fonts")], ignore_system_fonts=True
            )
        return self.compiler


_workshop = _Workshop()


def render_pdf(template: str, paper: Mapping[str, object]) -> bytes:
    """Return a document as a tagged PDF: the template's name without its extension, and its contents as plain data."""
    inputs = _inputs(paper)
    with _workshop.lock:
        made = _workshop.warm().compile(
            input=_TEMPLATES / f"{template}.typ", format="pdf", sys_inputs=inputs, pdf_standards=_STANDARD
        )
    if not isinstance(made, bytes):
        raise TypeError(f"the compiler made {type(made).__name__} of {template}")
    return made


def render_pages(template: str, paper: Mapping[str, object], pixels_per_inch: float = 96) -> list[bytes]:
    """Return the pages of the document as images (PNG)."""
    inputs = _inputs(paper)
    with _workshop.lock:
        made = _workshop.warm().compile(
            input=_TEMPLATES / f"{template}.typ", format="png", sys_inputs=inputs, ppi=pixels_per_inch
        )
    if made is None:
        raise TypeError(f"the compiler made nothing of {template}")
    return [made] if isinstance(made, bytes) else made


def _inputs(paper: Mapping[str, object]) -> dict[str, str]:
    return {"paper": json.dumps(all_legible(paper), ensure_ascii=False)}


@functools.cache
def _covered() -> frozenset[int]:
    ranges = tomllib.loads(_COVERAGE.read_text("utf-8"))["ranges"]
    return frozenset(point for first, last in ranges for point in range(first, last + 1))


def legible(text: str) -> str:
    """Return a text on one line as the fonts can show it: missing characters become boxes, invisible ones go."""
    one_line = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    if one_line.isascii() and one_line.isprintable():
        return one_line
    covered = _covered()
    return "".join(
        letter if ord(letter) in covered else _BOX
        for letter in one_line
        if unicodedata.category(letter) not in _LEFT_OUT
    )


def most_width(text: str) -> float | None:
    """Return the most that a text of plain letters can need on one line in our fonts, in ems; None for any other."""
    if not (text.isascii() and text.isprintable()):
        return None
    wide = len(text) - len(text.translate(_WITHOUT_WIDE))
    return round(_WIDEST_USUAL * len(text) + (_WIDEST - _WIDEST_USUAL) * wide, 1)


def all_legible(data: object) -> object:
    """Return plain data with each text in it made legible; keys are ours and stay unchanged."""
    if isinstance(data, str):
        return legible(data)
    if isinstance(data, Mapping):
        return {key: all_legible(value) for key, value in data.items()}
    if isinstance(data, Sequence):
        return [all_legible(value) for value in data]
    return data
