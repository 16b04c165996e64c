"""The ids of the sentences that rule files say to people: what other languages have them by.

A rule file holds its sentence itself, so that an edition stays what was released; ``rules/sentences.toml`` gives it an
id. A sentence that is reworded keeps its id, one that says something else gets another.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_FILE = Path(__file__).parent.joinpath("rules", "sentences.toml")


@functools.cache
def rule_sentences() -> Mapping[str, str]:
    """Return the sentences of the rule files in English, by id."""
    return MappingProxyType(tomllib.loads(_FILE.read_text("utf-8")))


@functools.cache
def _ids() -> dict[str, str]:
    return {text: each for each, text in rule_sentences().items()}


def sentence_id(text: str) -> str | None:
    """Return the id of a rule file's sentence; None for one that has none."""
    return _ids().get(text)
