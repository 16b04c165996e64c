"""Papers as they are promised: each test's first line is a sentence of it."""

import datetime
import io
import re
from typing import Any

from pypdf import PdfReader

from tests.http.api import Account, Caller, data
from tests.worlds.households import add_employee, payroll_of


async def test_a_stubs_year_to_date_goes_by_pay_date(account: Account, household: dict[str, Any]) -> None:
    """A pay stub's year to date counts what was paid up to its pay date, whatever the order of recording."""
    caller = account.live
    rosa = await add_employee(caller, household["id"])

    async def record(friday: str, hours: int) -> str:
        paid = datetime.date.fromisoformat(friday)
        body = payroll_of(
            household["id"],
            rosa,
            pay_period_start=str(paid - datetime.timedelta(days=11)),
            pay_period_end=str(paid - datetime.timedelta(days=5)),
            pay_date=friday,
            notes="catch-up",
        )
        body["employees"][0]["regular_hours"] = hours
        payroll_id: str = data(await caller.post("/payroll/run", body))["payroll_id"]
        return payroll_id

    late = await record("2026-11-06", 30)
    assert await _gross_of(caller, late) == ("855.00", "855.00")
    early = await record("2026-10-23", 10)
    middle = await record("2026-10-30", 20)
    assert await _gross_of(caller, early) == ("285.00", "285.00")
    assert await _gross_of(caller, middle) == ("570.00", "855.00")
    assert await _gross_of(caller, late) == ("855.00", "1,710.00")
    data(await caller.post(f"/payroll/{early}/void", {}))
    assert await _gross_of(caller, middle) == ("570.00", "570.00")
    assert await _gross_of(caller, late) == ("855.00", "1,425.00")


async def _gross_of(caller: Caller, payroll_id: str) -> tuple[str, str]:
    """Return the gross pay of a pay stub: of the paycheck, and of the year to date."""
    stub = await caller.post("/documents/paystub", {"payroll_id": payroll_id})
    assert stub.status_code == 200, stub.text
    text = "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(stub.content)).pages)
    found = re.search(r"Gross pay\s+\$?([\d,.]+)\s+\$?([\d,.]+)", text)
    assert found, text
    return found[1], found[2]
