"""What a payroll is for: pay, a record of past pay, or a refund of FICA."""

from typing import Final, Literal

PayrollKind = Literal["regular", "catch_up", "fica_refund"]
"""`catch_up` records past pay and moves no money; `fica_refund` pays no wages but repays FICA tax."""

_BY_NOTES: Final[dict[str, PayrollKind]] = {"catch-up": "catch_up", "fica-refund": "fica_refund"}


def kind_from_notes(notes: str | None) -> PayrollKind:
    """Return the kind that a request's ``notes`` ask for; case and surrounding white space don't matter."""
    return "regular" if notes is None else _BY_NOTES.get(notes.strip().lower(), "regular")
