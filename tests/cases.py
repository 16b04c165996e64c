"""Many cases in one test, each tried whether or not an earlier one failed: a subtest takes a millisecond to report."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

Case = Callable[..., AbstractContextManager[None]]


@contextmanager
def every_case() -> Iterator[Case]:
    """Yield what a case is tried within, by its name; at the end the test fails with all cases that failed.

    An exception that is no failed assertion ends the test there, with the case's name.
    """
    failed: list[str] = []
    tried = 0

    @contextmanager
    def case(*name: object) -> Iterator[None]:
        nonlocal tried
        tried += 1
        try:
            yield
        except (AssertionError, pytest.fail.Exception) as error:
            failed.append(f"{' '.join(map(str, name))}: {error or type(error).__name__}")
        except Exception as error:
            error.add_note(f"case: {' '.join(map(str, name))}")
            raise

    yield case
    assert not failed, f"{len(failed)} of {tried} cases failed:\n" + "\n".join(failed)
