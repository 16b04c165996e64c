"""What can be said about an agency's number without revealing it: whether it looks right."""

from hearthpay.registrations.accounts import NumberFormat


def format_warning(number: str, expected: NumberFormat) -> str | None:
    """Return a warning for a number that doesn't match the agency's printed format; None if it does.

    It is no reason to refuse the number: agencies change their formats, and ours are gathered from guides. The number
    itself is never repeated.
    """
    if expected.pattern is None or expected.pattern.fullmatch(number.strip().upper()):
        return None
    warning = f"does not look as it is usually printed, {expected.shape}"
    return f"{warning} ({expected.note})" if expected.note else warning
