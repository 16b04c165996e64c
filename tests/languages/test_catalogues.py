"""Every sentence that a person can be shown stands in the Spanish catalogue, with the same gaps."""

import re

import pytest

from hearthpay.access.refusal import Refusal
from hearthpay.languages.catalogue import parts, preferred, say_in, sentences
from hearthpay.people.identity import read_language, read_name
from hearthpay.people.members import ROLES
from hearthpay.people.passwords import check_new_password
from hearthpay.web.settings.account import EVENTS
from tests.languages.sentences import (
    actions_of_accounts,
    in_modules,
    in_templates,
    of_banks,
    of_duties,
    of_estimates,
    of_messages,
    of_refusals,
)

_GAP = re.compile(r"{(\w+)[^}]*}")


@pytest.mark.completeness
def test_nothing_is_left_in_english() -> None:
    said = (
        in_templates()
        | in_modules()
        | of_refusals()
        | of_banks()
        | of_estimates()
        | of_messages()
        | of_duties()
        | set(ROLES)
    )
    assert len(said) > 180
    assert said - sentences("es").keys() == set()


def test_nothing_is_translated_that_nobody_says() -> None:
    said = (
        in_templates()
        | in_modules()
        | of_refusals()
        | of_banks()
        | of_estimates()
        | of_messages()
        | of_duties()
    )
    kinds = {"user", "key", "mcp", "employee", "system", "operator"}
    counted = {each for each in sentences("es") if each.startswith(("Use ", "Choose one of "))}
    assert sentences("es").keys() - said - kinds - counted == set()


def test_what_two_areas_have_in_common_is_said_alike() -> None:
    for name, part in parts("es").items():
        assert {english: sentences("es")[english] for english in part} == part, name


def test_the_gaps_are_the_same() -> None:
    for english, spanish in sentences("es").items():
        assert sorted(_GAP.findall(english)) == sorted(_GAP.findall(spanish)), english
        assert spanish.strip()


@pytest.mark.parametrize(
    ("field", "deed"),
    [
        ("password", lambda: check_new_password("short")),
        ("password", lambda: check_new_password("x" * 201)),
        ("name", lambda: read_name("")),
        ("language", lambda: read_language("fr")),
    ],
)
def test_what_counts_is_said_too(field: str, deed) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Refusal) as refused:
        deed()
    (problem,) = refused.value.details
    assert problem.field == field
    assert say_in("es")(problem.message) != problem.message


@pytest.mark.completeness
def test_all_that_happens_to_an_account_has_a_name() -> None:
    assert actions_of_accounts() <= EVENTS.keys()


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("es", "es"),
        ("es-MX,es;q=0.9,en;q=0.8", "es"),
        ("fr,en;q=0.3,es;q=0.7", "es"),
        ("en-US,es;q=0.9", "en"),
        ("es;q=0", "en"),
        ("es;q=x,;,,", "en"),
    ],
)
def test_the_browsers_language_is_taken(accepted: str | None, language: str) -> None:
    assert preferred(accepted) == language
