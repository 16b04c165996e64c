"""Files that the bank sends back: believed whole, refused whole, and told to the household in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import NachaFile
from hearthpay.banking.nacha.returns import (
    AccountCorrection,
    Change,
    ChangeNotice,
    Rejection,
    Return,
    ReturnFile,
    build_returns,
    is_dispute,
    parse_returns,
)
from hearthpay.banking.nacha.writer import write_nacha
from hearthpay.banking.return_codes import ReturnReason, read_return_codes, return_codes
from hearthpay.taxes.errors import RuleError
from tests.cases import every_case
from tests.properties import on_examples

from .payments import FILES, GARDENER, HOUSEHOLD, NANNY, ODFI, PAYMENTS, PRENOTE, TAXES, batch, file_of

RETURNED_AT = datetime(2026, 11, 24, 13, 30, tzinfo=UTC)
ANSWERS = (
    Rejection(HOUSEHOLD.trace, "R01", information="NSF"),
    Rejection(GARDENER.trace, "R15", date_of_death=date(2026, 11, 2)),
    Rejection(PRENOTE.trace, "R03"),
    Change(NANNY.trace, "C03", AccountCorrection(routing="091000019", account="0077")),
)


def answered(*answers: Rejection | Change, file: NachaFile = PAYMENTS) -> ReturnFile:
    return parse_returns(build_returns(file, answers, created_at=RETURNED_AT))


def notice_of(code: str, correction: AccountCorrection) -> ChangeNotice:
    (notice,) = answered(Change(NANNY.trace, code, correction)).changes
    return notice


def test_returns_and_notices_are_read_as_the_bank_wrote_them() -> None:
    content = build_returns(PAYMENTS, ANSWERS, created_at=RETURNED_AT)
    assert content == (FILES / "returns.ach").read_bytes()
    read = parse_returns(content)
    assert read.created_on == date(2026, 11, 24)
    assert read.modifier == "A"
    assert read.returns == (
        Return(
            original_trace=HOUSEHOLD.trace,
            code="R01",
            amount_cents=208_342,
            transaction_code=26,
            entry_class="PPD",
            company_id="1123456789",
            original_rdfi="23138010",
            trace=f"{ODFI}0000001",
            account="000123456789",
            identification="HH-1",
            information="NSF",
        ),
        Return(
            original_trace=GARDENER.trace,
            code="R15",
            amount_cents=1,
            transaction_code=31,
            entry_class="PPD",
            company_id="1123456789",
            original_rdfi="01140153",
            trace=f"{ODFI}0000002",
            account="998-877",
            date_of_death=date(2026, 11, 2),
        ),
        Return(
            original_trace=PRENOTE.trace,
            code="R03",
            amount_cents=0,
            transaction_code=31,
            entry_class="PPD",
            company_id="1123456789",
            original_rdfi="09100001",
            trace=f"{ODFI}0000003",
            account="ABC123",
        ),
    )
    assert [entry.is_debit for entry in read.returns] == [True, False, False]
    assert read.changes == (
        ChangeNotice(
            original_trace=NANNY.trace,
            code="C03",
            correction=AccountCorrection(routing="091000019", account="0077"),
            refusal=None,
            company_id="1123456789",
            original_rdfi="02100002",
            trace=f"{ODFI}0000004",
        ),
    )


def test_a_file_as_a_large_bank_sends_it_is_read() -> None:
    # Service class 200 for debits alone, the original trace kept in the entry, CRLF, and a block left unfilled.
    content = (FILES / "returns-bank-style.ach").read_bytes()
    assert b"\r\n" in content
    assert content.count(b"\n") % 10 != 0
    read = parse_returns(content)
    assert [
        (entry.original_trace, entry.code, entry.amount_cents, entry.trace) for entry in read.returns
    ] == [(HOUSEHOLD.trace, "R09", 208_342, "091000010001234")]
    assert read.returns[0].date_of_death is None


@pytest.mark.parametrize(
    ("code", "correction"),
    [
        ("C01", AccountCorrection(account="00-778X")),
        ("C02", AccountCorrection(routing="091000019")),
        ("C03", AccountCorrection(routing="091000019", account="12345678901234567")),
        ("C04", AccountCorrection(name="MARIA J LOPEZ")),
        ("C05", AccountCorrection(account_type="savings")),
        ("C06", AccountCorrection(account="12345678901234567", account_type="savings")),
        ("C07", AccountCorrection(routing="091000019", account="12345678901234567", account_type="checking")),
        ("C09", AccountCorrection(identification="EMP-2")),
    ],
)
def test_corrected_data_by_change_code(code: str, correction: AccountCorrection) -> None:
    notice = notice_of(code, correction)
    assert notice.correction == correction
    assert notice.refusal is None
    assert code in return_codes().changes


BAD_CORRECTIONS = [
    ("C01", "", "C68"),
    ("C01", "12*34", "C68"),
    ("C01", "123  TOO MUCH             X", "C68"),
    ("C01", "1234567           091000019", "C65"),
    ("C02", "091000018", "C67"),
    ("C02", "09100001", "C67"),
    ("C03", "091000019", "C68"),
    ("C03", "091000019   0077   9", "C68"),
    ("C05", "37", "C69"),
    ("C05", "99", "C69"),
    ("C05", "AB", "C69"),
    ("C06", "0077", "C69"),
    ("C07", "0910000190077", "C69"),
    ("C04", "", "C65"),
    ("C13", "", None),
    ("C13", "ADDENDA", None),
]


def test_corrected_data_that_cannot_be_right_is_refused_with_the_code_that_says_so() -> None:
    with every_case() as case:
        for code, data, refusal in BAD_CORRECTIONS:
            with case(code, data, refusal):
                content = build_returns(
                    PAYMENTS,
                    [Change(NANNY.trace, "C02", AccountCorrection(routing="091000019"))],
                    created_at=RETURNED_AT,
                )
                altered = content.replace(b"798C02", f"798{code}".encode()).replace(
                    b"091000019", data.ljust(9).encode(), 1
                )
                line = next(line for line in altered.split(b"\n") if line.startswith(b"798"))
                fitted = line[:35] + data.ljust(29).encode() + b" " * 15 + line[-15:]
                (notice,) = parse_returns(altered.replace(line, fitted)).changes
                assert notice.correction is None
                assert notice.refusal == refusal


def test_a_correction_that_its_code_does_not_carry_cannot_be_built() -> None:
    with pytest.raises(NachaError, match="does not correct what C01 corrects"):
        notice_of("C01", AccountCorrection(routing="091000019"))
    with pytest.raises(NachaError, match="does not correct what C99 corrects"):
        notice_of("C99", AccountCorrection(routing="091000019"))


def test_only_entries_of_the_file_are_answered() -> None:
    with pytest.raises(NachaError, match="holds no entry 121042880009999"):
        answered(Rejection("121042880009999", "R01"))
    with pytest.raises(NachaError, match="batches"):
        answered()
    with pytest.raises(NachaError, match="created_at"):
        build_returns(PAYMENTS, ANSWERS, created_at=RETURNED_AT.replace(tzinfo=None))


def test_answers_can_be_numbered_on_from_an_earlier_file() -> None:
    content = build_returns(PAYMENTS, ANSWERS[:1], created_at=RETURNED_AT, modifier="B", first_sequence=41)
    read = parse_returns(content)
    assert (read.returns[0].trace, read.modifier) == (f"{ODFI}0000041", "B")


UNKNOWN_RECORDS = [
    # The file, the line of the record that isn't known, and what is said of it; the counts around it hold.
    ("returns-no-addenda.ach", 3, "must have one addenda record, not 0"),
    ("returns-two-addenda.ach", 3, "must have one addenda record, not 2"),
    ("returns-payment-addenda.ach", 4, "a returned entry has an addenda record of type 99"),
    ("returns-code-unknown.ach", 4, "code: is no return reason code"),
    ("returns-code-between-banks.ach", 4, "code: R69 disputes a return, which only banks do"),
    ("returns-trace-unreadable.ach", 4, "original_trace: must hold 15 digits"),
    ("returns-date-of-death.ach", 8, "date_of_death: must be a date as YYMMDD"),
    ("returns-forward-entry.ach", 3, "transaction_code: is no code of a returned entry"),
    ("returns-change-with-money.ach", 13, "amount: a notification of change moves no money"),
    ("returns-change-in-return-record.ach", 14, "a notification of change has an addenda record of type 98"),
    ("returns-change-code-unknown.ach", 14, "code: is no change code"),
    ("returns-change-refused.ach", 14, "code: C61 refuses a notice, which only we do"),
    ("returns-class-unknown.ach", 2, "sec: must be COR or one of PPD, CCD, WEB, TEL"),
]


BAD_RETURNS = [
    # The file, the line that is wrong, and what is said of it.
    ("returns-amount-raised.ach", 5, "total_debit: states 208342, the file holds 308342"),
    ("returns-cut-in-a-batch.ach", 9, "the file ends where an entry or the batch control must stand"),
    ("returns-cut-before-control.ach", 16, "the file ends where a batch or the file control must stand"),
    ("returns-file-hash.ach", 16, "entry_hash: states 45478167, the file holds 35478166"),
    ("returns-entry-removed.ach", 9, "entry_addenda_count: states 4, the file holds 2"),
    (
        "returns-batches-swapped-lines.ach",
        3,
        "a record of type '7' stands where an entry or the batch control must stand",
    ),
    ("returns-line-short.ach", 4, "has 93 characters instead of 94"),
    ("returns-block-cut.ach", 19, "the last block holds 9 of 10 records"),
    ("returns-header-twice.ach", 17, "only lines of nines may follow the file control"),
]


def test_a_return_file_that_is_not_in_order_is_refused_whole() -> None:
    with every_case() as case:
        for name, line, reason in BAD_RETURNS:
            with case(name, line, reason):
                with pytest.raises(NachaError) as told:
                    parse_returns((FILES / name).read_bytes())
                assert str(told.value) == f"line {line}: {reason}"


def test_a_record_that_is_not_known_is_named_beside_the_others() -> None:
    whole = parse_returns((FILES / "returns.ach").read_bytes())
    with every_case() as case:
        for name, line, reason in UNKNOWN_RECORDS:
            with case(name, line, reason):
                read = parse_returns((FILES / name).read_bytes())
                assert str(read.unread[0].problem) == f"line {line}: {reason}"
                told = len(read.returns) + len(read.changes) + len(read.unread)
                assert told == len(whole.returns) + len(whole.changes)
                assert [each for each in read.returns if each not in whole.returns] == []


FORMS = {
    "one line": lambda records: b"".join(records),
    "one line, padded with blanks": lambda records: b"".join(records) + b" " * 94 * 3 + b"\n",
    "one line without its last blanks": lambda records: b"".join(records[:16]).rstrip(),
    "a line for each block": lambda records: b"".join(
        b"".join(records[at : at + 10]) + b"\r\n" for at in range(0, len(records), 10)
    ),
    "CRLF": lambda records: b"\r\n".join(records) + b"\r\n",
    "CR": lambda records: b"\r".join(records),
    "no last line end": lambda records: b"\n".join(records),
    "lines without their last blanks": lambda records: b"\n".join(each.rstrip() for each in records),
    "lines of 96": lambda records: b"\n".join(each + b"  " for each in records),
    "end-of-file marks": lambda records: b"\n".join(records) + b"\n\x1a\0\0",
    "byte order mark": lambda records: b"\xef\xbb\xbf" + b"\n".join(records),
    "blank lines after it": lambda records: b"\n".join(records) + b"\n\n   \n",
    "EBCDIC": lambda records: b"".join(records).decode().encode("cp037"),
    "EBCDIC with new lines": lambda records: "\x85".join(each.decode() for each in records).encode("cp037"),
    "length words": lambda records: b"".join(b"\0\x62\0\0" + each for each in records),
    "EBCDIC with length words": lambda records: b"".join(
        b"\0\x62\0\0" + each.decode().encode("cp037") for each in records
    ),
}
"""The forms in which banks and mainframes write the same records."""


def test_the_same_records_are_read_in_every_form() -> None:
    records = CONTENT.split(b"\n")[:-1]
    assert len(records) == 20
    with every_case() as case:
        for name, form in FORMS.items():
            with case(name):
                assert parse_returns(form(records)) == parse_returns(CONTENT)


def test_every_bad_return_file_is_tested() -> None:
    files = {path.name for path in FILES.glob("returns-*.ach")} - {"returns-bank-style.ach"}
    assert files == {name for name, _, _ in (*BAD_RETURNS, *UNKNOWN_RECORDS)}


def test_a_file_of_payments_is_no_return_file() -> None:
    read = parse_returns(write_nacha(PAYMENTS))
    assert (read.returns, read.changes) == ((), ())
    assert [each.moves_money for each in read.unread] == [True] * sum(
        len(each.entries) for each in PAYMENTS.batches
    )
    with pytest.raises(NachaError):
        parse_nacha(build_returns(PAYMENTS, ANSWERS, created_at=RETURNED_AT))


CONTENT = build_returns(PAYMENTS, ANSWERS, created_at=RETURNED_AT)
MONEY = [(entry.original_rdfi, entry.amount_cents) for entry in parse_returns(CONTENT).returns]


def read_or_line(content: bytes) -> ReturnFile | int | None:
    """What the file says, or the line that the refusal names."""
    try:
        return parse_returns(content)
    except NachaError as error:
        return error.line


@on_examples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255), few=300, many=2_000)
@example(1095, 32)
def test_one_altered_byte_changes_no_amount_in_silence(position: int, byte: int) -> None:
    read = read_or_line(CONTENT[:position] + bytes([byte]) + CONTENT[position + 1 :])
    if isinstance(read, ReturnFile):
        amounts = [entry.amount_cents for entry in read.returns]
        lost = [each.amount_cents for each in read.unread if each.moves_money]
        assert sorted(amounts + lost) == sorted(cents for _, cents in MONEY)
    else:
        assert read is not None


def test_an_altered_digit_of_an_amount_is_refused() -> None:
    """Each of each entry: bytes at random seldom are one."""
    altered = 0
    for start in range(0, len(CONTENT), 95):
        if CONTENT[start : start + 1] == b"6":
            for position in range(start + 29, start + 39):
                other = b"1" if CONTENT[position : position + 1] == b"0" else b"0"
                content = CONTENT[:position] + other + CONTENT[position + 1 :]
                assert isinstance(read_or_line(content), int), position
                altered += 1
    assert altered == 10 * len(ANSWERS)


@given(st.binary(max_size=2000))
def test_whatever_arrives_is_read_or_refused(content: bytes) -> None:
    with pytest.raises(NachaError):
        parse_returns(content)


@given(
    st.lists(st.sampled_from([HOUSEHOLD, NANNY, GARDENER, PRENOTE, TAXES]), min_size=1, unique=True),
    st.data(),
)
def test_every_answer_arrives_once(entries: list[object], data: st.DataObject) -> None:
    codes = st.sampled_from(sorted(return_codes().reasons))
    answers = [Rejection(entry.trace, data.draw(codes)) for entry in entries]  # type: ignore[attr-defined]
    read = answered(*answers)
    assert {(entry.original_trace, entry.code) for entry in read.returns} == {
        (a.trace, a.code) for a in answers
    }
    amounts = {entry.trace: entry.amount_cents for group in PAYMENTS.batches for entry in group.entries}
    assert all(entry.amount_cents == amounts[entry.original_trace] for entry in read.returns)


def test_no_repr_shows_an_account_number() -> None:
    read = answered(*ANSWERS)
    assert HOUSEHOLD.account not in repr(read)
    assert "091000019" not in repr(read)


def test_every_code_that_a_household_can_meet_has_words() -> None:
    reasons = return_codes().reasons
    assert sorted(reasons) == [f"R{number:02}" for number in (*range(1, 34), *range(80, 86))]
    assert sorted(return_codes().disputes) == [f"R{n}" for n in (61, 62, *range(67, 78))]
    assert all(is_dispute(code) for code in return_codes().disputes)
    for reason in reasons.values():
        assert reason.sources[0].url
        for debit in (True, False):
            words = reason.explain(debit=debit)
            assert words.happened.endswith(".")
            assert words.action.endswith(".")


def test_only_uncovered_debits_are_presented_again() -> None:
    # 2013 NACHA Operating Rules, 2.12.4: insufficient or uncollected funds, two times, within 180 days.
    codes = return_codes()
    assert {code for code, reason in codes.reasons.items() if reason.handling == "retry"} == {"R01", "R09"}
    assert (codes.attempts, codes.within_days) == (2, 180)


@pytest.mark.parametrize("code", ["R05", "R07", "R08", "R10", "R16", "R29"])
def test_what_the_account_holder_refused_is_not_debited_again(code: str) -> None:
    assert return_codes().reason(code).handling == "stop"


@pytest.mark.parametrize("code", ["R02", "R03", "R04", "R20"])
def test_a_wrong_account_fails_until_it_is_entered_again(code: str) -> None:
    reason = return_codes().reason(code)
    assert reason.handling == "fail"
    assert reason.explain(debit=True) != reason.explain(debit=False)


def test_a_code_that_is_not_listed_is_a_failure_told_in_general_words() -> None:
    reason = return_codes().reason("R34")
    assert isinstance(reason, ReturnReason)
    assert (reason.code, reason.handling) == ("R34", "fail")
    assert "your bank" in reason.explain(debit=True).action
    # A payment to an employee cannot lack funds: the general words answer.
    assert return_codes().reason("R01").explain(debit=False) == reason.explain(debit=False)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('handling = "retry"', 'handling = "again"', "codes.R01.handling"),
        ('title = "Insufficient funds"\n', "", "codes.R01.title"),
        ("attempts = 2", 'attempts = "2"', "again.attempts"),
        ('source = "codes"\nhandling = "retry"', 'source = "nobody"\nhandling = "retry"', "codes.R01.source"),
        ("[changes]", 'colour = "red"\n[changes]', "codes.R85.colour"),
    ],
)
def test_a_table_of_codes_that_breaks_its_form_is_refused(
    tmp_path: Path, old: str, new: str, key: str
) -> None:
    import hearthpay.banking

    original = Path(hearthpay.banking.__file__).with_name("return_codes.toml").read_text("utf-8")
    assert old in original
    broken = tmp_path / "return_codes.toml"
    broken.write_text(original.replace(old, new, 1), "utf-8")
    with pytest.raises(RuleError, match=key):
        read_return_codes(broken)


def test_an_answer_to_a_file_with_another_bank_number_keeps_its_trace() -> None:
    file = file_of(batch(1, replace(NANNY, trace=f"{ODFI}7654321")))
    assert (
        answered(Rejection(f"{ODFI}7654321", "R02"), file=file).returns[0].original_trace == f"{ODFI}7654321"
    )
