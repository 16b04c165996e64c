"""Hooks for Schemathesis: of the cases that resemble each other, send the first one and some of the others.

Which of the others changes from place to place, so that every kind is sent, and to every operation some. The long test
sends all.
"""

import re
from collections import Counter
from itertools import count
from typing import Final

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

_Place = tuple[str, ...]

_WRONG_TYPES: Final = 4
"""Most values are of five types that are wrong where one is right."""
_METHODS: Final = 6
"""Most addresses have seven methods that are not theirs, and one router refuses them all."""
_HEADERS: Final = 3
"""Cases of one kind about headers, after the first."""
_RIGHT_OBJECTS: Final = 4
"""Right values of one property in an object that is right: one of four, after the first."""

_ABOUT_OBJECTS: Final = (CoverageScenario.VALID_OBJECT, CoverageScenario.OBJECT_REQUIRED_AND_OPTIONAL)
_PROPERTY: Final = re.compile(r"'\w+' value")

_numbers: Final[dict[_Place, int]] = {}
_tried: Final[Counter[_Place]] = Counter()
_next_number: Final = count()


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Return whether the case is sent."""
    told = case.meta.phase.data if case.meta else None
    if not isinstance(told, CoveragePhaseData):
        return True
    operation, scenario, where = case.operation.label, told.scenario, told.parameter_location
    if scenario is CoverageScenario.INCORRECT_TYPE:
        return _sent((operation, scenario, str(where), str(told.parameter), str(told.location)), _WRONG_TYPES)
    if scenario is CoverageScenario.UNSPECIFIED_HTTP_METHOD:
        return _sent((operation, scenario), _METHODS)
    if where is ParameterLocation.HEADER:  # all operations take the same headers
        return _sent((operation, scenario), _HEADERS)
    if scenario in _ABOUT_OBJECTS:
        found = _PROPERTY.search(told.description)
        return _sent((operation, scenario, found.group() if found else ""), _RIGHT_OBJECTS)
    return True


def _sent(place: _Place, others: int) -> bool:
    """Return whether one more case at a place is sent: the first, then one of each so many, another at each place."""
    if place not in _numbers:
        _numbers[place] = next(_next_number)
    tried = _tried[place]
    _tried[place] += 1
    return tried == 0 or (tried - 1) % others == _numbers[place] % others
