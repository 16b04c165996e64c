"""A statement is put together from literals alone, so nothing that a request brings can get into its text; and what
it returns is typed wherever it is handed on.
"""

import ast
import re
from collections.abc import Iterator

import pytest
from sqlalchemy.dialects.postgresql.psycopg import dialect as psycopg_dialect

from hearthpay.database.statements import (
    Fragment,
    column_list,
    compose,
    identifier,
    joined,
    literal,
    statement,
)
from tests.source_trees import SOURCE, modules_with

TEMPLATE_AT = {"Fragment": 0, "compose": 0, "statement": 0, "query": 1, "text": 0}
"""What takes the text of SQL, and as which argument."""

COMPOSED_OTHERWISE = {
    "database/statements.py": "composes all the others",
    "database/typed_rows.py": "hands templates on to it",
    "doctor/examination.py": "the laws of the doctor, written by functions that take names of columns",
    "doctor/exposure.py": "the same",
    "doctor/proofs.py": "the same",
    "doctor/reconciliation.py": "the same",
}
"""Modules that give SQLAlchemy a text which is no literal, and why they may. Make this list shorter."""


UNTYPED_ROWS = {
    "autopilot/mails.py": {"_facts", "_paragraphs", "mail_of"},
    "database/vault_rotation.py": {"_claim", "_place_of", "_rotate_batch", "_rotate_one"},
    "web/household/payrolls/drafting.py": {"_last_period"},
}
"""Functions that take or return a row of no class, by module. Make this list shorter."""

NO_ROWS = {
    "access/refusal_details.py": {"_adapter"},
    "database/migrations/rendering.py": {"execute"},
    "database/driver_session.py": {"execute", "scalar", "scalars"},
    "database/session.py": {"_json_default", "_json_text"},
    "documents/facts.py": {"read_facts"},
    "documents/issued_figures.py": {
        "_blank_or_figure",
        "_figure",
        "employee_of_json",
        "w2_of_json",
        "w3_of_json",
    },
    "documents/papers/employment_papers.py": {"_party"},
    "documents/preparing.py": {"correct", "draw"},
    "employees/certificate_sheets.py": {"_as_typed"},
    "employees/certificates.py": {"_from_storage"},
    "employees/schemas.py": {"_kept"},
    "employers/schemas.py": {"_kept"},
    "http/errors.py": {"_routes_of_exactly"},
    "http/field_descriptions.py": {"_collect"},
    "http/openapi.py": {"_references"},
    "http/routing.py": {"_only_model"},
    "payroll/answers.py": {"_as_expected"},
    "web/household/payrolls/preview_changes.py": {"exact"},
    "web/household/payrolls/wage_form.py": {"read"},
    "wire/fields.py": {"__get_pydantic_core_schema__", "__get_pydantic_json_schema__"},
    "wire/money.py": {"__get_pydantic_core_schema__"},
    "wire/paging.py": {"page_of"},
}
"""Functions whose `Any` is something else: JSON, a field of a form, what a framework calls them with."""

OUTSIDE = ("cli/", "demo.py", "mcp/", "taxes/")
"""Where no row is read: the commands call services, and load their types as late as they can."""


def _texts() -> Iterator[tuple[str, str, ast.expr]]:
    """Every text of SQL in the product: its module, the function it is given to, and how it is written."""
    for path, tree in modules_with(r"sqlalchemy|hearthpay\.database\.(statements|typed_rows)"):
        imported = {
            name.asname or name.name: name.name
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            and (
                node.module == "sqlalchemy"
                or str(node.module).startswith(
                    ("hearthpay.database.statements", "hearthpay.database.typed_rows")
                )
            )
            for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                function = imported.get(node.func.id, "")
                at = TEMPLATE_AT.get(function)
                if at is not None and len(node.args) > at:
                    yield path.relative_to(SOURCE).as_posix(), function, node.args[at]


def test_every_text_of_sql_is_a_literal() -> None:
    texts = list(_texts())
    assert len(texts) > 400
    others: dict[str, list[str]] = {}
    for module, function, written in texts:
        if not (isinstance(written, ast.Constant) and isinstance(written.value, str)):
            others.setdefault(module, []).append(f"{function} in line {written.lineno}")
    assert {module: found for module, found in others.items() if module not in COMPOSED_OTHERWISE} == {}


def _is_untyped(annotation: ast.expr | None) -> bool:
    """Whether it says nothing of a row: `Any`, many of them, or SQLAlchemy's `Row`."""
    if annotation is None:
        return False
    if any(isinstance(node, ast.Name) and node.id == "Row" for node in ast.walk(annotation)):
        return True
    return any(
        part == "Any" or re.match(r"(Sequence|list|Iterable|Collection)\[Any\b", part)
        for part in ast.unparse(annotation).split(" | ")
    )


def test_no_row_passes_a_functions_edge_untyped() -> None:
    found: dict[str, set[str]] = {}
    for path, tree in modules_with(r"\bAny\b|\bRow\b"):
        module = path.relative_to(SOURCE).as_posix()
        if module.startswith(OUTSIDE):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                if any(map(_is_untyped, [*(each.annotation for each in parameters), node.returns])):
                    found.setdefault(module, set()).add(node.name)
    known = NO_ROWS | UNTYPED_ROWS
    assert {module: names for module, names in found.items() if names - known.get(module, set())} == {}


def test_fragments_take_the_places_of_their_names() -> None:
    relation = Fragment("(SELECT id FROM payrolls)")
    assert compose("SELECT id FROM {relation} p LIMIT {most}", relation=relation, most=20) == (
        "SELECT id FROM (SELECT id FROM payrolls) p LIMIT 20"
    )


def test_braces_of_sql_stay_as_they_are() -> None:
    assert compose("SELECT '{}'::text[], '{a,b}'::text[]") == "SELECT '{}'::text[], '{a,b}'::text[]"


def test_a_fragment_is_not_searched_for_places() -> None:
    assert compose("{first} {second}", first=Fragment("{second}"), second=Fragment("b")) == "{second} b"


@pytest.mark.parametrize("fragments", [{}, {"tables": Fragment("a")}, {"table": Fragment("a"), "other": 1}])
def test_a_place_without_fragment_and_a_fragment_without_place_are_refused(
    fragments: dict[str, Fragment | int],
) -> None:
    with pytest.raises(ValueError, match="places and fragments differ"):
        statement("SELECT 1 FROM {table}", **fragments)


@pytest.mark.parametrize("name", ["", "a b", "a;b", 'a"', "1a", "A", "a.b", "a\n"])
def test_what_is_no_plain_name_is_no_column(name: str) -> None:
    with pytest.raises(ValueError, match="not the name"):
        identifier(name)
    with pytest.raises(ValueError, match="not the name"):
        column_list(["id", name])


def test_columns_and_fragments_are_listed() -> None:
    assert column_list(["id", "net_pay"]) == "id, net_pay"
    assert column_list(["id", "net_pay"], "c") == "c.id, c.net_pay"
    assert joined([Fragment("a"), Fragment("b")], " AND ") == "a AND b"


def test_a_literal_is_quoted_and_holds_no_parameter() -> None:
    made = statement("SELECT {value}", value=literal("it's 12:30 :now"))
    assert str(made.compile(dialect=psycopg_dialect())) == "SELECT 'it''s 12:30 :now'"
