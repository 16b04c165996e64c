"""How long a pay stub takes to be set, warm and a thousand in a row, against ReportLab drawing the same text.

ReportLab's paper has neither tags nor tables, and is told the place of every line: it is what drawing alone costs. One
stub is measured in processor time, which what else runs on the machine leaves alone.
"""

import datetime
import io
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from statistics import median
from uuid import UUID

import psutil
from reportlab.pdfgen.canvas import Canvas

from benchmarks.report import Aim, Row
from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.stub import EarningsRow, PayStub, StubLine
from hearthpay.documents.figures.stub_law import stub_laws
from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks
from hearthpay.documents.papers import pay_stub
from hearthpay.documents.papers.stub_paper import stub_paper
from hearthpay.employers.commands import PostalAddress

WARM = 100
IN_A_ROW = 1_000
MOST_MILLISECONDS = 15
MOST_GROWTH_MEGABYTES = 20

_HOME = PostalAddress(line1="12 Maple Street", city="Brooklyn", state="NY", zip="11201")
_HOUSEHOLD = HouseholdIdentity(name="Dana Miller", address=_HOME, phone="718 555 0143")
_EMPLOYEE = EmployeeIdentity(first_name="Rosa", last_name="Diaz", address=_HOME, ssn="123456780")


def measure() -> list[Row]:
    print(f"Papers: a pay stub {WARM} times warm, {IN_A_ROW:,} different ones in a row …", flush=True)
    pay_stub(_stub(0), household=_HOUSEHOLD, employee=_EMPLOYEE)
    ours, theirs = [], []
    for number in range(WARM):
        ours.append(_milliseconds(lambda number=number: _drawn(number)))
        theirs.append(_milliseconds(lambda number=number: _with_reportlab(number)))
    process = psutil.Process()
    for number in range(IN_A_ROW // 5):
        _drawn(number)
    settled = process.memory_info().rss
    started = time.perf_counter()
    for number in range(IN_A_ROW):
        _drawn(number)
    seconds = time.perf_counter() - started
    grown = (process.memory_info().rss - settled) / 2**20
    print(f"  memory {settled / 2**20:.0f} MB once warm, {grown:+.1f} MB after {IN_A_ROW:,} more")
    warm = median(ours)
    return [
        Row(
            "Pay stub, warm, of the processor", f"{warm:.1f} ms",
            f"ReportLab, the same text untagged {median(theirs):.2f} ms",
            warm / median(theirs), Aim(MOST_MILLISECONDS, at_least=False), warm,
        ),
        Row(
            f"{IN_A_ROW:,} pay stubs in a row", f"{seconds:.1f} s", f"{IN_A_ROW} × one, warm",
            seconds * 1e3 / (IN_A_ROW * warm),
        ),
        Row(
            "Memory after them", f"{grown:+.1f} MB", "before them",
            aim=Aim(MOST_GROWTH_MEGABYTES, at_least=False), judged=grown,
        ),
    ]  # fmt: skip


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1e3


def _drawn(number: int) -> bytes:
    return pay_stub(_stub(number), household=_HOUSEHOLD, employee=_EMPLOYEE)


def _with_reportlab(number: int) -> bytes:
    """Every text of the stub, one below the other."""
    paper = stub_paper(
        _stub(number), household=_HOUSEHOLD, employee=_EMPLOYEE, marks=PaperMarks(), language="en", file_copy=False,
        letterhead=None, note=None,
    )  # fmt: skip
    kept = io.BytesIO()
    canvas = Canvas(kept, pagesize=(612, 792), invariant=1)
    canvas.setFont("Helvetica", 9)
    height = 760.0
    for text in _texts({key: value for key, value in paper.items() if key != "words"}):
        canvas.drawString(54 + 220 * (height < 60), height, text)
        height = height - 9 if height > 60 else 760.0
    canvas.save()
    return kept.getvalue()


def _texts(data: object) -> Sequence[str]:
    if isinstance(data, str):
        return [data]
    parts = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return [text for part in parts for text in _texts(part)]


def _stub(number: int) -> PayStub:
    """A week of a nanny in New York; each number another pay."""
    gross = 80_000 + number
    names = (
        "Federal income tax",
        "New York State income tax",
        "Social Security (employee)",
        "Medicare (employee)",
    )
    lines = tuple(
        StubLine(code, name, gross, Decimal("0.062"), Figure(gross // 20), Figure(gross))
        for code, name in zip(("US-FIT", "NY-SIT", "US-SS-EE", "US-MED-EE"), names, strict=True)
    )
    withheld = Figure(sum(line.current.cents for line in lines))
    hours = Decimal(gross) / 2_000
    return replace(
        _EMPTY,
        earnings=(EarningsRow("regular", hours, Decimal(20), Figure(gross), Figure(gross * 9)),),
        gross_pay=Figure(gross),
        gross_pay_year=Figure(gross * 9),
        withheld=lines,
        withheld_total=withheld,
        withheld_year=Figure(withheld.cents * 9),
        net_pay=Figure(gross - withheld.cents),
        net_pay_year=Figure((gross - withheld.cents) * 9),
    )


_DAY = datetime.date(2026, 3, 6)
_NOTHING = Figure(0)
_EMPTY = PayStub(
    paycheck_id=UUID(int=1), payroll_id=UUID(int=2), employee_name="Rosa Diaz", period_start=_DAY, period_end=_DAY,
    pay_date=_DAY, pay_frequency="weekly", payment_method="check", earnings=(), salary=None, gross_pay=_NOTHING,
    gross_pay_year=_NOTHING, withheld=(), withheld_total=_NOTHING, withheld_year=_NOTHING, set_aside=_NOTHING,
    set_aside_source="none", set_aside_balance=_NOTHING, net_pay=_NOTHING, net_pay_year=_NOTHING, carried=(),
    household=(), household_total=_NOTHING, household_year=_NOTHING, total_cost=_NOTHING, sick_leave=None, voided=False,
    is_refund=False, warnings=(), law=stub_laws()["NY"], missing=(),
)  # fmt: skip
