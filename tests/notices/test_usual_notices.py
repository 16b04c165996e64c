"""The worker tells what goes its usual way: each once, to whom it concerns, in his language."""

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import psycopg

from hearthpay.languages.catalogue import day_in
from hearthpay.mail.notices import NotificationSettings
from tests.http.api import data
from tests.notices.readers import Members, Post
from tests.worlds.town import Family, Town

READERS = ["admin@example.com", "home@example.com", "owner@example.com"]


async def ran(family: Family, pay_date: str | None = None) -> str:
    return str(data(await family.caller.post("/payroll/run", family.order(pay_date)))["payroll_id"])


async def test_payday_is_told_to_each_reader_once_in_his_language(
    town: Town, family: Family, members: Members, post: Post
) -> None:
    members.add("owner", "owner", "es")
    members.add("admin", "admin")
    members.add("viewer", "viewer")
    members.add("home", "viewer")  # signs in with the household's own address
    await ran(family, "2026-11-30")
    await town.live_through("2026-11-20", "2026-12-02")
    await post.round()
    await post.round()
    told = post.mails("payday")
    assert [mail.to for mail in told] == READERS
    assert told[0].subject == "November 30, 2026 payroll completed"
    greeted = [mail.text.splitlines()[0] for mail in told]
    assert greeted == ["Hello Admin,", "Hello Home,", "Hola Owner:"], "each by the name of the mailbox"
    assert told[2].subject == "Nómina del 30 de noviembre de 2026 completada"
    assert "$" in told[2].text
    (stub,) = post.mails("pay_stub")
    assert stub.to == "worker@example.com"
    assert "recibo de pago" in stub.text
    assert "$" not in stub.text


async def test_who_does_without_is_not_written_to(
    town: Town, family: Family, members: Members, post: Post
) -> None:
    members.add("home", "owner", muted=("payday",))
    await ran(family, "2026-11-30")
    await town.live_through("2026-11-20", "2026-12-02")
    await post.round()
    assert post.mails("payday") == []
    assert post.states("payday") == [("household", "withheld", "not_wanted")]
    await post.round()
    assert len(post.states("payday")) == 1


async def test_a_debit_is_told_of_a_day_before(
    town: Town, family: Family, members: Members, post: Post
) -> None:
    await ran(family, "2026-12-11")
    await post.round()
    assert post.states("debit_ahead") == []
    town.go_to("2026-12-03", 14)  # it leaves on Friday at three
    await post.round()
    assert post.states("debit_ahead") == []
    town.go_to("2026-12-03", 16)
    await post.round()
    await post.round()
    (mail,) = post.mails("debit_ahead")
    assert mail.to == "Home@example.com"
    assert "Friday, December 4, at 12:00 PM Pacific time" in mail.text


async def test_another_account_of_the_household_is_told(
    town: Town, family: Family, members: Members, post: Post
) -> None:
    await post.round()
    assert len(post.mails("account_changed")) == 1
    town.go_to("2026-11-21", 9)
    await town.connect(family.caller, family.employer_id, account="111122223333")
    await post.round()
    await post.round()
    assert len(post.mails("account_changed")) == 2
    assert any("ending in 3333" in mail.text for mail in post.mails("account_changed"))


async def test_duties_are_told_two_weeks_and_three_days_ahead(
    town: Town, family: Family, members: Members, post: Post, owner_connection: psycopg.Connection
) -> None:
    members.add("owner", "owner", "es")
    seen: dict[date, set[str]] = {}
    for day in range(14, 32):
        town.go_to(f"2026-12-{day:02}", 9)
        before = Counter(post.mails("duties_due"))
        await post.round()
        await post.round()
        if more := {mail.to: mail.text for mail in Counter(post.mails("duties_due")) - before}:
            assert more.keys() == {"Home@example.com", "owner@example.com"}
            assert "Esto vence pronto:" in more["owner@example.com"]
            seen[date(2026, 12, day)] = set(re.findall("By (.*?):", more["Home@example.com"]))
    values = {"employer_id": family.employer_id, "from": "2026-12-01", "to": "2027-01-14"}
    items = data(await family.caller.get("/tax-calendar", **values))["items"]
    due = {date.fromisoformat(item["due_date"]) for item in items}
    expected: dict[date, set[str]] = {}
    for each in due:
        for ahead in (14, 3):
            told = each - timedelta(days=ahead)
            if date(2026, 12, 14) <= told <= date(2026, 12, 31):
                expected.setdefault(told, set()).add(day_in("en", each))
    assert len(expected) > 1
    assert seen == expected
    looked = owner_connection.execute("SELECT duties_seen_on, duties_look_on FROM employers").fetchone()
    assert looked is not None
    assert looked[0] < looked[1] <= looked[0] + timedelta(days=7)


async def test_a_key_and_an_app_in_use_are_told_a_week_and_three_days_before_they_expire(
    town: Town, family: Family, post: Post, owner_connection: psycopg.Connection
) -> None:
    """Both expire in the afternoon of December 10; the app's name can't bring an address into the mail."""
    ends = datetime(2026, 12, 10, 20, 0, tzinfo=UTC)
    since = datetime(2026, 9, 1, tzinfo=UTC)
    person, household, grant = uuid4(), family.employer_id, uuid4()
    owner_connection.execute(
        "INSERT INTO api_keys (id, organization_id, employer_id, mode, scopes, key_hash, last_four, created_at, "
        "expires_at, last_used_at, confined) SELECT new_id(), organization_id, id, 'live', '{payroll}', sha256('k'), "
        "'zz91', %s, %s, '2026-12-01', false FROM employers WHERE id = %s",
        (since, ends, household),
    )
    owner_connection.execute(
        "INSERT INTO people (id, email, name, language, created_at, updated_at) "
        "VALUES (%s, 'ana@example.com', 'Ana', 'en', %s, %s)",
        (person, since, since),
    )
    owner_connection.execute(
        "INSERT INTO agent_grants (id, organization_id, employer_id, sandbox, person_id, client_id, client_name, "
        "returns_to, tools, demands_preview, resource, created_at, expires_at) SELECT %s, organization_id, id, "
        "sandbox, %s, 'c', 'Books https://evil.example', 'localhost', '{list_employees}', true, 'r', %s, %s "
        "FROM employers WHERE id = %s",
        (grant, person, since, ends, household),
    )
    owner_connection.execute(
        "INSERT INTO audit_log (id, at, actor_kind, actor_id, organization_id, employer_id, sandbox, action, details) "
        "SELECT new_id(), '2026-12-01', 'mcp', %s, organization_id, id, sandbox, 'mcp.call', '{}' FROM employers "
        "WHERE id = %s",
        (grant, household),
    )
    told: dict[date, str] = {}
    for day in range(24, 41):
        when = date(2026, 11, 1) + timedelta(days=day - 1)
        town.go_to(str(when), 9)
        before = Counter(post.mails("duties_due"))
        await post.round()
        for mail in Counter(post.mails("duties_due")) - before:
            assert "evil.example" not in mail.text
            if "By Thursday, December 10" in mail.text or "zz91" in mail.text:
                told[when] = mail.text
    assert {day for day, text in told.items() if "Replace the API key ending in zz91" in text} == {
        date(2026, 12, 3),
        date(2026, 12, 7),
    }
    assert {day for day, text in told.items() if re.search("Connect Books .*again", text)} == {
        date(2026, 12, 3),
        date(2026, 12, 7),
    }


async def test_limits_of_paydays_leave_room_for_trouble(
    town: Town, family: Family, members: Members, post: Post
) -> None:
    await ran(family, "2026-11-30")
    await town.live_through("2026-11-20", "2026-12-02")
    await post.round(NotificationSettings())
    assert post.states("payday") == [("household", "withheld", "no_mail_server")]


async def test_nobody_is_reminded_at_night(town: Town, family: Family, post: Post) -> None:
    town.go_to("2026-11-21", 7)
    assert (await post.round()).remaining == 0
    assert post.states("duties_due") == []
