"""No refusal, and nothing that is wrong with a field, is shown in English to a reader of another language."""

import datetime
import re
from typing import get_args

import pytest

from hearthpay.access.refusal import Problem, Refusal, RefusalCode, invalid
from hearthpay.autopilot.eligibility import IN_WORDS, REASONS
from hearthpay.banking.holds import HoldCode
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import Sentence, say_in, sentences
from hearthpay.payroll.issues.advice import hold_reason
from hearthpay.taxes.message_texts import ENGLISH
from hearthpay.taxes.messages import DollarAmount, message
from hearthpay.taxes.rulebook import rulebook_of
from hearthpay.web.framework import problems_of
from hearthpay.web.household.form_parsing import ROOT, problems_in
from hearthpay.web.refusal_words import BY_CODE, ON_FORMS, above_the_form, problem_on_page, refusal_on_page
from tests.cases import every_case

_UNTRANSLATED = "employees[0] is somebody whom nobody translated."
_DAY = datetime.date(2026, 11, 20)


@pytest.mark.completeness
def test_each_code_of_refusal_is_said_in_both_languages() -> None:
    with every_case() as case:
        for code in get_args(RefusalCode):
            with case(code):
                told = refusal_on_page(Refusal(code, _UNTRANSLATED))
                assert say_in("en")(told) == BY_CODE.get(code, _UNTRANSLATED)
                spanish = say_in("es")(told)
                assert spanish in sentences("es").values()
                assert "employees[" not in spanish


def test_what_forms_say_is_said_in_both_languages_with_its_gaps() -> None:
    with every_case() as case:
        for code in ON_FORMS:
            with case(code):
                _check_form_words(code)


def _check_form_words(code: str) -> None:
    gaps = set(re.findall(r"\{(\w+)", ON_FORMS[code])) | set(re.findall(r"\{(\w+)", ENGLISH[code]))  # type: ignore[index]
    said = message(code, **{name: DollarAmount(500) for name in sorted(gaps)})  # type: ignore[arg-type]
    told = problem_on_page(Problem("field", said.text, said))
    english, spanish = say_in("en")(told), say_in("es")(told)
    assert english == told
    assert spanish != english
    for words in (english, spanish):
        assert not set("{}[]_") & set(words), words


def test_a_refusal_with_parameters_names_them_in_the_readers_language() -> None:
    refused = Refusal("invalid_state", message("autopilot_period_passed", day=_DAY))
    assert refused.message == "The period of 2026-11-20 is not the next one any more: nothing was skipped."
    told = refusal_on_page(refused)
    assert say_in("en")(told) == "The period of Nov 20, 2026 is no longer the next one. Nothing was skipped."
    assert (
        say_in("es")(told) == "El período del 20 de noviembre de 2026 ya no es el próximo. No se omitió nada."
    )


def test_a_field_names_its_limits_in_the_readers_language() -> None:
    (told,) = problems_of(
        invalid("pay_rate", message("out_of_range", minimum="0.01", maximum="999"))
    ).values()
    assert say_in("en")(told) == "Enter a number from 0.01 to 999."
    assert say_in("es")(told) == sentences("es")["Enter a number from {minimum} to {maximum}."].format(
        minimum="0.01", maximum="999"
    )


def test_a_field_that_a_form_does_not_have_is_named_without_its_path() -> None:
    told = above_the_form(Problem("employees[0].hours", "is odd"))
    assert say_in("en")(told) == "hours: is odd"
    assert say_in("es")(told) == sentences("es")["Review what you entered here."]
    assert say_in("en")(above_the_form(Problem("employees[0]", "is odd"))) == "is odd"
    found = problems_in(invalid("employees[0].end_date", message("ends_before_first_day", day=_DAY)), {})
    assert say_in("en")(found[ROOT]) == "Enter a date on or after the first day, Nov 20, 2026."


def test_a_sentence_without_words_in_a_language_is_said_otherwise() -> None:
    assert Sentence("{count} things", {"count": 2}) == "2 things"
    assert (
        say_in("es")(Sentence("Nobody says this.", otherwise="Sign in again.")) == "Inicie sesión otra vez."
    )
    assert say_in("es")(Sentence("Nobody says this.")) == "Nobody says this."
    assert say_in("en")(Sentence("Nobody says this.", otherwise="Sign in again.")) == "Nobody says this."


@pytest.mark.completeness
@pytest.mark.parametrize("hold", get_args(HoldCode))
def test_each_hold_is_said_in_both_languages(hold: HoldCode) -> None:
    assert hold_reason(hold) in sentences("es")


@pytest.mark.completeness
def test_each_reason_against_autopilot_is_said_in_both_languages() -> None:
    with every_case() as case:
        for reason in REASONS:
            with case(reason):
                for words in IN_WORDS[reason]:  # type: ignore[index]
                    assert words in sentences("es")


@pytest.mark.completeness
def test_each_tax_has_a_spanish_name() -> None:
    rulebook = rulebook_of(2026)
    names = {
        line.code: line.name
        for state in rulebook.supported_states
        for rules in [rulebook.state(state)]
        for line in (*rulebook.contributions, *rules.contributions, *rules.local_taxes)
    }
    same = {code for code, name in names.items() if line_name(code, name, "es") == name}
    assert same - {"US-MED-EE", "US-MED-ER"} == set()
