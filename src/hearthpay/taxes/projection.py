"""A year that is not final yet: what is already published for it, laid over the law of the year before.

A rule file of such a year holds only published figures. Everything else is taken from the year it names under
``projected_from`` and marked as projected, so that no figure is carried over in silence.
"""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Projection(NamedTuple):
    """A rule file's content with the projected parts filled in, and the line codes that are projected."""

    content: dict[str, Any]
    projected: frozenset[str]


def project(published: Mapping[str, Any], base: Mapping[str, Any], year: int) -> Projection:
    """Lay the ``published`` figures of ``year`` over the ``base`` of the year before.

    Income tax versions and contributions that are published replace the base's; rules that end before the year are
    left out. Keys that are no figures (name, certificate, agreements) come from the base. A contribution of which
    only a part is published says ``projected = true`` and stays among the projected.
    """
    content = dict(base) | {key: value for key, value in published.items() if key != "contribution"}
    content["sources"] = {**base.get("sources", {}), **published.get("sources", {})}
    projected = set()
    if "income_tax" in base:
        content["income_tax"] = base["income_tax"] | published.get("income_tax", {})
        if "income_tax" not in published:
            projected.add(base["income_tax"]["code"])
    lines = published.get("contribution", ())
    own = [{key: value for key, value in line.items() if key != "projected"} for line in lines]
    projected |= {line["code"] for line in lines if line.get("projected")}
    kept = _still_standing(base.get("contribution", ()), own, year)
    projected |= {line["code"] for line in kept}
    content["contribution"] = kept + own
    if not content["contribution"]:
        del content["contribution"]
    return Projection(content, frozenset(projected))


def project_local(published: Mapping[str, Any], base: Mapping[str, Any], year: int) -> Projection:
    """Lay the local taxes published for ``year`` over those of the year before, by line code."""
    own = list(published.get("local", ()))
    kept = _still_standing(base.get("local", ()), own, year)
    content = dict(base) | dict(published)
    content["sources"] = {**base.get("sources", {}), **published.get("sources", {})}
    content["local"] = kept + own
    return Projection(content, frozenset(tax["code"] for tax in kept))


def _still_standing(
    base: Iterable[Mapping[str, Any]], published: Iterable[Mapping[str, Any]], year: int
) -> list[Mapping[str, Any]]:
    """Return the rules of ``base`` that nothing published replaces and that do not end before the year."""
    start = datetime.date(year, 1, 1)
    settled = {rule["code"] for rule in published}
    return [rule for rule in base if rule["code"] not in settled and rule.get("effective_to", start) >= start]
