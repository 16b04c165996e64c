"""Files to and from the bank: a real folder, a real SFTP server, and both cut off at every moment."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import asyncssh
import pytest
import pytest_asyncio

from hearthpay.banking.gateways.address import PASSPHRASE_VARIABLE, PASSWORD_VARIABLE, open_gateway
from hearthpay.banking.gateways.folder import folder_gateway
from hearthpay.banking.gateways.gateway import (
    LARGEST_FILE,
    BankGateway,
    GatewayConflictError,
    GatewayError,
    GatewayUnavailableError,
    IncomingFile,
)
from tests.cases import every_case
from tests.worlds.commands import start

from .bank_server import PASSWORD, USER, Bank, running_bank
from .deliverer import content_of

PAYMENTS = b"101 payments\n" * 20
REPOSITORY = Path(__file__).parents[2]


class Side(NamedTuple):
    """A gateway, and the directory in which the bank sees its files."""

    gateway: BankGateway
    root: Path

    def sent(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.root / "outbox").iterdir()}

    def leave(self, name: str, content: bytes) -> None:
        inbox = self.root / "inbox"
        inbox.mkdir(exist_ok=True)
        (inbox / name).write_bytes(content)


async def picked(side: Side) -> list[IncomingFile]:
    """The files that wait, where nothing else lies there."""
    found = await side.gateway.pick_up()
    assert (found.others, found.unfinished) == ((), ())
    return list(found.files)


@pytest_asyncio.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Bank]:
    async with running_bank(tmp_path) as running:
        yield running


def address(bank: Bank, *, user: str = USER, options: str = "") -> str:
    return f"sftp://{user}@127.0.0.1:{bank.port}/?known_hosts={bank.known_hosts}&key={bank.key}{options}"


@pytest.fixture(params=["folder", "sftp"])
def side(request: pytest.FixtureRequest, tmp_path: Path, bank: Bank) -> Side:
    if request.param == "sftp":
        return Side(open_gateway(address(bank), {}), bank.root)
    return Side(open_gateway(f"folder://{tmp_path}/folder"), tmp_path / "folder")


async def test_a_delivered_file_lies_whole_in_the_outbox(side: Side) -> None:
    content = os.urandom(200_000)
    await side.gateway.deliver("20261120-A.ach", content)
    assert side.sent() == {"20261120-A.ach": content}
    assert [path.name for path in (side.root / "sent").iterdir()] == ["20261120-A.ach.receipt"]


async def test_delivering_again_does_nothing_even_when_the_bank_has_the_file(side: Side) -> None:
    await side.gateway.deliver("a.ach", PAYMENTS)
    await side.gateway.deliver("a.ach", PAYMENTS)
    assert side.sent() == {"a.ach": PAYMENTS}
    (side.root / "outbox" / "a.ach").unlink()
    await side.gateway.deliver("a.ach", PAYMENTS)
    assert side.sent() == {}


async def test_a_name_is_not_used_for_another_content(side: Side) -> None:
    await side.gateway.deliver("a.ach", PAYMENTS)
    with pytest.raises(GatewayConflictError, match=r"a\.ach was delivered before"):
        await side.gateway.deliver("a.ach", PAYMENTS + b"\n")
    assert side.sent() == {"a.ach": PAYMENTS}


async def test_a_file_of_somebody_else_is_not_replaced(side: Side) -> None:
    (side.root / "outbox").mkdir(parents=True)
    (side.root / "outbox" / "a.ach").write_bytes(b"theirs")
    with pytest.raises(GatewayConflictError, match="was not delivered by this service"):
        await side.gateway.deliver("a.ach", PAYMENTS)
    assert side.sent() == {"a.ach": b"theirs"}


async def test_a_damaged_receipt_stops_the_delivery(side: Side) -> None:
    (side.root / "sent").mkdir(parents=True)
    (side.root / "sent" / "a.ach.receipt").write_bytes(b"?")
    with pytest.raises(GatewayError, match="damaged"):
        await side.gateway.deliver("a.ach", PAYMENTS)
    assert side.sent() == {}


async def test_many_deliverers_of_one_file_deliver_it_once(side: Side) -> None:
    await asyncio.gather(*(side.gateway.deliver("a.ach", PAYMENTS) for _ in range(8)))
    assert side.sent() == {"a.ach": PAYMENTS}
    assert [path.name for path in (side.root / "sent").iterdir()] == ["a.ach.receipt"]


async def test_of_two_contents_for_one_name_one_is_delivered(side: Side) -> None:
    results = await asyncio.gather(
        *(side.gateway.deliver("a.ach", content) for content in (b"one", b"two")), return_exceptions=True
    )
    assert sorted(type(result) for result in results if result) == [GatewayConflictError]
    assert len(side.sent()) == 1


@pytest.mark.parametrize("name", ["", ".hidden", "../a", "a/b", "a b", "a.part", "ä.ach", "a" * 129, "a\n"])
async def test_only_plain_names_are_delivered(side: Side, name: str) -> None:
    with pytest.raises(ValueError, match="is no name for a bank file"):
        await side.gateway.deliver(name, PAYMENTS)


async def test_incoming_files_wait_until_they_are_acknowledged(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    side.leave("b returns.ach", b"b")
    side.leave("a.ach", b"a")
    assert await picked(side) == [IncomingFile("a.ach", b"a"), IncomingFile("b returns.ach", b"b")]
    await side.gateway.acknowledge("a.ach", b"a")
    await side.gateway.acknowledge("a.ach", b"a")
    await side.gateway.acknowledge("a.ach")
    assert await picked(side) == [IncomingFile("b returns.ach", b"b")]
    assert (side.root / "done" / "a.ach").read_bytes() == b"a"


async def test_an_empty_inbox_is_no_error(side: Side) -> None:
    assert await picked(side) == []


async def test_a_file_larger_than_any_of_a_bank_is_not_read(tmp_path: Path) -> None:
    side = Side(open_gateway(f"folder://{tmp_path}/folder"), tmp_path / "folder")
    side.root.mkdir()
    side.leave("large.ach", b"")
    side.leave("small.ach", b"small")
    with (side.root / "inbox" / "large.ach").open("r+b") as file:
        file.truncate(LARGEST_FILE + 1)
    large, small = await picked(side)
    assert large == IncomingFile("large.ach", b"", f"it is larger than {LARGEST_FILE} bytes")
    assert small.content == b"small"
    with (side.root / "inbox" / "large.ach").open("r+b") as file:
        file.truncate(LARGEST_FILE)
    large, _ = await picked(side)
    assert len(large.content) == LARGEST_FILE


async def test_files_that_are_still_being_written_are_left_alone(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    for name in (".a.ach", "a.ach.part", "a.ach.tmp", "a.ach.filepart"):
        side.leave(name, b"half")
    found = await side.gateway.pick_up()
    assert (found.files, found.others) == ((), ())
    assert found.unfinished == ("a.ach.filepart", "a.ach.part", "a.ach.tmp")


async def test_what_is_no_file_is_told_and_a_link_is_not_followed(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    side.leave("a.ach", b"a")
    inbox = side.root / "inbox"
    (inbox / "archive").mkdir()
    (side.root / "secret").write_bytes(b"secret")
    (inbox / "link").symlink_to("../secret")
    (inbox / "nowhere").symlink_to("../nothing")
    (inbox / "itself").symlink_to("itself")
    os.mkfifo(inbox / "pipe")
    found = await side.gateway.pick_up()
    assert found.files == (
        IncomingFile("a.ach", b"a"),
        IncomingFile("link", b"", "it is a link, which is not followed"),
    )
    assert found.others == tuple(f"{each} is no file" for each in ("archive", "itself", "nowhere", "pipe"))


HOSTILE_NAMES = (
    b"back\\slash.ach",
    b"C:\\returns\\a.ach",
    b"latin-\xe9.ach",
    b"\xff\xfe\x00"[:2],
    b"-rf",
    b"--help",
    b"new\nline.ach",
    b"tab\tand\x07bell",
    b"\x1b[31mred.ach",
    "right-to-left-\u202etxt.ach".encode(),
    "zero-\u200bwidth".encode(),
    b" blanks ",
    b"a" * 255,
    b"\xc3" * 200,
    b"%s%n%00",
    b"';DROP TABLE bank_intake;--",
    b"{name}",
    b"a.ach\r",
    b"*",
    b"~",
    b"$HOME",
)


async def test_a_file_of_any_name_is_read_and_put_away(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    for number, name in enumerate(HOSTILE_NAMES):
        side.leave(os.fsdecode(name), b"%d" % number)
    files = await picked(side)
    assert sorted(os.fsencode(each.name) for each in files) == sorted(HOSTILE_NAMES)
    shown = {each.printable_name for each in files}
    assert len(shown) == len(HOSTILE_NAMES)
    assert all(each.isprintable() and len(each) <= 120 and each.encode() for each in shown)
    for each in files:
        await side.gateway.acknowledge(each.name, each.content)
    assert await picked(side) == []
    assert len(list((side.root / "done").iterdir())) == len(HOSTILE_NAMES)


async def test_a_file_that_the_server_does_not_give_out_keeps_no_other_from_being_read(bank: Bank) -> None:
    gateway = open_gateway(address(bank), {})
    (bank.root / "inbox").mkdir()
    for name in ("a.ach", "b.ach", "c.ach"):
        (bank.root / "inbox" / name).write_bytes(name.encode())
    bank.fault.locked = "b.ach"
    found = (await gateway.pick_up()).files
    assert [(each.name, each.content) for each in found] == [
        ("a.ach", b"a.ach"),
        ("b.ach", b""),
        ("c.ach", b"c.ach"),
    ]
    assert found[1].problem == "it cannot be read: not for you"


async def test_a_name_that_the_bank_uses_again_replaces_nothing(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    for content in (b"monday", b"tuesday", b"wednesday"):
        side.leave("returns.ach", content)
        (file,) = await picked(side)
        assert file.content == content
        await side.gateway.acknowledge(file.name, file.content)
    done = side.root / "done"
    assert {path.name: path.read_bytes() for path in done.iterdir()} == {
        "returns.ach": b"monday",
        "returns.ach.2": b"tuesday",
        "returns.ach.3": b"wednesday",
    }


async def test_a_file_that_was_replaced_since_is_not_put_away(side: Side) -> None:
    side.root.mkdir(exist_ok=True)
    side.leave("returns.ach", b"read")
    await side.gateway.pick_up()
    side.leave("returns.ach", b"not read yet")
    with pytest.raises(GatewayConflictError, match="has been replaced"):
        await side.gateway.acknowledge("returns.ach", b"read")
    assert await picked(side) == [IncomingFile("returns.ach", b"not read yet")]


async def test_what_never_came_cannot_be_acknowledged(side: Side) -> None:
    with pytest.raises(GatewayError, match="is not among the incoming files"):
        await side.gateway.acknowledge("returns.ach")
    with pytest.raises(ValueError, match="no name of an incoming file"):
        await side.gateway.acknowledge("../outbox/a.ach")


async def _deliver_through_faults(bank: Bank, *, after: bool) -> int:
    """Deliver a file with the server failing at each request in turn; return how many requests there are."""
    at = 0
    while True:
        name, content = f"{at}.ach", f"{at:05}\n".encode() * 30_000
        bank.fault.at, bank.fault.after = at, after
        bank.fault.requests.clear()
        gateway = open_gateway(address(bank), {})
        try:
            await gateway.deliver(name, content)
        except GatewayUnavailableError:
            failed = True
        else:
            failed = False
        taken = [path.read_bytes() for path in (bank.root / "outbox").glob("*")]
        for path in (bank.root / "outbox").glob("*"):
            path.unlink()
        reached = len(bank.fault.requests) > at
        bank.fault.at = None
        await gateway.deliver(name, content)
        await gateway.deliver(name, content)
        taken += [path.read_bytes() for path in (bank.root / "outbox").glob("*")]
        assert taken == [content], f"cut at request {at}: {bank.fault.requests}"
        (bank.root / "outbox" / name).unlink(missing_ok=True)
        assert not [path for path in (bank.root / "sent").iterdir() if path.suffix != ".receipt"]
        if not reached:
            assert not failed
            return at
        at += 1


@pytest.mark.parametrize("after", [False, True])
async def test_a_connection_lost_at_any_request_neither_loses_nor_doubles_a_file(
    bank: Bank, after: bool
) -> None:
    assert await _deliver_through_faults(bank, after=after) > 10
    assert {"write", "fsync", "rename", "posix_rename", "scandir"} <= set(bank.fault.requests)


async def test_directories_that_are_there_are_not_created_again(bank: Bank) -> None:
    gateway = open_gateway(address(bank), {})
    await gateway.pick_up()
    assert "mkdir" in bank.fault.requests
    bank.fault.requests.clear()
    await gateway.pick_up()
    assert bank.fault.requests == [*["stat"] * 4, "scandir"]


async def test_a_server_without_the_posix_rename_will_do(bank: Bank) -> None:
    bank.fault.posix_rename = False
    gateway = open_gateway(address(bank), {})
    await gateway.deliver("a.ach", PAYMENTS)
    await gateway.deliver("a.ach", PAYMENTS)
    assert (bank.root / "outbox" / "a.ach").read_bytes() == PAYMENTS
    (bank.root / "inbox" / "r.ach").write_bytes(b"r")
    await gateway.acknowledge("r.ach", b"r")
    assert (await gateway.pick_up()).files == ()


async def test_the_server_must_prove_to_be_the_bank_s(bank: Bank) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    bank.known_hosts.write_text(f"[127.0.0.1]:{bank.port} {other}")
    with pytest.raises(GatewayError, match="did not prove to be the bank's server") as told:
        await open_gateway(address(bank), {}).deliver("a.ach", PAYMENTS)
    assert not isinstance(told.value, GatewayUnavailableError)
    assert list(bank.root.iterdir()) == []


async def test_any_server_is_trusted_only_when_told_so(bank: Bank) -> None:
    url = f"sftp://{USER}@127.0.0.1:{bank.port}/?known_hosts=none&key={bank.key}"
    await open_gateway(url, {}).deliver("a.ach", PAYMENTS)
    assert (bank.root / "outbox" / "a.ach").read_bytes() == PAYMENTS


async def test_a_password_opens_the_server_and_a_wrong_one_does_not(bank: Bank) -> None:
    url = f"sftp://{USER}@127.0.0.1:{bank.port}/?known_hosts={bank.known_hosts}"
    await open_gateway(url, {PASSWORD_VARIABLE: PASSWORD}).deliver("a.ach", PAYMENTS)
    in_address = url.replace("@", ":correct%20horse@", 1)
    await open_gateway(in_address, {}).deliver("b.ach", PAYMENTS)
    assert {path.name for path in (bank.root / "outbox").iterdir()} == {"a.ach", "b.ach"}
    with pytest.raises(GatewayError, match="did not let household in") as told:
        await open_gateway(url, {PASSWORD_VARIABLE: "wrong battery"}).pick_up()
    assert "wrong battery" not in str(told.value)


async def test_a_key_may_have_a_passphrase(tmp_path: Path) -> None:
    home = tmp_path / "locked"
    home.mkdir()
    async with running_bank(home, "open sesame") as bank:
        await open_gateway(address(bank), {PASSPHRASE_VARIABLE: "open sesame"}).deliver("a.ach", PAYMENTS)
        with pytest.raises(GatewayError, match=r"the key for 127\.0\.0\.1 cannot be read"):
            await open_gateway(address(bank), {PASSPHRASE_VARIABLE: "open barley"}).pick_up()


async def test_the_directories_may_have_other_names(bank: Bank) -> None:
    options = "&outbox=to/bank&inbox=from/bank&done=from/taken&sent=ours"
    gateway = open_gateway(address(bank, options=options), {})
    await gateway.deliver("a.ach", PAYMENTS)
    assert (bank.root / "to" / "bank" / "a.ach").read_bytes() == PAYMENTS
    assert [path.name for path in (bank.root / "ours").iterdir()] == ["a.ach.receipt"]


async def test_a_server_that_is_down_may_be_tried_again(tmp_path: Path) -> None:
    async with running_bank(tmp_path) as bank:
        gateway = open_gateway(address(bank), {})
    with pytest.raises(GatewayUnavailableError, match=r"127\.0\.0\.1 could not be used"):
        await gateway.deliver("a.ach", PAYMENTS)


async def test_a_folder_that_cannot_be_used_may_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(GatewayUnavailableError, match="the bank's folder cannot be used"):
        await folder_gateway(tmp_path / "file" / "below").deliver("a.ach", PAYMENTS)


INCOMPLETE = [
    ("ftp://user@host/", "starts with folder:// or sftp://"),
    ("/srv/bank", "starts with folder:// or sftp://"),
    ("folder://srv/bank", "folder:///absolute/path"),
    ("folder:///", "folder:///absolute/path"),
    ("folder:///srv?outbox=../etc", "outbox must be a directory below"),
    ("folder:///srv?sent=", "sent must be a directory below"),
    ("folder:///srv?sent=/etc", "sent must be a directory below"),
    ("folder:///srv?outbox=x&inbox=x", "four different directories"),
    ("folder:///srv?key=x", "key is no option"),
    ("sftp://host/?known_hosts=/k&key=/k", "sftp://user@host/path"),
    ("sftp://user@/?known_hosts=/k&key=/k", "sftp://user@host/path"),
    ("sftp://user@host/?key=/k", "needs known_hosts"),
    ("sftp://user@host/?known_hosts=&key=/k", "needs known_hosts"),
    ("sftp://user@host/?known_hosts=/k", "needs a key or a password"),
    ("sftp://user:secret@host/?known_hosts=/k&color=red", "color is no option"),
]


def test_an_address_that_is_not_complete_is_refused() -> None:
    with every_case() as case:
        for url, message in INCOMPLETE:
            with case(url, message):
                with pytest.raises(ValueError, match=message) as told:
                    open_gateway(url, {})
                assert "secret" not in str(told.value)


def test_a_killed_deliverer_neither_loses_nor_doubles_a_file(tmp_path: Path) -> None:
    """The bank empties the outbox all the while; the deliverer starts again with the file it was killed at."""
    draw = random.Random(20261120)
    outbox, taken = tmp_path / "outbox", dict[int, list[bytes]]()
    first = 0
    for _ in range(12):
        deliverer = start(tmp_path, first, module="tests.banking.deliverer", folder=REPOSITORY, errors=2)
        with deliverer as process:
            assert process.stdout is not None
            for _ in range(draw.randint(1, 6)):
                first = int(process.stdout.readline()) + 1
                _empty(outbox, taken)
            signal.sigtimedwait((), draw.uniform(0, 0.006))
            process.kill()
            rest = process.stdout.read().split()
        first = int(rest[-1]) + 1 if rest else first
        _empty(outbox, taken)
    asyncio.run(folder_gateway(tmp_path).deliver(f"file-{first}.ach", content_of(first)))
    _empty(outbox, taken)
    assert first > 12
    assert taken == {number: [content_of(number)] for number in range(first + 1)}


def _empty(outbox: Path, taken: dict[int, list[bytes]]) -> None:
    for path in outbox.glob("*"):
        number = int(path.stem.removeprefix("file-"))
        taken.setdefault(number, []).append(path.read_bytes())
        path.unlink()
