"""Bodies that are not exactly what they should be: refused, naming the field, changing nothing."""

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hearthpay.http.json_body import DEEPEST_NESTING, LARGEST_BODY
from tests.http.api import ROSA, Account, data, fields, refusal

Counts = Callable[[], dict[str, int]]


def _with(**changes: Any) -> bytes:
    return json.dumps({**ROSA, **changes}).encode()


def _without(name: str) -> bytes:
    return json.dumps({key: value for key, value in ROSA.items() if key != name}).encode()


BAD = [
    ("empty", b"", "body"),
    ("blank", b" \n", "body"),
    ("no JSON", b"first_name=Rosa", "body"),
    ("cut short", b'{"first_name": "Rosa"', "body"),
    ("two documents", b"{}{}", "body"),
    ("trailing comma", b'{"first_name": "Rosa",}', "body"),
    ("single quotes", b"{'first_name': 'Rosa'}", "body"),
    ("a list", b"[]", "body"),
    ("a string", b'"Rosa"', "body"),
    ("null", b"null", "body"),
    ("bad UTF-8", b'{"first_name": "\xff\xfe"}', "body"),
    ("UTF-16", '{"first_name": "Rosa"}'.encode("utf-16"), "body"),
    ("byte order mark", b"\xef\xbb\xbf{}", "body"),
    ("lone surrogate", b'{"first_name": "\\ud800"}', "body"),
    ("NaN", b'{"pay_rate": NaN}', "body"),
    ("Infinity", b'{"pay_rate": -Infinity}', "body"),
    ("beyond a double", b'{"pay_rate": 1e999}', "body"),
    ("a million brackets", b"[" * 900_000, "body"),
    ("100 levels", b'{"state_withholding": ' * 100 + b"1" + b"}" * 100, "body"),
    ("100 lists", b'{"first_name": ' + b"[" * 100 + b"]" * 100 + b"}", "body"),
    ("a name twice", b'{"first_name": "Rosa", "first_name": "Eva"}', "first_name"),
    ("a name twice, once escaped", b'{"pay_rate": 20, "p\\u0061y_rate": 30}', "pay_rate"),
    ("a name twice, apart", b'{"pay_rate" :20, "first_name": "a\\":b", "pay_rate"\n\t:30}', "pay_rate"),
    ("a name twice inside", b'{"state_withholding": {"a": [{"b": 1, "b": 1}]}}', "b"),
    ("a name twice beside a huge number", b'{"a": ' + b"9" * 5000 + b', "a": 1}', None),
    ("NUL", _with(first_name="Ro\x00sa"), "first_name"),
    ("NUL inside", _with(state_withholding={"a": "\x00"}), "state_withholding.a"),
    ("NUL in a name", b'{"first_name": {"a\\u0000": 1}}', "first_name"),
    ("missing", _without("first_name"), "first_name"),
    ("null date", _with(end_date=None), "end_date"),
    ("null", _with(first_name=None), "first_name"),
    ("unknown field", _with(salary=1), "salary"),
    ("another case", _with(First_Name="Rosa"), "First_Name"),
    ("negative", _with(pay_rate=-1), "pay_rate"),
    ("zero", _with(pay_rate=0), "pay_rate"),
    ("a fraction of a cent", _with(pay_rate=20.005), "pay_rate"),
    ("1e308", _with(pay_rate=1e308), "pay_rate"),
    ("huge integer", b'{"pay_rate": ' + b"9" * 4000 + b"}", None),
    ("money as text", _with(pay_rate="28.50"), "pay_rate"),
    ("money as boolean", _with(pay_rate=True), "pay_rate"),
    ("money as list", _with(pay_rate=[28.5]), "pay_rate"),
    ("text as number", _with(first_name=5), "first_name"),
    ("empty text", _with(first_name=""), "first_name"),
    ("blank text", _with(last_name="  "), "last_name"),
    ("long text", _with(last_name="x" * 101), "last_name"),
    ("line feed", _with(last_name="Di\naz"), "last_name"),
    ("no such day", _with(start_date="2026-02-30"), "start_date"),
    ("another notation", _with(start_date="01/05/2026"), "start_date"),
    ("a time", _with(start_date="2026-01-05T00:00:00Z"), "start_date"),
    ("a number", _with(start_date=20260105), "start_date"),
    ("unknown state", _with(work_state="XX"), "work_state"),
    ("state by name", _with(residence_state="California"), "residence_state"),
    ("unknown frequency", _with(pay_frequency="daily"), "pay_frequency"),
    ("boolean as text", _with(lives_in="yes"), "lives_in"),
    ("boolean as number", _with(lives_in=1), "lives_in"),
    ("year as text", _with(birth_year="1990"), "birth_year"),
    ("year as fraction", _with(birth_year=1990.5), "birth_year"),
    ("no id", _with(employer_id="1; DROP TABLE employees"), "employer_id"),
    ("unknown entry", _with(federal_withholding={"allowances": 1}), "federal_withholding.allowances"),
    ("nested type", _with(federal_withholding={"elected": "no"}), "federal_withholding.elected"),
    ("nested money", _with(federal_withholding={"deductions": -5}), "federal_withholding.deductions"),
    ("nested list", _with(federal_withholding=[]), "federal_withholding"),
    ("nested entry", _with(state_withholding={"allowances": {"a": 1}}), "state_withholding.allowances"),
]


async def test_a_bad_body_is_refused_and_changes_nothing(
    account: Account, household: dict[str, Any], counts: Counts, subtests: pytest.Subtests
) -> None:
    before = counts()
    for case, body, field in BAD:
        with subtests.test(case):
            response = await account.live.post_raw("/employees", body, **{"Idempotency-Key": "bad"})
            error = refusal(response, 400, "validation_error")
            if field is not None:
                assert field in fields(error)
            assert counts() == before


async def test_a_name_in_a_text_is_no_name(account: Account, household: dict[str, Any]) -> None:
    """What looks like the end of a name stands in texts too; the same name in two objects is no repetition."""
    body = {**ROSA, "first_name": 'a":1,"first_name":', "metadata": {"a": "b", "first_name": '"c":'}}
    assert data(await account.live.post("/employees", body), 201)["first_name"] == body["first_name"]


async def test_every_problem_is_named_at_once(account: Account, household: dict[str, Any]) -> None:
    error = refusal(
        await account.live.post("/employees", {"pay_rate": "x", "start_date": "y", "salary": 1}),
        400,
        "validation_error",
    )
    assert set(fields(error)) == {"first_name", "last_name", "pay_rate", "start_date", "salary"}


async def test_the_sent_value_is_never_repeated(account: Account, household: dict[str, Any]) -> None:
    secret = "078-05-1120"
    for body in ({**ROSA, "ssn": secret}, {**ROSA, "first_name": secret}, {**ROSA, "start_date": secret}):
        response = await account.live.post("/employees", body)
        assert response.status_code == 400
        assert secret not in response.text


async def test_ten_megabytes_are_refused(account: Account, counts: Counts) -> None:
    before = counts()
    body = b'{"first_name": "' + b"x" * 10_000_000 + b'"}'
    error = refusal(await account.live.post_raw("/employees", body), 413, "validation_error")
    assert fields(error) == ["body"]
    assert counts() == before


async def test_a_chunked_body_is_held_to_the_same_limit(account: Account) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(LARGEST_BODY // 1000 + 1):
            yield b" " * 1000

    response = await account.live.client.post(
        "/api/v1/employees", content=chunks(), headers=account.live.headers()
    )
    refusal(response, 413, "validation_error")


async def test_a_body_of_exactly_the_limit_is_read(account: Account, household: dict[str, Any]) -> None:
    body = json.dumps(ROSA).encode()
    data(await account.live.post_raw("/employees", body + b" " * (LARGEST_BODY - len(body))), 201)


async def test_a_form_is_told_what_to_send_instead(account: Account) -> None:
    response = await account.live.post_raw(
        "/employees", b"first_name=Rosa", **{"Content-Type": "application/x-www-form-urlencoded"}
    )
    error = refusal(response, 400, "validation_error")
    assert "application/json" in error["message"]


async def test_json_is_read_whatever_it_is_called(account: Account, household: dict[str, Any]) -> None:
    body = json.dumps(ROSA).encode()
    data(await account.live.post_raw("/employees", body, **{"Content-Type": "text/plain"}), 201)


async def test_a_nesting_within_the_limit_reaches_the_field(
    account: Account, household: dict[str, Any]
) -> None:
    depth = DEEPEST_NESTING - 1
    body = b'{"first_name": ' + b"[" * depth + b"]" * depth + b"}"
    error = refusal(await account.live.post_raw("/employees", body), 400, "validation_error")
    assert "first_name" in fields(error)


async def test_every_other_character_is_kept_as_it_was_sent(
    account: Account, household: dict[str, Any]
) -> None:
    name = "Zoë 👩‍🍳 Ωμέγα' OR 1=1 --"
    created = data(await account.live.post("/employees", {**ROSA, "first_name": name}), 201)
    assert created["first_name"] == name


async def test_a_flood_of_problems_is_answered_briefly(account: Account, household: dict[str, Any]) -> None:
    flood = {f"field_{number}": number for number in range(4_000)} | {"x" * 100_000: 1, "078-05-1120": 1}
    response = await account.live.post("/employees", flood)
    error = refusal(response, 400, "validation_error")
    assert len(error["details"]) == 50
    assert len(response.content) < 10_000
    response = await account.live.post("/employees", {**ROSA, "078-05-1120": 1, "y" * 1000: 2})
    assert "078-05" not in response.text
    assert "y" * 100 not in response.text
    response = await account.live.post("/employees", {**ROSA, "state_withholding": {"Two Words": 2}})
    assert fields(refusal(response, 400, "validation_error")) == ["state_withholding.Two Words"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"employees": [' + b"{}," * 300_000 + b"{}]}",
        b'{"employees": [' + b"1," * 300_000 + b"1]}",
        b'{"state_withholding": {' + b",".join(b'"a%d":1' % number for number in range(50_000)) + b"}}",
        b'{"notes": ' + b"[],[]," * 100_000,
    ],
)
async def test_a_crowded_body_is_refused_before_it_is_looked_at(account: Account, body: bytes) -> None:
    began = time.process_time()
    for path in ("/payroll/run", "/employees", "/employers"):
        error = refusal(await account.live.post_raw(path, body), 400, "validation_error")
        assert fields(error) == ["body"]
        assert "must not hold more than" in error["message"]
    assert time.process_time() - began < 1.0  # one of them took longer than that by itself
