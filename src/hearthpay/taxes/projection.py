"""A year of which not all figures are published: what is, laid over the law of the year before.

A rule file of such a year holds the published figures, and says of the others what they rest on (`finality`). The
figures themselves come from the year that it names under ``projected_from``.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Projection(NamedTuple):
    """A rule file's content with the missing figures filled in, and the line codes whose figures were."""

    content: dict[str, Any]
    kept: frozenset[str]


def project(published: Mapping[str, Any], base: Mapping[str, Any], year: int) -> Projection:
    """Lay the ``published`` figures of ``year`` over the ``base`` of the year before.

    Income tax versions and contributions that are published replace the base's; rules that end before the year are
    left out. Keys that are no figures (name, certificate, agreements) come from the base.
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
    """Lay the local taxes published for ``year`` over those of the year before, by line code."""
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
    """Return the rules of ``base`` that nothing published replaces and that do not end before the year."""
    start = datetime.date(year, 1, 1)
    settled = {rule["code"] for rule in published}
    return [rule for rule in base if rule["code"] not in settled and rule.get("effective_to", start) >= start]
