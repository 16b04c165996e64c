"""Changing an employee's settings: only what is sent, checked as on creation, and on record."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from tests.http.api import MARIA, ROSA, Account, Caller, NewAccount, NewKey, data, fields, refusal
from tests.worlds.made_in_turn import MadeInTurn, account, household, made_in_turn

__all__ = ["account", "household", "made_in_turn"]

Counts = Callable[[], dict[str, int]]

SETTINGS = (
    "first_name, last_name, email, status, work_state, residence_state, localities, pay_rate_cents, "
    "overtime_rate_cents, pay_frequency, start_date::text, payment_method, relationship, birth_year, lives_in, "
    "federal_withholding, state_withholding"
)


async def patch(caller: Caller, employee_id: object, body: object, **headers: str) -> httpx.Response:
    return await caller.client.patch(
        f"/api/v1/employees/{employee_id}", json=body, headers={**caller.headers(), **headers}
    )


@pytest.fixture
def settings(owner_connection: psycopg.Connection) -> Callable[[], dict[str, Any]]:
    """The stored settings of the only employee, by column."""

    def read() -> dict[str, Any]:
        cursor = owner_connection.execute(f"SELECT {SETTINGS} FROM employees")
        row = cursor.fetchone()
        assert row is not None
        assert cursor.description is not None
        return dict(zip((column.name for column in cursor.description), row, strict=True))

    return read


@pytest.fixture
async def rosa(account: Account, household: dict[str, Any], made_in_turn: MadeInTurn) -> dict[str, Any]:
    """An employee with every setting made."""
    body = {
        **ROSA,
        "email": "rosa@example.com",
        "birth_year": 1987,
        "federal_withholding": {"filing_status": "married", "extra_withholding": 12.5},
        "state_withholding": {"regular_allowances": 2, "additional_withholding": 5.5},
    }

    async def make() -> dict[str, Any]:
        made: dict[str, Any] = data(await account.live.post("/employees", body), 201)
        return made

    return {**await made_in_turn.get("rosa", make)}


@pytest.mark.parametrize(
    ("change", "stored"),
    [
        ({"first_name": " Rosita "}, {"first_name": "Rosita"}),
        ({"last_name": "Diaz-Ruiz"}, {"last_name": "Diaz-Ruiz"}),
        ({"email": "new@example.com"}, {"email": "new@example.com"}),
        ({"email": None}, {"email": None}),
        ({"pay_rate": 30}, {"pay_rate_cents": 3000, "overtime_rate_cents": 4500}),
        ({"overtime_rate": 50}, {"overtime_rate_cents": 5000}),
        ({"pay_rate": 30, "overtime_rate": 30}, {"pay_rate_cents": 3000, "overtime_rate_cents": 3000}),
        ({"pay_frequency": "weekly"}, {"pay_frequency": "weekly"}),
        ({"start_date": "2026-02-02"}, {"start_date": "2026-02-02"}),
        ({"residence_state": "nv"}, {"residence_state": "NV"}),
        ({"payment_method": "cash"}, {"payment_method": "cash"}),
        ({"relationship": "parent"}, {"relationship": "parent"}),
        ({"birth_year": 1990}, {"birth_year": 1990}),
        ({"birth_year": None}, {"birth_year": None}),
        ({"lives_in": True}, {"lives_in": True}),
        (
            {"work_state": "NY", "locality": "nyc", "state_withholding": {"allowances": 1}},
            {"work_state": "NY", "localities": ["NYC"], "state_withholding": {"allowances": 1}},
        ),
        ({"work_state": "TX"}, {"work_state": "TX", "state_withholding": {}}),
        ({"state_withholding": None}, {"state_withholding": {}}),
        (
            {"state_withholding": {"regular_allowances": None, "exempt": False}},
            {"state_withholding": {"additional_withholding": "5.50", "exempt": False}},
        ),
        ({"federal_withholding": None}, {"federal_withholding": {}}),
    ],
)
async def test_only_what_is_sent_changes(
    account: Account,
    rosa: dict[str, Any],
    settings: Callable[[], dict[str, Any]],
    change: dict[str, Any],
    stored: dict[str, Any],
) -> None:
    before = settings()
    updated = data(await patch(account.live, rosa["id"], change))
    assert settings() == before | stored
    shown = data(await account.live.get(f"/employees/{rosa['id']}"))
    moved = "work_state" in change  # the answer tells what the move took out
    assert any("the state certificate" in warning for warning in updated["warnings"]) == moved
    assert len(updated["warning_codes"]) == len(updated["warnings"])
    assert shown == updated | {"warnings": [], "warning_codes": []}


async def test_entries_of_a_certificate_change_one_by_one(
    account: Account, rosa: dict[str, Any], settings: Callable[[], dict[str, Any]]
) -> None:
    before = settings()["federal_withholding"]
    data(await patch(account.live, rosa["id"], {"federal_withholding": {"deductions": 1000}}))
    assert settings()["federal_withholding"] == before | {"deductions": "1000.00"}
    old = {"pre_2020": {"marital_status": "married", "allowances": 1}}
    data(await patch(account.live, rosa["id"], {"federal_withholding": old}))
    data(await patch(account.live, rosa["id"], {"federal_withholding": {"pre_2020": {"allowances": 3}}}))
    assert settings()["federal_withholding"]["pre_2020"] == {"marital_status": "married", "allowances": 3}
    data(await patch(account.live, rosa["id"], {"federal_withholding": {"pre_2020": None}}))
    assert settings()["federal_withholding"] == before | {"deductions": "1000.00"}


async def test_local_taxes_are_chosen_anew_as_a_whole(
    account: Account, household: dict[str, Any], settings: Callable[[], dict[str, Any]]
) -> None:
    body = {**ROSA, "work_state": "NY", "locality": "NYC"}
    rosa = data(await account.live.post("/employees", body), 201)
    for change, localities in (
        ({"pay_rate": 29}, ["NYC"]),
        ({"locality": "Yonkers"}, ["YONKERS"]),
        ({"city": "Albany"}, []),
        ({"city": "New York City"}, ["NYC"]),
        ({"locality": None}, []),
    ):
        data(await patch(account.live, rosa["id"], change))
        assert settings()["localities"] == localities, change


async def test_an_overtime_rate_of_its_own_does_not_follow_the_pay(
    account: Account, rosa: dict[str, Any]
) -> None:
    def rates(response: httpx.Response) -> tuple[float, float]:
        updated = data(response)
        return updated["pay_rate"], updated["overtime_rate"]

    assert rates(await patch(account.live, rosa["id"], {"overtime_rate": 50})) == (28.5, 50)
    assert rates(await patch(account.live, rosa["id"], {"pay_rate": 40})) == (40, 50)
    error = refusal(await patch(account.live, rosa["id"], {"pay_rate": 51}), 400, "validation_error")
    assert fields(error) == ["pay_rate"]
    assert rates(await patch(account.live, rosa["id"], {"pay_rate": 51, "overtime_rate": None})) == (51, 76.5)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"first_name": " "}, "first_name"),
        ({"pay_rate": "30"}, "pay_rate"),
        ({"pay_rate": 0}, "pay_rate"),
        ({"overtime_rate": 20}, "overtime_rate"),
        ({"work_state": "PR"}, "work_state"),
        ({"start_date": "2026-02-30"}, "start_date"),
        ({"birth_year": 2027}, "birth_year"),
        ({"relationship": "friend"}, "relationship"),
        ({"locality": "Springfield"}, "locality"),
        ({"state_withholding": {"nonsense": 1}}, "state_withholding.nonsense"),
        ({"state_withholding": {"regular_allowances": -1}}, "state_withholding.regular_allowances"),
        (
            {"work_state": "TX", "state_withholding": {"filing_status": "single"}},
            "state_withholding.filing_status",
        ),
        (
            {"federal_withholding": {"pre_2020": {"allowances": -1}}},
            "federal_withholding.pre_2020.allowances",
        ),
        ({"ssn": "078-05-1120"}, "ssn"),
        ({"last_name": "078051120"}, "last_name"),
        ({"bank_account": {"routing": "021000021"}}, "bank_account"),
        ({"employer_id": str(uuid4())}, "employer_id"),
        ({"status": "terminated"}, "status"),
        ({"end_date": "2026-11-20"}, "end_date"),
        ({"sandbox": True}, "sandbox"),
    ],
)
async def test_what_could_not_be_created_is_refused_naming_the_field(
    account: Account,
    rosa: dict[str, Any],
    settings: Callable[[], dict[str, Any]],
    counts: Counts,
    change: dict[str, Any],
    field: str,
) -> None:
    before, rows = settings(), counts()
    error = refusal(await patch(account.live, rosa["id"], change), 400, "validation_error")
    assert fields(error) == [field]
    assert error["example"] == {"pay_rate": 30, "state_withholding": {"additional_withholding": 15}}
    assert (settings(), counts()) == (before, rows)


async def test_a_name_in_use_is_refused(account: Account, rosa: dict[str, Any]) -> None:
    ana = data(await account.live.post("/employees", {**ROSA, "first_name": "Ana"}), 201)
    error = refusal(await patch(account.live, ana["id"], {"first_name": "ROSA"}), 400, "duplicate_employee")
    assert error["details"] == {"employee_id": rosa["id"]}
    data(await patch(account.live, ana["id"], {"first_name": "Rosa", "email": "ana@example.com"}))
    refusal(await patch(account.live, ana["id"], {"email": None}), 400, "duplicate_employee")
    refusal(await patch(account.live, rosa["id"], {"email": "ANA@example.com"}), 400, "duplicate_employee")
    data(await patch(account.live, rosa["id"], {"first_name": "rosa"}))


async def test_two_cannot_take_one_name_at_once(account: Account, household: dict[str, Any]) -> None:
    ids = [
        data(await account.live.post("/employees", {**ROSA, "first_name": name}), 201)["id"]
        for name in ("Ana", "Berta", "Carla")
    ]
    answers = await asyncio.gather(
        *(patch(account.live, identity, {"first_name": "Rosa"}) for identity in ids)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400]


async def test_changes_at_once_all_happen(
    account: Account, rosa: dict[str, Any], settings: Callable[[], dict[str, Any]]
) -> None:
    changes = (
        {"pay_rate": 31},
        {"birth_year": 1991},
        {"state_withholding": {"exempt": False}},
        {"state_withholding": {"regular_allowances": 7}},
        {"federal_withholding": {"deductions": 9}},
        {"federal_withholding": {"other_income": 8}},
    )
    for answer in await asyncio.gather(*(patch(account.live, rosa["id"], change) for change in changes)):
        data(answer)
    stored = settings()
    assert (stored["pay_rate_cents"], stored["birth_year"]) == (3100, 1991)
    assert stored["state_withholding"] == {
        "regular_allowances": 7,
        "additional_withholding": "5.50",
        "exempt": False,
    }
    assert stored["federal_withholding"]["deductions"] == "9.00"
    assert stored["federal_withholding"]["other_income"] == "8.00"


async def test_a_change_leaves_what_was_before_and_after(
    account: Account, rosa: dict[str, Any], owner_connection: psycopg.Connection
) -> None:
    change = {"pay_rate": 30, "email": "rosa@example.com", "start_date": "2026-01-12"}
    response = await patch(account.live, rosa["id"], change)
    data(response)
    rows = owner_connection.execute(
        "SELECT actor_id, employer_id, sandbox, subject_id, request_id, details "
        "FROM audit_log WHERE action = 'employee.update'"
    ).fetchall()
    assert rows == [
        (
            account.live.key_id,
            UUID(rosa["employer_id"]),
            False,
            UUID(rosa["id"]),
            response.headers["X-Request-Id"],
            {
                "before": {"pay_rate": "28.50", "overtime_rate": "42.75", "start_date": "2026-01-05"},
                "after": {"pay_rate": "30.00", "overtime_rate": "45.00", "start_date": "2026-01-12"},
            },
        )
    ]


@pytest.mark.parametrize("change", [{}, {"pay_rate": 28.5}, {"work_state": "ca", "lives_in": False}])
async def test_a_change_of_nothing_writes_nothing(
    account: Account, rosa: dict[str, Any], counts: Counts, change: dict[str, Any]
) -> None:
    before = counts()
    assert data(await patch(account.live, rosa["id"], change)) == rosa
    assert counts() == before


async def test_a_key_to_repeat_it_by_is_honoured(
    account: Account, rosa: dict[str, Any], counts: Counts
) -> None:
    key = {"Idempotency-Key": "raise"}
    first = await patch(account.live, rosa["id"], {"pay_rate": 30}, **key)
    data(await patch(account.live, rosa["id"], {"pay_rate": 31}))
    again = await patch(account.live, rosa["id"], {"pay_rate": 30}, **key)
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    refusal(await patch(account.live, rosa["id"], {"pay_rate": 32}, **key), 409, "idempotency_conflict")


async def test_nobody_elses_employee_is_found(
    account: Account,
    rosa: dict[str, Any],
    new_account: NewAccount,
    new_key: NewKey,
    settings: Callable[[], dict[str, Any]],
) -> None:
    other = await new_account("Other family")
    data(await other.live.post("/employers", MARIA), 201)
    before = settings()
    for caller in (other.live, other.test, account.test):
        refusal(await patch(caller, rosa["id"], {"pay_rate": 1}), 404, "not_found")
        refusal(await caller.post(f"/employees/{rosa['id']}/terminate", {}), 404, "not_found")
    for unknown in (uuid4(), "1", "'; --"):
        refusal(await patch(account.live, unknown, {"pay_rate": 1}), 404, "not_found")
    unscoped = await new_key("Lopez family", scopes=("payroll",))
    refusal(await patch(unscoped, rosa["id"], {"pay_rate": 1}), 403, "scope_required")
    assert settings() == before


async def test_a_move_tells_what_it_takes_out_and_a_return_brings_it_back(
    account: Account, household: dict[str, Any], settings: Callable[[], dict[str, Any]]
) -> None:
    certificate = {"filing_status": "single", "allowances": 2}
    body = {**ROSA, "work_state": "NY", "locality": "NYC", "state_withholding": certificate}
    rosa = data(await account.live.post("/employees", body), 201)
    before = settings()
    away = data(await patch(account.live, rosa["id"], {"work_state": "NJ"}))
    assert any("from NY to NJ" in each and "NYC" in each for each in away["warnings"])
    kept = next(each for each in away["warning_codes"] if each["code"] == "settings_kept_after_move")
    assert (kept["params"]["from_state"], kept["params"]["to_state"]) == ("NY", "NJ")
    assert "part_local_taxes" in {part["code"] for part in kept["params"]["parts"]}
    assert (settings()["localities"], settings()["state_withholding"]) == ([], {})
    back = data(await patch(account.live, rosa["id"], {"work_state": "NY"}))
    assert any("NYC" in each and "certificate" in each for each in back["warnings"])
    assert settings() == before


async def test_what_is_sent_with_a_return_beats_what_was_kept(
    account: Account, household: dict[str, Any], settings: Callable[[], dict[str, Any]]
) -> None:
    certificate = {"filing_status": "single", "allowances": 2}
    body = {**ROSA, "work_state": "NY", "locality": "NYC", "state_withholding": certificate}
    rosa = data(await account.live.post("/employees", body), 201)
    data(await patch(account.live, rosa["id"], {"work_state": "TX"}))
    moved = {"work_state": "NY", "locality": None, "state_withholding": {"allowances": 3}}
    back = data(await patch(account.live, rosa["id"], moved))
    assert not any("NYC" in each for each in back["warnings"])
    assert settings()["localities"] == []
    assert settings()["state_withholding"] == {"filing_status": "single", "allowances": 3}
    data(await patch(account.live, rosa["id"], {"work_state": "TX"}))
    data(await patch(account.live, rosa["id"], {"work_state": "NY", "state_withholding": None}))
    assert settings()["state_withholding"] == {}


@settings_of_hypothesis(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(moves=st.lists(st.sampled_from(["NY", "TX", "OH", "CA"]), max_size=8))
async def test_whatever_the_moves_a_state_is_found_as_it_was_left(
    moves: list[str],
    account: Account,
    household: dict[str, Any],
    owner_connection: psycopg.Connection,
) -> None:
    """Each state keeps its own local taxes and certificate, and none is lost in silence."""
    chosen = {"NY": "NYC", "OH": "COLUMBUS"}
    left: dict[str, list[str]] = {}
    name = {"first_name": uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))}
    body = ROSA | name | {"work_state": "TX"}
    employee = data(await account.live.post("/employees", body), 201)
    now = "TX"
    for to in moves:
        first = to not in left and to in chosen
        change = {"work_state": to} | ({"locality": chosen[to]} if first else {})
        answer = data(await patch(account.live, employee["id"], change))
        row = owner_connection.execute(
            "SELECT localities FROM employees WHERE id = %s", (employee["id"],)
        ).fetchone()
        assert row is not None
        expected = [chosen[to]] if to in chosen else []
        assert row[0] == expected
        if to != now and left.get(now):
            assert any(left[now][0] in warning for warning in answer["warnings"])
        left[to], now = expected, to


async def test_what_a_place_leaves_open_is_told(account: Account, household: dict[str, Any]) -> None:
    body = {**ROSA, "work_state": "IN"}
    indiana = data(await account.live.post("/employees", body), 201)
    assert any("county" in warning.lower() for warning in indiana["warnings"])
    assert data(await patch(account.live, indiana["id"], {"pay_rate": 30}))["warnings"] == []
    moved = data(await patch(account.live, indiana["id"], {"work_state": "PA"}))
    assert moved["warnings"]
