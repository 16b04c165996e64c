"""Families who use the service all the time: they pay by check, they void, and ask again until they are answered."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from uuid import UUID

import httpx
from benchmarks.payday_data import PAYDAY, Payday, PaydayHousehold

from tests.lifecycle.killing.staff import PATIENCE, Staff

_FIRST_DAY = PAYDAY - timedelta(days=1)
_DAYS = 5
_PASSING = (429, 502, 503)


@dataclass(frozen=True, slots=True)
class Check:
    """A day paid by check, under an idempotency key."""

    household: PaydayHousehold
    day: date

    @property
    def key(self) -> str:
        return f"{self.household.employee_id}-{self.day}"

    @property
    def body(self) -> dict[str, object]:
        entry = {
            "employee_id": str(self.household.employee_id),
            "regular_hours": 6,
            "payment_method": "check",
        }
        return {
            "employer_id": str(self.household.employer_id),
            "pay_period_start": self.day.isoformat(),
            "pay_period_end": self.day.isoformat(),
            "pay_date": max(self.day, PAYDAY).isoformat(),
            "pay_frequency": "weekly",
            "employees": [entry],
        }


@dataclass
class Families:
    """One after the other asks for something, until they are told to leave it."""

    staff: Staff
    payday: Payday
    chance: random.Random
    most_voids: int
    paid: dict[Check, UUID] = field(default_factory=dict)
    voided: set[UUID] = field(default_factory=set)
    too_late: set[UUID] = field(default_factory=set)
    #: Requests without an answer, or with one that asked for patience.
    asked_again: int = 0
    trouble: BaseException | None = None

    def __post_init__(self) -> None:
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._live, name="families")

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Let the one who is asking have an answer; raises what went wrong."""
        self._done.set()
        self._thread.join()
        if self.trouble is not None:
            raise self.trouble

    def ask_all_again(self) -> None:
        """Repeat every run by check: each must be answered as before."""
        with self._client() as client:
            for check, payroll_id in self.paid.items():
                response = self._ask(client, "/payroll/run", check.body, check.key)
                assert response.headers.get("Idempotent-Replayed") == "true", response.text
                assert response.json()["data"]["payroll_id"] == str(payroll_id)

    def _live(self) -> None:
        checks = [
            Check(household, _FIRST_DAY + timedelta(days=number))
            for household in self.payday.households
            for number in range(_DAYS)
        ]
        self.chance.shuffle(checks)
        voids = self.chance.sample(self.payday.households, self.most_voids)
        try:
            with self._client() as client:
                self._take_turns(client, checks, voids)
        except BaseException as error:  # noqa: BLE001 - handed on by `finish`
            self.trouble = error

    def _take_turns(
        self, client: httpx.Client, checks: Sequence[Check], voids: list[PaydayHousehold]
    ) -> None:
        for number, check in enumerate(checks):
            if self._done.is_set():
                return
            response = self._ask(client, "/payroll/run", check.body, check.key)
            assert response.status_code == 200, response.text
            self.paid[check] = UUID(response.json()["data"]["payroll_id"])
            if voids and number % 2:
                self._void(client, voids.pop())

    def _void(self, client: httpx.Client, household: PaydayHousehold) -> None:
        payroll_id = household.payroll_id
        response = self._ask(client, f"/payroll/{payroll_id}/void", {}, f"void-{payroll_id}")
        if response.status_code == 200:
            assert response.json()["data"]["status"] == "voided"
            self.voided.add(payroll_id)
        else:
            assert response.json()["error"]["code"] == "invalid_state", response.text
            assert response.json()["error"]["details"]["status"] != "voided", response.text
            self.too_late.add(payroll_id)

    def _client(self) -> httpx.Client:
        return httpx.Client(headers={"Authorization": f"Bearer {self.payday.key}"}, timeout=30)

    def _ask(
        self, client: httpx.Client, path: str, body: dict[str, object], idempotency_key: str
    ) -> httpx.Response:
        """Send the request until it is answered, wherever the API is by then."""
        deadline = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < deadline, path
            address = self.staff.address
            if address is not None:
                try:
                    response = client.post(
                        f"{address}/api/v1{path}", json=body, headers={"Idempotency-Key": idempotency_key}
                    )
                except httpx.TransportError:
                    self.asked_again += 1
                else:
                    if response.status_code not in _PASSING:
                        return response
                    self.asked_again += 1
            time.sleep(0.05)
