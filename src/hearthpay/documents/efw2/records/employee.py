"""Record RW: one employee's Form W-2."""

from typing import Final

from hearthpay.documents.efw2.layout import Efw2Layout
from hearthpay.documents.efw2.lettering import name_letters
from hearthpay.documents.efw2.record import Efw2Value
from hearthpay.documents.efw2.records.address import address_fields
from hearthpay.documents.figures.w2 import W2
from hearthpay.documents.identity import EmployeeIdentity

NO_SSN: Final = "000000000"
"""The value for a number that was applied for."""

_BOXES: Final = {
    "wages": "box_1",
    "federal_income_tax": "box_2",
    "social_security_wages": "box_3",
    "social_security_tax": "box_4",
    "medicare_wages": "box_5",
    "medicare_tax": "box_6",
}


def person_fields(employee: EmployeeIdentity) -> dict[str, Efw2Value]:
    """Return number, names and address, as records RW and RS have them."""
    return {
        "ssn": employee.ssn or NO_SSN,
        "employee_first_name": name_letters(employee.first_name),
        "employee_middle_name_or_initial": name_letters(employee.middle_name),
        "employee_last_name": name_letters(employee.last_name),
        "suffix": name_letters(employee.suffix),
        **address_fields(employee.address),
    }


def coded_amounts(form: W2, layout: Efw2Layout, record: str) -> dict[str, Efw2Value]:
    """Return the box 12 amounts that the record holds; two entries of a code are added up."""
    found: dict[str, int] = {}
    for entry in form.box_12:
        place = layout.field_of_code(entry.code)
        if place is not None and place[0] == record:
            found[place[1].key] = found.get(place[1].key, 0) + entry.figure.cents
    return dict(found)


def employee_record(form: W2, employee: EmployeeIdentity, layout: Efw2Layout) -> dict[str, Efw2Value]:
    """Return the fields of record RW."""
    figures = {key: getattr(form, box) for key, box in _BOXES.items()}
    return {
        **person_fields(employee),
        **{key: figure.cents for key, figure in figures.items() if figure is not None},
        **coded_amounts(form, layout, "RW"),
        "statutory_employee_indicator": "0",
        "retirement_plan_indicator": "0",
        "third_party_sick_pay_indicator": "0",
    }
