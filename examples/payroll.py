"""The same over the REST API, with Python's standard library alone: preview, ask, run, fetch the pay stub.

HEARTHPAY_API_KEY=hp_test_… python examples/payroll.py EMPLOYEE_ID 40 2026-11-09 2026-11-15
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ADDRESS = os.environ.get("HEARTHPAY_API_URL", "http://127.0.0.1:8000")
KEY = os.environ["HEARTHPAY_API_KEY"]


def post(path: str, body: dict[str, Any], **headers: str) -> bytes:
    """Send a POST and return the body of the answer; a refusal ends the program with its words."""
    request = Request(
        f"{ADDRESS}/api/v1{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **headers},
    )
    try:
        with urlopen(request, timeout=60) as response:
            answer: bytes = response.read()
            return answer
    except HTTPError as refused:
        error = json.loads(refused.read())["error"]
        sys.exit(f"{error['code']}: {error['message']}")


def main() -> None:
    """Preview, ask, run, fetch the stub."""
    employee_id, hours, start, end = sys.argv[1:]
    entry = {"employee_id": employee_id, "regular_hours": float(hours), "payment_method": "check"}
    asked = {
        "pay_period_start": start,
        "pay_period_end": end,
        "pay_frequency": "weekly",
        "employees": [entry],
    }
    preview = json.loads(post("/payroll/preview", asked))["data"]
    (paycheck,) = preview["employees"]
    print(f"{paycheck['name']}: gross {paycheck['gross_pay']:,.2f}, net {paycheck['net_pay']:,.2f}")
    if input("Shall I run it? (yes/no) ").strip().lower() != "yes":
        sys.exit("Nothing was run.")
    run = {**asked, "preview_token": preview["preview_token"]}
    ran = json.loads(post("/payroll/run", run, **{"Idempotency-Key": f"{employee_id} {start} {end}"}))["data"]
    print(f"Payroll {ran['payroll_id']} is {ran['status']}.")
    stub = post("/documents/paystub", {"payroll_id": ran["payroll_id"], "employee_id": employee_id})
    Path("pay-stub.pdf").write_bytes(stub)
    print("The pay stub is in pay-stub.pdf.")


if __name__ == "__main__":
    main()
