"""The page of minimum wages: every state, its places, what is known of the next change, in English and Spanish."""

from datetime import date

import pytest
from fastapi import FastAPI

from hearthpay.clock import FixedClock
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.labor_law.minimum_wages import governing_minimum_wage
from hearthpay.web.help.minimum_wages import figures_of, states_on
from tests.cases import every_case
from tests.web.people_browser import Browser
from tests.web.test_pages import parsed
from tests.web.test_pages_by_role import app, people_context

__all__ = ["app", "people_context"]

TODAY = date(2026, 11, 20)


def test_every_state_is_listed_with_what_a_paycheck_is_compared_with() -> None:
    rows = {row.code: row for row in states_on(TODAY)}
    assert rows.keys() == STATES.keys()
    with every_case() as case:
        for state in STATES:
            with case(state):
                governing = governing_minimum_wage(state, (), TODAY, lives_in=False, employees=1)
                assert rows[state].cents == governing.cents == figures_of(state, TODAY)[0].cents


def test_a_figure_says_what_comes_next() -> None:
    boulder = {each.name: each for each in figures_of("CO", TODAY)}["Boulder"]
    assert (boulder.cents, boulder.next_cents, boulder.next_on) == (1682, 1817, date(2027, 1, 1))
    oakland = {each.name: each for each in figures_of("CA", TODAY)}["Oakland"]
    assert (oakland.cents, oakland.next_cents, oakland.next_on) == (1734, None, date(2027, 1, 1))
    assert not oakland.outdated
    after = {each.name: each for each in figures_of("CA", date(2027, 1, 1))}["Oakland"]
    assert (after.outdated, after.next_on) == (True, date(2027, 1, 1))
    renton = {each.name: each for each in figures_of("WA", TODAY)}["Renton"]
    assert renton.employees == 15


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            (
                "Minimum wages in California",
                "Oakland",
                "$17.34",
                "Next change: Jan 1, 2027",
                "Only from 26 employees on",
            ),
        ),
        ("es", ("Salarios mínimos en California", "Oakland", "$17.34", "Próximo cambio: 1 ene 2027")),
    ],
)
async def test_the_page_of_a_state_in_both_languages(
    app: FastAPI, clock: FixedClock, language: str, words: tuple[str, ...]
) -> None:
    page = await Browser.of(app).look(f"/help/minimum-wages?state=ca&lang={language}")
    shown = " ".join("".join(parsed(page).itertext()).split())
    for each in words:
        assert each in shown
    other = "es" if language == "en" else "en"
    assert f'href="/help/minimum-wages?state=CA&amp;lang={other}"' in page.text


async def test_an_unknown_state_gets_the_list(app: FastAPI) -> None:
    page = await Browser.of(app).look("/help/minimum-wages?state=XX")
    assert page.status_code == 200
    assert "What an hour of work in a home must pay" in page.text
