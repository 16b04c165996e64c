"""What each state requires on a pay stub, read from ``stub_requirements.toml``."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.rule_file import RuleTable
from hearthpay.taxes.trace import Source
from hearthpay.taxes.vocabulary import Confidence

_FILE: Final = Path(__file__).parent / "stub_requirements.toml"
_CATEGORIES: Final = ("none", "access", "access_print", "opt_out", "opt_in")

STUB_FIELDS: Final[Mapping[str, str]] = {
    "er_name": "name of the employer",
    "er_addr": "address of the employer",
    "er_mail": "mailing address of the employer, where it is another",
    "er_phone": "telephone number of the employer",
    "er_bin": "state business identification number",
    "ee_name": "name of the employee",
    "ee_id": "last four digits of the Social Security number, or a number of the employee",
    "period": "first and last day of the pay period",
    "period_end": "last day of the pay period",
    "pay_date": "pay date",
    "basis": "basis of pay",
    "rate": "rate of pay",
    "ot_rate": "overtime pay rate",
    "hours": "hours worked",
    "ot_hours": "overtime hours",
    "hours_by_rate": "hours at each rate",
    "straight_pay": "pay at the regular rate",
    "ot_pay": "overtime pay",
    "gross": "gross pay",
    "deductions": "each deduction",
    "net": "net pay",
    "allowances": "allowances taken for meals or lodging",
    "bonus_lines": "bonus and other additional pay",
    "ytd_gross": "gross pay of the year to date",
    "ytd_deductions": "deductions of the year to date",
    "fit": "federal income tax",
    "fica": "Social Security and Medicare",
    "state_ui": "the employee's unemployment contribution",
    "board_lodging": "costs of board and lodging",
    "advances": "advances",
    "sick_avail": "available sick leave",
    "sick_avail_monthly": "available sick leave, once a month",
    "sick_used": "sick leave used in the pay period",
    "sick_used_ytd": "sick leave taken in the year",
    "sick_paid_ytd": "sick pay of the year",
    "sick_accrued_year": "sick leave accrued in the year",
    "sick_used_year": "sick leave used in the year",
}
"""What a state may require, by the name that the file uses."""


@dataclass(frozen=True, slots=True)
class StubLaw:
    """What one state requires on a pay stub."""

    state: str
    category: str
    """How the stub must be provided: from ``none`` to ``opt_in``, electronic only with the employee's consent."""

    fields: tuple[str, ...]
    statute: str
    household: str
    """Whether it applies to a household: ``yes``, ``no``, ``partly``."""

    reach: str
    note: str
    sources: tuple[Source, ...]
    confidence: Confidence


@functools.cache
def stub_laws() -> Mapping[str, StubLaw]:
    """Return the requirements of every state and DC, by its two-letter code."""
    table = RuleTable.load(_FILE)
    found = {}
    for entry in table.tables("state"):
        law = StubLaw(
            state=entry.text("state"),
            category=entry.choice("category", _CATEGORIES),
            fields=entry.texts("fields"),
            statute=entry.text("statute"),
            household=entry.choice("household", ("yes", "no", "partly")),
            reach=entry.text("reach", default=""),
            note=entry.text("note", default=""),
            sources=entry.sources(),
            confidence=entry.confidence(),
        )
        for name in law.fields:
            if name not in STUB_FIELDS:
                raise entry.error("fields", f"{name!r} is no field of a pay stub")
        if law.state in found or law.state not in STATES:
            raise entry.error("state", f"{law.state} is there twice, or is no state")
        entry.close()
        found[law.state] = law
    table.close()
    return found
