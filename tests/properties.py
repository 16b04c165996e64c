"""Properties that the suite tries on few examples, and `make test-long` on many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Check = Callable[..., None]


def on_examples(
    *drawn: st.SearchStrategy[Any], few: int, many: int, **how: Any
) -> Callable[[Check], Callable[[int], None]]:
    """Make a test of a property: it holds of few examples, and in a long test of many. ``how`` are more settings."""

    def of_property(check: Check) -> Callable[[int], None]:
        @pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.long)])
        def test(examples: int) -> None:
            chosen = settings(
                max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow], **how
            )
            chosen(given(*drawn)(check))()

        test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
        test.__module__ = check.__module__
        return test

    return of_property
