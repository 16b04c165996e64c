"""What every document has in its margins: the TEST mark, the version, and the issue date."""

from collections.abc import Mapping

from hearthpay.documents.identity import PaperMarks
from hearthpay.documents.papers.writing import american

TEST_WORDS = "TEST: made in a sandbox. Not to be filed or handed out."


def edges(title: str, marks: PaperMarks, use: str, language: str = "en") -> Mapping[str, object]:
    """Return the values that all templates need: each page's footer says briefly what the document may be used for.

    The title is in the file's metadata, for those who use a screen reader.
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
