"""What every paper carries at its edges: the TEST mark, the version, the day it was issued."""

from collections.abc import Mapping

from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers.writing import american

TEST_WORDS = "TEST: made in a sandbox. Not to be filed or handed out."


def edges(title: str, marks: PaperMarks, use: str, language: str = "en") -> Mapping[str, object]:
    """Return what all templates ask for: each page's foot says in short what the paper may be used for.

    The title stands in the file's own data, for those who hear it read.
    """
    foot = [use]
    if marks.version > 1:
        foot.append(f"version {marks.version}")
    if marks.issued_on is not None:
        foot.append(f"issued {american(marks.issued_on)}")
    return {
        "title": f"TEST · {title}" if marks.test else title,
        "language": language,
        "test": TEST_WORDS if marks.test else None,
        "foot": " · ".join(foot),
        "page": "Page {page} of {pages}",
    }
