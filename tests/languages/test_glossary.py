"""One term, one word: the glossary holds for every sentence of the catalogues."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hearthpay.languages.catalogue import sentences
from hearthpay.languages.glossary import Term, glossary, glossary_page

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "glossary.md"


def _plain(text: str) -> str:
    return text.strip(" .:?¿…").casefold()


def test_the_page_is_the_glossary() -> None:
    assert PAGE.read_text(encoding="utf-8") == glossary_page(), "run python -m tools.glossary"


def test_each_term_is_there_once_and_says_what_it_is() -> None:
    assert len(glossary()) > 140
    assert [
        name for name, times in Counter(_plain(term.english) for term in glossary()).items() if times > 1
    ] == []
    for term in glossary():
        assert term.meaning.endswith("."), term.english
        assert term.significado.endswith("."), term.english
        assert not {_plain(term.english), _plain(term.spanish)} & {_plain(name) for name in term.avoid}, (
            term.english
        )


def _names(name: str) -> set[str]:
    """A term's names as a label may have them: `withhold / withholding` are two."""
    return {_plain(each) for each in name.split(" / ")}


def test_a_term_has_one_word() -> None:
    """A label that is a term is the glossary's in Spanish, and no label is a name that the glossary replaces."""
    labels = {_plain(english): _plain(spanish) for english, spanish in sentences("es").items()}
    wrong = [problem for term in glossary() for problem in _problems(term, labels)]
    assert wrong == []


def _problems(term: Term, labels: dict[str, str]) -> Iterator[str]:
    english, avoided = _names(term.english), {_plain(each) for each in term.avoid}
    # What stands in parentheses explains a name, and need not be on a label.
    spanish = _names(term.spanish) | _names(re.sub(r"\s*\(.*?\)", "", term.spanish))
    for label, translated in labels.items():
        if label in english and translated.removeprefix("el ") not in spanish:
            yield f"{label!r} is {translated!r} in Spanish, {term.spanish!r} in the glossary"
        if label in avoided:
            yield f"{label!r} stands for {term.english!r}"
        if translated in avoided and translated not in spanish:
            yield f"{translated!r} stands for {term.spanish!r}: {label!r}"
