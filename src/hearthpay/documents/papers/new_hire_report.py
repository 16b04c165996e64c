"""The new hire report: a sheet to send or type from, and a file with the same data in the state's order."""

import datetime
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hearthpay.documents.identity import EmployeeIdentity, HouseholdIdentity, PaperMarks, address_lines
from hearthpay.documents.papers.sheets import REST, LinePage, LinePaper, SheetRow, SheetTable, line_paper
from hearthpay.documents.papers.writing import american
from hearthpay.documents.rendering import render_pdf
from hearthpay.employers.commands import PostalAddress
from hearthpay.wire.csv_text import csv_text

_RULES: Final = Path(__file__).with_name("new_hire.toml")
_NO_MARKS: Final = PaperMarks()
_BLANK: Final = "______________________________"
_NO_NUMBERS: Final = 9
_NO_ADDRESS: Final = PostalAddress(line1="", city="", state="", zip="")

_EMPLOYER: Final = (
    "employer_ein", "employer_name", "employer_address_1", "employer_address_2", "employer_city",
    "employer_state", "employer_zip",
)  # fmt: skip
_EMPLOYEE: Final = (
    "employee_address_1", "employee_address_2", "employee_city", "employee_state", "employee_zip",
)  # fmt: skip
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "common": (
        "first_name", "middle_name", "last_name", "ssn", *_EMPLOYEE, "birth_date", "hire_date", "state_of_hire",
        *_EMPLOYER, "state_account", "health_insurance",
    ),
    "mn": (
        "first_name", "middle_name", "last_name", "ssn", "employee_address_1", "employee_address_2", "",
        "employee_city", "employee_state", "employee_zip", "birth_date", "hire_date", "state_of_hire", "contractor",
        "employer_ein", "employer_name", "employer_address_1", "employer_address_2", "", "employer_city",
        "employer_state", "employer_zip",
    ),
    "nj": (
        "ssn", "last_name", "first_name", "middle_name", "employee_address_1", "employee_address_2", "employee_city",
        "employee_state", "employee_zip", "", "", "", "hire_date", "birth_date", "gender", "employer_name",
        "employer_address_1", "employer_address_2", "employer_city", "employer_state", "employer_zip", "",
        "employer_ein",
    ),
}  # fmt: skip
_DAYS: Final = {"common": "%m%d%Y", "mn": "%m%d%Y", "nj": "%Y%m%d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewHire:
    """A hire as it is reported: to which agency and by when, and what is required beyond the two parties."""

    state: str
    hired_on: datetime.date
    """The first day of work for pay."""

    office: str
    link: str | None
    due: datetime.date
    state_account: str | None = None
    birth_date: datetime.date | None = None
    health_insurance: bool | None = None


def asked_by(state: str) -> tuple[str, ...]:
    """Return what a state requires beyond the federal elements: `birth_date`, `health_insurance`, `state_account`."""
    return tuple(_rules()["states"].get(state, {}).get("asks", ()))


def new_hire_sheet(
    hire: NewHire, household: HouseholdIdentity, employee: EmployeeIdentity, marks: PaperMarks = _NO_MARKS
) -> bytes:
    """Return the report as a PDF/UA; what isn't known is left to be filled in."""
    extra = [
        ("Date of birth", None if hire.birth_date is None else american(hire.birth_date), "birth_date"),
        ("Employer's state account", hire.state_account, "state_account"),
        ("Health insurance offered", _yes(hire.health_insurance), "health_insurance"),
    ]
    asked = asked_by(hire.state)
    rows = [
        ("Name", employee.name),
        ("Address", ", ".join(address_lines(employee.address)) or None),
        ("Social Security number", employee.ssn_in_full if employee.ssn else None),
        ("First day of work for pay", american(hire.hired_on)),
        ("State of hire", hire.state),
        *((name, value) for name, value, key in extra if key in asked),
    ]
    page = LinePage(
        kicker="Household employment",
        heading="New hire report",
        year=hire.state,
        use=f"Send it to {hire.office} by {american(hire.due)}"
        + (f", or enter it at {hire.link}." if hire.link else "."),
        facts=[
            ("Employer", [household.name, *address_lines(household.address), household.phone or ""]),
            ("Employer identification number", [household.ein_in_full]),
        ],
        parts=[
            SheetTable(
                "The employee",
                heads=("", ""),
                widths=(170, REST),
                numeric=_NO_NUMBERS,
                rows=[SheetRow([name, value or _BLANK]) for name, value in rows],
            )
        ],
    )
    paper = LinePaper(f"New hire report: {employee.name}", "For the state's new hire directory", [page])
    return render_pdf("lines", line_paper(paper, marks))


def new_hire_file(hire: NewHire, household: HouseholdIdentity, employee: EmployeeIdentity) -> bytes:
    """Return the report as one line of a CSV file, below its column names if the state's order isn't fixed."""
    order = _rules()["states"].get(hire.state, {}).get("file", "common")
    written = _DAYS[order]
    values = {
        "first_name": employee.first_name,
        "middle_name": employee.middle_name,
        "last_name": employee.last_name,
        "ssn": employee.ssn or "",
        **_address("employee", employee.address),
        "birth_date": "" if hire.birth_date is None else hire.birth_date.strftime(written),
        "hire_date": hire.hired_on.strftime(written),
        "state_of_hire": hire.state,
        "contractor": "N",
        "gender": "",
        "employer_ein": household.ein or "",
        "employer_name": household.name,
        **_address("employer", household.address),
        "state_account": hire.state_account or "",
        "health_insurance": {True: "Y", False: "N", None: ""}[hire.health_insurance],
    }
    columns = _COLUMNS[order]
    heads = [columns] if order == "common" else []
    return csv_text([*heads, [values.get(column, "") for column in columns]]).encode()


def _address(whose: str, told: PostalAddress | None) -> dict[str, str]:
    address = told or _NO_ADDRESS
    return {
        f"{whose}_address_1": address.line1,
        f"{whose}_address_2": address.line2 or "",
        f"{whose}_city": address.city,
        f"{whose}_state": address.state,
        f"{whose}_zip": address.zip,
    }


def _yes(answer: bool | None) -> str | None:
    return None if answer is None else "Yes" if answer else "No"


@functools.cache
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(_RULES.read_text("utf-8"))
