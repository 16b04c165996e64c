"""Reads a wage file EFW2 and checks it as the SSA would: each field, the order of records, counts, sums, and wages.

Errors name the record and the field (`Efw2Error`); a truncated file is wrong at its end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hearthpay.documents.efw2.layout import RECORD_LENGTH, Efw2Layout, efw2_layout
from hearthpay.documents.efw2.record import Efw2Error, Efw2Record, read_record
from hearthpay.documents.efw2.records.employee import NO_SSN
from hearthpay.documents.efw2.records.employer import HOUSEHOLD
from hearthpay.documents.figures.books import SOCIAL_SECURITY, federal_line
from hearthpay.documents.figures.forms import FormNotKnownError
from hearthpay.taxes.money import from_cents
from hearthpay.taxes.thresholds import liability_thresholds

_FOLLOWS: Final = {
    "": {"RA"},
    "RA": {"RE"},
    "RE": {"RW"},
    "RW": {"RO", "RS", "RW", "RT"},
    "RO": {"RS", "RW", "RT"},
    "RS": {"RS", "RW", "RT"},
    "RT": {"RU", "RE", "RF"},
    "RU": {"RE", "RF"},
    "RF": set(),
}
"""Which record types may follow which."""

_REQUIRED: Final = {
    "RA": (
        "ein", "user_id", "company_name", "delivery_address", "city", "state_abbreviation", "zip_code",
        "submitter_name", "contact_name", "contact_phone_number", "contact_email",
    ),
    "RE": ("employer_name", "delivery_address", "city", "state_abbreviation", "zip_code"),
    "RW": ("employee_first_name", "employee_last_name"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Efw2File:
    """A file that was read and found correct."""

    tax_year: int
    records: tuple[Efw2Record, ...]

    @property
    def employees(self) -> tuple[Efw2Record, ...]:
        """The records RW."""
        return tuple(record for record in self.records if record.kind == "RW")

    @property
    def totals(self) -> Efw2Record:
        """The first record RT."""
        return next(record for record in self.records if record.kind == "RT")


def read_efw2(data: bytes) -> Efw2File:
    """Return the contents of a wage file; raises `Efw2Error` for the first error in it."""
    lines = _lines(data)
    layout = _layout_of(lines)
    records = [read_record(layout, number, line) for number, line in enumerate(lines, start=1)]
    _check_order(records)
    for record in records:
        _check_required(layout, record)
    year = layout.tax_year
    for start, end in _employers(records):
        _check_employer(layout, records[start:end])
    for record in records:
        if record.kind == "RE" and record.text("tax_year") != str(year):
            raise _wrong(layout, record, "tax_year", "all employers of a file have one tax year")
    counted = sum(record.kind == "RW" for record in records)
    if records[-1].amount("count") != counted:
        raise _wrong(
            layout, records[-1], "count", f"says {records[-1].amount('count')}, the file has {counted}"
        )
    return Efw2File(year, tuple(records))


def _lines(data: bytes) -> list[str]:
    """Return the records, with or without line ends between them."""
    for number, byte in enumerate(data):
        if byte not in b"\r\n" and not 0x20 <= byte <= 0x7E:
            at = number // (RECORD_LENGTH + 2) + 1
            raise Efw2Error(at, "?", "characters", f"byte {number + 1} of the file is not ASCII text")
    text = data.decode("ascii")
    if "\n" in text or "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
    else:
        lines = [text[start : start + RECORD_LENGTH] for start in range(0, len(text), RECORD_LENGTH)]
    if not lines:
        raise Efw2Error(1, "RA", "Record Identifier", "the file is empty")
    return lines


def _layout_of(lines: Sequence[str]) -> Efw2Layout:
    """Return the layout of the year that the first record RE names."""
    for number, line in enumerate(lines, start=1):
        if line.startswith("RE"):
            year = line[2:6]
            try:
                return efw2_layout(int(year) if year.isascii() and year.isdigit() else 0)
            except FormNotKnownError as error:
                raise Efw2Error(number, "RE", "Tax Year", str(error)) from error
    raise Efw2Error(len(lines), lines[-1][:2] or "?", "Record Identifier", "the file has no record RE")


def _check_order(records: Sequence[Efw2Record]) -> None:
    before = ""
    for record in records:
        if record.kind not in _FOLLOWS[before]:
            where = f"after {before}" if before else "at the beginning"
            raise Efw2Error(record.number, record.kind, "Record Identifier", f"cannot stand {where}")
        before = record.kind
    if before != "RF":
        raise Efw2Error(len(records), before, "Record Identifier", "the file ends without record RF")


def _wrong(layout: Efw2Layout, record: Efw2Record, key: str, reason: str) -> Efw2Error:
    name = next(field.name for field in layout.records[record.kind] if field.key == key)
    return Efw2Error(record.number, record.kind, name, reason)


def _check_required(layout: Efw2Layout, record: Efw2Record) -> None:
    for key in _REQUIRED.get(record.kind, ()):
        if not record.text(key):
            raise _wrong(layout, record, key, "must be filled in")
    if record.kind == "RW":
        ssn = record.text("ssn")
        if ssn != NO_SSN and (ssn[:3] in ("000", "666") or ssn.startswith("9")):
            raise _wrong(layout, record, "ssn", "is no number that is issued; zeros where it is applied for")


def _employers(records: Sequence[Efw2Record]) -> list[tuple[int, int]]:
    """Return the start and end of each employer's records, totals included."""
    starts = [place for place, record in enumerate(records) if record.kind == "RE"]
    return list(zip(starts, [*starts[1:], len(records) - 1], strict=True))


def _check_employer(layout: Efw2Layout, records: Sequence[Efw2Record]) -> None:
    employer = records[0]
    details = {kind: [each for each in records if each.kind == kind] for kind in ("RW", "RO", "RT", "RU")}
    for detail, closing in (("RW", "RT"), ("RO", "RU")):
        if not details[closing]:
            if details[detail]:
                last = records[-1]
                raise Efw2Error(
                    last.number, last.kind, "Record Identifier", f"records {detail} need a record {closing}"
                )
            continue
        _check_totals(layout, details[detail], details[closing][0])
    for record in details["RW"]:
        _check_wages(layout, record, household=employer.text("employment_code") == HOUSEHOLD)


def _check_totals(layout: Efw2Layout, details: Sequence[Efw2Record], total: Efw2Record) -> None:
    if total.amount("count") != len(details):
        raise _wrong(layout, total, "count", f"says {total.amount('count')}, there are {len(details)}")
    detail = "RW" if total.kind == "RT" else "RO"
    keys = layout.money_keys(detail)
    for key in layout.money_keys(total.kind):
        summed = sum(record.amount(key) for record in details) if key in keys else None
        if summed is not None and total.amount(key) != summed:
            says, come = from_cents(total.amount(key)), from_cents(summed)
            raise _wrong(layout, total, key, f"says {says}, the records come to {come}")


def _check_wages(layout: Efw2Layout, record: Efw2Record, *, household: bool) -> None:
    """Check what the SSA compares: wages with taxes, Medicare with Social Security, all with the threshold."""
    security, tips = record.amount("social_security_wages"), record.amount("social_security_tips")
    medicare = record.amount("medicare_wages")
    if medicare < security + tips:
        raise _wrong(layout, record, "medicare_wages", "cannot be below Social Security wages and tips")
    if record.amount("social_security_tax") and not security + tips:
        raise _wrong(layout, record, "social_security_tax", "there are no wages for it")
    if record.amount("medicare_tax") and not medicare:
        raise _wrong(layout, record, "medicare_tax", "there are no wages for it")
    law = federal_line(SOCIAL_SECURITY, layout.tax_year)
    base = law.wage_base or 0
    if security + tips > base:
        raise _wrong(layout, record, "social_security_wages", f"is above the base of {from_cents(base):,}")
    most = law.tax(base, law.rate)
    if record.amount("social_security_tax") > most:
        raise _wrong(layout, record, "social_security_tax", f"is above the most of {from_cents(most):,}")
    # The federal threshold is the same in every state.
    threshold = liability_thresholds("NY", layout.tax_year)[0].cents
    if household and 0 < medicare < threshold:
        raise _wrong(
            layout, record, "medicare_wages", f"a household reports none below {from_cents(threshold):,}"
        )
