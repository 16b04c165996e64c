"""The check of words finds what it is for: banned phrases, long sentences and hard ones."""

import pytest
from tools.wording import Text, findings, grade, lengths, paragraphs, sentences


@pytest.mark.parametrize(
    ("kind", "language", "text", "found"),
    [
        ("page", "en", "Authorize the debit anew.", ["anew"]),
        ("page", "en", "must be a number", ["must "]),
        ("api", "en", "must be a number", []),
        ("page", "en", "Have your employee sign.", []),
        ("page", "en", "Whoever pays. It is paid anew.", ["Whoever", "anew"]),
        ("page", "es", "Presente el formulario W-2", ["formulario W-2"]),
        ("page", "es", "Presente el Formulario W-2", []),
        ("page", "en", "Enter the number.", []),
    ],
)
def test_what_is_banned_is_found_where_it_is_asked_of(kind, language, text, found) -> None:
    assert sorted(each.found for each in findings(Text(kind, language, "here", text))) == sorted(found)


def test_gaps_are_no_words() -> None:
    assert list(findings(Text("page", "en", "here", "{papers} documents finished"))) == []


def test_sentences_are_counted_without_code_and_tables() -> None:
    markdown = (
        "# Title\n\nOne `code` word. Two\nlines (see [the link](to/there.md)).\n\n"
        "```\nno prose here.\n```\n\n| a | b |\n"
    )
    assert paragraphs(markdown) == ["One code word. Two lines (see the link)."]
    assert sentences("One. Two three! four") == ["One.", "Two three! four"]
    assert lengths(["Pay {name} now. A label without an end"]) == [3]


def test_the_grade_is_flesch_and_kincaids() -> None:
    # 7 words, 1 sentence, 10 syllables.
    assert grade(["The cat sat under the table again."]) == pytest.approx(0.39 * 7 + 11.8 * 10 / 7 - 15.59)
    assert grade(["Simple."]) > grade(["Do it."])
    assert grade(["no sentence"]) == 0
