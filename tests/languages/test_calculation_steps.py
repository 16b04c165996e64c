"""The steps of every calculation are shown in Spanish on Spanish pages, whatever the state's method."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hearthpay.taxes
from hearthpay.languages.catalogue import say_in
from hearthpay.taxes.certificates import FEDERAL_TAX_TOLD, CertificateForm
from hearthpay.taxes.rulebook import rulebook_of, supported_years
from hearthpay.web.household.employees.words import STATE_ENTRY_NAMES
from hearthpay.web.household.payrolls.step_words import VALUES, column_text, step_label, step_words

_ENGINE = Path(hearthpay.taxes.__file__).parent


def _steps() -> Iterator[tuple[ast.expr, ast.expr]]:
    """The label and the value of every step that the engine records."""
    for path in sorted(_ENGINE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("cents", "rate", "text")
                and ast.unparse(call.func.value).endswith("trace")
                and len(call.args) == len(("label", "value"))
            ):
                yield call.args[0], call.args[1]


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


def test_every_label_has_spanish_words() -> None:
    labels = {text for label, _ in _steps() for text in _texts(label)}
    assert len(labels) > 130
    assert {label for label in labels if step_label(say_in("es"), "es", label) == label} == set()
    assert {label for label in labels if step_label(say_in("en"), "en", label) != label} == set()


def test_every_value_that_is_a_sentence_has_spanish_words() -> None:
    values = {text for _, value in _steps() for text in _texts(value)}
    assert len(values) > 8
    assert values <= VALUES
    assert {value for value in VALUES if step_words(say_in("es"), "es", value) == value} == set()


@pytest.mark.parametrize(
    ("label", "spanish"),
    [
        ("2 allowances (1k)", "2 descuentos de la retención (1k)"),
        ("wages that US-FUTA taxes", "salario al que se aplica US-FUTA"),
        ("dependent exemptions", "exenciones por dependientes"),
        ("adopted child exemptions", "Exenciones por hijos adoptados"),
    ],
)
def test_labels_with_a_name_or_number_keep_it(label: str, spanish: str) -> None:
    assert step_label(say_in("es"), "es", label) == spanish
    assert step_label(say_in("en"), "en", label) == label


@pytest.mark.parametrize(
    ("value", "spanish"),
    [
        ("True", "sí"),
        ("the futa liability is off or below its threshold", "FUTA: no se debe, o"),
        ("the wages paid so far stay below the sui threshold", "por debajo del umbral de SUI"),
        ("wages of a parent are not subject to it", "no se aplica al salario de: su"),
        ("household rule: voluntary; G.S. 105-163.1 takes wages from IRC 3401(a)", "opcional en su estado"),
        ("married", "Casado(a)"),
        ("line 7", "line 7"),
    ],
)
def test_values_with_a_name_keep_it(value: str, spanish: str) -> None:
    assert spanish.casefold() in step_words(say_in("es"), "es", value).casefold()
    if value != "True":
        assert step_words(say_in("en"), "en", value) == value


def test_tables_of_the_law_are_named_by_their_filing_status() -> None:
    assert column_text("es", "head of household") == "Cabeza de familia"
    assert column_text("en", "head of household") == "head of household"


def _forms() -> Iterator[CertificateForm]:
    for year in supported_years():
        rulebook = rulebook_of(year)
        for state in rulebook.supported_states:
            tax = rulebook.state(state).income_tax
            if tax is not None:
                yield tax.form


@pytest.mark.completeness
def test_every_entry_of_a_states_form_has_a_name_in_both_languages() -> None:
    names = {
        entry.name
        for form in _forms()
        for entry in form.fields.values()
        if entry.kind != "refused" and entry.name != FEDERAL_TAX_TOLD
    }
    assert names - STATE_ENTRY_NAMES.keys() == set()
    say = say_in("es")
    assert {name for name, words in STATE_ENTRY_NAMES.items() if say(words) == words} == {"yonkers"}
