"""Resources: what an agent may read by its address, such as a state's coverage, a payroll or a year's calendar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from hearthpay.mcp.calls import ApiCall

_ID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
JSON: Final = "application/json"
PDF: Final = "application/pdf"


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    """A kind of resource: the template of its address, and the call that reads one.

    `tool` is the one whose permission covers it: without the permission to call it, this can't be read.
    """

    name: str
    tool: str
    title: str
    description: str
    template: str
    media_type: str
    pattern: re.Pattern[str]
    call: Callable[[Mapping[str, str]], ApiCall]


def _coverage(named: Mapping[str, str]) -> ApiCall:
    return ApiCall(method="GET", path=f"/jurisdictions/{named['state']}")


def _payroll(named: Mapping[str, str]) -> ApiCall:
    return ApiCall(method="GET", path=f"/payroll/{named['payroll_id']}")


def _calendar(named: Mapping[str, str]) -> ApiCall:
    year = named["year"]
    query = {"employer_id": named["employer_id"], "from": f"{year}-01-01", "to": f"{year}-12-31"}
    return ApiCall(method="GET", path="/tax-calendar", query=query)


def _pay_stub(named: Mapping[str, str]) -> ApiCall:
    body = {"payroll_id": named["payroll_id"], "employee_id": named["employee_id"]}
    return ApiCall(method="POST", path="/documents/paystub", body=body)


def _explanation(named: Mapping[str, str]) -> ApiCall:
    path = f"/payroll/{named['payroll_id']}/explanation"
    return ApiCall(method="GET", path=path, query={"employee_id": named["employee_id"]})


RESOURCE_TEMPLATES: Final[tuple[ResourceTemplate, ...]] = (
    ResourceTemplate(
        "state_coverage",
        "calculate_nanny_taxes",
        "What a state asks for",
        "The taxes of a state today, its withholding certificate and localities, with how sure each figure is.",
        "hearthpay://states/{state}",
        JSON,
        re.compile(r"hearthpay://states/(?P<state>[A-Za-z]{2})"),
        _coverage,
    ),
    ResourceTemplate(
        "payroll",
        "get_payroll",
        "A payroll",
        "A payroll as it was run, line by line, with its status and history.",
        "hearthpay://payrolls/{payroll_id}",
        JSON,
        re.compile(rf"hearthpay://payrolls/(?P<payroll_id>{_ID})"),
        _payroll,
    ),
    ResourceTemplate(
        "pay_stub",
        "get_payroll",
        "A pay stub",
        "The pay stub of one employee in a payroll that was paid, as a PDF.",
        "hearthpay://payrolls/{payroll_id}/pay-stubs/{employee_id}",
        PDF,
        re.compile(rf"hearthpay://payrolls/(?P<payroll_id>{_ID})/pay-stubs/(?P<employee_id>{_ID})"),
        _pay_stub,
    ),
    ResourceTemplate(
        "payroll_explanation",
        "get_payroll",
        "Why a paycheck is what it is",
        "Of one employee in a payroll that was paid: each line's steps, figures and sources, under the rules it was "
        "calculated by. The amounts are those on record.",
        "hearthpay://payrolls/{payroll_id}/explanations/{employee_id}",
        JSON,
        re.compile(rf"hearthpay://payrolls/(?P<payroll_id>{_ID})/explanations/(?P<employee_id>{_ID})"),
        _explanation,
    ),
    ResourceTemplate(
        "tax_calendar",
        "get_tax_calendar",
        "The year's calendar",
        "What a household must file, pay, hand out or report in a calendar year, by due date.",
        "hearthpay://households/{employer_id}/calendar/{year}",
        JSON,
        re.compile(rf"hearthpay://households/(?P<employer_id>{_ID})/calendar/(?P<year>20[0-9]{{2}})"),
        _calendar,
    ),
)


@dataclass(frozen=True, slots=True)
class ResolvedResource:
    """What an address names: an item, and the parts of the address that identify it."""

    item: ResourceTemplate
    named: Mapping[str, str]

    @property
    def call(self) -> ApiCall:
        """The API call that reads the resource."""
        return self.item.call(self.named)

    @property
    def payroll_id(self) -> UUID | None:
        """The payroll that it is about, if any."""
        payroll = self.named.get("payroll_id")
        return None if payroll is None else UUID(payroll)


def resolve_resource(address: str) -> ResolvedResource | None:
    """Return what an address names; None if it can't name anything."""
    for item in RESOURCE_TEMPLATES:
        match = item.pattern.fullmatch(address)
        if match is not None:
            return ResolvedResource(item, match.groupdict())
    return None
