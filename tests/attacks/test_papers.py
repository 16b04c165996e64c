"""Attacks with papers: two packages of a year at once, and somebody of another organization who wants a pay stub."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from hearthpay.documents.packages import PACKAGE_AT_ONCE
from tests.attacks.service import Service, service

HOME = {"line1": "2201 Mission St", "city": "San Francisco", "state": "CA", "zip": "94110"}
PEOPLE = 5
PAYDAYS, MORE_PAYDAYS = 10, 24
"""Of a package that is just large enough to be left to the worker, and of one twice as large."""
GIVEN_UP = 240


def papers_of(paydays: int) -> int:
    """How many papers a package has."""
    return PEOPLE * (3 + paydays) + 3


assert papers_of(PAYDAYS) > PACKAGE_AT_ONCE


@pytest.fixture(scope="module")
def working() -> Iterator[Service]:
    """The service with its worker."""
    with service(worker=True) as running:
        yield running


class Household:
    """A household that pays by check."""

    def __init__(self, client: httpx.Client, name: str, people: int) -> None:
        self.client = client
        self.id = self._post(
            "/employers",
            {
                "first_name": name,
                "last_name": "Lopez",
                "email": "m@example.com",
                "state": "CA",
                "address": HOME,
            },
        )["id"]
        self.people = [
            self._post(
                "/employees",
                {
                    "employer_id": self.id,
                    "first_name": "Rosa",
                    "last_name": f"Diaz {chr(97 + number)}",
                    "pay_rate": 28.5,
                    "start_date": "2026-01-05",
                    "address": HOME,
                },
            )["id"]
            for number in range(people)
        ]

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        answer = self.client.post(f"/api/v1{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    def pay(self) -> str:
        """Run a payroll with a paycheck for everybody; its id."""
        body = {
            "employer_id": self.id,
            "pay_period_start": "2026-01-05",
            "pay_period_end": "2026-01-11",
            "pay_date": "2026-01-16",
            "pay_frequency": "weekly",
            "off_cycle": True,
            "employees": [
                {"employee_id": each, "bonus": 100, "payment_method": "check"} for each in self.people
            ],
        }
        return str(self._post("/payroll/run", body)["payroll_id"])

    def ask_for_package(self, paydays: int) -> str:
        """Ask for everything of the year; the path where it is told how far that is."""
        self._post(f"/sandbox/employers/{self.id}/ein", {"magic": "assigned"})
        for _ in range(paydays):
            self.pay()
        asked = self.client.post(
            "/api/v1/documents/year-package", json={"employer_id": self.id, "tax_year": 2026}
        )
        assert asked.status_code == 202, asked.text
        return asked.headers["Location"]


def _event_details(client: httpx.Client, path: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(path).json()["data"]
    return found


@pytest.mark.parametrize("paydays", [PAYDAYS, pytest.param(MORE_PAYDAYS, marks=pytest.mark.long)])
def test_a_bystander_draws_stubs_while_two_packages_are_made(working: Service, paydays: int) -> None:
    """What counts is who is served before whom, not how long it takes: the machine does other work too."""
    papers = papers_of(paydays)
    sandbox = working.run("keys", "create", "--organization", "Attackers", "--mode", "test").strip()
    working.run("organizations", "lift", "Attackers", "requests_per_day=none", "sandbox_households=9")
    with working.client(sandbox) as attacker, working.client(working.new_key("Neighbors")) as neighbor:
        home = Household(neighbor, "Ana", 1)
        payroll = home.pay()
        packages = [
            Household(attacker, name, PEOPLE).ask_for_package(paydays) for name in ("First", "Second")
        ]
        until = time.monotonic() + GIVEN_UP
        while not any(_event_details(attacker, each)["drawn"] for each in packages):
            assert time.monotonic() < until, "no worker has begun"
            time.sleep(0.05)
        for wish in ({}, {"language": "es"}, {"copy": "household"}):
            body = {"employer_id": home.id, "payroll_id": payroll, **wish}
            stub = neighbor.post("/api/v1/documents/paystub", json=body)
            assert stub.headers["Content-Type"] == "application/pdf", stub.text
        left = [_event_details(attacker, each) for each in packages]
        assert any(each["drawn"] < papers for each in left), "the stubs were drawn after everything else"
        while not all(_event_details(attacker, each)["status"] == "ready" for each in packages):
            assert time.monotonic() < until, [_event_details(attacker, each) for each in packages]
            time.sleep(0.2)
        for each in packages:
            told = _event_details(attacker, each)
            assert (told["papers"], told["drawn"]) == (papers, papers)
            with attacker.stream("GET", told["document_path"]) as file:
                assert file.status_code == 200
                assert sum(len(part) for part in file.iter_bytes()) > papers * 5_000
