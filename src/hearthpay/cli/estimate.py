"""What `hearthpay calculate` prints, and its usual command lines read without Typer.

Typer takes more time to import and to build its commands than the estimate takes. So a plain command line, which has
nothing but long options and their values, is read here. Everything else is left to Typer: help, mistakes, and what
the estimate refuses.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from hearthpay.cli.amounts import decimal_of
from hearthpay.clock import SystemClock
from hearthpay.taxes import TaxInputError, estimate_year

if TYPE_CHECKING:
    from hearthpay.taxes import AnnualEstimate

VALUES: Final[Mapping[str, str]] = {
    "--state": "state",
    "--annual-wages": "annual_wages",
    "--pay-frequency": "pay_frequency",
    "--filing-status": "filing_status",
    "--residence-state": "residence_state",
}
"""Options with a value, and the parameter of `print_estimate` that each is."""

FLAGS: Final[Mapping[str, tuple[str, bool]]] = {
    "--reciprocity-certificate-on-file": ("reciprocity_certificate_on_file", True),
    "--no-reciprocity-certificate-on-file": ("reciprocity_certificate_on_file", False),
    "--json": ("as_json", True),
}
"""Options without one, and what each means."""

REQUIRED: Final = frozenset({"state", "annual_wages"})
DEFAULT_FREQUENCY: Final = "biweekly"
DEFAULT_STATUS: Final = "single"
_COMPLETION: Final = "_HEARTHPAY_COMPLETE"
"""With this variable a shell asks Typer for completions."""


def calculate_plainly(arguments: Sequence[str]) -> bool:
    """Print the estimate for these arguments of `hearthpay calculate`; False if Typer must read them instead."""
    given = read_plainly(arguments)
    if given is None or _COMPLETION in os.environ:
        return False
    try:
        print_estimate(**given)
    except TaxInputError:
        return False
    return True


def read_plainly(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Return the parameters of `print_estimate` for a plain command line; None for any other."""
    given: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        parameter: str
        meaning: str | bool
        if name in FLAGS and not equals:
            parameter, meaning = FLAGS[name]
        elif name in VALUES:
            typed = value if equals else next(rest, "")
            if not typed.isascii() or typed[:1] in ("", "-"):
                return None
            parameter, meaning = VALUES[name], typed
        else:
            return None
        if parameter in given:
            return None
        given[parameter] = meaning
    return given if given.keys() >= REQUIRED else None


def print_estimate(
    *,
    state: str,
    annual_wages: str,
    pay_frequency: str = DEFAULT_FREQUENCY,
    filing_status: str = DEFAULT_STATUS,
    residence_state: str | None = None,
    reciprocity_certificate_on_file: bool = False,
    as_json: bool = False,
) -> None:
    """Print a year's estimate, as a table or as the data of `POST /calculate`; raises `TaxInputError`."""
    from hearthpay.calculator.answers import estimate_data

    estimate = estimate_year(
        state,
        decimal_of(annual_wages, "annual_wages"),
        on=SystemClock().today(),
        pay_frequency=pay_frequency,
        filing_status=filing_status,
        residence_state=residence_state,
        reciprocity_certificate_on_file=reciprocity_certificate_on_file,
    )
    data = estimate_data(estimate)
    if as_json:
        print_line(as_json_text(data, pretty=True))
    else:
        _show_estimate(estimate, data)


def as_json_text(value: object, *, pretty: bool) -> bytes:
    """Return JSON; a Decimal of at most fifteen digits, as all of ours are, keeps its value as a JSON number."""
    separators = None if pretty else (",", ":")
    return json.dumps(
        value, default=_encode, ensure_ascii=False, indent=2 if pretty else None, separators=separators
    ).encode()


def _encode(value: object) -> float | str:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def print_line(line: bytes) -> None:
    """Print one line of bytes."""
    sys.stdout.buffer.write(line + b"\n")


def error_data(error: TaxInputError) -> dict[str, object]:
    """Return the JSON of a refusal."""
    return {"error": {"code": error.code, "field": error.field, "message": error.message}}


def _show_estimate(estimate: AnnualEstimate, data: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(
        title=f"{estimate.state_name} {estimate.tax_year}: {estimate.annual_wages:,} a year",
        title_justify="left",
    )
    for column in ("Tax", "Paid by", "Rate", "A year", f"Each of {estimate.periods} paychecks"):
        table.add_column(column, justify="left" if column in ("Tax", "Paid by") else "right")
    for line in data["lines"]:
        rate = f"{(line['rate'] * 100).normalize():f} %" if line["rate"] is not None else "by table"
        table.add_row(
            line["name"],
            line["payer"],
            rate,
            f"{line['annual_amount']:,}",
            f"{line['per_paycheck_amount']:,}",
        )
    table.add_section()
    paycheck = data["per_paycheck"]
    table.add_row(
        "Household taxes",
        "employer",
        "",
        f"{data['employer_taxes']['total']:,}",
        f"{paycheck['employer_taxes']:,}",
    )
    table.add_row(
        "Withheld",
        "employee",
        "",
        f"{data['employee_taxes_estimate']['total']:,}",
        f"{paycheck['employee_taxes']:,}",
    )
    console.print(table)
    console.print(
        f"Each paycheck: gross {paycheck['gross_pay']:,}, net {paycheck['net_pay']:,}, "
        f"cost to the household {paycheck['total_cost']:,}."
    )
    for limitation in data["limitations"]:
        console.print(f"· {limitation}", style="dim")
    console.print(f"Rulebook {data['rulebook']['version']}", style="dim")
