"""The table of everything a bank can send back, read from one place and printed for the documentation."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_suffix(".toml")
BEGIN = "<!-- what comes back: printed by python -m tests.lifecycle.what_comes_back -->"
END = "<!-- end of what comes back -->"

_CAN = {
    "authorize_debit": "authorize the debit",
    "void": "void",
    "pay_by_check": "pay by check",
    "refund": "refund",
    "wait_for_account": "wait until there is an account",
}
_OPEN = {
    "debit_waits": "connect or authorize the household's account",
    "deposit_waits": "the employee connects an account",
    "refund_waits": "connect the household's account",
    "wages_not_collected": "settle with the household",
}


@dataclass(frozen=True)
class Cell:
    """What the bank sends back in which state, and all that follows."""

    state: str
    comes: str
    status: str
    money: list[str]
    failure: str
    open: list[str]
    can: list[str]
    then: str

    @property
    def code(self) -> str:
        """The code in parentheses."""
        return self.comes.rsplit("(", 1)[1].rstrip(")")

    @property
    def told(self) -> str:
        """Who is told: the household by the payroll's failure, the operator by the register of exposure.

        A payout is no payroll's: it is told by notices alone.
        """
        household = [f"household: `{self.failure}`"] if self.failure else []
        operator = [f"administrator: `{each}`" for each in self.open]
        if self.comes.startswith("payout"):
            household = ["household and employee, by email"]
        return "; ".join(household + operator) or "no one"


def cells() -> list[Cell]:
    """Every cell."""
    return [Cell(**cell) for cell in tomllib.loads(_FILE.read_text(encoding="utf-8"))["cell"]]


def table() -> str:
    """The table in Markdown."""
    lines = [
        BEGIN,
        "",
        "| the payroll | what the bank returns | new status | what happens | who is notified | actions |",
        "|---|---|---|---|---|---|",
    ]
    for cell in cells():
        can = ", ".join([*(_CAN[each] for each in cell.can), *(_OPEN[each] for each in cell.open)])
        if cell.status == "failed" and not can:
            can = "run it again, by check or direct deposit"
        lines.append(
            f"| {cell.state} | {cell.comes} | `{cell.status}` | {cell.then} | {cell.told} | {can or '-'} |"
        )
    return "\n".join([*lines, "", END])


if __name__ == "__main__":
    print(table())
