"""An agent without a model: it previews a payroll, asks the person at the terminal, runs it and fetches the pay stub.

    HEARTHPAY_API_KEY=hp_test_… python examples/agent.py --hours 40 --from 2026-11-09 --to 2026-11-15

It speaks MCP with the official SDK (`pip install mcp`), to `/mcp` of the service at HEARTHPAY_API_URL, or, with
`--desk`, to a `hearthpay mcp` that it starts.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import sys
from pathlib import Path
from typing import Any

import httpx2
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from mcp import Client


class RefusedError(Exception):
    """A tool refused; the text says why and what to do next."""


async def call(agent: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool and return its data."""
    result = await agent.call_tool(tool, arguments)
    answer = result.structured_content
    if result.is_error:
        raise RefusedError(f"{answer['error']}\n{answer['next_step']}")
    return answer["data"]


async def pay(agent: Client, options: argparse.Namespace) -> int:
    """Preview, ask, run, fetch the stub."""
    people = [
        (household, person)
        for household in await call(agent, "list_households_and_employees")
        for person in household["employees"]
        if person["status"] == "active" and options.employee.lower() in person["name"].lower()
    ]
    if len(people) != 1:
        print(f"{len(people)} people are called so; name one with --employee.")
        return 1
    ((household, person),) = people
    asked = {
        "employer_id": household["employer_id"],
        "employee_id": person["employee_id"],
        "pay_period_start": options.start,
        "pay_period_end": options.end,
        "pay_frequency": person["pay_frequency"],
        "regular_hours": options.hours,
        "payment_method": "check",
        **({} if options.pay_date is None else {"pay_date": options.pay_date}),
    }
    preview = await call(agent, "preview_payroll", **asked)
    (paycheck,) = preview["employees"]
    print(f"{person['name']}, {options.hours:g} hours, {options.start} to {options.end}, by check")
    print(f"  gross {paycheck['gross_pay']:,.2f}   net {paycheck['net_pay']:,.2f}", end="   ")
    print(f"cost to you {paycheck['total_cost']:,.2f}   on {preview['pay_period']['pay_date']}")
    for warning in paycheck["warnings"]:
        print(f"  note: {warning}")
    if input("Shall I run it? (yes/no) ").strip().lower() != "yes":
        print("Nothing was run.")
        return 0
    ran = await call(
        agent,
        "run_payroll",
        **asked,
        preview_token=preview["preview_token"],
        # The same words again are the same payroll: whoever repeats this command pays nobody twice.
        idempotency_key=f"{person['employee_id']} {options.start} {options.end}",
    )
    print(f"Payroll {ran['payroll_id']} is {ran['status']}.")
    address = f"hearthpay://payrolls/{ran['payroll_id']}/pay-stubs/{person['employee_id']}"
    (stub,) = (await agent.read_resource(address)).contents
    options.stub.write_bytes(base64.b64decode(stub.blob))
    print(f"The pay stub is in {options.stub}.")
    return 0


async def pay_or_say_why(agent: Client, options: argparse.Namespace) -> int:
    """Pay; what a tool refuses is told, with the next step, and nothing is tried around it."""
    try:
        return await pay(agent, options)
    except RefusedError as refused:
        print(refused)
        return 1


async def main() -> int:
    """Connect, and pay."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--employee", default="", help="a part of the name, where there are several")
    parser.add_argument("--hours", type=float, required=True)
    parser.add_argument("--from", dest="start", required=True, metavar="DAY")
    parser.add_argument("--to", dest="end", required=True, metavar="DAY")
    parser.add_argument("--pay-date", metavar="DAY", help="the day of the check; left out, the next payday")
    parser.add_argument("--stub", type=Path, default=Path("pay-stub.pdf"))
    parser.add_argument(
        "--desk", action="store_true", help="start `hearthpay mcp` instead of connecting to /mcp"
    )
    options = parser.parse_args()
    key, address = (
        os.environ["HEARTHPAY_API_KEY"],
        os.environ.get("HEARTHPAY_API_URL", "http://127.0.0.1:8000"),
    )
    if options.desk:
        settings = {**os.environ, "HEARTHPAY_API_KEY": key, "HEARTHPAY_API_URL": address}
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "hearthpay.cli", "mcp"], env=settings
        )
        async with Client(command) as agent:
            return await pay_or_say_why(agent, options)
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http)) as agent:
        return await pay_or_say_why(agent, options)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
