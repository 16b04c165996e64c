"""Who can get into an account after the link of a warning was used: never anybody who couldn't before.

`OUTCOMES` says it for every change and every holder of the link; the page `docs/explanation/stop-links.md` shows the
same table. A search looks for a sequence of links, resets and ordinary changes by which one mailbox gains more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, get_args
from uuid import UUID

import psycopg
import pyotp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearthpay.access.refusal import Refusal
from hearthpay.clock import FixedClock
from hearthpay.people import credentials, sign_in
from hearthpay.people.account_freeze import AccountStopped, stop_account
from hearthpay.people.address_dispute import own_dispute, settle_own
from hearthpay.people.context import PeopleContext
from hearthpay.people.events import Visit
from hearthpay.people.sessions import SignedIn, find_session
from hearthpay.people.stop_links import PersonChange, StopAccount, read_stop
from hearthpay.security.key_ring import KeyRing
from tests.alerts.readers import stop_path
from tests.people.test_accounts import refused
from tests.people.visitors import HERE, MARIA, PASSWORD, Newcomers, link_in, mails, signed_in

ROOT = Path(__file__).parents[2]
NEW_PASSWORD = "walnut-lantern-77"
OTHER = "other@example.com"
HOME = Visit("192.0.2.7", "Firefox", "request")
ELSEWHERE = Visit("203.0.113.9", "Stranger", "request")

Holder = str
CURRENT, OLD, NEW = "current mailbox", "old mailbox", "new mailbox, the stranger's"

OUTCOMES: Final[dict[tuple[PersonChange, Holder], tuple[str, str]]] = {
    ("sign_in", CURRENT): ("person, current mailbox", "person"),
    ("password", CURRENT): ("current mailbox", "nobody"),
    ("factor_added", CURRENT): ("person, current mailbox", "—"),
    ("factor_removed", CURRENT): ("—", "person"),
    ("codes", CURRENT): ("—", "person"),
    ("passkey_added", CURRENT): ("person, current mailbox", "person"),
    ("passkey_removed", CURRENT): ("person, current mailbox", "person"),
    ("address", NEW): ("person, stranger's session, stranger's password", "person, stranger's session"),
    ("record", CURRENT): ("person, current mailbox", "person"),
    ("address", OLD): ("person", "person"),
}
"""By change and holder: who can get in once the link was used, without a second factor and with one of forty days; a
dash where there is no such change.
"""


@dataclass
class Account:
    """Maria's account of fifty days, her browser at home, perhaps her app; and what a stranger holds."""

    people_context: PeopleContext
    connection: psycopg.Connection
    ring: KeyRing
    clock: FixedClock
    person_id: UUID
    email: str
    home: Visit
    app: pyotp.TOTP | None = None
    factor_id: UUID | None = None
    stranger: str | None = None
    strange: Visit = ELSEWHERE

    @classmethod
    async def make(
        cls,
        people_context: PeopleContext,
        connection: psycopg.Connection,
        ring: KeyRing,
        clock: FixedClock,
        *,
        email: str = MARIA,
        factor: bool = False,
    ) -> Account:
        who = await Newcomers(people_context, connection, ring).make(email, f"House of {email}")
        made = cls(people_context, connection, ring, clock, who.person_id, email, HOME)
        clock.advance(timedelta(days=1))
        at_home = await made.at_home()
        clock.advance(timedelta(days=9))
        if factor:
            await made.add_factor(at_home)
        clock.advance(timedelta(days=40))
        return made

    async def at_home(self) -> SignedIn:
        """Maria, signed in at home with what she has."""
        entered = await self.enter(self.home)
        assert entered is not None
        self.home = replace(self.home, device_cookie=entered.device_cookie)
        return await signed_in(self.people_context, entered.token.text)

    async def enter(
        self, visit: Visit, password: str = PASSWORD, *, app: bool = True
    ) -> sign_in.SignInResult | None:
        """Sign in as far as one gets."""
        try:
            entered = await sign_in.sign_in(self.people_context, self.email, password, visit)
            return await self.past_factor(entered, visit, app=app)
        except Refusal:
            return None

    async def past_factor(
        self, entered: sign_in.SignInResult, visit: Visit, *, app: bool
    ) -> sign_in.SignInResult | None:
        if not entered.needs_second_factor:
            return entered
        if self.app is None or not app:
            return None
        self.clock.advance(timedelta(minutes=2))  # no code is taken twice
        code = self.app.at(self.clock.now())
        return await sign_in.sign_in_with_code(self.people_context, entered.token.text, code, visit)

    async def add_factor(self, who: SignedIn) -> None:
        self.app = pyotp.TOTP((await credentials.set_up_second_factor(self.people_context, who)).secret)
        self.clock.advance(timedelta(minutes=2))
        await credentials.confirm_second_factor(
            self.people_context, who, self.app.at(self.clock.now()), self.home
        )
        self.factor_id = self.in_force()["totp"][0]

    def in_force(self) -> dict[str, list[UUID]]:
        found: dict[str, list[UUID]] = {}
        for kind, credential in self.connection.execute(
            "SELECT kind, id FROM credentials WHERE person_id = %s AND ended_at IS NULL ORDER BY id",
            (self.person_id,),
        ).fetchall():
            found.setdefault(kind, []).append(credential)
        return found

    def add_passkey(self, at: datetime) -> UUID:
        row = self.connection.execute(
            "INSERT INTO credentials (id, person_id, kind, name, passkey_id, public_key, sign_count, created_at, "
            "confirmed_at) VALUES (gen_random_uuid(), %s, 'passkey', 'Phone', uuid_send(gen_random_uuid()), "
            "'key', 0, %s, %s) RETURNING id",
            (self.person_id, at, at),
        ).fetchone()
        assert row is not None
        return UUID(str(row[0]))

    def mailed(self, address: str) -> list[dict[str, str]]:
        return [each for each in mails(self.connection, self.ring) if each["to"] == address]

    async def move(self, who: SignedIn, to: str) -> None:
        await credentials.ask_for_new_email(self.people_context, who, to, HERE, self.home)
        token = link_in(self.mailed(to)[-1])
        await credentials.confirm_new_email(self.people_context, who, token, self.home)
        self.email = to

    async def press(self, token: str) -> AccountStopped:
        stop = read_stop(self.ring, self.clock.now(), token)
        assert isinstance(stop, StopAccount)
        return await stop_account(self.people_context, stop, token, ELSEWHERE)

    async def reset(self, mailbox: str, password: str = NEW_PASSWORD) -> sign_in.SignInResult | None:
        """What one gets by a mailbox alone: a link for a new password, and what it leads to."""
        before = len(self.mailed(mailbox))
        self.clock.advance(timedelta(minutes=20))
        await credentials.ask_for_reset(self.people_context, mailbox, HERE, ELSEWHERE)
        for mail in reversed(self.mailed(mailbox)[before - 1 :]):
            if "/reset/" in mail["text"]:
                try:
                    entered = await credentials.reset_password(
                        self.people_context, link_in(mail), password, ELSEWHERE
                    )
                except Refusal:
                    return None
                return await self.past_factor(entered, ELSEWHERE, app=False)
        return None

    async def who_gets_in(self, *mailboxes: tuple[str, str]) -> set[str]:
        """Everybody who gets in now; trying a mailbox ends what was there, so that comes last."""
        found: set[str] = set()
        if await self.enter(self.home) is not None:
            found.add("person")
        if self.stranger is not None and await find_session(self.people_context, self.stranger) is not None:
            found.add("stranger's session")
        for password in (PASSWORD, NEW_PASSWORD):
            if await self.enter(self.strange, password, app=False) is not None:
                found.add("stranger's password")
        for name, mailbox in mailboxes:
            if await self.reset(mailbox) is not None:
                found.add(name)
        return found


async def _strangers_session(account: Account) -> SignedIn:
    """A stranger who knows the password, and who was told one code on the phone."""
    entered = await account.enter(account.strange)
    assert entered is not None
    account.stranger = entered.token.text
    account.strange = replace(account.strange, device_cookie=entered.device_cookie)
    return await signed_in(account.people_context, entered.token.text)


async def _change(account: Account, change: PersonChange) -> str:
    """Have the stranger make the change; return the token of the warning's link."""
    clock, people_context = account.clock, account.people_context
    old_passkey = account.add_passkey(clock.now() - timedelta(days=30))
    stranger = await _strangers_session(account)
    clock.advance(timedelta(minutes=5))
    now = clock.now()
    if change == "password":
        await credentials.change_password(people_context, stranger, NEW_PASSWORD, account.strange)
    elif change == "factor_added":
        await account.add_factor(stranger)
    elif change == "factor_removed":
        await credentials.do_without_second_factor(people_context, stranger, account.strange)
    elif change == "codes":
        await credentials.new_recovery_codes(people_context, stranger, account.strange)
    elif change == "address":
        await account.move(stranger, OTHER)
    elif change == "record" or change.startswith("passkey"):
        subject = old_passkey
        if change == "record":
            subject = stranger.session_id  # what was changed is the household's; only the session matters
        elif change == "passkey_added":
            subject = account.add_passkey(now)
        else:
            account.connection.execute("UPDATE credentials SET ended_at = %s WHERE id = %s", (now, subject))
        stop = StopAccount(account.person_id, change, now, subject, session_id=stranger.session_id)
        link = people_context.stop_link(stop)
        assert link is not None
        return link.partition("/stop/")[2]
    warned = next(each for each in reversed(account.mailed(MARIA)) if "/stop/" in each["text"])
    return stop_path(warned["text"]).removeprefix("/stop/")


@pytest.mark.parametrize(
    ("change", "holder", "factor"),
    [(*row, factor) for row, said in OUTCOMES.items() for factor in (False, True) if said[factor] != "—"],
)
async def test_a_link_lets_in_nobody_who_was_out(
    change: PersonChange,
    holder: Holder,
    factor: bool,
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock, factor=factor)
    token = await _change(account, change)
    if change == "address" and holder == NEW:
        # The stranger's own mailbox has a link too, of what happened after the move.
        stop = StopAccount(account.person_id, "sign_in", clock.now())
        link = people_context.stop_link(stop)
        assert link is not None
        token = link.partition("/stop/")[2]
    clock.advance(timedelta(hours=1))
    stopped = await account.press(token)
    assert stopped.disputed == (change == "address")
    passkeys = account.in_force().get("passkey", [])
    assert len(passkeys) == (0 if change == "passkey_removed" else 1), "a removed passkey stays removed"
    assert ("totp" in account.in_force()) == factor
    assert "recovery_code" not in account.in_force() or change not in ("codes", "factor_added")
    mailboxes = [(OLD, MARIA), (NEW, OTHER)] if change == "address" else [(CURRENT, MARIA)]
    expected = OUTCOMES[change, holder][factor]
    assert await account.who_gets_in(*mailboxes) == set(expected.replace("nobody", "").split(", ")) - {""}


def test_the_page_shows_this_table() -> None:
    assert {change for change, _ in OUTCOMES} == set(get_args(PersonChange))
    page = (ROOT / "docs" / "explanation" / "stop-links.md").read_text(encoding="utf-8")
    for (change, holder), (alone, factor) in OUTCOMES.items():
        assert f"| `{change}` | {holder} | {alone} | {factor} |" in page


async def test_the_person_decides_a_dispute_and_both_mailboxes_are_told(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing, clock: FixedClock
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock)
    token = await _change(account, "address")
    stopped = await account.press(token)
    assert stopped.disputed
    for mailbox in (MARIA, OTHER):
        assert account.mailed(mailbox)[-1]["subject"] == "Which address is yours?"
        assert "/reset/" not in account.mailed(mailbox)[-1]["text"]
    await refused(
        "authentication_required", sign_in.sign_in(people_context, OTHER, PASSWORD, account.strange)
    )
    account.email = MARIA  # she doesn't know the other one
    maria = await account.at_home()
    dispute = await own_dispute(people_context, maria)
    assert dispute is not None
    assert (dispute.current, dispute.former) == (OTHER, MARIA)
    await refused("validation_error", settle_own(people_context, maria, "mine", HOME))
    settled = await settle_own(people_context, maria, "former", HOME)
    assert (settled.address, settled.other) == (MARIA, OTHER)
    for mailbox in (MARIA, OTHER):
        assert account.mailed(mailbox)[-1]["subject"] == "The address of your account"
    await refused("invalid_state", settle_own(people_context, maria, "current", HOME))
    account.email = MARIA
    assert await account.reset(MARIA) is not None, "her mailbox is hers again"
    assert await account.reset(OTHER) is None


async def test_who_left_a_stolen_mailbox_keeps_the_account(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing, clock: FixedClock
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock)
    await account.move(await account.at_home(), OTHER)
    link = stop_path(account.mailed(MARIA)[-1]["text"]).removeprefix("/stop/")
    clock.advance(timedelta(hours=1))
    await account.press(link)
    assert account.mailed(OTHER)[-1]["subject"] == "Which address is yours?"
    assert await account.reset(MARIA) is None
    maria = await account.at_home()
    await settle_own(people_context, maria, "current", HOME)
    assert await account.reset(MARIA) is None
    told = account.mailed(MARIA)[-1]
    await credentials.change_password(people_context, maria, NEW_PASSWORD, HOME)
    assert account.mailed(OTHER)[-1]["subject"] == "Your account was changed"
    assert account.mailed(MARIA)[-1] == told, "it is warned of nothing any more"


async def test_an_address_of_a_minute_brings_nothing_back(
    people_context: PeopleContext, owner_connection: psycopg.Connection, ring: KeyRing, clock: FixedClock
) -> None:
    account = await Account.make(people_context, owner_connection, ring, clock)
    maria = await account.at_home()
    await account.move(maria, OTHER)
    clock.advance(timedelta(minutes=1))
    await account.move(replace(maria, email=OTHER), MARIA)
    told = account.mailed(OTHER)[-1]
    assert told["subject"] == "Your account has a new address"
    assert "/stop/" not in told["text"]
    clock.advance(timedelta(hours=1))
    await sign_in.sign_in(people_context, MARIA, PASSWORD, ELSEWHERE)
    assert account.mailed(OTHER)[-1] == told
    stopped = await account.press(stop_path(account.mailed(MARIA)[-1]["text"]).removeprefix("/stop/"))
    assert not stopped.disputed, "she is where she was before the week's first change"


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("press"), st.integers(0, 5)),
        st.tuples(
            st.sampled_from(["reset", "wait", "sign in elsewhere", "move", "add factor", "remove factor"]),
            st.just(0),
        ),
        st.tuples(st.sampled_from(["new password", "new codes", "settle"]), st.just(0)),
    ),
    min_size=3,
    max_size=9,
)


_AT_RANDOM: Final = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


@settings(max_examples=25, **_AT_RANDOM)
@given(steps=_STEPS, factor=st.booleans())
async def test_no_sequence_gives_a_mailbox_more(
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    steps: list[tuple[str, int]],
    factor: bool,
) -> None:
    await _search(people_context, owner_connection, ring, clock, steps, factor=factor)


@pytest.mark.long
@settings(max_examples=200, **_AT_RANDOM)
@given(steps=_STEPS, factor=st.booleans())
async def test_no_long_sequence_gives_a_mailbox_more(
    people_context: PeopleContext,
    owner_connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    steps: list[tuple[str, int]],
    factor: bool,
) -> None:
    await _search(people_context, owner_connection, ring, clock, steps, factor=factor)


async def _search(
    people_context: PeopleContext,
    connection: psycopg.Connection,
    ring: KeyRing,
    clock: FixedClock,
    steps: list[tuple[str, int]],
    *,
    factor: bool,
) -> None:
    number = connection.execute("SELECT count(*) FROM people").fetchone()
    assert number is not None
    email = f"maria{number[0]}@example.com"
    account = await Account.make(people_context, connection, ring, clock, email=email, factor=factor)
    await _Search(account, email).run(steps)


class _Search:
    """Maria's ordinary changes, and what the reader of one mailbox does in between."""

    def __init__(self, account: Account, mailbox: str) -> None:
        self.account, self.mailbox = account, mailbox
        self.pressed = set[str]()
        self.password = PASSWORD
        self.moves = 0
        self.could = self.can()

    def can(self) -> bool:
        """Whether the mailbox is the account's, undisputed, and no second factor of a week stands before a reset."""
        row = self.account.connection.execute(
            "SELECT p.email = %s AND p.disputed_address IS NULL AND NOT EXISTS (SELECT FROM credentials c "
            "WHERE c.person_id = p.id AND c.kind = 'totp' AND c.ended_at IS NULL AND c.confirmed_at <= %s) "
            "FROM people p WHERE p.id = %s",
            (self.mailbox, self.account.clock.now() - credentials.YOUNG_FOR, self.account.person_id),
        ).fetchone()
        assert row is not None
        return bool(row[0])

    def address(self) -> str:
        row = self.account.connection.execute(
            "SELECT email FROM people WHERE id = %s", (self.account.person_id,)
        ).fetchone()
        assert row is not None
        return str(row[0])

    async def run(self, steps: list[tuple[str, int]]) -> None:
        for step, number in steps:
            self.account.clock.advance(timedelta(hours=5))
            before, address = self.account.in_force(), self.address()
            try:
                if step in ("press", "reset", "wait"):
                    if await self._holders(step, number):
                        assert self.could, "a mailbox alone got in, which it could not before"
                        return
                    added = {
                        kind
                        for kind, ids in self.account.in_force().items()
                        if set(ids) - set(before.get(kind, []))
                    }
                    assert added <= {"totp", *(("password",) if step == "reset" else ())}, (
                        "a link adds nothing"
                    )
                    assert self.address() == address
                    assert self.could or not self.can()
                else:
                    await self._persons(step)
                    self.could = self.can()
            except Refusal:
                continue

    async def _holders(self, step: str, number: int) -> bool:
        """One step of the mailbox's reader; return whether they are in."""
        account = self.account
        if step == "wait":
            account.clock.advance(timedelta(days=3))
        elif step == "reset":
            return await account.reset(self.mailbox) is not None
        else:
            links = [
                stop_path(each["text"]) for each in account.mailed(self.mailbox) if "/stop/" in each["text"]
            ]
            links = [each.removeprefix("/stop/") for each in links if each not in self.pressed]
            if links:
                chosen = links[-1 - number % len(links)]
                self.pressed.add("/stop/" + chosen)
                await account.press(chosen)
        return False

    async def _persons(self, step: str) -> None:
        account = self.account
        entered = await account.enter(account.home, self.password)
        if entered is None:
            return
        account.home = replace(account.home, device_cookie=entered.device_cookie)
        maria = await signed_in(account.people_context, entered.token.text)
        context = account.people_context
        if step == "sign in elsewhere":
            await account.enter(replace(ELSEWHERE, address=f"198.51.100.{self.moves}"), self.password)
        elif step == "move":
            self.moves += 1
            await account.move(maria, f"moved{self.moves}.{self.mailbox}")
        elif step == "add factor":
            await account.add_factor(maria)
        elif step == "remove factor":
            await credentials.do_without_second_factor(context, maria, account.home)
            account.app = None if "totp" not in account.in_force() else account.app
        elif step == "new password":
            self.password = f"{NEW_PASSWORD}-{account.clock.now():%d%H%M%S}"
            await credentials.change_password(context, maria, self.password, account.home)
        elif step == "new codes":
            await credentials.new_recovery_codes(context, maria, account.home)
        else:
            await settle_own(context, maria, "current", account.home)
