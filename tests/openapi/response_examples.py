"""A real answer of each operation, as the OpenAPI document shows it: the story that asks for them, and their form.

What differs from run to run (ids, tokens, the version of the rules) gets a fixed value of the same form, and long lists
are cut.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import httpx
import psycopg

from hearthpay.http.example import example_in
from hearthpay.wire.paging import encode_cursor
from tests.boundary.worlds import enroll, hold_deposits
from tests.http.api import BASE_URL, Account, Caller
from tests.openapi.document import Document

EMPLOYER: Final = "019a9e2c-6b6e-7c31-9d0e-4f6a2b8c1d5e"
EMPLOYEE: Final = "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b11"
PAYROLL: Final = "019a9f2f-1b7a-7d54-8c15-1a9e0b5f6c02"
REQUEST: Final = "019a9f2f-2e07-7b41-a3c8-6d1f0e9b7a54"
LAST_FOUR: Final = "1000"
"""Of the number that the sandbox gives an employee, which is another in each run."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CSV_LAST_FOUR: Final = re.compile(r"(?<=,Diaz,Rosa,)\d{4}(?=,)")
_ADDRESS: Final = "https://pay.example.com"
_LONGEST_LIST: Final = 12
_SHOWN_OF_LONGER: Final = 3
_OF_RULES: Final = (re.compile(r"(?<=-)[0-9a-f]{12}$"), "3f9c61d0a7b2")
_FIXED: Final[dict[str, tuple[re.Pattern[str], str]]] = {
    "requestId": (re.compile(r".+"), REQUEST),
    "next_cursor": (re.compile(r".+"), encode_cursor(UUID(PAYROLL))),
    "etag": (re.compile(r".+"), "5f" * 32),
    "taxpayer_number_last_four": (re.compile(r".+"), LAST_FOUR),
    "preview_token": (re.compile(r"pv1_[\w-]+"), "pv1_c2hvd24tYnktdGhlLXByZXZpZXc"),
    "portal_url": (re.compile(r"(?<=/)[\w-]{20,}$"), "the-secret-part-of-the-link"),
    "version": _OF_RULES,
    "version_now": _OF_RULES,
}
"""The fields of another value in each run, what of it differs, and what the document shows in its place."""


@dataclass
class Story:
    """A household's year by the API alone, with a test key; the first answer of each operation is kept."""

    document: Document
    client: httpx.AsyncClient
    account: Account
    owner: psycopg.Connection
    answers: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    """The ids of this run by those that the document shows."""

    async def ask(
        self,
        operation_id: str,
        *,
        caller: Caller | None = None,
        accept: str = "application/json",
        body: dict[str, Any] | None = None,
        **path: str,
    ) -> Any:
        """Send the documented example, with this run's ids and with `body` over it; keep and return the answer."""
        method, address, operation = next(
            each for each in self.document.operations() if each[2]["operationId"] == operation_id
        )
        shown = json.dumps(example_in(operation) or {})
        sent = json.loads(_UUID.sub(lambda found: self.ids.get(found[0], found[0]), shown)) | (body or {})
        sent = {name: value for name, value in sent.items() if value is not None}
        for name, value in {
            "employer_id": self.ids.get(EMPLOYER, ""),
            "employee_id": self.rosa,
            **path,
        }.items():
            address = address.replace(f"{{{name}}}", value)
        headers = {**(caller or self.account.test).headers(), "Accept": accept}
        content = {"json": sent} if "requestBody" in operation else {"params": sent}
        response = await self.client.request(method.upper(), address, headers=headers, **content)
        assert response.is_success, f"{operation_id}: {response.text}"
        media_type = response.headers["Content-Type"].partition(";")[0]
        answer = response.json() if media_type == "application/json" else response.text
        if media_type in ("application/json", "text/csv"):
            by_status = self.answers.setdefault(operation_id, {})
            by_status.setdefault(str(response.status_code), {}).setdefault(media_type, answer)
        return answer["data"] if isinstance(answer, dict) else None

    @property
    def rosa(self) -> str:
        """The employee whom most operations are about."""
        return self.ids.get(EMPLOYEE, "")

    async def live(self) -> None:
        """Ask each operation once: what ends or removes something comes last."""
        await self.ask("calculate")
        await self.ask("checkThreshold")
        await self.ask("getJurisdiction", state="CA")
        await self.ask("getRules")
        household = await self.ask("createEmployer")
        self.ids |= {EMPLOYER: household["id"], "019a9f2e-7c1d-7a3b-9d52-3f1f6f0c2b10": household["id"]}
        address = household["address"]
        self.ids[EMPLOYEE] = (await self.ask("createEmployee", body={"address": address}))["id"]
        await self.ask("inviteEmployee")
        await self.ask("setSandboxEin")
        await self.ask("setSandboxHouseholdAccount", body={"magic": "verified"})
        await self.ask("setSandboxTaxInfo")
        await self.ask("setSandboxEmployeeAccount", body={"magic": "verified"})
        await self.ask("authorizeDebit")
        await self.ask("getDirectDepositStatus")
        await self._pay()
        await self._report()
        await self._automate()
        await self._change()

    async def _pay(self) -> None:
        for first, last, paid in (
            ("2026-06-01", "2026-06-14", "2026-06-19"),
            ("2026-08-03", "2026-08-16", "2026-08-21"),
        ):
            period = {"pay_period_start": first, "pay_period_end": last, "pay_date": paid}
            await self._run(period | {"notes": "catch-up"})
        await self.ask("previewPayroll")
        await self.ask("explainPayroll")
        self.answers.pop("runPayroll")
        payroll = (await self.ask("runPayroll"))["payroll_id"]
        self.ids[PAYROLL] = payroll
        await self.ask("getPayroll", payroll_id=payroll)
        await self.ask("explainStoredPayroll", payroll_id=payroll)
        await self.ask("handOverPayroll", payroll_id=payroll)
        await self.ask("listPayrolls", body={"limit": 2})
        mistaken = await self._run(
            {"pay_period_start": "2026-10-05", "pay_period_end": "2026-10-18", "pay_date": "2026-11-20"}
        )
        await self.ask("voidPayroll", payroll_id=mistaken)

    async def _run(self, changes: dict[str, Any]) -> str:
        payroll_id: str = (await self.ask("runPayroll", body=changes))["payroll_id"]
        return payroll_id

    async def _report(self) -> None:
        for accept in ("application/json", "text/csv"):
            await self.ask("reportStateWages", accept=accept)
            await self.ask("reportTaxLiability", accept=accept)
        await self.ask("estimateTax")
        await self.ask("listStateRegistrations")
        payment = await self.ask("recordTaxPayment")
        filing = await self.ask("recordFiling")
        for listed in ("listTaxPayments", "listFilings", "listToDos", "getTaxCalendar"):
            await self.ask(listed)
        await self.ask("reverseTaxPayment", tax_payment_id=payment["payment"]["id"])
        await self.ask("reverseFiling", filing_id=filing["id"])
        await self.ask("issuePaystub")
        await self.ask("listDocuments")
        package = await self.ask("issueYearPackage")
        await self.ask("getYearPackage", package_id=package["id"])

    async def _automate(self) -> None:
        enroll(self.owner, self.rosa)
        await self.ask("getAutopilot")
        await self.ask("manageAutopilot", action="pause")
        await self.ask("listAutopilotHistory", body={"limit": 1})

    async def _change(self) -> None:
        ana = {"first_name": "Ana", "last_name": "Reyes", "email": "ana.reyes@example.com"}
        other = (await self.ask("createEmployee", body=ana))["id"]
        await self.ask("enterPriorWages", employee_id=other)
        await self.ask("listPriorWages", employee_id=other)
        for read in ("listEmployees", "getEmployee", "listEmployers", "getEmployer", "listHouseholds"):
            await self.ask(read)
        await self.ask("updateEmployee", employee_id=other)
        await self.ask("terminateEmployee", employee_id=other)
        await self.ask("reinstateEmployee", employee_id=other)
        await self.ask("updateEmployer")
        second = (await self.ask("createEmployer"))["id"]
        await self._hold_deposit(second)
        await self.ask("advanceSandboxClock", employer_id=second)
        await self.ask("getSandboxClock", employer_id=second)
        third = (await self.ask("createEmployer"))["id"]
        await self.ask("deleteEmployer", employer_id=third)

    async def _hold_deposit(self, employer_id: str) -> None:
        """Let an employee's account fail after the payroll is funded, and decide what becomes of the money."""
        employee_id = (await self.ask("createEmployee", body={"employer_id": employer_id}))["id"]
        entry = {"employee_id": employee_id, "regular_hours": 80, "payment_method": "check"}
        held = await self._run({"employer_id": employer_id, "employees": [entry]})
        hold_deposits(self.owner, employer_id, held)
        await self.ask("remedyPaycheck", payroll_id=held, employee_id=employee_id)

    def shown(self) -> dict[str, Any]:
        """Return the answers as the document shows them."""
        kept = {
            operation_id: {
                status: {media_type: _shown(answer) for media_type, answer in by_type.items()}
                for status, by_type in by_status.items()
            }
            for operation_id, by_status in sorted(self.answers.items())
        }
        named = {real: documented for documented, real in reversed(self.ids.items())} | {REQUEST: REQUEST}

        def documented(found: re.Match[str]) -> str:
            return named.setdefault(found[0], f"019a9f30-{len(named):04x}-7000-8000-{len(named):012x}")

        shown: dict[str, Any] = json.loads(
            _UUID.sub(documented, json.dumps(kept).replace(BASE_URL, _ADDRESS))
        )
        return shown


def _shown(answer: Any) -> Any:
    """Return an answer with fixed values and short lists; of a list, its first items."""
    if isinstance(answer, str):
        return _CSV_LAST_FOUR.sub(LAST_FOUR, answer)
    if isinstance(answer["data"], list):
        answer = answer | {"data": answer["data"][:_SHOWN_OF_LONGER]}
    return _shortened(_fixed(answer))


def _fixed(value: Any, name: str = "") -> Any:
    """Return a part of an answer with fixed values in place of those of one run."""
    if isinstance(value, dict):
        return {key: _fixed(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_fixed(each) for each in value]
    if isinstance(value, str) and name in _FIXED:
        differing, instead = _FIXED[name]
        return differing.sub(instead, value)
    return value


def _shortened(value: Any) -> Any:
    """Return a part of an answer, its long lists cut after their first items."""
    if isinstance(value, dict):
        return {key: _shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        kept = value if len(value) <= _LONGEST_LIST else value[:_SHOWN_OF_LONGER]
        return [_shortened(each) for each in kept]
    return value
