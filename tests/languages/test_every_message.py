"""Every message that calculations can say, by its code: in the English of the API and on pages of both languages."""

import datetime
import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache

import pytest

from hearthpay.languages.catalogue import say_in, sentences
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.message_texts import CODES, ENGLISH
from hearthpay.taxes.messages import DollarAmount, Message, coded, message
from hearthpay.taxes.rule_sentences import rule_sentences, sentence_id
from hearthpay.taxes.rulebook import Rulebook, rulebook_of, supported_years
from hearthpay.taxes.thresholds import liability_thresholds, supported_threshold_years
from hearthpay.web.message_text import ON_PAGES, gaps_of, message_text
from tests.cases import every_case

_DAY = datetime.date(2026, 11, 20)
_END = datetime.date(2026, 11, 15)
_MONEY = DollarAmount(123456)
_RULE = next(iter(rule_sentences()))
_TEXT = rule_sentences()[_RULE]
_LAW = message("part_law_of", place="Oregon")
_THRESHOLD = message("part_threshold", name="unemployment insurance", amount=_MONEY)
_LINE = message("part_line_amount", line="US-SS-EE", amount=_MONEY)
_PARAMS: dict[str, object] = {
    **dict.fromkeys(("day", "asked", "earliest", "start", "end", "since", "awaited"), _DAY),
    **dict.fromkeys(("amount", "pay", "full", "wages", "threshold", "rate", "least", "overtime"), _MONEY),
    **dict.fromkeys(("base", "floor", "due"), _MONEY),
    "percent": Decimal("6.2"),
    "shares": "US-SS",
    **dict.fromkeys(
        ("hours", "limit", "room", "rest", "unpaid", "paid", "all", "days", "places"), Decimal("1.5")
    ),
    **dict.fromkeys(("city", "place", "locality"), "Denver"),
    **dict.fromkeys(("home", "state"), "New York"),
    **dict.fromkeys(("text", "note", "rule", "reason"), _TEXT),
    **dict.fromkeys(("latest", "today", "own", "eastern"), _DAY),
    **dict.fromkeys(("most",), _MONEY),
    "longest": 80,
    "reasons": "not_plus",
    "status": "scheduled",
    "minimum": _MONEY,
    "maximum": Decimal(99),
    "id": _RULE,
    "line": "US-SS-EE",
    "tax": "Social Security",
    "name": "unemployment insurance",
    "period": "quarter",
    "law": _LAW,
    "thresholds": (_THRESHOLD, _THRESHOLD),
    "parts": (message("part_salary"), message("part_hours", hours=Decimal(4))),
    "payroll": "b6a0",
    "employee": "c3d1",
    "codes": "NY-NYC",
    "from_state": "NY",
    "to_state": "CA",
    "year": 2026,
    "frequency": "weekly",
    "noun": "a week",
    "field": "regular_hours",
    "who": "Ana",
    "agency": "IRS",
    "form": "DE 4",
}
"""A value for each parameter that any message has. A new parameter needs one here."""
_LINES = {"figures_not_published": "US-SS-EE, US-MED-EE"}
_ENGLISH_LEFT = re.compile(
    r"\b(the|is|are|not|with|of|was|and|from|by|must|pay|hours|week|year|quarter)\b", re.I
)
_NAMES = re.compile(
    r"\b(New York|Department of Labor|Job Service North Dakota|West Virginia|Schedule H|section|chapter|subsection|"
    r"Kansas City|St\. Louis|Form[a-z]*)\b"
)
_ABOUT_THE_API = {"recorded"}


def _example(code: str) -> Message:
    """Return a message of the code with every parameter that its English or its page names."""
    words = (ENGLISH[code], ON_PAGES.get(code, ""))  # type: ignore[index]
    names = sorted({name for each in words for name in gaps_of(each)})
    lines: object = _LINES.get(code, (_LINE, _LINE))
    params = {name: lines if name == "lines" else _PARAMS[name] for name in names}
    if params.keys() & {"text", "note", "rule", "reason"}:
        params["id"] = _RULE
    if code == "hours_rounded":
        params["field"] = "overtime_hours"
    return Message(code, tuple(params.items()))  # type: ignore[arg-type]


@pytest.mark.completeness
def test_each_code_is_rendered_for_programs_and_on_pages_of_both_languages() -> None:
    with every_case() as case:
        for code in CODES:
            with case(code):
                _check_rendered(code)


def _check_rendered(code: str) -> None:
    said = _example(code)
    faces = {
        "api": said.text,
        "en": message_text(say_in("en"), "en", said),
        "es": message_text(say_in("es"), "es", said),
    }
    for face, words in faces.items():
        assert words.strip(), face
        assert not set("{}") & set(words), (face, words)
        assert "None" not in words, (face, words)
    assert coded(said)["code"] == code
    for face in ("en", "es"):
        assert "[" not in faces[face], faces[face]
        assert "_" not in faces[face], faces[face]
    if code not in _ABOUT_THE_API:
        assert _ENGLISH_LEFT.findall(_NAMES.sub("", faces["es"])) == [], faces["es"]


def test_a_message_stored_with_its_words_alone_still_shows_them() -> None:
    alone = [code for code in CODES if gaps_of(ENGLISH[code]) == {"text"}]
    assert alone
    with every_case() as case:
        for code in alone:
            with case(code):
                old = message(code, text="As it was said.")
                assert "As it was said." in message_text(say_in("es"), "es", old)


@cache
def _rulebooks() -> tuple[Rulebook, ...]:
    return tuple(rulebook_of(year) for year in supported_years())


def _sentences_of_rules() -> Iterator[str]:
    for rulebook in _rulebooks():
        for state in rulebook.supported_states:
            rules = rulebook.state(state)
            for said in rules.limitations:
                yield str(said.param("text"))
            taxes = rules.local_taxes
            yield from (each.message for each in taxes.unchosen)
            yield from (each.reason for each in taxes.not_owed)
            for line in (*rulebook.contributions, *rules.contributions, *taxes):
                if line.confidence == "low" and line.note:
                    yield line.note
    for year, state in itertools.product(supported_threshold_years(), STATES):
        yield from (each.rule for each in liability_thresholds(state, year) if each.confidence == "low")


@pytest.mark.completeness
def test_every_sentence_of_the_rule_files_has_an_id_and_spanish_words() -> None:
    said = set(_sentences_of_rules())
    assert len(said) > 50
    assert {text for text in said if sentence_id(text) is None} == set(), (
        "give it an id in rules/sentences.toml"
    )
    assert said - sentences("es").keys() == set()


def test_every_id_is_of_a_sentence_that_is_said() -> None:
    said = set(_sentences_of_rules())
    unused = {each for each, text in rule_sentences().items() if text not in said}
    assert unused == {"not_verified_figure", "not_verified_figures"}
    assert len(set(rule_sentences().values())) == len(rule_sentences())


@pytest.mark.completeness
def test_every_threshold_has_a_spanish_name() -> None:
    names = {
        each.name
        for year, state in itertools.product(supported_threshold_years(), STATES)
        for each in liability_thresholds(state, year)
    }
    assert names - sentences("es").keys() == set()


def test_pages_word_only_messages_that_there_are() -> None:
    assert set(ON_PAGES) <= set(ENGLISH)
