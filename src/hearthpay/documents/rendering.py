"""Sets papers in type: one warm Typst compiler a process, which takes what a paper says as data.

Nothing of a paper is ever put together as Typst source: a name is a string to the templates, whatever stands in it.
The bytes depend on the arguments alone: no clock is read, and the fonts are the package's own. Setting is work for the
processor (some milliseconds a page) under a lock; an event loop hands it to an executor.
"""

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hearthpay.documents.lettering import all_legible

if TYPE_CHECKING:
    import typst

_TEMPLATES: Final = Path(__file__).parent / "templates"
_STANDARD: Final = "ua-1"
"""PDF/UA-1 (ISO 14289-1): tagged, with a title and a language, every character known to a screen reader."""


class _Workshop:
    """The process's compiler, made when the first paper is drawn: reading the fonts takes longer than a page."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.compiler: typst.Compiler | None = None

    def warm(self) -> "typst.Compiler":
        """Return the compiler; the lock is held."""
        if self.compiler is None:
            # Imported here: whoever calculates pay without drawing papers does not load it.
            import typst

            self.compiler = typst.Compiler(
                root=_TEMPLATES, font_paths=[str(_TEMPLATES / "fonts")], ignore_system_fonts=True
            )
        return self.compiler


_workshop = _Workshop()


def render_pdf(template: str, paper: Mapping[str, object]) -> bytes:
    """Return a paper as a tagged PDF: the template's name without its ending, and what it says as plain data."""
    inputs = _inputs(paper)
    with _workshop.lock:
        made = _workshop.warm().compile(
            input=_TEMPLATES / f"{template}.typ", format="pdf", sys_inputs=inputs, pdf_standards=_STANDARD
        )
    if not isinstance(made, bytes):
        raise TypeError(f"the compiler made {type(made).__name__} of {template}")
    return made


def render_pages(template: str, paper: Mapping[str, object], pixels_per_inch: float = 96) -> list[bytes]:
    """Return the pages of the same paper as pictures (PNG)."""
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
