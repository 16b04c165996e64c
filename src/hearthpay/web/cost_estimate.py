"""What wages would cost in a year, and how they compare with the thresholds: an estimate; nothing is paid or saved.

The entries are in the address, so an estimate can be bookmarked. Its figures are the API's, from the same code. The
page of a household and the public page show the same form and the same answer.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final
from urllib.parse import urlencode

from hearthpay.access.refusal import from_tax_engine
from hearthpay.calculator.answers import EXPLANATIONS, FUTA_NOTE, ONE_EMPLOYEE, estimate_data, threshold_data
from hearthpay.calculator.schemas import Calculation
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import Say, mark
from hearthpay.taxes import TaxInputError, check_thresholds, estimate_year
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.thresholds import supported_threshold_years
from hearthpay.web.household.employees.words import FILING_STATUSES, FREQUENCIES
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.message_text import message_text

_CERTIFICATE: Final = "reciprocity_certificate_on_file"
_WAGES: Final = "annual_wages"
_HOURLY: Final = "hourly_rate"
_HOURS: Final = "weekly_hours"
_WEEKS: Final = 52
_MOST_HOURS: Final = 168
_CENT: Final = Decimal("0.01")
_MONTHS: Final = 12
_CHOICES: Final = ("pay_frequency", "filing_status")
_FIELDS: Final = (*Calculation.model_fields, _HOURLY, _HOURS)
_FOLDED: Final = frozenset({_WAGES, "residence_state", _CERTIFICATE, *_CHOICES})
"""Fields that are folded away until one of them has an unusual value or a problem."""
_CHOOSE: Final = mark("Choose one.")
_NO_RATE: Final = mark("Enter the hourly pay, like 28.50.")
_NO_HOURS: Final = mark("Enter the hours of a week, like 37.5.")
_TOO_MUCH: Final = mark("This is more than $999,999 a year.")
_NO_AGREEMENT: Final = mark("these two states have no agreement with each other: please take this off")
_NO_LAW: Final = mark("The law of this year is not here yet.")
_STATES: Final = sorted(STATES.items(), key=lambda each: each[1])


@dataclass(frozen=True, slots=True)
class EstimatedPots:
    """A cost in its three parts, in dollars."""

    to_employee: Decimal
    held: Decimal
    own: Decimal

    @property
    def total(self) -> Decimal:
        """The cost."""
        return self.to_employee + self.held + self.own

    def by_month(self) -> EstimatedPots:
        """Return the cost of an average month; each part is rounded to the cent."""
        parts = (self.to_employee, self.held, self.own)
        return EstimatedPots(*((each / _MONTHS).quantize(_CENT, ROUND_HALF_UP) for each in parts))


def cost_facts(
    say: Say, language: str, today: datetime.date, query: Mapping[str, str], state: str | None
) -> dict[str, Any]:
    """Return the facts of the page: the form, its `problems`, and the estimate if the query has one.

    `state` is chosen until the query names another.
    """
    requested = ({} if state is None else {"state": state}) | dict(query)
    form_values = {name: requested[name] for name in _FIELDS if requested.get(name)}
    form_values = {name: text for name, text in form_values.items() if text.isprintable()}
    usual = {name: Calculation.model_fields[name].default for name in _CHOICES}
    facts: dict[str, Any] = {
        "states": _STATES,
        "frequencies": FREQUENCIES,
        "filing_statuses": FILING_STATUSES,
        "usual": usual,
        "form_values": form_values,
        "unfolded": any(form_values.get(name, usual.get(name)) != usual.get(name) for name in _FOLDED),
        "problems": {},
    }
    if not set(_FIELDS) & query.keys():
        return facts
    entries = Entries(requested)
    asked = _estimate_request(entries)
    if asked is not None:
        year = requested.get("year", "")
        answer = _answered(say, language, today, year, asked, entries.problems)
        facts |= answer | {"query": urlencode(form_values)}
    unfolded = facts["unfolded"] or not entries.problems.keys().isdisjoint(_FOLDED)
    return facts | {"problems": entries.problems, "unfolded": unfolded}


def _estimate_request(entries: Entries) -> Calculation | None:
    """Return the request for `POST /calculate`; None if something is wrong, which the form then shows."""
    values: dict[str, object] = {name: entries.text(name) for name in Calculation.model_fields}
    by_hour = entries.text(_HOURLY) is not None or entries.text(_WAGES) is None
    wages = _yearly(entries) if by_hour else entries.amount(_WAGES)
    found = entries.checked(Calculation, values | {_WAGES: wages, _CERTIFICATE: entries.ticked(_CERTIFICATE)})
    entries.problems.update(dict.fromkeys(entries.problems.keys() & set(_CHOICES), _CHOOSE))
    if by_hour and entries.problems.pop(_WAGES, None) is not None and wages is not None:
        entries.problems[_HOURLY] = _TOO_MUCH
    return None if entries.problems else found


def _yearly(entries: Entries) -> Decimal | None:
    """Return a year's wages by the hour; None if the hourly pay or the hours are missing or impossible."""
    rate, hours = entries.amount(_HOURLY), entries.amount(_HOURS)
    if rate is None or rate <= 0 or rate != rate.quantize(_CENT):
        entries.problems.setdefault(_HOURLY, _NO_RATE)
    if hours is None or not 0 < hours <= _MOST_HOURS:
        entries.problems.setdefault(_HOURS, _NO_HOURS)
    if rate is None or hours is None or entries.problems.keys() & {_HOURLY, _HOURS}:
        return None
    return (rate * hours * _WEEKS).quantize(_CENT, ROUND_HALF_UP)


def _answered(
    say: Say, language: str, today: datetime.date, chosen: str, asked: Calculation, problems: dict[str, str]
) -> dict[str, Any]:
    """Return the estimate for the page; nothing if the law has no answer, which goes into `problems`."""
    years = supported_threshold_years()
    year = next((each for each in years if str(each) == chosen), today.year)
    try:
        estimated = estimate_year(on=today, **asked.model_dump())
        estimate = estimate_data(estimated)
        check = check_thresholds(asked.state, asked.annual_wages, year)
    except TaxInputError as error:
        own = {_CERTIFICATE: {_CERTIFICATE: _NO_AGREEMENT}, "tax_year": {ROOT: _NO_LAW}}
        problems |= own.get(error.field) or problems_in(
            from_tax_engine(error), dict.fromkeys(Calculation.model_fields, "")
        )
        return {}
    wages, held = estimate["annual_wages"], estimate["employee_taxes_estimate"]["total"]
    pots = EstimatedPots(wages - held, held, estimate["employer_taxes"]["total"])
    return {
        "estimate": estimate,
        "limitations": [message_text(say, language, each) for each in estimated.messages],
        "threshold_limitations": [
            message_text(say, language, each) for each in (ONE_EMPLOYEE, *check.messages)
        ],
        "state_explanation": message_text(say, language, check.state_message),
        "lines": [(line_name(each["code"], each["name"], language), each) for each in estimate["lines"]],
        "of_year": pots,
        "of_month": pots.by_month(),
        "thresholds": threshold_data(check),
        "unemployment": (check.suta_threshold_quarterly, check.suta_status),
        "explanations": EXPLANATIONS,
        "futa_note": FUTA_NOTE,
        "year": year,
        "years": years,
    }
