"""The benchmarks can be started: nobody runs them with each change, so a renamed field would go unnoticed."""

import importlib
import pkgutil

import benchmarks
import pytest

MODULES = sorted(each.name for each in pkgutil.iter_modules(benchmarks.__path__) if each.name != "__main__")


@pytest.mark.parametrize("name", MODULES)
def test_a_benchmark_fits_the_product_as_it_is(name: str) -> None:
    importlib.import_module(f"benchmarks.{name}")
