"""What wages would cost in a year, and how they compare with the thresholds: an estimate; nothing is paid or saved.

The entries are in the address, so an estimate can be bookmarked. Its figures are the API's, from the same code.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import Response

from hearthpay.access.permissions import CALCULATE
from hearthpay.access.refusal import from_tax_engine
from hearthpay.calculator.answers import EXPLANATIONS, FUTA_NOTE, ONE_EMPLOYEE, estimate_data, threshold_data
from hearthpay.calculator.schemas import Calculation
from hearthpay.documents.papers.stub_paper import line_name
from hearthpay.languages.catalogue import mark
from hearthpay.taxes import TaxInputError, check_thresholds, estimate_year
from hearthpay.taxes.jurisdictions import STATES
from hearthpay.taxes.thresholds import supported_threshold_years
from hearthpay.web.household.context import HouseholdContext, household_page
from hearthpay.web.household.employees.words import FILING_STATUSES, FREQUENCIES
from hearthpay.web.household.form_parsing import ROOT, Entries, problems_in
from hearthpay.web.message_text import message_text

router: Final = APIRouter(include_in_schema=False)

_CERTIFICATE: Final = "reciprocity_certificate_on_file"
_CHOICES: Final = ("pay_frequency", "filing_status")
_CHOOSE: Final = mark("Choose one.")
_NO_AGREEMENT: Final = mark("these two states have no agreement with each other: please take this off")
_NO_LAW: Final = mark("The law of this year is not here yet.")
_STATES: Final = sorted(STATES.items(), key=lambda each: each[1])


@household_page(router, "GET", "/taxes/cost", permission=CALCULATE)
async def cost(at: HouseholdContext) -> Response:
    """Show the form, and below it the estimate."""
    typed = dict(at.visitor.request.query_params)
    requested = {"state": at.household.state} | typed
    form_values = {name: requested[name] for name in Calculation.model_fields if requested.get(name)}
    form_values = {name: text for name, text in form_values.items() if text.isprintable()}
    facts: dict[str, Any] = {
        "states": _STATES,
        "frequencies": FREQUENCIES,
        "filing_statuses": FILING_STATUSES,
        "usual": {name: Calculation.model_fields[name].default for name in _CHOICES},
        "form_values": form_values,
    }
    problems: dict[str, str] = {}
    if Calculation.model_fields.keys() & typed.keys():
        entries = Entries(requested)
        asked = _estimate_request(entries)
        if asked is not None:
            facts |= _answered(at, asked, entries.problems) | {"query": urlencode(form_values)}
        problems = entries.problems
    return at.show("taxes/cost.html", facts | {"problems": problems}, status=400 if problems else 200)


def _estimate_request(entries: Entries) -> Calculation | None:
    """Return the request for `POST /calculate`; None if something is wrong, which the form then shows."""
    values: dict[str, object] = {name: entries.text(name) for name in Calculation.model_fields}
    values |= {"annual_wages": entries.amount("annual_wages"), _CERTIFICATE: entries.ticked(_CERTIFICATE)}
    found = entries.checked(Calculation, values)
    entries.problems.update(dict.fromkeys(entries.problems.keys() & set(_CHOICES), _CHOOSE))
    return found


def _answered(at: HouseholdContext, asked: Calculation, problems: dict[str, str]) -> dict[str, Any]:
    """Return the estimate for the page; nothing if the law has no answer, which goes into `problems`."""
    today, language = at.clock.today(), at.visitor.language
    years = supported_threshold_years()
    requested = at.visitor.request.query_params.get("year", "")
    year = next((each for each in years if str(each) == requested), today.year)
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
    wages = estimate["annual_wages"]
    return {
        "estimate": estimate,
        "limitations": [message_text(at.say, language, each) for each in estimated.messages],
        "threshold_limitations": [
            message_text(at.say, language, each) for each in (ONE_EMPLOYEE, *check.messages)
        ],
        "state_explanation": message_text(at.say, language, check.state_message),
        "lines": [(line_name(each["code"], each["name"], language), each) for each in estimate["lines"]],
        "net_of_year": wages - estimate["employee_taxes_estimate"]["total"],
        "cost_of_year": wages + estimate["employer_taxes"]["total"],
        "thresholds": threshold_data(check),
        "unemployment": (check.suta_threshold_quarterly, check.suta_status),
        "explanations": EXPLANATIONS,
        "futa_note": FUTA_NOTE,
        "year": year,
        "years": years,
    }
