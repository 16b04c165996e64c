"""Building blocks of the laws: pairs that must be equal, and what several laws ask of a payroll."""

from collections.abc import Mapping
from typing import Final

HOURS: Final = ("regular_hours", "overtime_hours")
"""What a paycheck pays for: hours, and the parts of gross pay."""

EARNINGS: Final = ("regular_pay", "overtime_pay", "bonus", "other_earnings")

PAID: Final = "('pending_funding', 'processing', 'completed')"
"""The states of a payroll whose paychecks stand, and those of a bank entry that hasn't failed."""

UNDER_WAY: Final = "('pending', 'sent', 'settled')"
WHITE: Final = r"E' \t\n\r\f\v'"
"""What counts as white space around a payroll's notes."""

REVERSED: Final = "EXISTS (SELECT FROM paychecks r WHERE r.reverses = c.id)"
"""Whether a paycheck `c` has been reversed."""

BY_CHECK: Final = (
    "EXISTS (SELECT FROM paycheck_remedies d WHERE d.paycheck_id = c.id AND d.action = 'pay_by_check')"
)
"""Whether a paycheck `c` was paid by check in the end, since its direct deposit couldn't be sent."""


def dollars(cents: str) -> str:
    """Return the SQL expression that formats an expression of cents as dollars."""
    return f"to_char(({cents}) / 100.0, 'FM99999999999999990.00')"


def unequal(
    subject: str,
    source: str,
    *,
    money: Mapping[str, tuple[str, str]] | None = None,
    other: Mapping[str, tuple[str, str]] | None = None,
    detail: str = "''",
) -> str:
    """Return the query for pairs that differ: for each name, what is recorded and what is expected.

    ``source`` has a column ``id``. The rows are compared whole first, so that a clean database is checked quickly.
    """
    money, other = money or {}, other or {}
    pairs = [*money.values(), *other.values()]
    texts = [(name, dollars(left), dollars(right)) for name, (left, right) in money.items()]
    texts += [(name, f"({left})::text", f"({right})::text") for name, (left, right) in other.items()]
    values = ", ".join(f"('{name}', {left}, {right})" for name, left, right in texts)
    whole = " OR ".join(f"({left}) IS DISTINCT FROM ({right})" for left, right in pairs)
    return f"""
        SELECT '{subject}' AS subject, s.id, v.name || {detail} AS what, v.recorded, v.expected
          FROM (SELECT * FROM ({source}) q WHERE {whole}) s
         CROSS JOIN LATERAL (VALUES {values}) AS v (name, recorded, expected)
         WHERE v.recorded IS DISTINCT FROM v.expected
    """
