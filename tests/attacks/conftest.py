"""One service for all attacks of a module, and somebody who uses it meanwhile."""

from collections.abc import Iterator

import pytest

from tests.attacks.service import Bystander, Service, service


@pytest.fixture(scope="module")
def attacked() -> Iterator[Service]:
    with service(HEARTHPAY_METRICS_TOKEN="metrics") as running:
        yield running


@pytest.fixture(scope="module")
def bystanders_key(attacked: Service) -> str:
    return attacked.new_key("Bystander")


@pytest.fixture
def bystander(attacked: Service, bystanders_key: str) -> Bystander:
    return Bystander(attacked, bystanders_key)
