"""Numbers, keys, names and wages planted wherever a client can write turn up in no log, refusal, metric or document.

The service is the real process at its most talkative, on a database that is made to fail in ways which quote rows.
"""

import copy
import json
import re
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx
import psycopg
import pytest

from hearthpay.database.embedded import EmbeddedServer
from hearthpay.wire.secrecy import holds_a_secret
from tests.conftest import plain_url
from tests.server.test_serve import Service, create_key
from tests.worlds.commands import hearthpay
from tests.worlds.installations import install

_Way = TypeVar("_Way")
_Place = TypeVar("_Place")

METRICS_TOKEN = "planted-metrics-token-5519"
UNKNOWN_KEY = "hp_live_PlantedPlantedPlantedPlantedPlantedPlanted11"

NUMBERS = {
    "ssn": "536-22-8145",
    "ssn without dashes": "536228146",
    "ein": "94-1734467",
    "account": "90817263544536271",
}
PERSONAL = {"name": "Zebulonquist", "email": "zq.planted@mail-planted.example", "wage": "7351.37"}
REGISTRATION = {"registration": "73-8164905-2"}
SECRETS = {**NUMBERS, **PERSONAL, "unknown key": UNKNOWN_KEY, "metrics token": METRICS_TOKEN}

ROSA = {"first_name": "Rosa", "last_name": "Diaz", "pay_rate": 25, "start_date": "2026-01-05"}
MARIA = {"first_name": "Maria", "last_name": "Lopez", "email": "m@example.com", "state": "TX"}


@dataclass
class Attacker:
    """A client with a key that notes every refusal it gets."""

    client: httpx.Client
    key: str
    refusals: list[str] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}", **arguments.pop("headers", {})}
        response = self.client.request(method, path, headers=headers, **arguments)
        self.statuses[response.status_code] = self.statuses.get(response.status_code, 0) + 1
        if response.status_code >= 400:
            self.refusals.append(f"{method} {response.status_code}\n{response.headers}\n{response.text}")
        return response

    def made(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self.send("POST", f"/api/v1{path}", json=body)
        assert response.status_code == 201, response.text
        made: dict[str, Any] = response.json()["data"]
        return made


def places(body: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a body that holds a value."""
    entries: Any = (
        body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    )
    for name, value in entries:
        yield (*path, name)
        yield from places(value, (*path, name))


def with_planted(body: object, path: tuple[Any, ...], value: object) -> object:
    planted = copy.deepcopy(body)
    inner: Any = planted
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return planted


VALUES: tuple[Callable[[str], object], ...] = (
    lambda secret: secret,
    lambda secret: [secret],
    lambda secret: {"a": secret},
)
"""What a field holds."""

BODIES: tuple[Callable[[str, dict[str, Any]], dict[str, Any]], ...] = (
    lambda secret, example: {"json": {**example, secret: 1}},
    lambda secret, example: {"json": {**example, "state": {secret: {secret: "\0"}}}},
    lambda secret, _: {"json": secret},
    lambda secret, _: {"content": f'{{"a": "{secret}"'.encode()},
    lambda secret, _: {"content": f'{{"{secret}": NaN}}'.encode()},
    lambda secret, _: {"content": secret.encode() + b"\xff"},
    lambda secret, _: {"data": {secret: secret}},
)
"""What is sent, where the example is right."""


@dataclass
class Plan:
    """Which secrets are sent where: each in every way at every place, or every place in each way with the next ones."""

    everything: bool
    _turn: int = 0

    def pairs(self, secrets: Sequence[str], ways: Sequence[_Way]) -> Iterator[tuple[str, _Way]]:
        """The secrets for the next place, with the ways to send them."""
        if self.everything:
            yield from product(secrets, ways)
            return
        self._turn += 1
        for number, way in enumerate(ways):
            yield secrets[(self._turn + number) % len(secrets)], way

    def places(self, all_places: Iterable[_Place]) -> list[_Place]:
        """The places for the next secret: all, or another third of them."""
        self._turn += 1
        found = list(all_places)
        return found if self.everything else found[self._turn % 3 :: 3]


def plant_in_bodies(attacker: Attacker, document: dict[str, Any], ids: dict[str, str], plan: Plan) -> None:
    """In every field of every documented example: the secret as the value, in a list, as a name, as a number."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if content is None:
                continue
            address = path
            for name, value in ids.items():
                address = address.replace(f"{{{name}}}", value)
            example = content.get("example", {})
            for place in (*places(example), ("unknown",)):
                for secret, as_value in plan.pairs((*NUMBERS.values(), *PERSONAL.values()), VALUES):
                    planted = with_planted(example, place, as_value(secret))
                    attacker.send(method.upper(), address, json=planted)
            whole = (*NUMBERS.values(), PERSONAL["email"], PERSONAL["wage"], UNKNOWN_KEY)
            for secret, body in plan.pairs(whole, BODIES):
                attacker.send(method.upper(), address, **body(secret, example))


def plant_in_a_registration(attacker: Attacker, database: EmbeddedServer, ids: dict[str, str]) -> None:
    """A number that an agency gave, kept by a person, read in full and refused in every way."""
    number = REGISTRATION["registration"]
    where = (ids["employer_id"], "--state", "TX", "--data-dir", str(database.data_dir))
    for account_type, typed in (
        ("sui", number),
        ("ett", number),
        ("sui", f"{number}\0"),
        ("sui", number * 30),
    ):
        kept = hearthpay(
            "households", "register", *where, "--type", account_type, "--stdin", stdin=typed.encode()
        )
        assert kept.returncode == (0 if (account_type, typed) == ("sui", number) else 2), kept.stderr
        assert number.encode() not in kept.stdout + kept.stderr
    address, whose = "/api/v1/state-registrations", {"employer_id": ids["employer_id"]}
    revealed = attacker.send("GET", address, params={**whose, "reveal": "true"}).json()["data"]["items"]
    assert [item["account_number"] for item in revealed] == [number]
    masked = attacker.send("GET", address, params=whose)
    assert (masked.status_code, number in masked.text) == (200, False)
    for query in ({"reveal": number}, {"employer_id": number}, {number: "true"}):
        attacker.send("GET", address, params=query)
    attacker.send("POST", address, json={"state": "TX", "account_number": number})


def plant_in_addresses_and_headers(attacker: Attacker, document: dict[str, Any], plan: Plan) -> None:
    for secret in SECRETS.values():
        part = quote(secret)
        for path, item in plan.places(document["paths"].items()):
            address = re.sub(r"\{\w+\}", part, path)
            for method in item:
                attacker.send(method.upper(), f"{address}?employer_id={part}&limit={part}")
                if secret not in (PERSONAL["name"], METRICS_TOKEN):  # these read like names of fields
                    attacker.send(method.upper(), f"{address}?{part}=1")
        attacker.send("GET", f"/{part}/{part}")
        attacker.send("PUT", f"/api/v1/{part}")
        for headers in (
            {"Authorization": f"Bearer {secret}"},
            {"Authorization": secret},
            {"Authorization": "", "X-API-Key": secret},
            {"Idempotency-Key": secret * 60},
            {"X-Request-Id": secret, "Cookie": f"a={secret}", "User-Agent": secret, "Referer": secret},
        ):
            for path in ("/api/v1/employers", "/metrics", "/nothing"):
                attacker.send("GET", path, headers=headers)
                attacker.send("POST", path, headers=headers, json={})


def plant_in_broken_http(address: str) -> None:
    """What is no HTTP at all is refused by the server itself."""
    host, port = urlsplit(address).hostname, urlsplit(address).port
    for secret in SECRETS.values():
        for raw in (
            f"{secret}\r\n\r\n",
            f"GET /{secret} {secret}\r\n\r\n",
            f"GET / HTTP/1.1\r\n{secret}\r\n\r\n",
        ):
            with socket.create_connection((host, port), timeout=10) as connection:
                connection.sendall(raw.encode())
                answer = connection.recv(65536).decode()
            assert answer.startswith("HTTP/1.1 400")
            assert secret not in answer


FAILURES: dict[str, str] = {
    "a check that quotes the row": (
        "ALTER TABLE {table} ADD CONSTRAINT planted CHECK (first_name <> 'Zebulonquist') NOT VALID"
    ),
    "an exception that quotes the row": "RAISE EXCEPTION 'refused %', NEW USING DETAIL = NEW::text, HINT = NEW::text",
    "a value of the wrong type": "PERFORM NEW.first_name::int",
    "a value that is too long": "PERFORM NEW.email::varchar(3)::date",
    "a lost connection": "PERFORM pg_terminate_backend(pg_backend_pid())",
}


@contextmanager
def failing(owner: psycopg.Connection, table: str, how: str) -> Iterator[None]:
    if how.startswith("ALTER"):
        owner.execute(how.format(table=table).encode())
        undo = f"ALTER TABLE {table} DROP CONSTRAINT planted"
    else:
        owner.execute(
            f"CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {how}; RETURN NEW; END $$;"
            f"CREATE TRIGGER planted BEFORE INSERT OR UPDATE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION planted()".encode()
        )
        undo = f"DROP TRIGGER planted ON {table}; DROP FUNCTION planted()"
    try:
        yield
    finally:
        owner.execute(undo.encode())


def make_the_database_fail(attacker: Attacker, owner: psycopg.Connection, ids: dict[str, str]) -> None:
    person = {"first_name": PERSONAL["name"], "last_name": PERSONAL["name"], "email": PERSONAL["email"]}
    employee = {**ROSA, **person, "employer_id": ids["employer_id"], "pay_rate": float(PERSONAL["wage"])}
    for how in FAILURES.values():
        with failing(owner, "employers", how):
            response = attacker.send("POST", "/api/v1/employers", json={**person, "state": "TX"})
            assert response.status_code in (500, 503), response.text
        with failing(owner, "employees", how):
            response = attacker.send("POST", "/api/v1/employees", json=employee)
            assert response.status_code in (500, 503), response.text
            if how.startswith(("RAISE", "PERFORM pg_terminate")):  # whatever the row holds
                response = attacker.send(
                    "PATCH", f"/api/v1/employees/{ids['employee_id']}", json={"pay_rate": 41.5}
                )
                assert response.status_code in (500, 503), response.text
    owner.execute("ALTER TABLE employees RENAME last_name TO planted_away")
    try:
        assert attacker.send("POST", "/api/v1/employees", json=employee).status_code == 500
    finally:
        owner.execute("ALTER TABLE employees RENAME planted_away TO last_name")


@dataclass
class Planted:
    """Everything that was said while secrets were planted."""

    refusals: list[str]
    statuses: dict[int, int]
    log: str
    audit: str
    metrics: str
    document: dict[str, Any]
    server_logs: str
    key: str
    whole: bool


@pytest.fixture(scope="module", params=["in turn", pytest.param("everything", marks=pytest.mark.long)])
def planted(request: pytest.FixtureRequest) -> Iterator[Planted]:
    """One long attack; each test looks at another part of what was said."""
    plan = Plan(everything=request.param == "everything")
    folder = Path(tempfile.mkdtemp(prefix="hearthpay-planted-"))
    database = install(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARTHPAY_LOG_LEVEL", "debug")
        patch.setenv("HEARTHPAY_METRICS_TOKEN", METRICS_TOKEN)
        patch.delenv("DATABASE_URL", raising=False)
        service = Service(folder)
        database.start()
        try:
            yield attack(service, database, plan)
        finally:
            service.stop()
            database.stop()
            shutil.rmtree(folder, ignore_errors=True)


def attack(service: Service, database: EmbeddedServer, plan: Plan) -> Planted:
    key = create_key(database.data_dir)
    with (
        httpx.Client(base_url=service.address, timeout=30) as client,
        psycopg.connect(plain_url(database.owner_url()), autocommit=True) as owner,
    ):
        owner.execute("""UPDATE organizations SET lifted_limits = '{"requests_per_day": null}'""")
        attacker = Attacker(client, key)
        household = attacker.made("/employers", MARIA)
        employee = attacker.made("/employees", {**ROSA, "employer_id": household["id"]})
        ids = {"employer_id": household["id"], "employee_id": employee["id"]}
        document = client.get("/openapi.json").json()
        plant_in_bodies(attacker, document, ids, plan)
        plant_in_addresses_and_headers(attacker, document, plan)
        plant_in_a_registration(attacker, database, ids)
        plant_in_broken_http(service.address)
        make_the_database_fail(attacker, owner, ids)
        metrics = client.get("/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
        audit = "\n".join(row for (row,) in owner.execute("SELECT a::text FROM audit_log a").fetchall())
        server_logs = "\n".join(
            path.read_text(errors="replace") for path in (database.data_dir / "server").rglob("*.log")
        )
    assert metrics.status_code == 200
    return Planted(
        attacker.refusals,
        attacker.statuses,
        "".join(service.output),
        audit,
        metrics.text,
        document,
        server_logs,
        key,
        plan.everything,
    )


def found(text: str, secrets: dict[str, str]) -> list[str]:
    """Which secrets occur, each with the line around it."""
    hits = []
    for name, secret in secrets.items():
        at = text.find(secret)
        if at >= 0:
            hits.append(f"{name}: …{text[max(0, at - 300) : at + 100]}…")
    return hits


def test_the_attack_met_every_kind_of_answer(planted: Planted) -> None:
    assert {200, 400, 401, 404, 405, 500, 503} <= set(planted.statuses)
    assert planted.statuses[400] > (1000 if planted.whole else 500)
    assert planted.statuses[500] >= 10


def test_no_log_line_holds_a_secret(planted: Planted) -> None:
    assert found(planted.log, {**SECRETS, **REGISTRATION, "the key in use": planted.key}) == []
    lines = [json.loads(line) for line in planted.log.splitlines() if line.startswith("{")]
    assert sum(line["event"] == "request" for line in lines) >= sum(planted.statuses.values())
    failures = [line["exception"] for line in lines if line["event"] == "request failed"]
    assert any("sqlstate=23514, constraint=planted, table=employers" in failure for failure in failures)
    assert any("sqlstate=P0001" in failure for failure in failures)
    assert found(planted.server_logs, {**SECRETS, **REGISTRATION, "the key in use": planted.key}) == []


def test_no_refusal_repeats_a_secret(planted: Planted) -> None:
    said = "\n".join(sorted(planted.refusals, key=len))
    assert found(said, {**SECRETS, **REGISTRATION, "the key in use": planted.key}) == []


def test_no_audit_row_holds_a_number_or_a_key(planted: Planted) -> None:
    assert "employee.create" in planted.audit
    assert (
        found(planted.audit, {**NUMBERS, **REGISTRATION, "unknown key": UNKNOWN_KEY, "key": planted.key})
        == []
    )


def test_no_metric_holds_a_secret(planted: Planted) -> None:
    assert 'route="/api/v1/employees"' in planted.metrics
    assert found(planted.metrics, {**SECRETS, **REGISTRATION, "the key in use": planted.key}) == []
    uuids = re.findall(r"[0-9a-f]{8}-[0-9a-f]{4}-", planted.metrics)
    assert uuids == []


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def test_no_example_of_the_documentation_looks_like_a_number_of_somebody(planted: Planted) -> None:
    for text in texts_of(planted.document):
        plain = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text)
        assert not holds_a_secret(plain), text
        assert re.search(r"\d{8,}", plain) is None, text
