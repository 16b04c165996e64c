"""Our files before another program's eyes (achkit), and files with one thing wrong before ours and its."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import achkit
import pytest
from hypothesis import given, settings

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import NachaFile
from hearthpay.banking.nacha.returns import build_returns, parse_returns
from hearthpay.banking.nacha.text import NAME_LENGTH, ach_text
from hearthpay.banking.nacha.writer import write_nacha
from tests.cases import every_case

from .payments import FILES, NANNY, ODFI, PAYMENTS, batch, file_of
from .test_nacha import files
from .test_returns import ANSWERS, RETURNED_AT

# The file, the line that is wrong, what is said of it, and whether achkit, which checks sums, finds it too.
BAD_PAYMENTS = [
    ("batch-hash", 4, "entry_hash: states 23138011, the file holds 23138010", True),
    ("batch-count", 9, "entry_addenda_count: states 4, the file holds 3", True),
    ("batch-debit", 4, "total_debit: states 208343, the file holds 208342", True),
    ("batch-credit", 9, "total_credit: states 124050, the file holds 124051", True),
    ("file-hash", 14, "entry_hash: states 47582455, the file holds 47582454", True),
    ("file-batches", 14, "batch_count: states 4, the file holds 3", True),
    ("file-blocks", 14, "block_count: states 3, the file holds 2", True),
    ("file-count", 14, "entry_addenda_count: states 5, the file holds 6", True),
    ("file-debit", 14, "total_debit: states 208341, the file holds 208342", True),
    ("file-credit", 14, "total_credit: states 208341, the file holds 208342", True),
    ("amount-raised", 9, "total_credit: states 124051, the file holds 924051", True),
    ("routing-check-digit", 6, "routing: That routing number isn't valid. Check all nine digits.", True),
    ("routing-swapped", 9, "entry_hash: states 12340156, the file holds 22344442", True),
    ("credit-made-debit", 9, "service_class: does not fit the entries of the batch", True),
    ("prenote-made-live", 8, "amount_cents: must be zero for a prenote, and more for a payment", False),
    ("live-made-prenote", 7, "amount_cents: must be zero for a prenote, and more for a payment", False),
    ("entry-removed", 8, "entry_addenda_count: states 3, the file holds 2", True),
    ("entry-twice", 10, "entry_addenda_count: states 3, the file holds 4", True),
    ("trace-descends", 7, "trace: must ascend within a batch", False),
    ("batch-of-other-bank", 9, "odfi: differs from the header of the batch", False),
    (
        "batch-control-missing",
        4,
        "a record of type '5' stands where an entry or the batch control must stand",
        False,
    ),
    (
        "batch-header-missing",
        5,
        "a record of type '6' stands where a batch or the file control must stand",
        True,
    ),
    ("file-header-missing", 1, "a record of type '5' stands where a file header must stand", True),
    ("empty", 1, "batches: must hold at least one batch", False),
    ("empty-batch", 2, "the batch holds no entry", False),
    ("cut", 8, "the file ends where an entry or the batch control must stand", True),
    ("line-short", 6, "has 93 characters instead of 94", True),
    ("line-long", 6, "is not as this service writes it", True),
    ("blank-line", 10, "has 0 characters instead of 94", False),
    ("record-unknown", 6, "a record of type '4' stands where an entry or the batch control must stand", True),
    ("addenda-unannounced", 11, "has_addenda: states '0', but 1 addenda follow", False),
    ("addenda-announced", 6, "has_addenda: states '1', but 0 addenda follow", False),
    ("addenda-type", 12, "addenda_type: '02' is no type of addenda that belongs here", False),
    ("block-cut", 18, "the last block holds 8 of 10 records", True),
    ("text-after-end", 15, "only lines of nines may follow the file control", True),
    ("two-files", 21, "only lines of nines may follow the file control", True),
    ("lower-case", 6, "is not as this service writes it", False),
    ("settlement-filled", 5, "is not as this service writes it", False),
    ("mixed-class", 2, "is not as this service writes it", False),
    ("latin-1", 6, "holds a character that is not ASCII", False),
    ("control-character", 6, "holds a control character", False),
    ("date-impossible", 5, "effective_date: must be a date as YYMMDD", False),
]


def test_a_file_with_one_thing_wrong_is_refused_by_its_line() -> None:
    with every_case() as case:
        for name, line, reason, seen_by_achkit in BAD_PAYMENTS:
            with case(name, line, reason, seen_by_achkit):
                content = (FILES / f"payments-{name}.ach").read_bytes()
                with pytest.raises(NachaError) as told:
                    parse_nacha(content)
                assert str(told.value) == f"line {line}: {reason}"
                assert achkit.validate(content.decode("latin-1"))["ok"] is not seen_by_achkit


def test_every_bad_file_is_tested() -> None:
    assert {path.name for path in FILES.glob("payments-*.ach")} == {
        f"payments-{name}.ach" for name, *_ in BAD_PAYMENTS
    }


@given(files())
@settings(deadline=None)
def test_achkit_accepts_every_file_and_reads_the_same_payments(file: NachaFile) -> None:
    text = write_nacha(file).decode("ascii")
    assert achkit.validate(text) == {"ok": True, "errors": []}
    seen = achkit.parse(text)
    assert seen["control"]["batch_count"] == len(file.batches)
    for theirs, ours in zip(seen["batches"], file.batches, strict=True):
        assert (theirs["sec"], theirs["company_id"], theirs["batch_number"]) == (
            ours.entry_class,
            ours.company_id,
            ours.number,
        )
        assert theirs["effective_date"] == ours.effective_date.strftime("%y%m%d")
        assert [
            (
                e["txn_code"],
                e["routing"],
                e["account"],
                e["amount_cents"],
                e["name"],
                e["id_number"],
                e["trace_number"],
            )
            for e in theirs["entries"]
        ] == [
            (
                int(e.code),
                e.routing,
                e.account,
                e.amount_cents,
                ach_text(e.name, NAME_LENGTH),
                e.identification,
                e.trace,
            )
            for e in ours.entries
        ]
        assert [[addenda["info"] for addenda in e["addenda"]] for e in theirs["entries"]] == [
            [e.information] if e.information else [] for e in ours.entries
        ]


def test_achkit_writes_the_same_file_from_the_same_payments() -> None:
    theirs = achkit.AchFile.create(
        origin_dfi="121042882",
        company_id="1123456789",
        destination_name="FIRST BANK OF SOMEWHERE",
        origin_name="HEARTHPAY",
        creation_date=PAYMENTS.created_at.astimezone(),
    )
    numbers = count(1)
    ours = []
    for group in PAYMENTS.batches:
        their_group = theirs.batch(
            sec=group.entry_class,
            description=group.description,
            effective_date=group.effective_date.isoformat(),
        )
        # achkit numbers its traces anew in each batch, which a file of ours may not.
        entries = [
            replace(entry, trace=f"{ODFI}{number:07}") for number, entry in enumerate(group.entries, 1)
        ]
        ours.append((group, entries))
        for entry in entries:
            side = their_group.debit if entry.code.is_debit else their_group.credit
            side(
                name=ach_text(entry.name, NAME_LENGTH),
                routing=entry.routing,
                account=entry.account,
                amount_cents=entry.amount_cents,
                account_type=entry.code.account_type,
                id_number=entry.identification,
                prenote=entry.code.is_prenote,
                addenda=entry.information,
            )
    their_lines = theirs.render().splitlines()
    for group, entries in ours:
        first = replace(group, number=next(numbers), entries=tuple(entries))
        lines = write_nacha(replace(PAYMENTS, batches=(first,))).decode("ascii").splitlines()
        end = next(at for at, line in enumerate(lines) if line[0] == "8")
        for line in lines[1 : end + 1]:
            assert line in their_lines
    assert their_lines[13:] == write_nacha(PAYMENTS).decode("ascii").splitlines()[13:]


def test_achkit_reads_the_bank_s_answers_as_they_were_given() -> None:
    seen = achkit.parse(build_returns(PAYMENTS, ANSWERS, created_at=RETURNED_AT).decode("ascii"))
    found = [
        (addenda["type"], addenda["info"][:3], addenda["info"][3:18])
        for group in seen["batches"]
        for entry in group["entries"]
        for addenda in entry["addenda"]
    ]
    assert sorted(found) == sorted(
        ("98" if answer.code[0] == "C" else "99", answer.code, answer.trace) for answer in ANSWERS
    )


def test_a_file_of_ten_thousand_payments_goes_there_and_back() -> None:
    entries = [replace(NANNY, trace=f"{ODFI}{number:07}", amount_cents=number) for number in range(1, 10_001)]
    content = write_nacha(file_of(batch(1, *entries)))
    assert parse_nacha(content).batches[0].total_credit_cents == 50_005_000
    assert achkit.validate(content.decode("ascii"))["ok"]
    unread = parse_returns(content).unread
    assert len(unread) == 10_000
    assert unread[-1].problem.reason == "is no code of a returned entry"
