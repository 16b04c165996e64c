"""Attacks with requests: pages asked for without end, crowded bodies, one tenant with a hundred requests at once."""

import http.client
import threading
import time
from collections.abc import Callable
from statistics import median

from tests.attacks.service import Bystander, Service

CROWDED = b'{"employees": [' + b"{}," * 300_000 + b"{}]}"


def at_once(number: int, work: Callable[[], None]) -> None:
    """Do `work` in so many threads, and wait for all."""
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_pages_asked_for_without_end(attacked: Service, bystander: Bystander) -> None:
    def read() -> None:
        connection = http.client.HTTPConnection(*attacked.endpoint, timeout=30)
        for number in range(50):
            connection.request("GET", "/docs" if number % 2 else "/openapi.json")
            assert len(connection.getresponse().read()) > 10_000
        connection.close()

    before = attacked.megabytes
    with bystander.beside():
        at_once(8, read)
    assert attacked.megabytes - before < 60


def test_crowded_bodies(attacked: Service, bystander: Bystander, bystanders_key: str) -> None:
    statuses = []

    def send() -> None:
        connection = http.client.HTTPConnection(*attacked.endpoint, timeout=30)
        for _ in range(5):
            connection.request(
                "POST", "/api/v1/payroll/run", CROWDED, {"Authorization": f"Bearer {bystanders_key}"}
            )
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
        connection.close()

    with bystander.beside():
        at_once(4, send)
    assert statuses == [400] * 20


def test_a_hundred_requests_of_one_key_slow_down_nobody_else(attacked: Service, bystander: Bystander) -> None:
    """Writes of one organization, a hundred at a time; another's median stays within what one more user costs."""
    crowd = attacked.new_key("Crowd")
    household = b'{"first_name": "Maria", "last_name": "Lopez", "email": "m@example.com", "state": "TX"}'
    answers: list[int] = []
    stopped = threading.Event()

    def press() -> None:
        connection = http.client.HTTPConnection(*attacked.endpoint, timeout=60)
        while not stopped.is_set():
            connection.request("POST", "/api/v1/employers", household, {"Authorization": f"Bearer {crowd}"})
            response = connection.getresponse()
            response.read()
            answers.append(response.status)
        connection.close()

    crowd_of = threading.Thread(target=at_once, args=(100, press))
    with bystander.beside():
        crowd_of.start()
        time.sleep(4.0)
        stopped.set()
        crowd_of.join()
    assert answers
    assert set(answers) <= {201, 403, 429}
    assert median(bystander.calculations) < 0.2, "0.2 s is what it took when nobody's share was bounded"
