"""The bytes of a file of payments: position by position, read back the same, and refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearthpay.banking.nacha.errors import NachaError
from hearthpay.banking.nacha.reader import parse_nacha
from hearthpay.banking.nacha.records import Batch, Entry, NachaFile, TransactionCode
from hearthpay.banking.nacha.text import BANK_NAME_LENGTH, COMPANY_NAME_LENGTH, NAME_LENGTH, ach_text
from hearthpay.banking.nacha.writer import write_nacha
from hearthpay.clock import BUSINESS_TIME
from tests.cases import every_case
from tests.properties import on_examples

from .payments import (
    BANK,
    CREATED_AT,
    FILES,
    GARDENER,
    HOUSEHOLD,
    NANNY,
    ODFI,
    PAYMENTS,
    PRENOTE,
    batch,
    file_of,
)


def lines_of(file: NachaFile) -> list[str]:
    return write_nacha(file).decode("ascii").splitlines()


def as_written(file: NachaFile) -> NachaFile:
    """The file with its names spelled as banks read them, and its instant to the minute."""
    batches = (
        replace(
            group,
            company_name=ach_text(group.company_name, COMPANY_NAME_LENGTH),
            entries=tuple(replace(entry, name=ach_text(entry.name, NAME_LENGTH)) for entry in group.entries),
        )
        for group in file.batches
    )
    return replace(
        file,
        destination_name=ach_text(file.destination_name, BANK_NAME_LENGTH),
        origin_name=ach_text(file.origin_name, BANK_NAME_LENGTH),
        created_at=file.created_at.replace(second=0, microsecond=0),
        batches=tuple(batches),
    )


def test_the_file_is_the_one_checked_by_hand() -> None:
    assert write_nacha(PAYMENTS) == (FILES / "payments.ach").read_bytes()


def test_the_file_header_by_position() -> None:
    header = lines_of(PAYMENTS)[0]
    assert header[0:3] == "101"
    assert header[3:13] == f" {BANK}"
    assert header[13:23] == "1123456789"
    # 15:00 in New York, as the bank's day is Eastern.
    assert header[23:33] == "2611201500"
    assert header[33:40] == "A094101"
    assert header[40:63] == "FIRST BANK OF SOMEWHERE"
    assert header[63:86] == "HEARTHPAY".ljust(23)
    assert header[86:94] == " " * 8


def test_a_batch_by_position() -> None:
    header, entry, control = lines_of(PAYMENTS)[1:4]
    assert header[0:4] == "5225"
    assert header[4:40] == "HEARTHPAY".ljust(36)
    assert header[40:53] == "1123456789PPD"
    assert header[53:75] == "PAYROLL   " + " " * 6 + "261123"
    assert header[75:79] == "   1"
    assert header[79:94] == f"{ODFI}0000001"
    assert entry[0:12] == "627231380104"
    assert entry[12:29] == "000123456789".ljust(17)
    assert entry[29:39] == "0000208342"
    assert entry[39:76] == "HH-1".ljust(15) + "ZOE O'BRIEN-NUNEZ".ljust(22)
    assert entry[76:94] == f"  0{ODFI}0000001"
    assert control[0:20] == "82250000010023138010"
    assert control[20:44] == "000000208342000000000000"
    assert control[44:79] == "1123456789" + " " * 25
    assert control[79:94] == f"{ODFI}0000001"


def test_an_addenda_record_by_position() -> None:
    entry, addenda, control = lines_of(PAYMENTS)[10:13]
    assert entry[78] == "1"
    assert addenda[0:3] == "705"
    assert addenda[3:83] == "TXP*123456789*94105*261231*T*84291\\".ljust(80)
    assert addenda[83:94] == "00010000005"
    assert control[4:10] == "000002"


def test_the_file_control_by_position() -> None:
    control = lines_of(PAYMENTS)[13]
    assert control[0:21] == "900000300000200000006"
    assert int(control[21:31]) == 23138010 + 2100002 + 1140153 + 9100001 + 12104288
    assert int(control[31:43]) == 208_342
    assert int(control[43:55]) == 124_050 + 1 + 84_291
    assert control[55:94] == " " * 39


def test_the_entry_hash_printed_in_the_rules() -> None:
    # 2013 NACHA Operating Rules, Appendix Three: 05600507 + 05140225 + 11400065 = 22140797.
    routings = ("056005075", "051402259", "114000653")
    entries = [
        replace(NANNY, routing=routing, trace=f"{ODFI}{sequence:07}")
        for sequence, routing in enumerate(routings, 1)
    ]
    assert lines_of(file_of(batch(1, *entries)))[5][10:20] == "0022140797"


def test_the_entry_hash_keeps_its_last_ten_digits() -> None:
    entries = [
        replace(NANNY, routing="322271627", trace=f"{ODFI}{sequence:07}") for sequence in range(1, 401)
    ]
    content = write_nacha(file_of(batch(1, *entries)))
    assert 400 * 32227162 > 10**10
    assert content.splitlines()[402][10:20] == str(400 * 32227162)[-10:].encode()
    assert parse_nacha(content).batches[0].entries == tuple(
        replace(entry, name=ach_text(entry.name, NAME_LENGTH)) for entry in entries
    )


def test_a_file_that_fills_its_blocks_has_no_line_of_nines() -> None:
    entries = [replace(NANNY, trace=f"{ODFI}{sequence:07}") for sequence in range(1, 7)]
    lines = lines_of(file_of(batch(1, *entries)))
    assert len(lines) == 10
    assert lines[-1].startswith("9000001000001")


def test_service_classes() -> None:
    both = batch(1, HOUSEHOLD, NANNY)
    assert [lines_of(file_of(group))[1][1:4] for group in (both, batch(1, HOUSEHOLD), batch(1, PRENOTE))] == [
        "200",
        "225",
        "220",
    ]


@pytest.mark.parametrize(
    ("account_type", "debit", "prenote", "code"),
    [
        ("checking", False, False, 22),
        ("checking", False, True, 23),
        ("checking", True, False, 27),
        ("checking", True, True, 28),
        ("savings", False, False, 32),
        ("savings", False, True, 33),
        ("savings", True, False, 37),
        ("savings", True, True, 38),
    ],
)
def test_transaction_codes(account_type: str, debit: bool, prenote: bool, code: int) -> None:
    found = TransactionCode.of(account_type, debit=debit, prenote=prenote)  # type: ignore[arg-type]
    assert found == code
    assert (found.account_type, found.is_debit, found.is_prenote) == (account_type, debit, prenote)


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("Zoë O'Brien-Núñez", "ZOE O'BRIEN-NUNEZ"),
        ("Łukasz Weiß", "LUKASZ WEISS"),
        ("Søren Ærø Þór Đỗ", "SOREN AERO THOR DO"),
        ("  Ann\tLee\n ", "ANN LEE"),
        ("D’Arcy — Smith", "D'ARCY - SMITH"),
        ("Garcia, Jr. \x00<b>", "GARCIA JR. B"),
        ("MARIA-JOSE WOLFESCHLEG X", "MARIA-JOSE WOLFESCHLEG"),
        ("李小龍", ""),
        ("№ ﬁve", "NO FIVE"),
        # A letter and an accent in one, a hyphen that keeps its line, two letters in one.
        ("Ǿrsted‑Ĳ", "ORSTED-IJ"),
        ("A_B", "A B"),
    ],
)
def test_names_are_spelled_in_letters_that_every_bank_reads(name: str, spelled: str) -> None:
    assert ach_text(name, NAME_LENGTH) == spelled


@given(st.text(), st.integers(0, 30))
def test_a_spelled_name_is_upper_case_ascii_and_stays_as_it_is(name: str, length: int) -> None:
    spelled = ach_text(name, length)
    assert len(spelled) <= length
    assert spelled.isascii()
    assert spelled == spelled.upper().strip()
    assert spelled == "" or spelled.isprintable()
    assert ach_text(spelled, length) == spelled


def one_entry(**changes: object) -> NachaFile:
    return file_of(batch(1, replace(NANNY, **changes)))  # type: ignore[arg-type]


UNFIT = [
    (one_entry(amount_cents=10**10), "batches[0].entries[0].amount_cents"),
    (one_entry(amount_cents=-1), "batches[0].entries[0].amount_cents"),
    (one_entry(amount_cents=0), "batches[0].entries[0].amount_cents"),
    (file_of(batch(1, replace(PRENOTE, amount_cents=1))), "batches[0].entries[0].amount_cents"),
    (one_entry(routing="021000022"), "batches[0].entries[0].routing"),
    (one_entry(routing="02100002"), "batches[0].entries[0].routing"),
    (one_entry(routing=" 021000021"), "batches[0].entries[0].routing"),
    (one_entry(account=""), "batches[0].entries[0].account"),
    (one_entry(account="1" * 18), "batches[0].entries[0].account"),
    (one_entry(account="12 34"), "batches[0].entries[0].account"),
    (one_entry(name="李小龍"), "batches[0].entries[0].name"),
    (one_entry(name="- . -"), "batches[0].entries[0].name"),
    (one_entry(identification="EMPLOYEE-NUMBER-1"), "batches[0].entries[0].identification"),
    (one_entry(identification=" 1"), "batches[0].entries[0].identification"),
    (one_entry(identification="Nr. ½"), "batches[0].entries[0].identification"),
    (one_entry(information=""), "batches[0].entries[0].information"),
    (one_entry(information="x" * 81), "batches[0].entries[0].information"),
    (one_entry(information="tab\there"), "batches[0].entries[0].information"),
    (one_entry(trace="12104288000001"), "batches[0].entries[0].trace"),
    (one_entry(trace="121042890000001"), "batches[0].entries[0].trace"),
    (one_entry(trace="12104288000000١"), "batches[0].entries[0].trace"),
    (file_of(batch(1, GARDENER, NANNY)), "batches[0].entries[1].trace"),
    (file_of(batch(1, NANNY), batch(2, NANNY)), "batches[1].entries[0].trace"),
    (file_of(batch(0, NANNY)), "batches[0].number"),
    (file_of(batch(10**7, NANNY)), "batches[0].number"),
    (file_of(batch(2, NANNY), batch(2, GARDENER)), "batches[1].number"),
    (file_of(batch(1)), "batches[0].entries"),
    (file_of(), "batches"),
    (file_of(batch(1, NANNY, company_id="12-3456789")), "batches[0].company_id"),
    (file_of(batch(1, NANNY, company_name="…")), "batches[0].company_name"),
    (file_of(batch(1, NANNY, entry_class="WEB")), "batches[0].entry_class"),
    (file_of(batch(1, NANNY, description="")), "batches[0].description"),
    (file_of(batch(1, NANNY, description="PAYROLL 2026")), "batches[0].description"),
    (file_of(batch(1, NANNY, effective_date=date(2100, 1, 1))), "batches[0].effective_date"),
    (file_of(batch(1, NANNY, odfi="1210428")), "batches[0].odfi"),
    (file_of(batch(1, NANNY), modifier="a"), "modifier"),
    (file_of(batch(1, NANNY), modifier=""), "modifier"),
    (file_of(batch(1, NANNY), destination="121042883"), "destination"),
    (file_of(batch(1, NANNY), origin="12345678"), "origin"),
    (file_of(batch(1, NANNY), created_at=CREATED_AT.replace(tzinfo=None)), "created_at"),
    (file_of(batch(1, NANNY), created_at=datetime(2000, 1, 1, tzinfo=UTC)), "created_at"),
    (file_of(batch(1, NANNY), reference="123456789"), "reference"),
]


def test_what_the_format_cannot_carry_is_refused_by_its_place() -> None:
    with every_case() as case:
        for position, (file, field) in enumerate(UNFIT):
            with case(position, field):
                with pytest.raises(NachaError) as told:
                    write_nacha(file)
                assert str(told.value).startswith(f"{field}: ")


def test_totals_beyond_twelve_digits_are_refused() -> None:
    largest = [
        replace(NANNY, amount_cents=10**10 - 1, trace=f"{ODFI}{sequence:07}") for sequence in range(1, 102)
    ]
    assert (
        parse_nacha(write_nacha(file_of(batch(1, *largest[:100])))).batches[0].total_credit_cents
        == 10**12 - 100
    )
    with pytest.raises(NachaError, match="total_credit_cents"):
        write_nacha(file_of(batch(1, *largest)))


def test_no_error_and_no_repr_shows_an_account_number() -> None:
    with pytest.raises(NachaError) as told:
        write_nacha(one_entry(account="99887766554433221100"))
    assert "998877" not in str(told.value)
    assert NANNY.account not in repr(PAYMENTS)
    assert NANNY.routing not in repr(PAYMENTS)


def test_reading_gives_the_payments_back() -> None:
    assert parse_nacha(write_nacha(PAYMENTS)) == as_written(PAYMENTS)


@pytest.mark.parametrize(
    "created_at",
    [
        datetime(2026, 3, 8, 1, 59, tzinfo=BUSINESS_TIME),
        datetime(2026, 3, 8, 3, 0, tzinfo=BUSINESS_TIME),
        datetime(2026, 12, 31, 23, 59, 59, tzinfo=BUSINESS_TIME),
        datetime(2027, 1, 1, 0, 30, tzinfo=UTC),
    ],
)
def test_the_instant_of_creation_is_kept_to_the_minute(created_at: datetime) -> None:
    read = parse_nacha(write_nacha(replace(PAYMENTS, created_at=created_at)))
    assert read.created_at == created_at.replace(second=0)


def _check_digit(eight: int) -> str:
    weighted = sum(int(digit) * weight for digit, weight in zip(f"{eight:08}", (3, 7, 1) * 3, strict=False))
    return f"{eight:08}{-weighted % 10}"


ROUTINGS = st.one_of(
    st.integers(1_000_000, 12_999_999),
    st.integers(21_000_000, 32_999_999),
    st.integers(61_000_000, 72_999_999),
).map(_check_digit)
NAMES = st.text(max_size=40).filter(
    lambda name: any(letter.isalnum() for letter in ach_text(name, COMPANY_NAME_LENGTH))
)
PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=15).map(str.strip)


@st.composite
def entries(draw: st.DrawFn, sequence: int) -> Entry:
    code = draw(st.sampled_from(TransactionCode))
    return Entry(
        code=code,
        routing=draw(ROUTINGS),
        account=draw(st.from_regex(r"[0-9A-Za-z-]{1,17}", fullmatch=True)),
        amount_cents=0 if code.is_prenote else draw(st.integers(1, 10**10 - 1)),
        name=draw(NAMES),
        trace=f"{ODFI}{sequence:07}",
        identification=draw(PLAIN),
        information=draw(st.none() | PLAIN.filter(bool)),
    )


@st.composite
def files(draw: st.DrawFn) -> NachaFile:
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    batches: list[Batch] = []
    sequence = 0
    for number, size in enumerate(sizes, start=1):
        held = [draw(entries(sequence + offset)) for offset in range(1, size + 1)]
        sequence += size
        day = draw(st.dates(date(2000, 1, 1), date(2099, 12, 31)))
        name, entry_class = draw(NAMES), draw(st.sampled_from(["PPD", "CCD"]))
        batches.append(batch(number, *held, effective_date=day, company_name=name, entry_class=entry_class))
    return file_of(
        *batches, modifier=draw(st.sampled_from("AZ09")), destination_name=draw(st.text(max_size=30))
    )


@on_examples(files(), few=25, many=400)
def test_every_list_of_payments_is_read_back_as_it_was_written(file: NachaFile) -> None:
    content = write_nacha(file)
    read = parse_nacha(content)
    assert read == as_written(file)
    assert write_nacha(read) == content
    lines = content.decode("ascii").removesuffix("\n").split("\n")
    assert {len(line) for line in lines} == {94}
    assert len(lines) % 10 == 0
    control = next(line for line in lines[1:] if line[0] == "9")
    assert int(control[31:43]) == sum(group.total_debit_cents for group in file.batches)
    assert int(control[43:55]) == sum(group.total_credit_cents for group in file.batches)
    assert int(control[21:31]) == sum(
        int(entry.routing[:8]) for group in file.batches for entry in group.entries
    ) % (10**10)


CONTENT = write_nacha(PAYMENTS)


def read_or_line(content: bytes) -> NachaFile | int | None:
    """The payments, or the line that the refusal names."""
    try:
        return parse_nacha(content)
    except NachaError as error:
        return error.line


@on_examples(st.integers(0, len(CONTENT) - 1), st.integers(0, 255), few=250, many=2_000)
def test_one_altered_byte_is_refused_or_changes_what_is_read(position: int, byte: int) -> None:
    altered = CONTENT[:position] + bytes([byte]) + CONTENT[position + 1 :]
    read = read_or_line(altered)
    if not isinstance(read, NachaFile):
        assert read is not None
        assert 1 <= read <= altered.count(b"\n") + 1
        return
    assert (read == as_written(PAYMENTS)) == (altered == CONTENT)
    # What no sum covers may be another valid text; the money may not be other money.
    assert sum(entry.amount_cents for group in read.batches for entry in group.entries) == 208_342 * 2
    assert [entry.routing for group in read.batches for entry in group.entries] == [
        entry.routing for group in PAYMENTS.batches for entry in group.entries
    ]


@given(st.integers(0, len(CONTENT) - 1))
@settings(deadline=None)
def test_a_file_that_was_cut_is_refused(length: int) -> None:
    if length == len(CONTENT) - 1:
        # Without the last line feed alone, nothing is lost; but it is not as we write it.
        length -= 1
    with pytest.raises(NachaError) as told:
        parse_nacha(CONTENT[:length])
    assert told.value.line is not None


def test_our_own_file_with_other_line_ends_is_not_as_we_write_it() -> None:
    with pytest.raises(NachaError, match="line 1: is not as this service writes it"):
        parse_nacha(CONTENT.replace(b"\n", b"\r\n"))
