"""Reads figures back from the facts of an issued document, for the document that corrects it: boxes and cents only."""

from typing import Any
from uuid import UUID

from hearthpay.documents.figures.figure import Figure
from hearthpay.documents.figures.w2 import W2, BoxesOfState, CodedAmount, LabelledAmount, LocalWages
from hearthpay.documents.figures.w3 import W3
from hearthpay.documents.identity import EmployeeIdentity
from hearthpay.employers.commands import PostalAddress

_W2_BOXES = ("box_2", "box_3", "box_4", "box_5", "box_6")
_W3_BOXES = (*_W2_BOXES, "box_12a", "box_16", "box_17", "box_18", "box_19")


def w2_of_json(stored: Any) -> W2:
    """Return the Form W-2 from the facts of an issued one."""
    return W2(
        tax_year=stored["tax_year"],
        person_id=UUID(stored["person_id"]),
        name=stored["name"],
        box_1=_figure(stored["box_1"]),
        **{box: _blank_or_figure(stored[box]) for box in _W2_BOXES},
        box_12=tuple(CodedAmount(each["code"], _figure(each["figure"])) for each in stored["box_12"]),
        other_box=stored["other_box"],
        box_14=tuple(
            LabelledAmount(each["label"], each["state"], _figure(each["figure"])) for each in stored["box_14"]
        ),
        states=tuple(
            BoxesOfState(each["state"], _figure(each["wages"]), _blank_or_figure(each["tax"]))
            for each in stored["states"]
        ),
        localities=tuple(
            LocalWages(
                each["state"],
                each["name"],
                each["code"],
                _figure(each["wages"]),
                _blank_or_figure(each["tax"]),
            )
            for each in stored["localities"]
        ),
        required_for=tuple(stored["required_for"]),
        remarks=(),
    )


def w3_of_json(stored: Any) -> W3:
    """Return the Form W-3 from the facts of an issued one."""
    return W3(
        tax_year=stored["tax_year"],
        box_c=stored["box_c"],
        box_1=_figure(stored["box_1"]),
        box_15=stored["box_15"],
        **{box: _blank_or_figure(stored[box]) for box in _W3_BOXES},
    )


def employee_of_json(stored: Any) -> EmployeeIdentity:
    """Return the employee from the facts of an issued document."""
    address = None if stored["address"] is None else PostalAddress(**stored["address"])
    return EmployeeIdentity(**{**stored, "address": address})


def _figure(stored: Any) -> Figure:
    return Figure(stored["cents"], formula=stored["formula"])


def _blank_or_figure(stored: Any) -> Figure | None:
    return None if stored is None else _figure(stored)
