"""Compiled templates are kept beside their sources, and never used for another source."""

import marshal
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader
from jinja2 import nodes as ast

from hearthpay.web.pages import _TEMPLATES
from hearthpay.web.template_cache import _DIGEST, TemplateCache


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python keeps what it compiles, whatever the environment of the run says."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def rendered(folder: Path, options: str = "") -> str:
    """The page as a new process renders it."""
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, bytecode_cache=TemplateCache(options)
    )
    return environment.get_template("a.html").render(name="Ana")


def compiled(folder: Path) -> Path:
    [file] = (folder / "__pycache__").iterdir()
    return file


def replace_code(file: Path, greeting: str) -> None:
    """Let the compiled template be that of another source: who loads it renders this greeting."""
    code = Environment(autoescape=True).compile(greeting, filename="a.html")
    file.write_bytes(file.read_bytes()[:_DIGEST] + marshal.dumps(code))


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    assert rendered(tmp_path) == "Hello Ana"
    replace_code(compiled(tmp_path), "Kept {{ name }}")
    assert rendered(tmp_path) == "Kept Ana"


def test_a_changed_template_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    rendered(tmp_path)
    (tmp_path / "a.html").write_text("Goodbye {{ name }}")
    assert [rendered(tmp_path) for _ in range(2)] == ["Goodbye Ana"] * 2


def test_other_options_compile_it_again(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    rendered(tmp_path)
    replace_code(compiled(tmp_path), "Kept {{ name }}")
    assert rendered(tmp_path, "other") == "Hello Ana"


@pytest.mark.parametrize("length", [0, 10, _DIGEST, _DIGEST + 20])
def test_a_file_that_was_cut_is_not_used(tmp_path: Path, length: int) -> None:
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    rendered(tmp_path)
    file = compiled(tmp_path)
    file.write_bytes(file.read_bytes()[:length])
    assert rendered(tmp_path) == "Hello Ana"


def test_a_folder_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    (tmp_path / "__pycache__").write_text("no folder")
    assert rendered(tmp_path) == "Hello Ana"


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "a.html").write_text("Hello {{ name }}")
    assert rendered(tmp_path) == "Hello Ana"
    assert not (tmp_path / "__pycache__").exists()


def test_no_filter_of_ours_is_calculated_when_a_template_is_compiled() -> None:
    """What it made of a constant would be kept when the filter has changed."""
    ours = set(_TEMPLATES.filters) - set(Environment(autoescape=True).filters)
    calculated = []
    loader = _TEMPLATES.loader
    assert loader is not None
    for name in _TEMPLATES.list_templates(extensions=("html",)):
        source = loader.get_source(_TEMPLATES, name)[0]
        if "|" not in source:
            continue
        context = ast.EvalContext(_TEMPLATES, name)
        for node in _TEMPLATES.parse(source, name).find_all(ast.Filter):
            try:
                node.as_const(context)
            except ast.Impossible:
                continue
            if any(each.name in ours for each in (node, *node.find_all(ast.Filter))):
                calculated.append(f"{name}:{node.lineno}")
    assert calculated == []
