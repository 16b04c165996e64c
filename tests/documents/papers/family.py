"""A household and its nanny of 2025, whose figures do not change any more, and what a paper of theirs says."""

import functools
import io
import re
from dataclasses import dataclass
from decimal import Decimal

from pypdf import PdfReader

from hearthpay.documents.figures.books import HouseholdBooks
from hearthpay.documents.figures.schedule_h import ScheduleH, schedule_h_of
from hearthpay.documents.figures.stub import PayStub, SickLeave, StubParties, stub_of
from hearthpay.documents.figures.w2 import W2, w2_of
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity
from hearthpay.employers.commands import PostalAddress
from tests.documents.household import Household

HOME = PostalAddress(line1="12 Maple Street", line2="Apt 4B", city="Brooklyn", state="NY", zip="11201")
MILLERS = HouseholdIdentity(
    name="Dana and Chris Miller",
    address=HOME,
    ein="12-3456789",
    ssn="219-09-1111",
    phone="(718) 555-0143",
    email="dana@example.org",
    state_accounts={"NJ": "123-456-789/000", "NY": "12-3456789-01"},
)
ROSA = EmployeeIdentity(
    first_name="Rosa",
    last_name="Díaz",
    address=PostalAddress(line1="7 Elm Road", city="Hoboken", state="NJ", zip="07030-1234"),
    ssn="123-45-6780",
)


@dataclass(frozen=True)
class Year:
    household: Household
    books: HouseholdBooks
    form: W2
    schedule: ScheduleH


@functools.cache
def year_of_two_states() -> Year:
    """Rosa works in New York, once with overtime and a set-aside, and in December in New Jersey."""
    household = Household(2025)
    rosa = household.hire("NY", income_tax="45")
    household.weekly(rosa, 1000, weeks=48)
    household.pay(rosa, 50, "2025-12-05", hours="40", overtime="5.5", set_aside=2500)
    household.move(rosa, "NJ")
    household.pay(rosa, 1000, "2025-12-12")
    books = household.books()
    return Year(household, books, w2_of(next(books.everyone())), schedule_h_of(books))


def stub_with_everything() -> PayStub:
    year = year_of_two_states()
    paid = next(each for each in year.books.paychecks if each.paycheck.set_aside.amount)
    leave = SickLeave(Decimal(32), Decimal(4), Decimal("8.5"), Decimal(40), 16_000)
    return stub_of(year.books, paid.id, StubParties(employer_address=True), leave)


@functools.cache
def read(pdf: bytes) -> PdfReader:
    return PdfReader(io.BytesIO(pdf))


def text_of(pdf: bytes, page: int | None = None) -> str:
    """What a paper says, a line of the paper a line, blanks told once."""
    return "\n".join(
        _text_of_page(pdf, each) for each in (range(len(read(pdf).pages)) if page is None else [page])
    )


@functools.cache
def _text_of_page(pdf: bytes, page: int) -> str:
    """Read once: to take the text out of a page costs more than to draw it."""
    return re.sub(r"[ \xa0]+", " ", read(pdf).pages[page].extract_text())


def lines_of(pdf: bytes, page: int | None = None) -> list[str]:
    return [line.strip() for line in text_of(pdf, page).splitlines()]
