"""The contract, `metadata` {string: string ≤ 500, ≤ 20 keys ≤ 40} on employers, employees and payrolls.

`GET` lists filter by `metadata[key]=value`.
"""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest

from tests.cases import every_case
from tests.http.api import MARIA, ROSA, Account, NewAccount, NewKey, data, fields, refusal
from tests.worlds.households import add_employee, add_household, payroll_of
from tests.worlds.town import Family, Town, rows

KEPT = {"crm_id": "cus_8f2k", "note": " two\nlines, ñ and 日本 "}
TWENTY = {f"key {number}": "x" for number in range(20)}

# Shapes of Social Security and bank account numbers, with odd separators, digits and invisible characters.
SECRETS = (
    "123-45-6789",
    "123 45 6789",
    "123.45.6789",
    "123_45_6789",
    "123\u201045\u20106789",
    "123\u00a045\u00a06789",
    "１２３-４５-６７８９",
    "١٢٣-٤٥-٦٧٨٩",
    "1\u200b23-45-6789",
    "123456789",
    "ssn 123456789.",
    "12-3456789",
    "000123456789",
    "1234-5678-9012",
    "1 2 3 4 5 6 7 8 9",
)
FINE = (
    "0",
    "true",
    "2026-11-20",
    "415-555-0134",
    "019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e",
    "INV-2026-0042",
    "x" * 500,
    "日" * 500,
    "{}",
    "null",
    "'; DROP TABLE payrolls; --",
)


async def made(account: Account) -> dict[str, str]:
    """A household, its employee and a payroll, each with its own metadata."""
    employer = data(await account.live.post("/employers", MARIA | {"metadata": {"of": "employer"}}), 201)
    rosa = ROSA | {"employer_id": employer["id"], "metadata": {"of": "employee"}}
    employee = data(await account.live.post("/employees", rosa), 201)
    body = payroll_of(employer["id"], employee["id"], metadata={"of": "payroll"})
    payroll = data(await account.live.post("/payroll/run", body))
    assert [each["metadata"]["of"] for each in (employer, employee, payroll)] == [
        "employer",
        "employee",
        "payroll",
    ]
    return {
        "employer_id": employer["id"],
        "employee_id": employee["id"],
        "payroll_id": payroll["payroll_id"],
    }


def found(response: httpx.Response, name: str = "id") -> list[str]:
    return [item[name] for item in data(response)]


async def test_it_is_returned_in_every_answer_about_the_object(account: Account) -> None:
    """Accepted in POST, returned in every answer about the object."""
    ids = await made(account)
    live = account.live
    of = {"employer_id": ids["employer_id"]}
    employer, employee = f"/employers/{ids['employer_id']}", f"/employees/{ids['employee_id']}"
    payroll = f"/payroll/{ids['payroll_id']}"
    answers = {
        "employer": [
            data(await live.get(employer)),
            data(await live.get("/employers"))[0],
            data(await live.get("/households"))[0],
            data(await live.patch(employer, {"phone": "415-555-0134"})),
        ],
        "employee": [
            data(await live.get(employee)),
            data(await live.get("/employees", **of))[0],
            data(await live.get("/households"))[0]["employees"][0],
            data(await live.patch(employee, {"lives_in": True})),
            data(await live.post(f"{employee}/terminate", {})),
            data(await live.post(f"{employee}/reinstate", {})),
        ],
        "payroll": [
            data(await live.get(payroll)),
            data(await live.get("/payrolls", **of))[0],
            data(await live.post(f"{payroll}/void", {})),
            data(await live.get(payroll)),
        ],
    }
    with every_case() as case:
        for kind, answered in answers.items():
            for number, answer in enumerate(answered):
                with case(kind, number):
                    assert answer["metadata"] == {"of": kind}


async def test_without_it_an_object_has_none(account: Account, household: dict[str, Any]) -> None:
    """An empty object where there is none."""
    assert household["metadata"] == {}
    employee_id = await add_employee(account.live, household["id"], metadata=None)
    assert data(await account.live.get(f"/employees/{employee_id}"))["metadata"] == {}
    body = payroll_of(household["id"], employee_id, metadata={"gone": None, "empty": ""})
    assert data(await account.live.post("/payroll/preview", body))["metadata"] == {}
    assert data(await account.live.post("/payroll/run", body))["metadata"] == {}


async def test_a_change_merges_keys(account: Account) -> None:
    """Given keys are merged; null or an empty text removes one; null removes all, an empty object changes nothing."""
    ids = await made(account)
    paths = (f"/employers/{ids['employer_id']}", f"/employees/{ids['employee_id']}")
    changes: tuple[tuple[object, dict[str, str]], ...] = (
        ({"a": "1", "b": "2"}, {"a": "1", "b": "2"}),
        ({"b": "3", "c": "4"}, {"a": "1", "b": "3", "c": "4"}),
        ({}, {"a": "1", "b": "3", "c": "4"}),
        ({"a": None, "c": "", "never there": None}, {"b": "3"}),
        (KEPT, KEPT | {"b": "3"}),
        (None, {}),
        (TWENTY, TWENTY),
        ({"key 0": None, "another": "y"}, {"another": "y"} | {f"key {n}": "x" for n in range(1, 20)}),
        (None, {}),
    )
    for path in paths:
        data(await account.live.patch(path, {"metadata": None}))
        for change, after in changes:
            answered = data(await account.live.patch(path, {"metadata": change}))
            assert answered["metadata"] == after
            assert data(await account.live.get(path))["metadata"] == after


async def test_what_is_refused(account: Account, counts: Any) -> None:
    """≤ 20 keys of ≤ 40 characters, strings of ≤ 500; refused where it reads like an SSN or account number."""
    ids = await made(account)
    live = account.live
    bodies: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("POST", "/employers", MARIA | {"email": "other@example.com"}),
        ("PATCH", f"/employers/{ids['employer_id']}", {}),
        ("POST", "/employees", ROSA | {"employer_id": ids["employer_id"], "first_name": "Ana"}),
        ("PATCH", f"/employees/{ids['employee_id']}", {}),
        (
            "POST",
            "/payroll/preview",
            payroll_of(
                ids["employer_id"],
                ids["employee_id"],
                pay_period_start="2026-11-02",
                pay_period_end="2026-11-08",
            ),
        ),
        (
            "POST",
            "/payroll/run",
            payroll_of(
                ids["employer_id"],
                ids["employee_id"],
                pay_period_start="2026-11-02",
                pay_period_end="2026-11-08",
            ),
        ),
    )
    wrong: list[tuple[str, object]] = [
        ("21 keys", TWENTY | {"one more": "x"}),
        ("an empty key", {"": "x"}),
        ("a long key", {"k" * 41: "x"}),
        ("a key with spaces around it", {" a": "x", "a": "y"}),
        ("brackets in a key", {"a[b]": "x"}),
        ("a control character in a key", {"a\x07": "x"}),
        ("NUL in a key", {"a\x00": "x"}),
        ("a long value", {"a": "x" * 501}),
        ("a control character", {"a": "x\x1b[31m"}),
        ("NUL", {"a": "x\x00y"}),
        ("a reversed text", {"a": "x\u202ey"}),
        ("a number", {"a": 1}),
        ("a boolean", {"a": True}),
        ("an object", {"a": {"b": "c"}}),
        ("a list", {"a": ["b"]}),
        ("no object", "a=b"),
        ("a list of pairs", [["a", "b"]]),
        ("a bank account by its name", {"account_number": "48213"}),
        ("a tax number by its name", {"SSN": "last four 6789"}),
        *((f"a value {secret!r}", {"a": f"see {secret}"}) for secret in SECRETS),
        *((f"a key {secret!r}", {secret: "x"}) for secret in SECRETS),
    ]
    before = counts()
    with every_case() as case:
        for method, path, body in bodies:
            for name, metadata in wrong:
                if method == "PATCH" and path.startswith("/employers") and name.startswith("a key '"):
                    continue  # as of employees
                with case(method, path, name):
                    sent = body | {"metadata": metadata}
                    response = await (live.post if method == "POST" else live.patch)(path, sent)
                    error = refusal(response, 400, "validation_error")
                    assert all(field.startswith("metadata") for field in fields(error)), fields(error)
                    if "'" in name or "by its name" in name:
                        assert "portal" in response.text
                        assert "6789" not in response.text
                        assert "48213" not in response.text
    assert counts() == before


async def test_what_is_accepted(account: Account, household: dict[str, Any]) -> None:
    """Any other text, as it was sent."""
    path = f"/employers/{household['id']}"
    sent = {f"value {number}": value for number, value in enumerate(FINE)}
    sent |= {"k" * 40: "longest", "日" * 40: "longest too", "__proto__": "x", "class": "y", "bank": "Chase"}
    for part in (dict(list(sent.items())[:16]),):
        assert data(await account.live.patch(path, {"metadata": part}))["metadata"] == part
        for key, value in part.items():
            if len(value) < 500:
                assert found(await account.live.get("/employers", **{f"metadata[{key}]": value})) == [
                    household["id"]
                ]


async def test_a_key_twice_in_a_body_is_refused(account: Account, household: dict[str, Any]) -> None:
    """JSON with a doubled name: nobody knows which one is meant."""
    body = b'{"first_name": "Ida", "last_name": "Ray", "email": "i@example.com", "state": "CA", "metadata": '
    response = await account.live.post_raw("/employers", body + b'{"a": "1", "a": "2"}}')
    refusal(response, 400, "validation_error")
    raised = await account.live.post_raw("/employers", body + b'{"a": "\\ud800"}}')
    refusal(raised, 400, "validation_error")


async def test_too_many_keys_after_a_merge_are_refused(account: Account, household: dict[str, Any]) -> None:
    """At most 20 keys, those that are there included; nothing is changed."""
    path = f"/employers/{household['id']}"
    data(await account.live.patch(path, {"metadata": TWENTY}))
    changes = {"phone": "415-555-0134", "metadata": {"one more": "x"}}
    error = refusal(await account.live.patch(path, changes), 400, "validation_error")
    assert fields(error) == ["metadata"]
    read = data(await account.live.get(path))
    assert read["metadata"] == TWENTY
    assert read["phone"] is None


async def test_two_changes_of_different_keys_both_stay(account: Account) -> None:
    """Of simultaneous changes each sees the other's result."""
    ids = await made(account)
    for path in (f"/employers/{ids['employer_id']}", f"/employees/{ids['employee_id']}"):
        data(await account.live.patch(path, {"metadata": None}))
        changes = [{"metadata": {f"key {number}": str(number)}} for number in range(8)]
        for response in await asyncio.gather(*(account.live.patch(path, change) for change in changes)):
            data(response)
        read = data(await account.live.get(path))
        assert read["metadata"] == {f"key {number}": str(number) for number in range(8)}


async def test_lists_are_filtered_by_it(account: Account) -> None:
    """`metadata[key]=value` on the four lists; several filters are and-ed."""
    live = account.live
    one, two = [
        await add_household(live, last_name=name, metadata={"team": "west", "n": name})
        for name in ("Abel", "Bell")
    ]
    other = await add_household(live, last_name="Cole", metadata={"team": "East", "west": "team"})
    ana, ida = [
        await add_employee(live, one, first_name=name, metadata={"team": "west", "n": name})
        for name in ("Ana", "Ida")
    ]
    await add_employee(live, two, metadata={"team": "west", "n": "Ana"})
    weeks = []
    for number, employee in enumerate((ana, ida)):
        body = payroll_of(one, employee, metadata={"batch": "7", "n": str(number)})
        weeks.append(data(await live.post("/payroll/run", body))["payroll_id"])

    async def asked(path: str, name: str = "id", **query: str) -> list[str]:
        return found(await live.get(path, **query), name)

    for path, name in (("/employers", "id"), ("/households", "employer_id")):
        assert await asked(path, name, **{"metadata[team]": "west"}) == [two, one]
        assert await asked(path, name, **{"metadata[team]": "west", "metadata[n]": "Abel"}) == [one]
        assert await asked(path, name, **{"metadata[team]": "west", "metadata[n]": "Cole"}) == []
        assert await asked(path, name, **{"metadata[team]": "west", "search": "bell"}) == [two]
        assert await asked(path, name, **{"metadata[team]": "west", "sort": "name"}) == [one, two]
        assert await asked(path, name, **{"metadata[team]": "West"}) == []
        by_payday = await asked(path, name, **{"metadata[team]": "west", "sort": "payday"})
        assert by_payday == [one, two]
        assert await asked(path, name, **{"metadata[west]": "team", "sort": "name"}) == [other]
        searched = {"metadata[team]": "west", "sort": "name", "search": "ana"}
        assert await asked(path, name, **searched) == [one]
    of = {"employer_id": one}
    assert await asked("/employees", **of, **{"metadata[team]": "west"}) == [ida, ana]
    assert await asked("/employees", **of, **{"metadata[team]": "west", "metadata[n]": "Ana"}) == [ana]
    for query in ({}, of, {"from": "2026-11-01"}, of | {"from": "2026-11-01", "status": "completed"}):
        filtered = query | {"metadata[batch]": "7"}
        assert await asked("/payrolls", "payroll_id", **filtered) == weeks[::-1]
        assert await asked("/payrolls", "payroll_id", **filtered, **{"metadata[n]": "0"}) == weeks[:1]
    assert await asked("/payrolls", "payroll_id", **{"metadata[batch]": "7", "to": "2026-11-01"}) == []
    assert await asked("/payrolls", "payroll_id", employee_id=ida, **{"metadata[batch]": "7"}) == weeks[1:]


async def test_a_filter_follows_changes(account: Account) -> None:
    """A removed key finds nothing any more."""
    household = await add_household(account.live, metadata={"a": "1"})
    path = f"/employers/{household}"

    async def by(key: str, value: str) -> list[str]:
        return found(await account.live.get("/employers", **{f"metadata[{key}]": value}))

    assert await by("a", "1") == [household]
    data(await account.live.patch(path, {"metadata": {"a": "2", "b": "3"}}))
    assert (await by("a", "1"), await by("a", "2"), await by("b", "3")) == ([], [household], [household])
    data(await account.live.patch(path, {"metadata": {"a": ""}}))
    assert (await by("a", "2"), await by("b", "3")) == ([], [household])


async def test_pages_of_a_filtered_list(account: Account) -> None:
    """Cursors go on within the filter; one of another list is refused as with `search` and `sort`."""
    live = account.live
    ids = [await add_household(live, last_name=f"L{n}", metadata={"even": str(n % 2)}) for n in range(6)]
    query = {"metadata[even]": "0", "limit": 2}
    for sort, expected in (({}, [ids[4], ids[2], ids[0]]), ({"sort": "name"}, [ids[0], ids[2], ids[4]])):
        first = await live.get("/employers", **query, **sort)
        cursor = first.json()["meta"]["next_cursor"]
        rest = await live.get("/employers", **query, **sort, cursor=cursor)
        assert found(first) + found(rest) == expected
        assert rest.json()["meta"]["next_cursor"] is None
        other = {} if sort else {"sort": "payday"}
        refused = await live.get("/employers", **query, **other, cursor=cursor)
        assert fields(refusal(refused, 400, "validation_error")) == ["cursor"]


async def test_a_malformed_filter_is_refused(account: Account) -> None:
    """An unknown or malformed filter is a clear 400."""
    live = account.live
    household = await add_household(live)
    wrong = (
        "metadata=a",
        "metadata[a=b",
        "metadata]=b",
        "metadata[]=b",
        "metadata[a]=",
        "metadata[a][b]=c",
        "metadata[[a]]=c",
        "metadata.a=b",
        "metadata[a]=b&metadata[a]=c",
        "metadata[a]=b&metadata%5Ba%5D=b",
        f"metadata[{'k' * 41}]=b",
        f"metadata[a]={'x' * 501}",
        "metadata[a]=%00",
        "metadata[%00]=b",
        "metadata[a]=123-45-6789",
        "metadata[123-45-6789]=a",
        "metadata[ssn]=6789",
        "&".join(f"metadata[k{number}]=x" for number in range(6)),
        "metadatum[a]=b",
    )
    with every_case() as case:
        for path in ("/employers", "/households", f"/employees?employer_id={household}", "/payrolls"):
            for query in wrong:
                with case(path, query):
                    address = f"/api/v1{path}{'&' if '?' in path else '?'}{query}"
                    response = await live.client.get(address, headers=live.headers())
                    error = refusal(response, 400, "validation_error")
                    assert all(field.startswith("metadata") or field == "…" for field in fields(error)), (
                        fields(error)
                    )
                    assert "123-45-6789" not in str(error["details"])
        for path in ("/documents", "/tax-calendar", "/to-dos"):
            with case(path):
                query = {"employer_id": household, "metadata[a]": "b"}
                refusal(await live.get(path, **query), 400, "validation_error")


async def test_a_filter_finds_nothing_of_others(
    account: Account, new_account: NewAccount, new_key: NewKey
) -> None:
    """Other organizations, the other mode and other households stay unseen, whatever is filtered."""
    theirs = await new_account("Smith family")
    mark = {"metadata": {"mark": "same"}}
    own = await add_household(account.live, **mark)
    beside = await add_household(account.live, last_name="Ray", **mark)
    test = await add_household(account.test, **mark)
    await add_household(theirs.live, **mark)
    query = {"metadata[mark]": "same"}
    assert found(await account.live.get("/employers", **query)) == [beside, own]
    assert found(await account.test.get("/employers", **query)) == [test]
    confined = await new_key("Lopez family", employer_id=UUID(own), scopes=("employees",))
    assert found(await confined.get("/households", **query), "employer_id") == [own]
    assert found(await confined.get("/households", **{"metadata[mark]": "other"}), "employer_id") == []
    refusal(await account.live.get("/employees", employer_id=test, **query), 403, "key_mode_mismatch")


async def test_a_preview_echoes_it_and_its_token_does_not_bind_it(family: Family) -> None:
    """The preview's token holds a run to what moves money; metadata may be another."""
    body = family.order(metadata={"batch": "7"})
    preview = data(await family.caller.post("/payroll/preview", body))
    assert preview["metadata"] == {"batch": "7"}
    bound = body | {"preview_token": preview["preview_token"], "metadata": {"batch": "8"}}
    ran = data(await family.caller.post("/payroll/run", bound, idempotency_key="once"))
    assert ran["metadata"] == {"batch": "8"}
    again = data(await family.caller.post("/payroll/run", bound, idempotency_key="once"))
    assert again == ran
    other = bound | {"metadata": {"batch": "9"}}
    response = await family.caller.post("/payroll/run", other, idempotency_key="once")
    refusal(response, 409, "idempotency_conflict")


async def test_a_scheduled_payroll_keeps_it(family: Family, town: Town) -> None:
    """Kept and returned while it is scheduled, once it was sent, and when it is voided."""
    ran = data(await family.caller.post("/payroll/run", family.order("2026-12-11", metadata={"batch": "7"})))
    assert (ran["status"], ran["metadata"]) == ("scheduled", {"batch": "7"})
    path = f"/payroll/{ran['payroll_id']}"
    assert data(await family.caller.get(path))["metadata"] == {"batch": "7"}
    town.clock.advance(timedelta(days=17))
    await town.work()
    fired = data(await family.caller.get(path))
    assert fired["status"] != "scheduled"
    assert fired["metadata"] == {"batch": "7"}
    assert found(await family.caller.get("/payrolls", **{"metadata[batch]": "7"}), "payroll_id") == [
        ran["payroll_id"]
    ]


async def test_changes_are_audited_by_their_keys(
    account: Account, owner_connection: psycopg.Connection
) -> None:
    """The audit log has which keys were set and removed, and no values."""
    ids = await made(account)
    for path in (f"/employers/{ids['employer_id']}", f"/employees/{ids['employee_id']}"):
        data(await account.live.patch(path, {"metadata": {"of": None, "b": "a secret of ours"}}))
        data(await account.live.patch(path, {"metadata": {"b": "a secret of ours"}}))
    logged = rows(
        owner_connection,
        "SELECT action, details FROM audit_log WHERE action LIKE '%%.update' AND details ? 'metadata' ORDER BY at",
    )
    details = {"before": {}, "after": {}, "metadata": {"set": ["b"], "removed": ["of"]}}
    assert logged == [("employer.update", details), ("employee.update", details)]
    assert rows(owner_connection, "SELECT FROM audit_log WHERE details::text LIKE '%%of ours%%'") == []


@pytest.mark.parametrize("reset", [True, False])
async def test_emptying_a_test_household_takes_it_along(
    account: Account, owner_connection: psycopg.Connection, reset: bool
) -> None:
    """Of a reset household only its own stays."""
    household = await add_household(account.test, metadata={"a": "1"})
    employee = await add_employee(account.test, household, metadata={"a": "1"})
    data(await account.test.post("/payroll/run", payroll_of(household, employee, metadata={"a": "1"})))
    response = await account.test.client.delete(
        f"/api/v1/employers/{household}",
        params={"reset": str(reset).lower()},
        headers=account.test.headers(),
    )
    data(response)
    left = rows(owner_connection, "SELECT object_type FROM metadata_entries")
    assert left == ([("employer",)] if reset else [])
