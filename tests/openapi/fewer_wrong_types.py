"""Hooks for Schemathesis: of the values of a wrong type that it tries at one place of a request, send two.

The first one is sent at each place. Of the others, each place sends another one in turn, so that every operation is
asked with all of them. The long test sends all.
"""

from collections import Counter
from itertools import count
from typing import Final

import schemathesis
from schemathesis.generation.meta import CoverageScenario

_Place = tuple[str, str, str, str]

_OTHERS: Final = 4
"""Most values are of five types that are wrong where one is right."""

_numbers: Final[dict[_Place, int]] = {}
_tried: Final[Counter[_Place]] = Counter()
_next_number: Final = count()


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Return whether the case is sent."""
    told = getattr(case.meta.phase, "data", None) if case.meta else None
    if getattr(told, "scenario", None) is not CoverageScenario.INCORRECT_TYPE:
        return True
    place = (case.operation.label, str(told.parameter_location), str(told.parameter), str(told.location))
    if place not in _numbers:
        _numbers[place] = next(_next_number)
    tried = _tried[place]
    _tried[place] += 1
    return tried in (0, 1 + _numbers[place] % _OTHERS)
