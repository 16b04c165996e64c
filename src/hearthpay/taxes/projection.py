"""A year whose figures aren't all published: its published figures, applied over the law of the year before.

A rule file of such a year contains the published figures, and states what the others are based on (`finality`). Those
figures come from the year that it names under ``projected_from``.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Projection(NamedTuple):
    """A rule file's content with the missing figures filled in, and the codes of the lines filled in."""

    content: dict[str, Any]
    kept: frozenset[str]


def project(published: Mapping[str, Any], base: Mapping[str, Any], year: int) -> Projection:
    """Apply the ``published`` figures of ``year`` over the ``base`` of the year before.

    Published income tax versions and contributions replace the base's; rules that end before the year are left out.
    Keys that aren't figures (name, certificate, agreements) come from the base.
    """
    content = _laid_over(published, base)
    kept = set()
    if "income_tax" in base:
        content["income_tax"] = base["income_tax"] | published.get("income_tax", {})
        if "income_tax" not in published:
            kept.add(base["income_tax"]["code"])
    own = list(published.get("contribution", ()))
    standing = _still_standing(base.get("contribution", ()), own, year)
    kept |= {line["code"] for line in standing}
    content["contribution"] = standing + own
    if not content["contribution"]:
        del content["contribution"]
    return Projection(content, frozenset(kept))


def project_local(published: Mapping[str, Any], base: Mapping[str, Any], year: int) -> Projection:
    """Apply the local taxes published for ``year`` over those of the year before, by line code."""
    own = list(published.get("local", ()))
    standing = _still_standing(base.get("local", ()), own, year)
    content = _laid_over(published, base)
    content["local"] = standing + own
    return Projection(content, frozenset(tax["code"] for tax in standing))


def _laid_over(published: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    content = {key: value for key, value in base.items() if key != "finality"} | dict(published)
    content["sources"] = {**base.get("sources", {}), **published.get("sources", {})}
    return content


def _still_standing(
    base: Iterable[Mapping[str, Any]], published: Iterable[Mapping[str, Any]], year: int
) -> list[Mapping[str, Any]]:
    """Return the rules of ``base`` that nothing published replaces and that don't end before the year."""
    start = datetime.date(year, 1, 1)
    settled = {rule["code"] for rule in published}
    return [rule for rule in base if rule["code"] not in settled and rule.get("effective_to", start) >= start]
